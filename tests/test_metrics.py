import numpy as np
import pandas as pd
import pytest

from diffjoint.metrics import lost_rmse, mm_scores, token_accuracy
from diffjoint.simulate import World

NA = np.nan


@pytest.fixture
def world():
    """Four rows; d is meaningful in the first two, and lost in the third and fourth."""
    truth = pd.DataFrame({"c": [1.0, 2.0, 3.0, 4.0], "d": [NA, NA, 0.0, 1.0]})
    lost = pd.DataFrame({"c": [True, False, True, False], "d": [False, False, True, True]})
    return World(
        name="hand-made",
        seed=0,
        truth=truth,
        meaningful=truth.isna(),
        lost=lost,
        mm_columns=["d"],
        column_kinds={"c": "continuous", "d": "categorical"},
        is_train=np.ones(4, dtype=bool),
    )


def test_scores_computed_by_hand(world):
    called = pd.DataFrame({"c": [False] * 4, "d": [True, False, True, False]})
    assert mm_scores(world, called) == {"precision": 0.5, "recall": 0.5, "f1": 0.5}


def test_calling_nothing_scores_zero_not_an_error(world):
    nothing = pd.DataFrame(False, index=range(4), columns=["c", "d"])
    assert mm_scores(world, nothing) == {"precision": 0.0, "recall": 0.0, "f1": 0.0}


def test_a_token_is_right_if_its_state_is(world):
    completed = pd.DataFrame({"c": [1.0, 2.0, 3.0, 4.0], "d": [NA, 1.0, 0.0, 0.0]})
    assert token_accuracy(world, completed) == 0.5


def test_the_error_counts_lost_cells_only(world):
    completed = pd.DataFrame({"c": [4.0, 99.0, 7.0, 4.0], "d": [NA] * 4})
    assert lost_rmse(world, completed) == pytest.approx(np.sqrt((9 + 16) / 2))
