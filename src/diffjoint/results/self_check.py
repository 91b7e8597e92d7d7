"""Check results on a table whose truth is unknown: hide observed cells, and vary assumptions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from diffjoint._effort import evidence_units, value_units
from diffjoint._progress import Progress, ScaledProgress
from diffjoint._types import Mask, Values
from diffjoint.detectors import EvidenceBelief, LossRate, learn_evidence
from diffjoint.errors import InputError, Words, in_python, option
from diffjoint.evidence import NEW, Judged, n_folds_alone
from diffjoint.fitting.model import Model, ValueModel
from diffjoint.metrics import N_CALIBRATION_BINS, calibration_error
from diffjoint.results.verdict import (
    ALL,
    BETTER,
    FAR_FACTORS,
    FEWEST_HIDDEN_CELLS,
    LOSS_RATE,
    NEAR_FACTORS,
    NO_BETTER,
    NO_ERROR,
    NOT_SHOWN,
    SEED,
    THRESHOLD,
    all_columns,
    describe_calibration,
    describe_stability,
    describe_values,
    describe_wrong_calls,
    find_alarm,
)
from diffjoint.results.wrong_calls import HOW_ESTIMATED, find_wrong_calls
from diffjoint.settings import DEFAULT_DETECTOR
from diffjoint.state import JointSpace, Observation
from diffjoint.table import Column
from diffjoint.values.boosted import learn_values
from diffjoint.values.wrapped import Wrapped, learn_wrapped

MOST_ROWS, FEWEST_ROWS, MOST_CELLS = 10_000, 2_000, 400_000
"""Rows above which a sample is checked: at most, and at least so many as a wide table allows."""
FEWEST_HIDDEN, MOST_HIDDEN, USUAL_HIDDEN = 0.02, 0.3, 0.1
"""Share of the observed cells to hide: smallest, largest, and if the loss rate is unknown."""
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)
"""Thresholds to try."""
MOST_LOST = 0.95
"""Largest loss rate to try."""
ENOUGH_HIDDEN, MOST_ROUNDS, ROWS_IN_ROUNDS = 40, 5, 2_000
"""Cells of each column to hide, if there are so many; in tables of at most so many rows, cells are
hidden in that many rounds, others in each."""
ENOUGH_ERRORS, LEAST_GAIN = 2.0, 0.05
"""Gains needed to be better than the mean or mode: in standard errors, and as a share of its error.
"""
RULED_OUT = 0.2
"""Gain, as a share of the error, that hidden cells must rule out to show that values are no better.
"""

Folds = NDArray[np.int64]


@dataclass(frozen=True)
class SelfCheck:
    """Result of a self-check; ``print`` shows it in words and numbers.

    Attributes
    ----------
    wrong_calls : DataFrame
        Estimated share of wrong calls, one row per searched column:

        - ``column``
        - ``n_missing``: missing cells that were called meaningful or lost
        - ``expected_wrong``: share of wrong calls according to the probabilities themselves, the
          mean of 1 - P(meaningful) over cells kept and of P(meaningful) over cells imputed
        - ``n_shown``: observed cells that were judged as if they had been lost, together with the
          cells that go missing with them
        - ``false_calls``: share of these that would be kept as NA
        - ``n_lost``: estimated number of lost cells, which is the number of cells called lost
          divided by the share of lost cells that are called so; the weight of the column in the
          verdict
    values : DataFrame
        Observed cells that were hidden and imputed again, one row per column:

        - ``column``, ``kind``, ``n_cells``
        - ``measure``: "accuracy", or "standardised_rmse" (errors in standard deviations)
        - ``score``, ``mean_or_mode``: that measure for the imputed values, and for the mean or the
          most frequent level
        - ``verdict``: "better" than the mean or mode, by more than chance explains and by at least
          a twentieth of its squared error or wrong levels; "no better", where a gain of a fifth is
          ruled out; "no error", where neither is ever wrong; otherwise "not shown"
        - ``is_better``: whether the verdict is "better"
        - ``n_missing``: missing cells of the column in the whole table
    missing : DataFrame
        Calibration of P(missing) on rows that it was not fitted on: ``column``, ``n_cells``,
        ``said`` (mean predicted probability), ``found`` (share that is missing),
        ``calibration_error``, ``by_chance`` (the error to expect if P(missing) were right), and
        ``false_calls`` as in ``wrong_calls``.
    bins : DataFrame
        The same by tenths of P(missing): ``column``, ``low``, ``high``, ``n_cells``, ``said``,
        ``found``.
    calls : DataFrame
        Calls under other assumptions: ``change``, ``column`` ("all" for all columns together),
        ``n_cells`` (missing cells that can be meaningful), ``kept`` (share called meaningful),
        ``flipped`` (share called differently than now).
    notes : tuple of str
        Remarks on how the numbers were obtained.
    """

    values: pd.DataFrame
    missing: pd.DataFrame
    bins: pd.DataFrame
    calls: pd.DataFrame
    notes: tuple[str, ...]
    wrong_calls: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def alarm(self) -> Words:
        """Warning that names columns whose calls are not to be trusted; empty if there are none."""
        return in_python(find_alarm(self.wrong_calls) if len(self.wrong_calls) else "")

    @property
    def verdicts(self) -> tuple[Words, ...]:
        """The numbers summed up in sentences.

        The alarm comes first, if there is one. Then follow the share of wrong calls, the imputed
        values, the calibration of P(missing), and how steady the calls are.
        """
        if not len(self.missing):
            return (in_python(describe_values(self.values)),)
        sentences = (
            describe_wrong_calls(self.wrong_calls),
            describe_values(self.values),
            describe_calibration(self.missing),
            describe_stability(self.calls),
        )
        return (*([self.alarm] if self.alarm else []), *map(in_python, sentences))

    def to_dict(self) -> dict[str, Any]:
        """Return the alarm, the verdicts, the tables as lists of records, and the notes."""
        tables = ("wrong_calls", "values", "missing", "bins", "calls")
        records = {name: getattr(self, name).to_dict("records") for name in tables}
        sentences = {"alarm": self.alarm, "verdicts": list(self.verdicts)}
        return {**sentences, **records, "notes": list(self.notes)}

    def __str__(self) -> str:
        """Return the verdicts, each with its table, and the notes."""
        return in_python(self.message)

    @property
    def message(self) -> str:
        """The same text, with references to parameters."""
        values = f"{describe_values(self.values)}\n{_as_text(self.values)}"
        if not len(self.missing):
            return "\n\n".join([values, *self.notes])
        predicted = "P(missing) on rows that it was not fitted on (said), and the share missing:"
        assumed = "Calls under other assumptions:"
        together = all_columns(self.calls).drop(columns="column")
        parts = [
            f"{describe_wrong_calls(self.wrong_calls)}\n{_as_text(self.wrong_calls)}",
            values,
            f"{describe_calibration(self.missing)}\n{predicted}\n{_as_text(self.missing)}",
            f"{describe_stability(self.calls)}\n{assumed}\n{_as_text(together)}",
        ]
        return "\n\n".join([*([self.alarm.message] if self.alarm else []), *parts, *self.notes])


NEW_ROWS = (
    "These rows are not those of fit. Hidden cells were filled in by the model of fit. The effect "
    "of another seed or loss rate can only be checked on the rows of fit."
)


NO_CALLS = "No column was searched, so there are no calls to check."
NOT_EVIDENCE = f"Only calls that the detector {DEFAULT_DETECTOR!r} made are checked."


def check_table(
    observation: Observation,
    model: Model,
    loss_rate: LossRate,
    seed: int,
    progress: Progress,
    n_all: int | None = None,
) -> SelfCheck:
    """Check the results on a table: refit values and evidence once each, on a sample of rows.

    Parameters
    ----------
    observation : Observation
        The table.
    model : Model
        The fitted model.
    loss_rate : float, mapping or None
        The loss rate given to the estimator.
    seed : int
        Seed for the cells to hide, and for the refit of the evidence.
    n_all : int, optional
        Rows of the dataset that these rows stand for.
    """
    model = check_is_possible(model)
    belief, n_rows = model.belief, len(observation.values)
    is_filled = ~model.space.schema.checkboxes
    n_missing = (~observation.observed)[:, is_filled].sum(axis=0).tolist()
    rng = np.random.default_rng(seed)
    rows, folds = _sample(observation, rng), np.zeros(n_rows, dtype=np.int64)
    if isinstance(belief, EvidenceBelief):
        folds = belief.judging_folds(observation.fold_keys)
    observation, folds = observation.take(rows), folds[rows]
    notes = _notes(len(rows), n_all or n_rows)
    by_column = value_units(observation, model.space, model.settings)
    by_search = evidence_units(observation, model.settings)
    n_folds = n_folds_alone(len(rows), len(model.space.mm)) if model.space.mm else 0
    is_new = bool((folds == NEW).mean() > 0.5)
    _, n_rounds = hiding(observation.observed, model.space)
    progress.begin(n_rounds * model.space.n_columns * by_column + n_folds * by_search)
    notes += (NEW_ROWS,) if is_new else ()
    values = _check_values(
        observation, model, is_new, rng, seed, ScaledProgress(progress, by_column)
    )
    values = values.assign(n_missing=n_missing)
    if not isinstance(belief, EvidenceBelief):
        notes += (NO_CALLS if belief is None else NOT_EVIDENCE,)
        return SelfCheck(values, _frame([]), _frame([]), _frame([]), notes)
    judged = belief.evidence.judge(observation.values, folds, observation.answers)
    columns, is_missing = model.space.schema.modelled, ~observation.observed
    threshold = model.settings.threshold
    wrong = find_wrong_calls(observation, model.space, belief, folds, threshold, rng)
    notes += (HOW_ESTIMATED,)
    missing = [_calibration(columns[j], is_missing[:, j], judged[j]) for j in model.space.mm]
    calibration = _frame(missing).assign(false_calls=wrong["false_calls"])
    bins = [row for j in model.space.mm for row in _bins(columns[j], is_missing[:, j], judged[j])]

    def relearn() -> EvidenceBelief | None:
        again, step = model.seed + 1 + seed, ScaledProgress(progress, by_search)
        return learn_evidence(observation, model.space, loss_rate, again, step)

    rates = belief.evidence.loss_rates(judged)
    calls = list(_thresholds(observation, model, belief, folds))
    if not is_new:
        calls += _changes(observation, model, belief, folds, rates, relearn)
    return SelfCheck(values, calibration, _frame(bins), _frame(calls), notes, wrong)


def check_is_possible(model: Model) -> ValueModel:
    """Return the model; raise an error if checking values would mean drawing all of them again."""
    if not isinstance(model, ValueModel):
        raise InputError(
            f"{option('self_check')} is for values that need no draws, those of "
            f"{option('sampler', 'amortised')} or of a wrapped imputer; this one was fitted with "
            f"{option('sampler', 'inpaint')}. Fit with the default."
        )
    return model


def _notes(n_checked: int, n_rows: int) -> tuple[str, ...]:
    by_chance = (
        "Cells were hidden at random. Cells that were lost for a reason may be harder to fill in.",
    )
    if n_checked == n_rows:
        return by_chance
    return (
        *by_chance,
        f"{n_checked:,} of {n_rows:,} rows were checked, chosen at random. The models that fill in "
        "hidden cells, and those of the other seed, were fitted on these rows only.",
    )


def _sample(observation: Observation, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the rows to check: all, or a sample if the table is large."""
    n_rows, n_columns = observation.values.shape
    most = min(MOST_ROWS, max(FEWEST_ROWS, MOST_CELLS // n_columns))
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, most, replace=False))


def hidden_share(is_missing: Mask, space: JointSpace) -> float:
    """Return the share of cells to hide: the mean loss rate of columns that are not searched."""
    others = [j for j in range(space.n_columns) if j not in space.can_be_meaningful]
    rates = is_missing[:, others].mean(axis=0)
    lost = rates[rates > 0]
    if not len(lost):
        return USUAL_HIDDEN
    return float(np.clip(lost.mean(), FEWEST_HIDDEN, MOST_HIDDEN))


def hiding(observed: Mask, space: JointSpace) -> tuple[float, int]:
    """Return the share of cells to hide in a round, and in how many rounds.

    Where few rows are there, more are needed to say anything of each column.
    """
    there = observed[:, ~space.schema.checkboxes].sum(axis=0)
    share, fewest = hidden_share(~observed, space), np.quantile(there, 0.25) if len(there) else 0
    if len(observed) > ROWS_IN_ROUNDS or not fewest:
        return share, 1
    share = max(share, min(ENOUGH_HIDDEN / (MOST_ROUNDS * fewest), 1 / MOST_ROUNDS))
    wanted = int(np.ceil(ENOUGH_HIDDEN / (share * fewest)))
    return share, min(wanted, MOST_ROUNDS, int(1 / share))


def _check_values(
    observation: Observation,
    model: ValueModel,
    is_new: bool,
    rng: np.random.Generator,
    seed: int,
    progress: Progress,
) -> pd.DataFrame:
    """Hide observed cells, fit on the others, and impute the hidden ones.

    In rows that are not those of ``fit``, the fitted model imputes them; nothing is refitted.
    """
    space, truth = model.space, observation.values
    observed = observation.observed
    share, n_rounds = hiding(observed, space)
    ticket = rng.random(truth.shape)
    is_hidden, filled, usual = np.zeros(truth.shape, dtype=bool), truth.copy(), truth.copy()
    for k in range(n_rounds):
        hidden = observed & (ticket >= k * share) & (ticket < (k + 1) * share)
        hidden &= (observed & ~hidden).any(axis=0)  # a column must keep something to fit on
        hidden &= ~space.schema.checkboxes  # checkboxes are not imputed
        left = replace(observation, values=np.where(hidden, np.nan, truth))
        learnt = model.expectation
        if isinstance(learnt, Wrapped) and not is_new:
            learnt = learn_wrapped(learnt.imputer, left, space, seed, progress)
        elif not is_new:
            learnt = learn_values(left, space, model.settings.n_boosters, seed, progress)
        filled[hidden] = learnt.predict(left)[0][hidden]
        usual[hidden] = np.broadcast_to(_usual(left.values, space), truth.shape)[hidden]
        is_hidden |= hidden
    return _frame(
        [
            _scored(column, *(part[is_hidden[:, j], j] for part in (truth, filled, usual)))
            for j, column in enumerate(space.schema.modelled)
            if not column.is_checkbox
        ]
    )


def _usual(left: Values, space: JointSpace) -> Values:
    """Return the mean or the most frequent level of each column; NaN if no cell is there."""
    usual = np.full(left.shape[1], np.nan)
    for j, column in enumerate(space.schema.modelled):
        known = left[~np.isnan(left[:, j]), j]
        if len(known):
            levels, counts = np.unique(known, return_counts=True)
            usual[j] = levels[counts.argmax()] if column.is_categorical else known.mean()
    return usual


def _scored(column: Column, truth: Values, filled: Values, usual: Values) -> dict[str, Any]:
    """Score the imputed hidden cells of a column, and its mean or mode in their place."""
    if column.is_categorical:
        wrong = [(guess != truth).astype(float) for guess in (filled, usual)]
        measure, scores = "accuracy", [1 - float(_mean(cells)) for cells in wrong]
    else:
        wrong = [(guess - truth) ** 2 for guess in (filled, usual)]
        measure = "standardised_rmse"
        scores = [column.standardised(float(np.sqrt(_mean(cells)))) for cells in wrong]
    verdict = _verdict(*wrong)
    return {
        "column": column.name,
        "kind": str(column.kind),
        "n_cells": len(truth),
        "measure": measure,
        "score": scores[0],
        "mean_or_mode": scores[1],
        "verdict": verdict,
        "is_better": verdict == BETTER,
    }


def _mean(cells: Values) -> float:
    return float(cells.mean()) if len(cells) else np.nan


def _verdict(wrong: Values, usually_wrong: Values) -> str:
    """Say whether errors are smaller than those of the mean or mode, by enough to matter."""
    gain = usually_wrong - wrong
    if len(gain) < FEWEST_HIDDEN_CELLS:
        return NOT_SHOWN
    if not wrong.any():
        return BETTER if usually_wrong.any() else NO_ERROR
    by_chance, usual = ENOUGH_ERRORS * gain.std() / np.sqrt(len(gain)), usually_wrong.mean()
    if gain.mean() > max(by_chance, LEAST_GAIN * usual):
        return BETTER
    return NO_BETTER if gain.mean() + by_chance < RULED_OUT * usual else NOT_SHOWN


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
    """Return the expected value of n |said - found| if the predicted probability is right."""
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


def thresholds_to_try(threshold: float) -> dict[str, float]:
    """Return the present threshold and others, by how a check names them."""
    now = {f"as now ({THRESHOLD} {threshold:g})": threshold}
    return now | {f"{THRESHOLD} {other:g}": other for other in THRESHOLDS if other != threshold}


def _thresholds(
    observation: Observation, model: Model, belief: EvidenceBelief, folds: Folds
) -> Iterator[dict[str, Any]]:
    """Yield calls at the present threshold and at others."""
    threshold, likely = model.settings.threshold, belief.probability(observation, folds)
    for change, other in thresholds_to_try(threshold).items():
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
    """Yield calls with another seed and with other loss rates.

    For other loss rates no tree is grown: P(missing) does not depend on them.
    """
    threshold = model.settings.threshold
    now = belief.probability(observation, folds) > threshold

    def compare(change: str, called: Mask) -> Iterator[dict[str, Any]]:
        return _flips(change, called, now, observation.candidates, model.space)

    again = relearn()
    if again is not None:
        yield from compare(SEED, again.probability(observation) > threshold)
    for factor in sorted((*NEAR_FACTORS, *FAR_FACTORS)):
        scaled = {j: min(factor * rate, MOST_LOST) for j, rate in rates.items()}
        moved = belief.at_loss_rate(observation, scaled, folds)
        called = moved.probability(observation, folds) > threshold
        yield from compare(f"{LOSS_RATE} x {factor:g}", called)


def _flips(
    change: str, called: Mask, now: Mask, candidates: Mask, space: JointSpace
) -> Iterator[dict[str, Any]]:
    """Yield how many calls a change makes meaningful, and flips: in all columns, then in each."""
    parts = [(ALL, list(space.mm))] + [(space.schema.modelled[j].name, [j]) for j in space.mm]
    for name, places in parts:
        judged = candidates[:, places]
        n_cells = int(judged.sum())
        yield {
            "change": change,
            "column": name,
            "n_cells": n_cells,
            "kept": float(called[:, places][judged].mean()) if n_cells else np.nan,
            "flipped": float((called != now)[:, places][judged].mean()) if n_cells else np.nan,
        }


def _frame(records: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame.from_records(records)


def _as_text(frame: pd.DataFrame) -> str:
    return frame.to_string(index=False, float_format="{:.3f}".format)
