"""What a program does with the library all day, each with an answer that must stay the same."""

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from diffjoint import SelectiveImputer, load
from diffjoint.simulate import household_survey
from tests.conftest import new_imputer

COLUMNS = ["spouse_age", "weekly_hours", "commute"]
N_TABLES, N_ROWS = 4, 120
"""Tables to learn from in turn, and the rows of each."""
Use = Callable[[int], object]


def fitted(number: int, n_rows: int = N_ROWS) -> SelectiveImputer:
    """Learn from one of the tables."""
    return new_imputer(COLUMNS, n_boosters=1, random_state=0).fit(table(number, n_rows))


def table(number: int, n_rows: int = N_ROWS) -> pd.DataFrame:
    return household_survey(n_rows, seed=number).observed_table


class Uses:
    """All uses, of imputers that threads share and of ones that are fitted each time.

    Parameters
    ----------
    folder : Path
        Takes the files that are written; every thread has names of its own.
    n_rows : int
        Of the tables to learn from.
    """

    def __init__(self, folder: Path, n_rows: int = N_ROWS) -> None:
        self._folder = folder
        self._shared = [fitted(number, n_rows) for number in range(N_TABLES)]
        self.by_name: dict[str, Use] = {
            "fit": lambda number: fitted(number, n_rows).transform(table(number)),
            "transform": lambda number: self._shared[number].transform(table(number + 100)),
            "judge": lambda number: self._shared[number].predict_mm_proba(table(number + 100)),
            "sample": lambda number: self._shared[number].sample(table(number + 100), 2),
            "review": lambda number: self._shared[number].review(table(number)),
            "explain": lambda number: self._shared[number].explain(table(number).head(20)),
            "report": self._report,
            "save and load": self._save_and_load,
        }

    def _report(self, number: int) -> object:
        path = self._own("report.html")
        self._shared[number].report(table(number)).save(path)
        return path.read_bytes()

    def _save_and_load(self, number: int) -> object:
        path = self._own("model")
        self._shared[number].save(path, key="a key of sixteen or more")
        return load(path, key="a key of sixteen or more").transform(table(number + 100))

    def _own(self, name: str) -> Path:
        return self._folder / f"{threading.current_thread().name} {name}"


def digest(answer: Any) -> str:
    """Return what tells one answer from another, to the last bit."""
    if isinstance(answer, pd.DataFrame):
        told = answer.to_csv(float_format="%.17g") + str(answer.dtypes.tolist())
        return hashlib.sha256(told.encode()).hexdigest()
    if isinstance(answer, bytes):
        return hashlib.sha256(answer).hexdigest()
    return " ".join(map(digest, answer))
