"""Numbers by rank: shapes that draws have to keep."""

import numpy as np
import pandas as pd
import pytest

from diffjoint import Diffusion, SelectiveImputer
from diffjoint.table import code_table, decode, encode, infer_schema, open_table
from diffjoint.table.ranks import from_scores, quantiles_of, to_scores


def incomes(n_rows, seed=0):
    """A third earn nothing; the others' incomes differ by powers of ten."""
    rng = np.random.default_rng(seed)
    earned = np.exp(rng.normal(7.0, 1.5, n_rows))
    return np.where(rng.random(n_rows) < 1 / 3, 0.0, earned)


def test_scores_of_skewed_numbers_are_normal():
    values = np.exp(np.random.default_rng(0).normal(7.0, 1.5, 20_000))
    scores = to_scores(values, quantiles_of(values))
    assert scores.mean() == pytest.approx(0.0, abs=0.01)
    assert scores.std() == pytest.approx(1.0, abs=0.01)
    np.testing.assert_allclose(from_scores(scores, quantiles_of(values)), values, rtol=1e-9)


def test_normal_numbers_give_the_columns_shape_back():
    values = incomes(20_000)
    drawn = from_scores(np.random.default_rng(1).normal(size=20_000), quantiles_of(values))
    assert (drawn == 0).mean() == pytest.approx(1 / 3, abs=0.02)
    ranks = [0.5, 0.9, 0.99]
    np.testing.assert_allclose(np.quantile(drawn, ranks), np.quantile(values, ranks), rtol=0.15)
    assert drawn.min() == 0.0
    assert drawn.max() <= values.max()


def test_numbers_just_above_a_value_that_many_share_stay_apart_from_it():
    values = np.concatenate([np.zeros(500), np.linspace(0.001, 1, 500)])
    back = from_scores(to_scores(values, quantiles_of(values)), quantiles_of(values))
    np.testing.assert_allclose(back, values, atol=1e-6)
    assert (back == 0).sum() == 500


@pytest.mark.parametrize("column", [[4.0] * 30, [1.0, 2.0], [7.5]])
def test_columns_of_few_values_come_back(column):
    values = np.array(column)
    back = from_scores(to_scores(values, quantiles_of(values)), quantiles_of(values))
    np.testing.assert_allclose(back, values)


def test_encoding_by_rank_and_decoding_give_the_values_back(survey):
    table = open_table(survey)
    schema = infer_schema(table)
    values = code_table(table, schema, "error")
    there = ~np.isnan(values)
    back = decode(encode(values, schema, 0.5, by_rank=True), schema, 0.5, by_rank=True)
    np.testing.assert_allclose(back[there], values[there], rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("by", ["trees", "diffusion"])
def test_drawn_incomes_are_none_or_like_those_observed(by):
    """Scaled numbers would be drawn below zero, and hardly ever exactly zero."""
    income = incomes(600)
    works = np.where(income > 0, "yes", "no")
    table = pd.DataFrame({"income": income, "works": works})
    rng = np.random.default_rng(2)
    table.loc[rng.random(600) < 0.3, "income"] = np.nan
    lost = table["income"].isna()
    diffusion = Diffusion(max_epochs=60, width=64)
    imputer = SelectiveImputer([], random_state=0, diffusion=diffusion).fit(table)
    draws = np.stack([drawn["income"][lost] for drawn in imputer.sample(table, 10, draws=by)])
    observed = table["income"].dropna()
    assert draws.min() >= 0.0
    assert draws.max() <= observed.max()
    is_none = (draws == 0).mean(axis=0)
    assert is_none[works[lost] == "no"].mean() > 0.9
    assert is_none[works[lost] == "yes"].mean() < 0.1
    earned = np.log(draws[draws > 0])
    assert earned.mean() == pytest.approx(7.0, abs=0.4)
    assert earned.std() == pytest.approx(1.5, abs=0.4)
