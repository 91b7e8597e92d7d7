"""Columns whose meaningful cells imply others."""

import numpy as np
import pytest

from diffjoint.evidence import fit_evidence, pack, unpack
from diffjoint.evidence.folds import Judged
from diffjoint.evidence.implied import consistent, find_implied, keep_to
from diffjoint.state import row_keys
from tests.evidence.turns import ready_to_draw

SPOUSE, AGE, JOB = 0, 1, 2
N_ROWS, LOSS = 4_000, 0.1
NONE = np.zeros(N_ROWS, dtype=bool)


def judged(phi):
    """What is said of cells that are lost as often everywhere."""
    rho = np.full(len(phi), LOSS)
    return Judged(rho + (1 - rho) * phi, rho, phi)


def gaps_of(meaningful, rng):
    return meaningful | (rng.random(meaningful.shape) < LOSS)


@pytest.fixture
def nested():
    """Nobody without a spouse has a spouse's age; some with one have none either."""
    rng = np.random.default_rng(0)
    no_spouse = rng.random(N_ROWS) < 0.3
    no_age = no_spouse | (rng.random(N_ROWS) < 0.2)
    return np.column_stack([no_spouse, no_age, np.zeros(N_ROWS, dtype=bool)])


def test_a_column_implies_those_that_are_never_observed_where_it_is_meaningful(nested):
    is_missing = gaps_of(nested, np.random.default_rng(1))
    share_of_spouse = np.where(is_missing[:, AGE], 0.6, 0.01)
    assert find_implied(judged(share_of_spouse), is_missing, SPOUSE, NONE).tolist() == [
        False,
        True,
        False,
    ]


def test_a_column_that_is_meaningful_beside_an_observed_one_does_not_imply_it(nested):
    is_missing = gaps_of(nested, np.random.default_rng(1))
    share_of_age = np.where(is_missing[:, SPOUSE], 0.8, 0.2)
    assert not find_implied(judged(share_of_age), is_missing, AGE, NONE).any()


def test_a_few_clear_exceptions_are_enough(nested):
    """What is clear of single cells must not be lost from draws."""
    is_missing = gaps_of(nested, np.random.default_rng(1))
    exceptions = np.flatnonzero(~is_missing[:, AGE])[:5]
    is_missing[exceptions, SPOUSE] = True
    share_of_spouse = np.where(is_missing[:, AGE], 0.6, 0.0)
    share_of_spouse[exceptions] = 0.95
    assert not find_implied(judged(share_of_spouse), is_missing, SPOUSE, NONE).any()


def test_losses_that_were_taken_for_too_few_are_no_exceptions(nested):
    rng = np.random.default_rng(1)
    is_missing = gaps_of(nested, rng)
    is_missing[:, SPOUSE] |= ~is_missing[:, AGE] & (rng.random(N_ROWS) < 0.06)
    share_of_spouse = np.where(is_missing[:, AGE], 0.6, 0.06)
    assert find_implied(judged(share_of_spouse), is_missing, SPOUSE, NONE)[AGE]


def test_a_column_that_is_hardly_ever_observed_is_not_implied(nested):
    is_missing = gaps_of(nested, np.random.default_rng(1))
    share_of_spouse = np.where(is_missing[:, AGE], 0.6, 0.0)
    assert find_implied(judged(share_of_spouse), is_missing, SPOUSE, NONE)[AGE]
    is_missing[100:, AGE] = True
    assert not find_implied(judged(share_of_spouse), is_missing, SPOUSE, NONE)[AGE]


def test_a_column_of_which_nothing_seems_meaningful_implies_nothing(nested):
    is_missing = gaps_of(nested, np.random.default_rng(1))
    assert not find_implied(judged(np.zeros(N_ROWS)), is_missing, SPOUSE, NONE).any()


def test_one_known_exception_is_enough(nested):
    is_missing = gaps_of(nested, np.random.default_rng(1))
    share_of_spouse = np.where(is_missing[:, AGE], 0.6, 0.0)
    known = NONE.copy()
    known[np.flatnonzero(is_missing[:, SPOUSE] & ~is_missing[:, AGE])[0]] = True
    assert not find_implied(judged(share_of_spouse), is_missing, SPOUSE, known)[AGE]


def test_what_does_not_hold_all_along_is_not_implied():
    chain = np.zeros((4, 4), dtype=bool)
    chain[0, 1] = chain[1, 2] = chain[2, 3] = chain[1, 3] = True
    assert np.argwhere(consistent(chain)).tolist() == [[1, 2], [1, 3], [2, 3]]
    chain[0, 2] = chain[0, 3] = True
    np.testing.assert_array_equal(consistent(chain), chain)


def test_columns_that_imply_each_other_stay():
    both = np.array([[False, True], [True, False]])
    np.testing.assert_array_equal(consistent(both), both)


IMPLIED = np.array([[False, True, False], [False, False, False], [False, False, False]])


@pytest.mark.parametrize(
    ("column", "drawn", "beside", "decided", "agreed"),
    [
        (AGE, False, [True, False, False], [True, False, True], True),
        (AGE, True, [False, False, False], [True, False, True], True),
        (SPOUSE, True, [False, False, False], [False, True, True], False),
        (SPOUSE, True, [False, False, False], [False, False, True], True),
        (SPOUSE, True, [False, True, False], [False, True, True], True),
        (JOB, True, [False, False, False], [True, True, False], True),
    ],
    ids=["must be", "may be", "cannot be", "open yet", "can be", "no matter"],
)
def test_drawn_cells_agree_with_what_is_decided(column, drawn, beside, decided, agreed):
    found = keep_to(IMPLIED, column, np.array([[drawn]]), np.array([[beside]]), np.array([decided]))
    assert found.tolist() == [[agreed]]


@pytest.fixture
def learnt(nested):
    rng = np.random.default_rng(2)
    values = np.round(rng.normal(40, 10, nested.shape))
    values[gaps_of(nested, rng)] = np.nan
    is_missing, levels = np.isnan(values), np.zeros(3, dtype=np.int64)
    evidence = fit_evidence(values, is_missing, levels, (SPOUSE, AGE))
    return ready_to_draw(evidence, values), values


def draws(evidence, values, known):
    candidates = np.isnan(values) & np.array([True, True, False])
    uniform = np.random.default_rng(3).random((5, *values.shape))
    return evidence.draws(values, candidates, uniform, known, evidence.folds(row_keys(values, 0)))


@pytest.mark.slow
def test_draws_never_contradict_what_is_implied(learnt):
    evidence, values = learnt
    drawn = draws(evidence, values, np.full(values.shape, np.nan))
    assert drawn[:, :, SPOUSE].any()
    assert not (drawn[:, :, SPOUSE] & ~drawn[:, :, AGE]).any()


@pytest.mark.slow
def test_draws_agree_with_cells_that_are_known(learnt):
    """A lost age is the age of someone."""
    evidence, values = learnt
    both = np.isnan(values[:, SPOUSE]) & np.isnan(values[:, AGE])
    known = np.full(values.shape, np.nan)
    known[both, AGE] = 0.0
    assert not draws(evidence, values, known)[:, both, SPOUSE].any()
    known[both, AGE], known[both, SPOUSE] = np.nan, 1.0
    assert draws(evidence, values, known)[:, both, AGE].all()


@pytest.mark.slow
def test_a_packed_model_keeps_to_it_too(learnt):
    evidence, values = learnt
    again, unknown = unpack(pack(evidence)), np.full(values.shape, np.nan)
    assert again.implied.any()
    np.testing.assert_array_equal(draws(again, values, unknown), draws(evidence, values, unknown))
