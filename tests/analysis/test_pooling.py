"""Rubin's rules, against numbers worked out by hand."""

import numpy as np
import pytest
from scipy.stats import norm, t

from diffjoint import pool
from diffjoint.errors import InputError


def test_three_tables_pool_as_worked_out_by_hand():
    # W = 2, B = 1, T = 2 + 4/3 = 10/3, lambda = 0.4, r = 2/3, dof = 2 / 0.16 = 12.5
    pooled = pool([4.0, 5.0, 6.0], [1.0, 2.0, 3.0])
    assert pooled.estimate == 5.0
    assert (pooled.within, pooled.between) == (2.0, 1.0)
    assert pooled.standard_error == pytest.approx(np.sqrt(10 / 3))
    assert pooled.dof == pytest.approx(12.5)
    assert pooled.missing_information == pytest.approx((2 / 3 + 2 / 15.5) / (5 / 3))
    assert pooled.n_tables == 3


def test_few_rows_lower_the_degrees_of_freedom_as_barnard_and_rubin_say():
    # observed: 11/13 * 10 * 0.6 = 66/13; together 1 / (1/12.5 + 13/66) = 825 / 228.5
    pooled = pool([4.0, 5.0, 6.0], [1.0, 2.0, 3.0], dof_complete=10)
    assert pooled.dof == pytest.approx(825 / 228.5)
    assert pooled.missing_information == pytest.approx((2 / 3 + 2 / (825 / 228.5 + 3)) / (5 / 3))


def test_the_interval_is_students():
    pooled = pool([4.0, 5.0, 6.0], [1.0, 2.0, 3.0])
    low, high = pooled.interval(0.9)
    reach = t.ppf(0.95, 12.5) * np.sqrt(10 / 3)
    assert (low, high) == pytest.approx((5 - reach, 5 + reach))


def test_vectors_pool_each_parameter_on_its_own():
    estimates, variances = (
        [[4.0, 1.0], [5.0, 2.0], [6.0, 3.0]],
        [[1.0, 0.5], [2.0, 0.5], [3.0, 0.5]],
    )
    pooled = pool(estimates, variances, dof_complete=10)
    for k in range(2):
        alone = pool(np.array(estimates)[:, k], np.array(variances)[:, k], dof_complete=10)
        assert pooled.estimate[k] == alone.estimate
        assert pooled.dof[k] == pytest.approx(alone.dof)
        assert [end[k] for end in pooled.interval()] == pytest.approx(alone.interval())


def test_tables_that_agree_give_what_each_of_them_gives():
    pooled = pool([3.0, 3.0], [4.0, 4.0])
    assert (pooled.standard_error, pooled.between, pooled.dof) == (2.0, 0.0, np.inf)
    assert pooled.missing_information == 0.0
    assert pooled.interval() == pytest.approx((3 - 2 * norm.ppf(0.975), 3 + 2 * norm.ppf(0.975)))


@pytest.mark.parametrize(
    ("estimates", "variances", "options", "words"),
    [
        ([1.0], [1.0], {}, "at least 2 tables"),
        ([1.0, 2.0], [1.0], {}, "one shape"),
        ([1.0, 2.0], [1.0, -1.0], {}, "not negative"),
        ([1.0, np.nan], [1.0, 1.0], {}, "finite"),
        ([1.0, 2.0], [1.0, 1.0], {"dof_complete": 0}, "above 0"),
    ],
)
def test_what_cannot_be_pooled_is_refused_in_words(estimates, variances, options, words):
    with pytest.raises(InputError, match=words):
        pool(estimates, variances, **options)


def test_a_level_is_a_share():
    with pytest.raises(InputError, match="between 0 and 1"):
        pool([1.0, 2.0], [1.0, 1.0]).interval(95)


def test_intervals_of_proper_draws_cover_and_those_of_one_draw_do_not():
    rng = np.random.default_rng(0)
    n, n_observed, n_draws = 60, 30, 10
    covered, naive = [], []
    for _ in range(400):
        seen = rng.normal(0, 1, n_observed)
        tables = []
        for _ in range(n_draws):
            variance = (n_observed - 1) * seen.var(ddof=1) / rng.chisquare(n_observed - 1)
            mean = rng.normal(seen.mean(), np.sqrt(variance / n_observed))
            drawn = rng.normal(mean, np.sqrt(variance), n - n_observed)
            tables.append(np.concatenate([seen, drawn]))
        means = [table.mean() for table in tables]
        variances = [table.var(ddof=1) / n for table in tables]
        low, high = pool(means, variances, dof_complete=n - 1).interval()
        covered.append(low <= 0 <= high)
        naive.append(abs(means[0]) <= 2 * np.sqrt(variances[0]))
    assert 0.92 < np.mean(covered) < 0.98
    assert np.mean(naive) < 0.85
