"""Columns whose missing cells are kept without being judged: checkboxes, and those hardly observed."""

import json
import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.impute import KNNImputer

from diffjoint import find_mm_columns, inspect, load
from diffjoint.cli import main
from diffjoint.errors import DataWarning, InputError
from tests.conftest import TINY, TINY_INPAINT, new_imputer

BOXES = [f"serves {dish}" for dish in ("sprouts", "squash", "beans", "corn", "peas", "rolls")]
BOXES += ["works", "consent"]
MM = ["spouse_age"]
N = 400


def checkbox_survey(seed=0):
    """People at dinner, and who of them is married; a box of text, six dishes, a number, a truth."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, N)
    married = rng.random(N) < 0.6
    truth = pd.DataFrame(
        {
            "age": age.astype(float),
            "income": rng.lognormal(8, 0.5, N).round(),
            "married": np.where(married, "yes", "no"),
            "spouse_age": np.where(married, age + rng.integers(-5, 6, N), np.nan),
        }
    )
    lost = rng.random(truth.shape) < 0.08
    table = truth.mask(lost)
    for place, box in enumerate(BOXES):
        ticked = pd.Series(rng.random(N) < 0.05 + 0.05 * place)
        level = {"works": 1.0, "consent": True}.get(box, "Yes")
        table[box] = pd.Series(level, index=range(N), dtype=object).where(ticked, None)
    table["works"] = table["works"].astype("float64")
    table["consent"] = table["consent"].astype("boolean")
    return table, married & lost[:, 3], ~married


def with_pool(table, n_observed=13):
    pool = pd.Series([None] * N, dtype=object)
    pool[:n_observed] = ["good", "fair"] * (n_observed // 2) + ["good"] * (n_observed % 2)
    return table.assign(pool=pool)


def imputer(**params):
    return new_imputer(**{**TINY, "mm_columns": MM, "random_state": 0, **params})


def fitted(table, **params):
    """A fitted imputer, and what it warned of."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", DataWarning)
        model = imputer(**params).fit(table)
    return model, [str(warning.message) for warning in warned]


@pytest.fixture(scope="module")
def survey():
    return checkbox_survey()


@pytest.fixture(scope="module")
def model(survey):
    return fitted(survey[0])[0]


def kinds_of(model):
    return {column.name: str(column.kind) for column in model.schema_.columns}


# Checkboxes


@pytest.mark.slow
def test_no_box_is_ticked_that_was_not(survey, model):
    table, _, _ = survey
    result = model.impute(table)
    pd.testing.assert_frame_equal(result.table[BOXES], table[BOXES])
    pd.testing.assert_frame_equal(result.meaningful[BOXES], table[BOXES].isna())
    assert (result.probability[BOXES] == table[BOXES].isna()).all(axis=None)
    assert result.n_unticked == table[BOXES].isna().sum().sum()
    assert not result.review[BOXES].any(axis=None)
    assert result.table[["age", "income", "married"]].notna().all(axis=None)


def test_empty_boxes_tell_no_loss_rate(survey, model):
    table, lost, unmarried = survey
    calls = model.predict_mm(table)["spouse_age"]
    assert calls[unmarried].mean() > 0.95
    assert calls[lost].mean() < 0.3
    rate = table[["age", "income", "married"]].isna().to_numpy().mean()
    assert model.explain(table)["loss_rate"].mean() == pytest.approx(rate, abs=0.04)


@pytest.mark.slow
def test_the_warning_names_them_and_stays_with_the_model(survey, tmp_path):
    model, warned = fitted(survey[0])
    (doubt,) = [text for text in warned if "checkboxes do" in text]
    assert all(repr(box) in doubt for box in BOXES)
    assert doubt in model.doubts_
    assert doubt in model.report(survey[0]).summary.doubts
    model.save(tmp_path / "model")
    read = load(tmp_path / "model")
    assert read.doubts_ == model.doubts_
    pd.testing.assert_frame_equal(read.transform(survey[0]), model.transform(survey[0]))


@pytest.mark.slow
def test_each_remedy_of_the_warning_changes_the_answer(survey):
    table, _, _ = survey
    _, warned = fitted(table)
    doubt = next(text for text in warned if "checkboxes do" in text)
    kinds = re.search(r"column_kinds=(\{.*?\})", doubt)[1]
    one, told_of_one = fitted(table, column_kinds=eval(kinds))
    after = one.transform(table)
    assert after[BOXES[0]].notna().all()
    pd.testing.assert_frame_equal(after[BOXES[1:]], table[BOXES[1:]])
    assert not any(repr(BOXES[0]) in text for text in told_of_one if "checkboxes do" in text)
    assert "checkboxes='fill'" in doubt
    of_all, told_of_all = fitted(table, checkboxes="fill")
    assert of_all.transform(table)[BOXES].notna().all(axis=None)
    assert not any("checkboxes do" in text for text in told_of_all)


@pytest.mark.slow
def test_a_kind_says_that_it_is_meant(survey):
    table, _, _ = survey
    meant = imputer(column_kinds=dict.fromkeys(BOXES, "checkbox"), checkboxes="fill").fit(table)
    assert not any("checkboxes do" in doubt for doubt in meant.doubts_)
    pd.testing.assert_frame_equal(meant.transform(table)[BOXES], table[BOXES])


def test_a_kind_that_cannot_be_is_refused(survey):
    with pytest.raises(InputError, match="'married' is a checkbox, .* it holds 2 values"):
        imputer(column_kinds={"married": "checkbox"}).fit(survey[0])
    with pytest.raises(InputError, match="mm_columns names 'works', of which column_kinds says"):
        imputer(mm_columns=["works"], column_kinds={"works": "checkbox"}).fit(survey[0])
    with pytest.raises(InputError, match="checkboxes must be one of 'keep', 'fill'; got 'drop'"):
        imputer(checkboxes="drop").fit(survey[0])


@pytest.mark.slow
def test_a_column_that_is_named_is_judged(survey):
    table, _, _ = survey
    model, _ = fitted(table, mm_columns=[*MM, "works"])
    assert kinds_of(model)["works"] == "categorical"
    assert model.mm_columns_ == ["spouse_age", "works"]


def test_what_is_complete_or_empty_or_a_date_is_no_checkbox(survey):
    table, _, _ = survey
    odd = table[["age", "married"]].assign(
        wave="first", void=None, seen=pd.Series([pd.Timestamp("2024-05-01"), pd.NaT] * (N // 2))
    )
    model, _ = fitted(odd, mm_columns=[])
    assert kinds_of(model) == {
        "age": "integer",
        "married": "categorical",
        "wave": "categorical",
        "void": "pass-through",
        "seen": "datetime",
    }


def test_new_rows_are_read_as_fit_understood_them(survey, model):
    table, _, _ = survey
    new = table.iloc[:30].assign(works=np.nan)
    assert model.transform(new)["works"].isna().all()
    assert model.predict_mm(new)["works"].all()
    new["works"] = 1.0
    assert (model.transform(new)["works"] == 1.0).all()
    new.loc[0, "works"] = 7.0
    try:
        with pytest.raises(InputError, match="'works' holds 7.0, a level not seen in fit"):
            model.set_params(unseen="error").transform(new)
        assert model.set_params(unseen="keep").transform(new).loc[0, "works"] == 7.0
        assert np.isnan(model.set_params(unseen="missing").transform(new).loc[0, "works"])
    finally:
        model.set_params(unseen="warn")


@pytest.mark.slow
def test_draws_leave_boxes_alone(survey, model):
    table, _, _ = survey
    for drawn in model.sample(table.iloc[:50], 2):
        pd.testing.assert_frame_equal(drawn[BOXES], table[BOXES].iloc[:50])


@pytest.mark.parametrize(
    "params",
    [{"imputer": KNNImputer()}, {**TINY_INPAINT, "detector": "paper"}],
    ids=["wrap", "paper"],
)
def test_other_ways_to_fill_keep_them_too(survey, params):
    table = survey[0].iloc[:100]
    params = {"n_boosters": None, "n_steps": None, "width": None, "batch_size": None, "max_epochs": None, **params}  # fmt: skip
    model, _ = fitted(table, **params)
    result = model.impute(table)
    pd.testing.assert_frame_equal(result.table[BOXES], table[BOXES])
    assert (result.probability[BOXES] == table[BOXES].isna()).all(axis=None)


def test_joint_false_imputes_everything(survey):
    model = imputer(mm_columns=None, joint=False).fit(with_pool(survey[0]))
    assert model.transform(with_pool(survey[0])).notna().all(axis=None)


@pytest.mark.slow
def test_a_box_says_something_of_other_cells():
    """Who is not ticked as a driver has nothing to say of a car."""
    rng = np.random.default_rng(0)
    drives = rng.random(N) < 0.5
    table = pd.DataFrame(
        {
            "drives": np.where(drives, "Yes", None),
            "car": np.where(drives, rng.normal(size=N), np.nan),
            "age": rng.normal(size=N),
            "rent": rng.normal(size=N),
        }
    )
    table[["age", "rent"]] = table[["age", "rent"]].mask(rng.random((N, 2)) < 0.1)
    lost = drives & (rng.random(N) < 0.1)
    table.loc[lost, "car"] = np.nan
    model, _ = fitted(table, mm_columns=["car"])
    pd.testing.assert_series_equal(
        model.predict_mm(table)["car"], pd.Series(~drives), check_names=False
    )
    why = model.explain(table, (int(np.flatnonzero(~drives)[0]), "car"))
    assert "The rule 'drives == \"Yes\"', which the table follows, fails" in str(why)
    with pytest.raises(InputError, match="'drives', which is a checkbox"):
        model.explain(table, (int(np.flatnonzero(~drives)[0]), "drives"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "ticked"),
    [
        ('`serves corn` == "Yes"', True),
        ('`serves corn` != "Yes"', False),
        ("works == 1", True),
        ("works != 1", False),
        ("consent", True),
        ("not consent", False),
    ],
)
def test_a_rule_can_ask_a_box(survey, rule, ticked):
    table = survey[0]
    gate = next(box for box in BOXES if box in rule)
    model, _ = fitted(table, mm_columns=None, rules={"income": rule})
    empty = table["income"].isna()
    kept = model.predict_mm(table)["income"]
    assert (kept[empty] == (table[gate].isna() == ticked)[empty]).all()


def test_a_box_that_was_lost_is_filled_where_a_tick_is_expected():
    rng = np.random.default_rng(0)
    eats = rng.random(N) < 0.5
    table = pd.DataFrame(
        {
            "eats": np.where(eats, "yes", "no"),
            "helps": np.where(eats, "Yes", None),
            "age": rng.normal(size=N).round(2),
        }
    )
    table.loc[:19, "helps"] = "refused"
    with pytest.warns(DataWarning, match="checkboxes do"):
        model = imputer(mm_columns=[], reason_codes={"refused": "lost"}).fit(table)
    after = model.transform(table)["helps"]
    assert (after[:20].notna() == eats[:20]).all()
    assert (after[20:].notna() == eats[20:]).all()


@pytest.mark.slow
def test_boxes_can_come_out_in_words(survey):
    table, _, _ = survey
    model, _ = fitted(table, mm_output="category", mm_label="No", mm_fill={"works": 0})
    after = model.transform(table)
    assert (after["serves corn"].eq("Yes") == table["serves corn"].notna()).all()
    assert set(after["serves corn"]) == {"Yes", "No"}
    assert after["works"].eq(1).equals(table["works"].notna())
    assert (after["consent_meaningful"] == table["consent"].isna()).all()


@pytest.mark.slow
def test_auto_does_not_judge_boxes(survey):
    found = {record["column"]: record for record in find_mm_columns(survey[0])}
    assert {found[box]["reason"] for box in BOXES} == {"a checkbox: missing is not ticked"}
    assert found["works"]["missing_rate"] == survey[0]["works"].isna().mean()
    assert [name for name, record in found.items() if record["is_named"]] == MM
    model, warned = fitted(survey[0], mm_columns="auto")
    assert model.mm_columns_ == MM
    assert not any("could not judge" in text for text in warned)


@pytest.mark.slow
def test_polars_and_arrays_have_boxes_too(survey):
    table = pl.from_pandas(survey[0])
    model, _ = fitted(table)
    assert model.transform(table)[BOXES].equals(table[BOXES])
    array = survey[0][["age", "income", "works"]].to_numpy(dtype=float)
    model, (doubt, *_) = fitted(array, mm_columns=[])
    assert doubt.startswith("2 holds one value or nothing")
    np.testing.assert_array_equal(model.transform(array)[:, 2], array[:, 2])


# Columns with hardly a value


@pytest.mark.slow
def test_a_column_with_hardly_a_value_is_kept_and_said(survey):
    table, lost, unmarried = survey
    table = with_pool(table)
    model, warned = fitted(table)
    assert kinds_of(model)["pool"] == "pass-through"
    (doubt,) = [text for text in warned if "too few observed" in text]
    assert doubt.startswith("'pool' (13) has too few observed cells")
    assert doubt in model.doubts_
    pd.testing.assert_series_equal(model.transform(table)["pool"], table["pool"])
    calls = model.predict_mm(table)["spouse_age"]
    assert calls[unmarried].mean() > 0.95
    assert calls[lost].mean() < 0.3


@pytest.mark.slow
def test_each_remedy_for_it_changes_the_answer(survey):
    table = with_pool(survey[0])
    doubt = next(text for text in fitted(table)[1] if "too few observed" in text)
    kinds = re.search(r"column_kinds=(\{.*?\})", doubt)[1]
    filled, warned = fitted(table, column_kinds=eval(kinds))
    assert filled.transform(table)["pool"].notna().all()
    assert not any("too few observed" in text for text in warned)
    assert "name it in mm_columns" in doubt
    judged, warned = fitted(table, mm_columns=[*MM, "pool"])
    assert judged.mm_columns_ == [*MM, "pool"]
    assert not any("too few observed" in text for text in warned)


@pytest.mark.slow
@pytest.mark.parametrize("n_observed", [19, 20])
def test_twenty_values_are_enough(survey, n_observed):
    model, _ = fitted(with_pool(survey[0], n_observed))
    assert (kinds_of(model)["pool"] == "pass-through") == (n_observed < 20)


@pytest.mark.slow
def test_what_you_say_of_it_goes_first(survey):
    table = with_pool(survey[0])
    by_rule, _ = fitted(table, rules={"pool": "age > 30"})
    assert kinds_of(by_rule)["pool"] == "categorical"
    with pytest.warns(DataWarning):
        by_label = imputer().fit(table, known_lost=table[["pool"]].isna())
    assert by_label.transform(table, known_lost=table[["pool"]].isna())["pool"].notna().all()


def test_small_tables_are_filled_as_before():
    table = pd.DataFrame({"a": [1.5, None, 2.5, 2.0], "b": ["x", "y", None, "x"]})
    assert imputer(mm_columns=[]).fit_transform(table).notna().all(axis=None)


@pytest.mark.slow
def test_auto_carries_it_along(survey):
    model, warned = fitted(with_pool(survey[0]), mm_columns="auto")
    assert model.mm_columns_ == MM
    assert not any("taken for lost" in text for text in warned)
    assert any("'pool' (13)" in text for text in warned)


# A first look, and the command line


@pytest.mark.slow
def test_a_first_look_says_the_same(survey):
    table = with_pool(survey[0])
    _, warned = fitted(table)
    found = inspect(table)
    assert set(found.doubts) <= set(warned)
    assert len(found.doubts) == 2
    columns = {column.name: column for column in found.columns}
    assert {columns[box].kind for box in BOXES} == {"checkbox"}
    assert columns["pool"].reason == "too few observed cells to judge or fill it: kept"
    assert found.mm_columns == MM
    assert inspect(table, {"pool": "categorical"}, checkboxes="fill").doubts == ()


def run(*arguments):
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return end.value.code


@pytest.mark.slow
@pytest.mark.filterwarnings("always::diffjoint.errors.DataWarning")
def test_the_command_that_inspect_suggests_keeps_them(survey, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    with_pool(survey[0]).to_csv("survey.csv", index=False)
    assert run("inspect", "survey.csv") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "--kind 'serves sprouts=categorical', or of all such columns --checkboxes fill." in shown
    assert "--kind 'pool=categorical'; to have them judged name it in --mm-columns." in shown
    assert run("inspect", "survey.csv", "--json") == 0
    command = json.loads(capsys.readouterr().out)["next"][0]["command"]
    settings = [part for name, value in TINY.items() for part in ("--set", f"{name}={value}")]
    arguments = [*command.split()[1:], *settings]
    assert run(*arguments, "--model-out", "model") == 0
    told = capsys.readouterr()
    said, warned = (" ".join(text.split()) for text in told)
    assert run(*arguments, "--checkboxes", "drop") == 2
    assert "--checkboxes must be one of" in capsys.readouterr().err
    n_unticked = survey[0][BOXES].isna().sum().sum()
    assert f"kept as NA ({n_unticked:,} of these not ticked)" in said
    assert "387 left in columns carried along" in said
    assert warned.count("one value or nothing, as checkboxes do") == 1
    before, after = pd.read_csv("survey.csv", dtype=str), pd.read_csv("survey_completed.csv", dtype=str)  # fmt: skip
    kept = [*BOXES, "pool"]
    pd.testing.assert_frame_equal(before[kept], after[kept])
    assert "treated as not ticked, and kept" in (tmp_path / "survey_report.html").read_text()
    assert run("transform", "model", "survey.csv", "again.csv") == 0
    pd.testing.assert_frame_equal(pd.read_csv("again.csv", dtype=str), after)
    assert "--checkboxes fill" in " ".join(capsys.readouterr().err.split())
    assert run(*arguments, "--checkboxes", "fill", "--kind", "pool=categorical") == 0
    assert pd.read_csv("survey_completed.csv")[kept].notna().all(axis=None)


@pytest.mark.slow
def test_a_self_check_hides_no_box(survey, model):
    check = model.self_check(survey[0])
    assert check.values["column"].tolist() == ["age", "income", "married", "spouse_age"]
