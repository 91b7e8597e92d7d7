"""Why a cell is called meaningful or lost, and which cells a person should look at."""

import datetime as dt
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from diffjoint import SelectiveImputer, load
from diffjoint.errors import DataWarning, InputError
from diffjoint.results.explain import Explanation, Push, check_band
from diffjoint.simulate import household_survey
from tests.conftest import new_imputer

LEAST = {
    "max_epochs": 1,
    "n_steps": 2,
    "width": 8,
    "random_state": 0,
}
FACTS = ["missing_rate", "loss_rate", "mm_rate", "probability", "call"]


@pytest.fixture(scope="module")
def world():
    return household_survey(1_000, seed=7)


@pytest.fixture(scope="module")
def survey(world):
    """With a date, and labels that are not positions."""
    table = world.observed_table.set_index("person_id")
    asked = np.datetime64("2024-03-01") + np.arange(1_000) % 90 * np.timedelta64(1, "D")
    return table.assign(asked=asked.astype("datetime64[us]"))


@pytest.fixture(scope="module")
def fitted(world, survey):
    return new_imputer(world.mm_columns, **LEAST).fit(survey)


@pytest.fixture(scope="module")
def explained(fitted, survey):
    return fitted.explain(survey)


@pytest.mark.slow
def test_every_missing_cell_of_the_searched_columns_is_explained(world, survey, explained):
    assert len(explained) == survey[world.mm_columns].isna().to_numpy().sum()
    assert explained.columns.tolist() == [
        *("row", "index", "column", *FACTS, "towards_meaningful", "towards_lost")
    ]
    assert (survey.index[explained["row"]] == explained["index"]).all()


@pytest.mark.slow
def test_the_table_says_what_the_calls_say(fitted, survey, explained):
    result = fitted.impute(survey)
    cells = list(zip(explained["row"], explained["column"], strict=True))
    likely = [result.probability[column].iloc[row] for row, column in cells]
    np.testing.assert_array_equal(explained["probability"], likely)
    kept = [result.meaningful[column].iloc[row] for row, column in cells]
    np.testing.assert_array_equal(explained["call"] == "meaningful", kept)


def test_the_rates_are_one_equation(explained):
    q, rho, phi = (explained[name] for name in FACTS[:3])
    np.testing.assert_allclose(q, rho + (1 - rho) * phi)
    n_missing = explained.groupby("column")["row"].transform("count")
    nearest = 1 / (n_missing + 2)
    np.testing.assert_allclose(explained["probability"], (phi / q).clip(nearest, 1 - nearest))


def test_one_cell_is_explained_as_in_the_table(fitted, survey, explained):
    for line in explained.iloc[[0, 100, 500]].to_dict("records"):
        why = fitted.explain(survey, (line["row"], line["column"]))
        assert {name: getattr(why, name) for name in FACTS} == {name: line[name] for name in FACTS}
        assert why.towards_meaningful == line["towards_meaningful"]
        assert why.towards_lost == line["towards_lost"]


def test_the_gate_is_named_first(fitted, survey):
    at = ((survey["married"] == "no") & survey["spouse_age"].isna()).to_numpy()
    why = fitted.explain(survey, (int(at.argmax()), "spouse_age"))
    assert why.meaningful
    assert (why.pushes[0].column, why.pushes[0].value) == ("married", "no")
    assert why.pushes[0].log_odds > math.log(10)
    assert [abs(p.log_odds) for p in why.pushes] == sorted(
        (abs(p.log_odds) for p in why.pushes), reverse=True
    )


def test_an_explanation_reads_as_a_sentence():
    pushes = (
        Push("married", "no", math.log(41)),
        Push("age", 23, math.log(1.6)),
        Push("income", None, math.log(0.5)),
        Push("town", "Ulm", math.log(1.05)),
    )
    why = Explanation(3, "spouse_age", 0.97, 0.08, 0.967, 0.99, True, math.log(2), pushes)
    assert str(why) == (
        "spouse_age in row 3 is missing in 97% of rows like this one; losses alone would explain "
        "8%. So it is meaningful with probability 0.99: kept as NA. Towards meaningful: spouse_age "
        "on average (odds x 2.0), married = 'no' (x 41), age = 23 (x 1.6). Towards lost: income "
        "missing (odds x 1/2.0)."
    )
    silent = Explanation(0, "a", 0.004, 0.004, 0.0, 0.0, False, 0.0, ())
    assert str(silent) == (
        "a in row 0 is missing in under 1% of rows like this one; losses alone would explain under "
        "1%. So it is meaningful with probability 0.00: called lost. Nothing in the row speaks for "
        "either."
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("no", "'no'"),
        (23, "23"),
        (23.0, "23"),
        (0.123456789, "0.12346"),
        (True, "True"),
        (None, None),
        (dt.date(2024, 3, 1), "2024-03-01"),
        (pd.Timestamp("2024-03-01"), "2024-03-01"),
        (pd.Timestamp("2024-03-01 12:30"), "2024-03-01 12:30:00"),
        ("x" * 80, "'" + "x" * 25 + "...'"),
    ],
)
def test_values_are_shown_as_the_table_holds_them(value, shown):
    push = Push("c", value, 1.0)
    assert push.cell == ("c missing" if value is None else f"c = {shown}")
    assert str(push) == f"{push.cell} (odds x 2.7)"


def test_dates_levels_and_integers_keep_their_form(fitted, survey):
    why = fitted.explain(survey, (int(survey["commute"].isna().to_numpy().argmax()), "commute"))
    cells = " ".join(str(push) for push in why.pushes)
    assert "asked = 2024-0" in cells
    assert ".0 " not in cells


@pytest.mark.slow
def test_levels_that_fit_did_not_see_are_marked(fitted, survey):
    fitted = SelectiveImputer(**{**fitted.get_params(deep=False), "unseen": "keep"}).fit(survey)
    row = int((survey["spouse_age"].isna() & survey["married"].notna()).to_numpy().argmax())
    strange = survey.copy()
    strange.iloc[row, strange.columns.get_loc("married")] = "it is complicated"
    why = fitted.explain(strange, (row, "spouse_age"))
    assert "married = 'it is complicated', not seen in fit" in {push.cell for push in why.pushes}


@pytest.mark.slow
def test_polars_and_arrays_are_explained_alike(world, survey, fitted, explained):
    frame = pl.from_pandas(survey.reset_index(drop=True))
    again = new_imputer(world.mm_columns, **LEAST).fit(frame).explain(frame)
    assert isinstance(again, pl.DataFrame)
    assert again.columns == [name for name in explained if name != "index"]
    np.testing.assert_array_equal(again["probability"].to_numpy(), explained["probability"])
    assert again["towards_meaningful"].to_list() == explained["towards_meaningful"].tolist()
    rng = np.random.default_rng(0)
    array = rng.normal(size=(300, 3))
    array[rng.random(array.shape) < 0.2] = np.nan
    array[array[:, 0] > 0, 1] = np.nan
    numbers = new_imputer([1], **LEAST).fit(array)
    assert numbers.explain(array).columns.tolist()[:2] == ["row", "column"]
    assert set(numbers.explain(array)["column"]) == {1}
    assert numbers.review(array).columns.tolist()[:2] == ["row", "column"]


@pytest.mark.slow
def test_a_table_without_missing_cells_has_nothing_to_explain(world, survey, fitted):
    whole = survey.dropna()
    assert fitted.explain(whole).empty
    assert fitted.review(whole).empty
    frame = pl.from_pandas(survey.reset_index(drop=True))
    polars = new_imputer(world.mm_columns, **LEAST).fit(frame)
    assert polars.review(frame.drop_nulls()).schema["reason"] == pl.String


def test_a_saved_imputer_explains_as_before(fitted, survey, explained, tmp_path):
    fitted.save(tmp_path / "model")
    again = load(tmp_path / "model")
    pd.testing.assert_frame_equal(again.explain(survey), explained)
    assert again.review_band == (0.2, 0.8)


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ((10_000, "spouse_age"), "cell names row 10000; X has rows 0 to 999"),
        ((-1, "spouse_age"), "cell names row -1; X has rows 0 to 999"),
        ((0, "spouse"), "cell names 'spouse', which is not a column of the table"),
        ("spouse_age", "cell must be a row's position and a column's label, such as"),
        (("P00001", "spouse_age"), "cell must be a row's position and a column's label, such as"),
    ],
)
def test_a_cell_that_is_none_is_refused(fitted, survey, cell, words):
    with pytest.raises(InputError, match=words):
        fitted.explain(survey, cell)


def test_cells_with_nothing_to_explain_are_refused(fitted, survey):
    observed = int(survey["spouse_age"].notna().to_numpy().argmax())
    with pytest.raises(InputError, match=r"which is observed \(\d+\): only missing cells"):
        fitted.explain(survey, (observed, "spouse_age"))
    lost = int(survey["age"].isna().to_numpy().argmax())
    with pytest.raises(InputError, match="cell names 'age', which is not among mm_columns"):
        fitted.explain(survey, (lost, "age"))


@pytest.mark.slow
def test_who_has_no_evidence_says_so(world, survey):
    few = dict.fromkeys(("n_iterations", "n_draws", "n_inpaint_repeats"), 1)
    paper = new_imputer(world.mm_columns, detector="paper", **LEAST, **few).fit(survey)
    with pytest.raises(InputError, match="explain is for detector='evidence'.*uncertainty"):
        paper.explain(survey)
    review = paper.review(survey)
    assert review["reason"].str.contains("no probability").all()
    assert paper.doubts_ == ()
    nothing = new_imputer([], **LEAST).fit(survey)
    with pytest.raises(InputError, match="no column was searched"):
        nothing.explain(survey)
    assert nothing.review(survey).empty


def test_cells_to_review_are_those_in_the_band(fitted, survey):
    result = fitted.impute(survey)
    likely = result.probability.to_numpy()
    expected = (likely >= 0.2) & (likely <= 0.8)
    np.testing.assert_array_equal(result.review, expected)
    assert result.n_review == expected.sum() > 0
    review = fitted.review(survey, result)
    cells = list(zip(review["row"], review["column"], strict=True))
    assert {(i, survey.columns.get_loc(c)) for i, c in cells} == set(
        map(tuple, np.argwhere(expected).tolist())
    )
    doubt = (review["probability"] - 0.5).abs()
    assert doubt.is_monotonic_increasing
    for line in review.to_dict("records"):
        filled = result.table[line["column"]].iloc[line["row"]]
        assert line["imputed"] == (None if line["call"] == "meaningful" else str(filled))


def test_the_reason_to_review_is_that_of_the_explanation(fitted, survey):
    for line in fitted.review(survey).head(5).to_dict("records"):
        why = fitted.explain(survey, (line["row"], line["column"]))
        assert (line["reason"], line["call"]) == (why.reason, why.call)


@pytest.mark.slow
def test_a_review_changes_no_call(fitted, survey):
    none = SelectiveImputer(**{**fitted.get_params(deep=False), "review_band": None}).fit(survey)
    np.testing.assert_array_equal(none.predict_mm(survey), fitted.predict_mm(survey))
    assert none.impute(survey).n_review == 0
    with pytest.raises(InputError, match="review_band is None"):
        none.review(survey)
    wide = none.set_params(review_band=[0, 1])
    n_missing = int(survey[wide.mm_columns].isna().to_numpy().sum())
    assert wide.impute(survey).n_review == n_missing, "observed cells are never doubtful"


def test_another_table_s_result_is_refused(fitted, survey):
    with pytest.raises(InputError, match="result must be what impute"):
        fitted.review(survey, fitted.impute(survey.head(50)))


@pytest.mark.parametrize("band", [0.5, (0.8, 0.2), (0.2,), (0.2, 1.2), "ab", ("a", "b"), (True, 1)])
def test_a_band_that_is_none_is_refused_before_any_work(survey, band):
    with pytest.raises(InputError, match="review_band must be two probabilities"):
        new_imputer(["commute"], review_band=band, **LEAST).fit(survey)
    assert check_band(None) is None


@pytest.mark.slow
def test_doubts_are_kept(survey, tmp_path):
    table = survey[["age", "spouse_age"]].dropna(subset="age")
    with pytest.warns(DataWarning) as warned:
        imputer = new_imputer(["spouse_age"], **LEAST).fit(table)
    assert imputer.doubts_ == tuple(str(w.message) for w in warned)
    assert "the loss rate is told by each column alone" in imputer.doubts_[0]
    imputer.save(tmp_path / "model")
    assert load(tmp_path / "model").doubts_ == imputer.doubts_


@pytest.mark.slow
def test_a_table_of_searched_columns_alone_is_doubted(survey):
    columns = ["spouse_age", "commute"]
    with pytest.warns(DataWarning, match="Every column is in mm_columns"):
        imputer = new_imputer(columns, **LEAST).fit(survey[columns])
    assert len(imputer.doubts_) == 1
