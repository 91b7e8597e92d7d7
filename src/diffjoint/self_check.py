"""What to trust on a table without any truth: hide what is there, and vary what is assumed."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from diffjoint.arrays import Cells, Values
from diffjoint.detect import DEFAULT_DETECTOR, DETECTORS, EvidenceBelief, LossRate
from diffjoint.errors import InputError
from diffjoint.evidence import Judged
from diffjoint.expect import learn_values
from diffjoint.metrics import N_CALIBRATION_BINS, calibration_error
from diffjoint.model import Model
from diffjoint.progress import Progress
from diffjoint.state import JointSpace, Observation
from diffjoint.table import Column
from diffjoint.wrap import Wrapped, learn_wrapped

MOST_ROWS = 20_000
"""Rows beyond which a sample of them is checked."""
FEWEST_HIDDEN, MOST_HIDDEN, USUAL_HIDDEN = 0.02, 0.3, 0.1
"""Share of the observed cells to hide: at least, at most, and where nothing tells the loss rate."""
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)
LOSS_FACTORS = (0.5, 1.5)
MOST_LOST = 0.95
ALL = "all"
"""Stands for all searched columns together."""


@dataclass(frozen=True)
class SelfCheck:
    """How far a table itself bears out what is said of it; print it.

    Attributes
    ----------
    values : DataFrame
        Observed cells that were hidden and filled again, a row per column: ``column``, ``kind``,
        ``n_cells``, ``measure`` ("accuracy", or "standardised_rmse": errors in standard deviations
        of the column), ``score``, ``mean_or_mode`` (the same measure of the mean or the most
        frequent level) and ``is_better``.
    missing : DataFrame
        P(missing) against who is missing, in rows that it was not learnt from: ``column``,
        ``n_cells``, ``said`` and ``found`` share, ``calibration_error``, and ``false_calls``: the
        share of observed cells that would be kept as NA had they been lost.
    bins : DataFrame
        The same by tenths of P(missing): ``column``, ``low``, ``high``, ``n_cells``, ``said``,
        ``found``.
    calls : DataFrame
        How calls change: ``change``, ``column`` ("all" for all together), ``n_cells`` that may be
        meaningful, ``kept`` share called meaningful, ``flipped`` share called otherwise than now.
    notes : tuple of str
        What the numbers rest on.
    """

    values: pd.DataFrame
    missing: pd.DataFrame
    bins: pd.DataFrame
    calls: pd.DataFrame
    notes: tuple[str, ...]

    def __str__(self) -> str:
        n_better, n_columns = int(self.values["is_better"].sum()), len(self.values)
        parts = [
            f"Hidden cells, filled again: better than mean or mode in {n_better} of {n_columns} "
            f"columns.\n{_shown(self.values)}"
        ]
        if len(self.missing):
            parts.append(f"P(missing), in rows it was not learnt from:\n{_shown(self.missing)}")
            together = self.calls[self.calls["column"] == ALL].drop(columns="column")
            parts.append(f"Calls, if something else were assumed:\n{_shown(together)}")
        return "\n\n".join([*parts, *self.notes])


def check_table(
    observation: Observation, model: Model, loss_rate: LossRate, seed: int, progress: Progress
) -> SelfCheck:
    """Check a table by itself: values once, evidence at most three times, learnt anew.

    Parameters
    ----------
    observation : Observation
        The table.
    model : Model
        What was fitted.
    loss_rate : float, mapping or None
        The loss rate that was given for it.
    seed : int
        What is hidden, and the other seed that the evidence is learnt with.
    """
    if model.expectation is None:
        raise InputError(
            "self_check is for values that need no draws, those of sampler='amortised' or of a "
            "wrapped imputer; this one was fitted with sampler='inpaint'. Fit with the default."
        )
    notes: tuple[str, ...] = (
        "Cells were hidden at random. If yours were lost for a reason, they may be harder to fill.",
    )
    rng = np.random.default_rng(seed)
    if len(observation.values) > MOST_ROWS:
        n_rows = len(observation.values)
        rows = np.sort(rng.choice(n_rows, MOST_ROWS, replace=False))
        observation = observation.take(rows)
        notes += (f"{MOST_ROWS:,} of {n_rows:,} rows were checked, chosen at random.",)
    values = _check_values(observation, model, rng, seed, progress)
    if not isinstance(model.belief, EvidenceBelief):
        notes += ("No column was searched, so that there are no calls to check.",)
        return SelfCheck(values, _frame([]), _frame([]), _frame([]), notes)
    judged = model.belief.evidence.judge(observation.values)
    columns, gaps = model.space.schema.modelled, ~observation.observed
    threshold = model.settings.threshold
    missing = [_calibration(columns[j], gaps[:, j], judged[j], threshold) for j in model.space.mm]
    bins = [row for j in model.space.mm for row in _bins(columns[j], gaps[:, j], judged[j])]
    assumed = _assumptions(judged, loss_rate, model.seed, seed)
    calls = list(_changes(observation, model, model.belief, assumed, progress))
    return SelfCheck(values, _frame(missing), _frame(bins), _frame(calls), notes)


def hidden_share(gaps: Cells, space: JointSpace) -> float:
    """How many cells to hide: as many as columns that cannot be meaningful have lost."""
    others = [j for j in range(space.n_columns) if j not in space.mm]
    rates = gaps[:, others].mean(axis=0)
    lost = rates[rates > 0]
    if not len(lost):
        return USUAL_HIDDEN
    return float(np.clip(lost.mean(), FEWEST_HIDDEN, MOST_HIDDEN))


def _check_values(
    observation: Observation,
    model: Model,
    rng: np.random.Generator,
    seed: int,
    progress: Progress,
) -> pd.DataFrame:
    """Hide observed cells, learn from what is left, and fill them again."""
    space, truth = model.space, observation.values
    observed = observation.observed
    hidden = observed & (rng.random(truth.shape) < hidden_share(~observed, space))
    hidden &= (observed & ~hidden).any(axis=0)  # a column must keep something to learn from
    left = replace(observation, values=np.where(hidden, np.nan, truth))
    learnt = (
        learn_wrapped(model.expectation.imputer, left, space, seed, progress)
        if isinstance(model.expectation, Wrapped)
        else learn_values(left, space, seed, progress)
    )
    filled, _ = learnt.of(left)
    return _frame(
        [
            _scored(column, truth[hidden[:, j], j], filled[hidden[:, j], j], left.values[:, j])
            for j, column in enumerate(space.schema.modelled)
        ]
    )


def _scored(column: Column, truth: Values, filled: Values, left: Values) -> dict[str, Any]:
    """How near the hidden cells of one column came, and how near one value for all comes."""
    known = left[~np.isnan(left)]
    if column.is_categorical:
        levels, counts = np.unique(known, return_counts=True)
        usual, measure = levels[counts.argmax()], "accuracy"
        scores = [
            float((guess == truth).mean()) if len(truth) else np.nan for guess in (filled, usual)
        ]
        is_better = scores[0] > scores[1]
    else:
        usual, measure = known.mean(), "standardised_rmse"
        scores = [
            float(np.sqrt(((guess - truth) ** 2).mean())) / (column.scale or 1.0)
            if len(truth)
            else np.nan
            for guess in (filled, usual)
        ]
        is_better = scores[0] < scores[1]
    return {
        "column": column.name,
        "kind": str(column.kind),
        "n_cells": len(truth),
        "measure": measure,
        "score": scores[0],
        "mean_or_mode": scores[1],
        "is_better": bool(is_better),
    }


def _calibration(
    column: Column, is_missing: Cells, judged: Judged, threshold: float
) -> dict[str, Any]:
    would_be_kept = judged.probability[~is_missing] > threshold
    return {
        "column": column.name,
        "n_cells": len(is_missing),
        "said": float(judged.missing_rate.mean()),
        "found": float(is_missing.mean()),
        "calibration_error": calibration_error(is_missing, judged.missing_rate),
        "false_calls": float(would_be_kept.mean()) if len(would_be_kept) else np.nan,
    }


def _bins(column: Column, is_missing: Cells, judged: Judged) -> Iterator[dict[str, Any]]:
    said = judged.missing_rate
    place = np.minimum((said * N_CALIBRATION_BINS).astype(int), N_CALIBRATION_BINS - 1)
    for k in np.unique(place).tolist():
        inside = place == k
        yield {
            "column": column.name,
            "low": k / N_CALIBRATION_BINS,
            "high": (k + 1) / N_CALIBRATION_BINS,
            "n_cells": int(inside.sum()),
            "said": float(said[inside].mean()),
            "found": float(is_missing[inside].mean()),
        }


def _assumptions(
    judged: dict[int, Judged], loss_rate: LossRate, model_seed: int, seed: int
) -> list[tuple[str, LossRate, int]]:
    """What else might be: a name, a loss rate and a seed, for one more look at the evidence."""
    rates = {j: float(found.loss_rate.mean()) for j, found in judged.items()}
    assumed: list[tuple[str, LossRate, int]] = [("another seed", loss_rate, model_seed + 1 + seed)]
    for factor in LOSS_FACTORS:
        scaled = {j: min(factor * rate, MOST_LOST) for j, rate in rates.items()}
        assumed.append((f"loss rate x {factor:g}", scaled, model_seed))
    return assumed


def _changes(
    observation: Observation,
    model: Model,
    belief: EvidenceBelief,
    assumed: list[tuple[str, LossRate, int]],
    progress: Progress,
) -> Iterator[dict[str, Any]]:
    """Calls under other thresholds, another seed, and other loss rates."""
    threshold, likely = model.settings.threshold, belief.probability(observation)
    now = likely > threshold

    def told(change: str, called: Cells) -> Iterator[dict[str, Any]]:
        return _flips(change, called, now, observation.candidates, model.space)

    yield from told(f"as now (threshold {threshold:g})", now)
    for other in THRESHOLDS:
        if other != threshold:
            yield from told(f"threshold {other:g}", likely > other)
    learn = DETECTORS[DEFAULT_DETECTOR]
    for change, loss_rate, learning_seed in assumed:
        again = learn(observation, model.space, loss_rate, learning_seed, progress)
        if again is not None:
            yield from told(change, again.probability(observation) > threshold)


def _flips(
    change: str, called: Cells, now: Cells, candidates: Cells, space: JointSpace
) -> Iterator[dict[str, Any]]:
    parts = [(ALL, list(space.mm))] + [(space.schema.modelled[j].name, [j]) for j in space.mm]
    for name, places in parts:
        asked = candidates[:, places]
        n_cells = int(asked.sum())
        yield {
            "change": change,
            "column": name,
            "n_cells": n_cells,
            "kept": float(called[:, places][asked].mean()) if n_cells else np.nan,
            "flipped": float((called != now)[:, places][asked].mean()) if n_cells else np.nan,
        }


def _frame(records: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame.from_records(records)


def _shown(frame: pd.DataFrame) -> str:
    return frame.to_string(index=False, float_format="{:.3f}".format)
