"""Rubin's rules, against numbers worked out by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, t
from sklearn.linear_model import LinearRegression

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


class Result:
    """What statsmodels returns of a regression, as far as pooling reads it."""

    def __init__(self, slope, error):
        self.params = pd.Series({"const": 1.0, "x": slope})
        self.bse = pd.Series({"const": 0.5, "x": error})
        self.df_resid = 10.0


def test_results_pool_as_their_numbers_do():
    results = [Result(4.0, 1.0), Result(5.0, np.sqrt(2.0)), Result(6.0, np.sqrt(3.0))]
    pooled = pool(results)
    by_hand = pool([4.0, 5.0, 6.0], [1.0, 2.0, 3.0], dof_complete=10)
    assert pooled.names == ("const", "x")
    assert pooled.estimate[1] == by_hand.estimate
    assert pooled.dof[1] == pytest.approx(by_hand.dof)
    shown = pooled.table()
    assert shown.index.tolist() == ["const", "x"]
    assert tuple(shown.loc["x", ["low", "high"]]) == pytest.approx(by_hand.interval())


def test_a_function_of_a_table_may_return_results_pairs_or_numbers_alone():
    rng = np.random.default_rng(0)
    tables = [pd.DataFrame({"x": rng.normal(size=400) + shift}) for shift in (0.0, 0.1, 0.2)]
    pairs = pool(tables, lambda table: (table["x"].mean(), table["x"].var() / len(table)))
    alone = pool(tables, lambda table: table["x"].mean(), n_bootstraps=400)
    assert alone.estimate == pairs.estimate
    assert alone.within == pytest.approx(pairs.within, rel=0.15)
    assert pool(tables, lambda table: Result(table["x"].mean(), 1.0)).names == ("const", "x")
    again = pool(tables, lambda table: table["x"].mean(), n_bootstraps=400)
    assert again == alone


def test_scikit_learns_models_pool_by_their_coefficients():
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    tables = [x.assign(y=1 + 2 * x["a"] + rng.normal(size=300)) for _ in range(3)]

    def learn(table):
        return LinearRegression().fit(table[["a", "b"]], table["y"])

    pooled = pool(tables, learn, n_bootstraps=50)
    assert pooled.names == ("intercept", "a", "b")
    low, high = pooled.interval(0.99)
    assert ((low < [1, 2, 0]) & (high > [1, 2, 0])).all()


def test_more_missing_information_takes_more_draws():
    # r = (4/3) B / W, dof = 2 / lambda^2: with W = 2 and B = 1 the information is .4792
    few, many = pool([4.0, 5.0, 6.0], [1.0, 2.0, 3.0]), pool([4.0, 5.0, 6.0], [0.1, 0.1, 0.1])
    assert few.enough_draws() == np.ceil(1 + (few.missing_information / 0.05) ** 2 / 2)
    assert 40 < few.enough_draws() < many.enough_draws()
    assert few.enough_draws(0.2) < few.enough_draws()
    with pytest.raises(InputError, match="between 0 and 1"):
        few.enough_draws(5)


def test_a_plot_shows_every_draw_and_the_interval():
    pooled = pool([Result(4.0, 1.0), Result(5.0, 1.0), Result(6.0, 1.0)])
    axes = pooled.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["const", "x"]
    assert sorted(axes.lines[1].get_xdata()) == [4.0, 5.0, 6.0]


def test_some_parameters_can_be_plotted_by_their_names():
    pooled = pool([Result(4.0, 1.0), Result(5.0, 1.0), Result(6.0, 1.0)])
    axes = pooled.plot(parameters=["x"])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["x"]
    assert sorted(axes.lines[0].get_xdata()) == [4.0, 5.0, 6.0]
    with pytest.raises(InputError, match="have const, x"):
        pooled.plot(parameters=["slope"])


def test_covariances_series_and_mappings_pool_as_their_numbers_do():
    by_hand = pool([[1.0, 2.0], [3.0, 4.0]], [[0.5, 0.25], [0.5, 0.25]])
    series = [pd.Series({"a": 1.0, "b": 2.0}), pd.Series({"a": 3.0, "b": 4.0})]
    covariances = [pd.DataFrame([[0.5, 0.1], [0.1, 0.25]], index=["a", "b"])] * 2
    found = pool(series, covariances)
    assert found.names == ("a", "b")
    np.testing.assert_array_equal(found.standard_error, by_hand.standard_error)
    tables = [pd.DataFrame({"x": [1.0, 2.0, 4.0]}), pd.DataFrame({"x": [1.0, 3.0, 4.0]})]
    by_name = pool(tables, lambda table: {"mean": table["x"].mean(), "most": table["x"].max()})
    assert by_name.names == ("mean", "most")
    assert by_name.estimate[1] == 4.0


def test_a_pooled_estimate_shows_its_table():
    pooled = pool([Result(4.0, 1.0), Result(5.0, 1.0), Result(6.0, 1.0)])
    assert repr(pooled).startswith("Pooled estimates of 3 tables\n")
    assert "p_value" in repr(pooled)
    assert pool([0.0, 0.0], [1.0, 1.0]).table()["p_value"].tolist() == [1.0]
    assert pool([1.96, 1.96], [1.0, 1.0]).table()["p_value"].tolist() == [
        pytest.approx(0.05, abs=1e-4)
    ]


def test_analyses_with_other_parameters_are_refused_by_their_names():
    class Other(Result):
        def __init__(self):
            super().__init__(5.0, 1.0)
            self.params = pd.Series({"const": 1.0, "z": 5.0, "x": 1.0})

    with pytest.raises(InputError, match="table 1 has other parameters .* 'z' is in one"):
        pool([Result(4.0, 1.0), Other()])
    with pytest.raises(InputError, match="1 and 2 of them"):
        pool([[1.0, 2.0], [1.0]], [[1.0, 2.0], [1.0]])


@pytest.mark.parametrize(
    ("estimates", "variances", "options", "words"),
    [
        ([1.0], [1.0], {}, "at least 2 tables"),
        ([1.0, 2.0], None, {}, "got float alone"),
        ([[1.0], [2.0]], np.sum, {"n_bootstraps": 1}, "at least 2"),
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
