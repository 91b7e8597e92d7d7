"""What to trust on a table without any truth: hide what is there, and vary what is assumed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from diffjoint._effort import evidence_units, value_units
from diffjoint._progress import Progress, Scaled
from diffjoint._types import Mask, Values
from diffjoint.detectors import EvidenceBelief, LossRate, learn_evidence
from diffjoint.errors import InputError
from diffjoint.evidence import NEW, Judged, n_folds_alone
from diffjoint.fitting.model import Model, ValueModel
from diffjoint.metrics import N_CALIBRATION_BINS, calibration_error
from diffjoint.results.verdict import (
    ALL,
    FAR_FACTORS,
    FEWEST_CELLS,
    LOSS_RATE,
    NEAR_FACTORS,
    SEED,
    THRESHOLD,
    alarm,
    all_together,
    on_calls,
    on_missing,
    on_values,
    on_wrong_calls,
)
from diffjoint.results.wrong_calls import TOGETHER, find_wrong_calls
from diffjoint.state import JointSpace, Observation
from diffjoint.table import Column
from diffjoint.values.boosted import learn_values
from diffjoint.values.wrapped import Wrapped, learn_wrapped

MOST_ROWS, FEWEST_ROWS, MOST_CELLS = 10_000, 2_000, 400_000
"""Rows beyond which a sample of them is checked: fewer in wide tables."""
FEWEST_HIDDEN, MOST_HIDDEN, USUAL_HIDDEN = 0.02, 0.3, 0.1
"""Share of the observed cells to hide: at least, at most, and where nothing tells the loss rate."""
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)
MOST_LOST = 0.95
ENOUGH_ERRORS, LEAST_GAIN = 2.0, 0.05
"""What is better than the mean or mode: by so many standard errors, and by so much of its error."""

Folds = NDArray[np.int64]


@dataclass(frozen=True)
class SelfCheck:
    """How far a table itself bears out what is said of it; print it.

    Attributes
    ----------
    wrong_calls : DataFrame
        How many calls would be wrong, a row per searched column: ``column``; ``n_missing`` cells
        that may be meaningful, or not; ``expected_wrong`` share of the calls on them, by their own
        probabilities (the mean of 1 - P(meaningful) where kept, of P(meaningful) where filled);
        ``n_shown`` observed cells that were judged as if they had been lost together with the cells
        that go missing with them; ``false_calls``: the share of these that would be kept as NA; and
        ``n_lost`` cells that were lost by this estimate (those called lost, by the share of lost
        cells that is called so), which weights the columns in the verdict.
    values : DataFrame
        Observed cells that were hidden and filled again, a row per column: ``column``, ``kind``,
        ``n_cells``, ``measure`` ("accuracy", or "standardised_rmse": errors in standard deviations
        of the column), ``score``, ``mean_or_mode`` (the same measure of the mean or the most
        frequent level), ``is_better``: by more than chance explains, and by a twentieth of the
        squared error or of the wrong levels at least, and ``n_missing``: cells of the whole table
        that were there to be filled.
    missing : DataFrame
        P(missing) against who is missing, in rows that it was not learnt from: ``column``,
        ``n_cells``, ``said`` and ``found`` share, ``calibration_error``, ``by_chance`` (what that
        would be if P(missing) were right), and ``false_calls`` as in ``wrong_calls``.
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
    wrong_calls: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def alarm(self) -> str:
        """Which columns' calls are not to be trusted; empty if there is no such column."""
        return alarm(self.wrong_calls) if len(self.wrong_calls) else ""

    @property
    def verdicts(self) -> tuple[str, ...]:
        """What the numbers come to, in sentences.

        How many calls would be wrong comes first, after the alarm if there is one; then values,
        P(missing) and how steady the calls are.
        """
        if not len(self.missing):
            return (on_values(self.values),)
        return (
            *([self.alarm] if self.alarm else []),
            on_wrong_calls(self.wrong_calls),
            on_values(self.values),
            on_missing(self.missing),
            on_calls(self.calls),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data: the alarm, the verdicts, the tables as lists of records, and the notes."""
        tables = ("wrong_calls", "values", "missing", "bins", "calls")
        records = {name: getattr(self, name).to_dict("records") for name in tables}
        told = {"alarm": self.alarm, "verdicts": list(self.verdicts)}
        return {**told, **records, "notes": list(self.notes)}

    def __str__(self) -> str:
        if not len(self.missing):
            return "\n\n".join([f"{on_values(self.values)}\n{_shown(self.values)}", *self.notes])
        said = "P(missing) and who is missing, in rows that it was not learnt from:"
        assumed = "Calls, if something else were assumed:"
        together = all_together(self.calls).drop(columns="column")
        parts = [
            f"{on_wrong_calls(self.wrong_calls)}\n{_shown(self.wrong_calls)}",
            f"{on_values(self.values)}\n{_shown(self.values)}",
            f"{on_missing(self.missing)}\n{said}\n{_shown(self.missing)}",
            f"{on_calls(self.calls)}\n{assumed}\n{_shown(together)}",
        ]
        return "\n\n".join([*([self.alarm] if self.alarm else []), *parts, *self.notes])


NEW_ROWS = (
    "These rows are not those of fit. Hidden cells were filled by what fit had learnt; what "
    "another seed or loss rate would change can be told of the rows of fit alone."
)


def check_table(
    observation: Observation, model: Model, loss_rate: LossRate, seed: int, progress: Progress
) -> SelfCheck:
    """Check a table by itself: values and evidence are learnt once more, each, on some rows.

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
    model = check_is_possible(model)
    belief, n_rows = model.belief, len(observation.values)
    is_filled = ~model.space.schema.checkboxes
    n_missing = (~observation.observed)[:, is_filled].sum(axis=0).tolist()
    rng = np.random.default_rng(seed)
    rows, folds = _sample(observation, rng), np.zeros(n_rows, dtype=np.int64)
    if isinstance(belief, EvidenceBelief):
        folds = belief.evidence.judges(observation.values)
    observation, folds, notes = observation.take(rows), folds[rows], _notes(len(rows), n_rows)
    by_column = value_units(observation, model.space, model.settings)
    by_search = evidence_units(observation, model.settings)
    n_folds = n_folds_alone(len(rows), len(model.space.mm)) if model.space.mm else 0
    progress.begin(model.space.n_columns * by_column + n_folds * by_search)
    is_new = bool((folds == NEW).mean() > 0.5)
    notes += (NEW_ROWS,) if is_new else ()
    values = _check_values(observation, model, is_new, rng, seed, Scaled(progress, by_column))
    values = values.assign(n_missing=n_missing)
    if not isinstance(belief, EvidenceBelief):
        notes += ("No column was searched, so that there are no calls to check.",)
        return SelfCheck(values, _frame([]), _frame([]), _frame([]), notes)
    judged = belief.evidence.judge(observation.values, folds)
    columns, gaps = model.space.schema.modelled, ~observation.observed
    threshold = model.settings.threshold
    wrong = find_wrong_calls(observation, model.space, belief, folds, threshold, rng)
    notes += (TOGETHER,)
    missing = [_calibration(columns[j], gaps[:, j], judged[j]) for j in model.space.mm]
    calibration = _frame(missing).assign(false_calls=wrong["false_calls"])
    bins = [row for j in model.space.mm for row in _bins(columns[j], gaps[:, j], judged[j])]

    def relearn() -> EvidenceBelief | None:
        again, step = model.seed + 1 + seed, Scaled(progress, by_search)
        return learn_evidence(observation, model.space, loss_rate, again, step)

    rates = belief.evidence.loss_rates(judged)
    calls = list(_thresholds(observation, model, belief, folds))
    if not is_new:
        calls += _changes(observation, model, belief, folds, rates, relearn)
    return SelfCheck(values, calibration, _frame(bins), _frame(calls), notes, wrong)


def check_is_possible(model: Model) -> ValueModel:
    """Return a model; raise if its values cannot be checked without drawing them all again."""
    if not isinstance(model, ValueModel):
        raise InputError(
            "self_check is for values that need no draws, those of sampler='amortised' or of a "
            "wrapped imputer; this one was fitted with sampler='inpaint'. Fit with the default."
        )
    return model


def _notes(n_checked: int, n_rows: int) -> tuple[str, ...]:
    by_chance = (
        "Cells were hidden at random. If yours were lost for a reason, they may be harder to fill.",
    )
    if n_checked == n_rows:
        return by_chance
    return (
        *by_chance,
        f"{n_checked:,} of {n_rows:,} rows were checked, chosen at random. What was learnt anew, "
        "to fill hidden cells and with another seed, was learnt from these alone.",
    )


def _sample(observation: Observation, rng: np.random.Generator) -> NDArray[np.intp]:
    """The rows to check: all, or as many as keep the time within bounds."""
    n_rows, n_columns = observation.values.shape
    most = min(MOST_ROWS, max(FEWEST_ROWS, MOST_CELLS // n_columns))
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, most, replace=False))


def hidden_share(gaps: Mask, space: JointSpace) -> float:
    """How many cells to hide: as many as columns that cannot be meaningful have lost."""
    others = [j for j in range(space.n_columns) if j not in space.kept]
    rates = gaps[:, others].mean(axis=0)
    lost = rates[rates > 0]
    if not len(lost):
        return USUAL_HIDDEN
    return float(np.clip(lost.mean(), FEWEST_HIDDEN, MOST_HIDDEN))


def _check_values(
    observation: Observation,
    model: ValueModel,
    is_new: bool,
    rng: np.random.Generator,
    seed: int,
    progress: Progress,
) -> pd.DataFrame:
    """Hide observed cells, learn from what is left, and fill them again.

    Of rows that were not learnt from, hidden cells are filled by what was.
    """
    space, truth = model.space, observation.values
    observed = observation.observed
    hidden = observed & (rng.random(truth.shape) < hidden_share(~observed, space))
    hidden &= (observed & ~hidden).any(axis=0)  # a column must keep something to learn from
    hidden &= ~space.schema.checkboxes  # nothing is filled there
    left = replace(observation, values=np.where(hidden, np.nan, truth))
    learnt = model.expectation
    if isinstance(learnt, Wrapped) and not is_new:
        learnt = learn_wrapped(learnt.imputer, left, space, seed, progress)
    elif not is_new:
        learnt = learn_values(left, space, model.settings.n_boosters, seed, progress)
    filled, _ = learnt.of(left)
    return _frame(
        [
            _scored(column, truth[hidden[:, j], j], filled[hidden[:, j], j], left.values[:, j])
            for j, column in enumerate(space.schema.modelled)
            if not column.is_checkbox
        ]
    )


def _scored(column: Column, truth: Values, filled: Values, left: Values) -> dict[str, Any]:
    """How near the hidden cells of one column came, and how near one value for all comes."""
    known = left[~np.isnan(left)]
    known = known if len(known) else np.zeros(1)  # then no cell was hidden, and no score is told
    if column.is_categorical:
        levels, counts = np.unique(known, return_counts=True)
        wrong = [(guess != truth).astype(float) for guess in (filled, levels[counts.argmax()])]
        measure, scores = "accuracy", [1 - float(_mean(cells)) for cells in wrong]
    else:
        wrong = [(guess - truth) ** 2 for guess in (filled, known.mean())]
        measure = "standardised_rmse"
        scores = [float(np.sqrt(_mean(cells))) / (column.scale or 1.0) for cells in wrong]
    return {
        "column": column.name,
        "kind": str(column.kind),
        "n_cells": len(truth),
        "measure": measure,
        "score": scores[0],
        "mean_or_mode": scores[1],
        "is_better": _is_better(*wrong),
    }


def _mean(cells: Values) -> float:
    return float(cells.mean()) if len(cells) else np.nan


def _is_better(wrong: Values, usually_wrong: Values) -> bool:
    """Whether errors are smaller than those of one value for all, not by chance nor by a trifle.

    Where there is no error at all, nothing can be better.
    """
    gain = usually_wrong - wrong
    if len(gain) < FEWEST_CELLS:
        return False
    if not wrong.any():
        return True
    by_chance = ENOUGH_ERRORS * gain.std() / np.sqrt(len(gain))
    return bool(gain.mean() > max(by_chance, LEAST_GAIN * usually_wrong.mean()))


def _calibration(column: Column, is_missing: Mask, judged: Judged) -> dict[str, Any]:
    bins = list(_bins(column, is_missing, judged))
    return {
        "column": column.name,
        "n_cells": len(is_missing),
        "said": float(judged.missing_rate.mean()),
        "found": float(is_missing.mean()),
        "calibration_error": calibration_error(is_missing, judged.missing_rate),
        "by_chance": sum(_noise(tenth) for tenth in bins) / max(1, len(is_missing)),
    }


def _noise(tenth: dict[str, Any]) -> float:
    """What is to be expected of |said - found| times the cells, if what is said is right."""
    said = tenth["said"]
    return float(np.sqrt(2 / np.pi * said * (1 - said) * tenth["n_cells"]))


def _bins(column: Column, is_missing: Mask, judged: Judged) -> Iterator[dict[str, Any]]:
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


def _thresholds(
    observation: Observation, model: Model, belief: EvidenceBelief, folds: Folds
) -> Iterator[dict[str, Any]]:
    """Calls as they are, and under other thresholds."""
    threshold, likely = model.settings.threshold, belief.probability(observation, folds)
    named = {f"as now ({THRESHOLD} {threshold:g})": threshold}
    named |= {f"{THRESHOLD} {other:g}": other for other in THRESHOLDS if other != threshold}
    for change, other in named.items():
        called, now = likely > other, likely > threshold
        yield from _flips(change, called, now, observation.candidates, model.space)


def _changes(
    observation: Observation,
    model: Model,
    belief: EvidenceBelief,
    folds: Folds,
    rates: dict[int, float],
    relearn: Callable[[], EvidenceBelief | None],
) -> Iterator[dict[str, Any]]:
    """Calls with another seed, and other loss rates.

    For another loss rate no tree is grown: how likely a cell is missing stays, and what is left
    beside other losses is found again.
    """
    threshold = model.settings.threshold
    now = belief.probability(observation, folds) > threshold

    def told(change: str, called: Mask) -> Iterator[dict[str, Any]]:
        return _flips(change, called, now, observation.candidates, model.space)

    again = relearn()
    if again is not None:
        yield from told(SEED, again.probability(observation) > threshold)
    for factor in sorted((*NEAR_FACTORS, *FAR_FACTORS)):
        scaled = {j: min(factor * rate, MOST_LOST) for j, rate in rates.items()}
        moved = belief.at_loss_rate(observation, scaled, folds)
        yield from told(
            f"{LOSS_RATE} x {factor:g}", moved.probability(observation, folds) > threshold
        )


def _flips(
    change: str, called: Mask, now: Mask, candidates: Mask, space: JointSpace
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
