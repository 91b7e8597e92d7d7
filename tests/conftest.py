import os
import signal

import numpy as np
import pandas as pd
import pytest
import torch

from diffjoint import SelectiveImputer
from diffjoint.settings import estimator_params

# Tables in tests are small: a second thread would only wait for the first.
os.environ.setdefault("OMP_NUM_THREADS", "1")
torch.set_num_threads(1)

# A shell that starts the tests in the background has Ctrl-C ignored, by what tests start as well.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

TINY = {"n_boosters": 1, "n_steps": 3, "width": 8, "batch_size": 64, "max_epochs": 3}
"""A budget for tests of behaviour, not of quality."""
TINY_INPAINT = {
    **TINY,
    "sampler": "inpaint",
    "n_iterations": 2,
    "n_draws": 4,
    "n_inpaint_repeats": 2,
}
"""Likewise, for the paper's sampler."""


def new_imputer(mm_columns=None, **params) -> SelectiveImputer:
    """An imputer; settings of the diffusion model may stand beside its own parameters."""
    return SelectiveImputer(mm_columns, **estimator_params(**params))


def _doubt(words: str) -> pytest.MarkDecorator:
    return pytest.mark.filterwarnings(f"ignore:{words}:diffjoint.errors.DataWarning")


FEW_CELLS = _doubt(".*fewer than")
"""For tests whose tables are too small to judge a column by its rows."""
NO_OTHER_LOSSES = _doubt("No column outside mm_columns loses")
"""For tests whose tables lose nothing outside the searched columns."""
FLAT_COLUMNS = _doubt("Cells of .* are missing more often than")
"""For tests whose columns are meaningful about alike in all rows."""


@pytest.fixture
def tiny() -> dict:
    return dict(TINY_INPAINT)


def small_survey() -> pd.DataFrame:
    """Every kind of column, every one with a missing cell, and a shuffled index."""
    rng = np.random.default_rng(0)
    n = 60
    table = pd.DataFrame(
        {
            "person": [f"P{i:03d}" for i in range(n)],
            "age": pd.Series(rng.integers(18, 90, n)).astype("Int64"),
            "income": rng.lognormal(8, 1, n),
            "smoker": pd.Series(rng.random(n) < 0.3).astype("boolean"),
            "town": rng.choice(["Ulm", "Bonn", "Köln"], n),
            "grade": pd.Categorical(
                rng.choice(["low", "mid"], n), categories=["low", "mid", "top"], ordered=True
            ),
            "seen": pd.date_range("2024-01-01", periods=n, freq="D", tz="Europe/Berlin"),
        }
    )
    table.index = pd.Index(rng.permutation(n) + 100)
    for j in range(1, table.shape[1]):
        table.iloc[rng.choice(n, 6, replace=False), j] = None
    return table


@pytest.fixture
def survey() -> pd.DataFrame:
    """A small survey of its own for each test."""
    return small_survey()


@pytest.fixture(autouse=True)
def no_draws_unless_asked_for(monkeypatch):
    """Let reports draw cells only in tests that are about it: learning to draw takes a second."""
    monkeypatch.setattr("diffjoint.report.drawn.USUAL_DRAWS", 0)
