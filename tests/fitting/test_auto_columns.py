"""`mm_columns="auto"`: columns found without being named."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from diffjoint import find_mm_columns, load
from diffjoint.errors import InputError
from diffjoint.simulate import household_survey
from tests.conftest import new_imputer

LEAST = {
    "max_epochs": 1,
    "n_steps": 2,
    "width": 8,
    "random_state": 0,
}


@pytest.fixture(scope="module")
def world():
    return household_survey(1_000, seed=7)


@pytest.fixture(scope="module")
def fitted(world):
    imputer = new_imputer("auto", column_kinds=world.column_kinds, **LEAST)
    return imputer.fit(world.observed_table)


@pytest.fixture
def losses():
    """A table whose cells are only lost."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(300, 4)), columns=["a", "b", "c", "auto"])
    return table.mask(rng.random(table.shape) < 0.2)


@pytest.mark.slow
def test_skip_logic_is_found_and_used(world, fitted):
    assert fitted.mm_columns_ == world.mm_columns
    kept = fitted.predict_mm(world.observed_table)
    unmarried = world.truth["married"] == "no"
    assert kept.loc[unmarried, "spouse_age"].mean() > 0.95
    assert not kept[["age", "married", "employed", "income"]].any(axis=None)


def test_the_evidence_is_a_table(world, fitted):
    evidence = pd.DataFrame(fitted.mm_evidence_).set_index("column")
    assert list(evidence.index) == [c for c in world.truth if c != "person_id"]
    assert (evidence["p_value"] <= 0.05).equals(evidence["is_named"])
    assert evidence.loc["commute", "missing_rate"] == pytest.approx(
        world.observed_table["commute"].isna().mean()
    )
    assert evidence.loc["commute", "auc"] > 0.9
    assert evidence.loc["age", "reason"] == "losses explain it"


@pytest.mark.slow
def test_it_is_what_find_mm_columns_says(world, fitted):
    assert find_mm_columns(world.observed_table, world.column_kinds) == fitted.mm_evidence_
    turned = world.observed_table.iloc[::-1]
    assert find_mm_columns(turned, world.column_kinds) == fitted.mm_evidence_


@pytest.mark.slow
def test_polars_tables_are_searched(world, fitted):
    table = pl.from_pandas(world.observed_table)
    assert find_mm_columns(table, world.column_kinds) == fitted.mm_evidence_


def test_a_saved_imputer_keeps_what_was_found(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.mm_columns == "auto"
    assert again.mm_columns_ == fitted.mm_columns_
    assert again.mm_evidence_ == fitted.mm_evidence_


def test_where_nothing_is_found_everything_is_imputed(losses):
    imputer = new_imputer("auto", **LEAST)
    assert imputer.fit_transform(losses).notna().all(axis=None)
    assert imputer.mm_columns_ == []
    assert [found["column"] for found in imputer.mm_evidence_] == list(losses)


def test_a_column_called_auto_can_be_named(losses):
    imputer = new_imputer(["auto"], **LEAST).fit(losses)
    assert imputer.mm_columns_ == ["auto"]
    assert imputer.mm_evidence_ == []


def test_columns_of_an_array_are_found_by_position():
    rng = np.random.default_rng(0)
    gate = rng.integers(0, 2, 500).astype(float)
    table = np.column_stack([gate, np.where(gate == 1, np.nan, rng.normal(size=500))])
    assert new_imputer("auto", **LEAST, loss_rate=0.0).fit(table).mm_columns_ == [1]


def test_without_the_joint_model_nothing_is_searched(losses):
    imputer = new_imputer("auto", **LEAST, joint=False).fit(losses)
    assert imputer.mm_columns_ == imputer.mm_evidence_ == []


@pytest.mark.slow
def test_rates_are_used_where_their_columns_are_found(world):
    rates = {"commute": 0.0, "age": 0.1}
    imputer = new_imputer("auto", column_kinds=world.column_kinds, loss_rate=rates, **LEAST).fit(
        world.observed_table
    )
    kept = imputer.predict_mm(world.observed_table)
    assert kept["commute"].sum() == world.observed_table["commute"].isna().sum()
    with pytest.raises(InputError, match="loss_rate names 'agee'"):
        imputer.set_params(loss_rate={"agee": 0.1}).fit(world.observed_table)


def test_any_other_word_is_refused(losses):
    with pytest.raises(InputError, match="Pass \\['all'\\], or 'auto' to have them found"):
        new_imputer("all", **LEAST).fit(losses)


def test_tables_without_rows_or_columns_have_nothing_to_find():
    assert find_mm_columns(pd.DataFrame({"id": [f"P{i}" for i in range(50)]})) == []
    assert [f["is_named"] for f in find_mm_columns(pd.DataFrame({"a": [1.5, None]}))] == [False]
