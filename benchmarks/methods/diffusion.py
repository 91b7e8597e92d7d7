"""Methods of this package: the default, Diff-Joint as published, DiffPuter (joint model off)."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Self

import pandas as pd

from benchmarks.imputers import new_imputer
from benchmarks.methods.base import Method
from diffjoint import SelectiveImputer

REDUCED: dict[str, Any] = {
    "preset": "fast",
    "sampler": "inpaint",
    "n_iterations": 2,
    "width": 128,
    "max_epochs": 100,
    "batch_size": 1024,
    "learning_rate": 1e-3,
    "n_steps": 10,
    "sigma_max": 10.0,
    "sigma_min": 0.01,
    "n_inpaint_repeats": 3,
}
"""The paper's sampler without a GPU."""
REDUCED_INPAINT: dict[str, Any] = {**REDUCED, "n_draws": 10}
DIFFPUTER: dict[str, Any] = {**REDUCED, "joint": False, "n_draws": 5}
"""Half of DiffPuter's own ten draws, for time; their mean carries a fifth of their variance."""


def budget_of(settings: Mapping[str, Any]) -> str:
    """Return what of the paper's budget is left, in words."""
    return (
        "reduced budget ({n_iterations} passes, width {width}, {max_epochs} epochs in batches of "
        "{batch_size:,} at rate {learning_rate:g}, {n_steps} steps of noise from {sigma_max:g} to "
        "{sigma_min:g}, {n_inpaint_repeats} repeats, {n_draws} draws)"
    ).format(**settings)


class Diffusion(Method):
    """SelectiveImputer with some settings.

    Parameters
    ----------
    column_kinds : dict
    settings
        Passed to the imputer.
    """

    def __init__(self, column_kinds: Mapping[str, str], **settings: Any) -> None:
        super().__init__(column_kinds)
        self.settings = settings
        self.callback: Callable[[SelectiveImputer], object] | None = None

    @property
    def settings_used(self) -> dict[str, Any]:
        """Every number of the imputer, and how it decides."""
        return {"detector": self.imputer.detector, **asdict(self.imputer.settings_)}

    def watch(self, table: pd.DataFrame, seen: Callable[[pd.DataFrame], object]) -> None:
        """Complete a table after each pass."""
        self.callback = lambda imputer: seen(imputer.transform(table))

    def _new(self, table: pd.DataFrame, mm_columns: Sequence[str], seed: int) -> SelectiveImputer:
        """Return an imputer for a table; columns of which nothing was seen stay as they are."""
        unseen = [name for name in self.column_kinds if table[name].isna().all()]
        is_joint = self.settings.get("joint") is not False
        return new_imputer(
            [name for name in mm_columns if is_joint and name not in unseen],
            column_kinds=self.column_kinds | dict.fromkeys(unseen, "pass-through"),
            random_state=seed,
            unseen="keep",
            callback=self.callback,
            **self.settings,
        )

    def fit(self, table: pd.DataFrame, mm_columns: Sequence[str], seed: int) -> Self:
        """Fit the imputer."""
        self.imputer = self._new(table, mm_columns, seed)
        with _doubts_aside():
            self.imputer.fit(table)
        return self

    def fit_transform(
        self, table: pd.DataFrame, mm_columns: Sequence[str], seed: int
    ) -> pd.DataFrame:
        """Fit the imputer and complete the table without drawing twice."""
        self.imputer = self._new(table, mm_columns, seed)
        with _doubts_aside():
            completed: pd.DataFrame = self.imputer.fit_transform(table)
        return completed

    def transform(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the completed table."""
        return self.transform_with_probability(table)[0]

    def transform_with_probability(
        self, table: pd.DataFrame
    ) -> tuple[pd.DataFrame, pd.DataFrame | None]:
        """Return the completed table; P(meaningful) unless the draws decide."""
        result = self.imputer.impute(table)
        says = self.imputer.mm_columns_ and self.settings.get("detector") != "paper"
        return result.table, result.probability if says else None


@contextmanager
def _doubts_aside() -> Iterator[None]:
    """Ignore what an imputer warns of: the tables are what they are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield
