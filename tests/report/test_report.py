"""The report of a fitted imputer: what it says is what the imputer says."""

import pickle

import numpy as np
import polars as pl
import pytest
from sklearn.impute import SimpleImputer

from diffjoint import Report, SelectiveImputer, inference, load
from diffjoint.cli import main
from diffjoint.errors import InputError
from diffjoint.fitting.model import ValueModel
from diffjoint.simulate import household_survey
from tests.conftest import TINY, TINY_INPAINT, new_imputer

SEARCHED = ["spouse_age", "commute"]


@pytest.fixture(scope="module")
def survey():
    return household_survey(200).observed_table.drop(columns="weekly_hours")


@pytest.fixture(scope="module")
def imputer(survey):
    return new_imputer(SEARCHED, **TINY, random_state=0, review_band=(0.05, 0.95)).fit(survey)


@pytest.mark.slow
def test_it_counts_what_the_imputer_counts(imputer, survey):
    report, result = imputer.report(survey, title="Survey"), imputer.impute(survey)
    told = report.summary
    assert isinstance(report, Report)
    assert (told.n_observed, told.n_kept) == (result.n_observed, result.n_kept)
    assert (told.n_imputed, told.n_left) == (result.n_imputed, result.n_left)
    assert told.n_review == result.n_review == len(told.review)
    for column in told.columns:
        assert column.n_kept == result.meaningful[column.name].sum()
        assert column.n_review == result.review[column.name].sum()
    assert told.is_probability
    assert told.doubts == imputer.doubts_
    assert told.settings["detector"] == "evidence"
    assert told.settings["mm_columns"] == str(SEARCHED)


def test_cells_to_review_are_those_of_review(imputer, survey):
    listed, told = imputer.review(survey), imputer.report(survey).summary.review
    names = ["row", "column", "call", "reason"]
    assert [[getattr(cell, name) for name in names] for cell in told] == listed[
        names
    ].values.tolist()
    assert [cell.imputed for cell in told] == listed["imputed"].fillna("").tolist()


def test_the_table_of_fit_need_not_be_given_again(imputer, survey):
    assert imputer.report().html == imputer.report(survey).html


def test_a_saved_imputer_does_not_carry_the_table(imputer, survey, tmp_path):
    imputer.save(tmp_path / "model")
    for other in (pickle.loads(pickle.dumps(imputer)), load(tmp_path / "model")):
        with pytest.raises(InputError, match="no table of its own. Pass X"):
            other.report()
        assert other.report(survey).summary.n_kept == imputer.report().summary.n_kept


def test_new_rows_and_other_containers_have_a_report(imputer, survey):
    rows = survey.head(50)
    frame = imputer.report(rows).summary
    assert frame.n_rows == 50
    with_index = imputer.report(rows.set_index(rows.index + 1000)).summary
    assert all(cell.index == str(cell.row + 1000) for cell in with_index.review)
    polars = imputer.report(pl.from_pandas(rows)).summary
    assert [column.n_kept for column in polars.columns] == [c.n_kept for c in frame.columns]


def test_what_is_known_does_not_move_with_the_threshold(imputer, survey):
    known = survey[["commute"]].isna() & (survey[["employed"]] == "no").to_numpy()
    column = imputer.report(survey, known_meaningful=known).summary.columns[5]
    assert column.n_settled_kept == known["commute"].sum()
    assert sum(column.likely) == column.n_missing - column.n_settled_kept


def test_cells_that_wait_for_a_rules_gate_are_settled(survey):
    rules = {"spouse_age": 'married == "yes"'}
    asked = survey[["age", "married", "spouse_age"]]
    imputer = new_imputer(rules=rules, **TINY, random_state=0).fit(asked)
    summary = imputer.report().summary
    assert sum(summary.columns[2].likely) == 0
    assert summary.columns[2].n_settled_kept == summary.columns[2].n_kept
    assert all(cell.is_settled for cell in summary.review)
    assert "A survey" in imputer.report(title="A survey").html


@pytest.mark.slow
@pytest.mark.parametrize("params", [{"detector": "paper"}, {"joint": False}, {"mm_columns": []}])
def test_every_way_of_deciding_has_a_report(survey, params):
    tiny = TINY_INPAINT if "detector" in params else TINY
    given = {"mm_columns": SEARCHED, **tiny, **params, "random_state": 0}
    if params.get("joint") is False:
        given["mm_columns"] = []
    report = new_imputer(**given).fit(survey).report()
    assert report.summary.n_missing == survey.isna().to_numpy().sum()
    assert "</html>" in report.html
    if "detector" in params:
        assert len(report.summary.history) == TINY_INPAINT["n_iterations"]
        assert "P(meaningful)" not in report.html
        assert "Loss by pass" in report.html


@pytest.fixture(scope="module")
def check(imputer, survey):
    return imputer.self_check(survey)


@pytest.mark.slow
def test_a_self_check_is_a_part_of_the_report(imputer, survey, check):
    told = imputer.report(survey, self_check=True).summary.check
    assert told.verdicts == check.verdicts
    assert {line.name for line in told.values} == set(check.values["column"])
    assert [line.name for line in told.missing] == SEARCHED
    assert imputer.report(survey).summary.check is None


@pytest.mark.slow
def test_a_self_check_at_hand_is_not_made_again(imputer, survey, check, monkeypatch):
    monkeypatch.setattr("diffjoint.inference.check_table", None)
    report = imputer.report(survey, self_check=check)
    assert report.summary.check.verdicts == check.verdicts


def test_what_was_inferred_of_new_rows_is_not_inferred_again(imputer, survey, monkeypatch):
    rows = survey.head(60)
    anew = imputer.report(rows).html
    listed = imputer.review(rows)
    result = imputer.impute(rows)
    monkeypatch.setattr("diffjoint.fitting.model.ValueModel.infer", None)
    assert imputer.report(rows, result).html == anew
    assert imputer.review(rows, result).equals(listed)
    with pytest.raises(InputError, match="result must be what impute"):
        imputer.report(rows.head(30), result)


@pytest.fixture(scope="module")
def small(survey):
    return survey[["age", "married", "income"]].head(80)


def plain(**params):
    return new_imputer(**{"mm_columns": [], **TINY, "random_state": 0, **params})


@pytest.fixture(scope="module")
def fitted(small):
    return plain().fit(small)


@pytest.mark.parametrize(
    "params",
    [
        {"random_state": 1},
        {"threshold": 0.9},
        {"column_kinds": {"age": "continuous"}},
        {"imputer": SimpleImputer(), **dict.fromkeys(TINY)},
    ],
    ids=lambda params: next(iter(params)),
)
def test_a_result_of_another_imputer_is_refused(fitted, small, params):
    other = plain(**params).fit(small)
    for rows in (small, small.head(30)):
        for ask in (fitted.report, fitted.review):
            with pytest.raises(InputError, match="it comes from another imputer or an earlier fit"):
                ask(rows, other.impute(rows))


def test_what_is_no_result_is_refused(fitted, small):
    with pytest.raises(InputError, match="an Imputation; got DataFrame. Pass that, or leave it"):
        fitted.report(small, fitted.transform(small))


def test_a_result_is_taken_by_a_copy_and_by_the_same_fit_again(fitted, small, tmp_path):
    fitted.save(tmp_path / "model")
    copy, loaded = pickle.loads(pickle.dumps(fitted)), load(tmp_path / "model")
    for other in (copy, loaded, plain().fit(small)):
        for rows in (small, small.head(30)):
            result = pickle.loads(pickle.dumps(fitted.impute(rows)))
            assert other.report(rows, result).summary.n_imputed == result.n_imputed
            assert fitted.review(rows, other.impute(rows)).empty


def test_a_result_stays_good_after_draws_and_goes_out_of_date_with_another_fit(small):
    own = plain().fit(small)
    result = own.impute(small)
    own.sample(small, 1)
    assert own.report(small, result).summary.n_imputed == result.n_imputed
    own.fit(small.head(60))
    with pytest.raises(InputError, match="an earlier fit. Call impute"):
        own.report(small, result)


@pytest.mark.slow
def test_the_command_line_infers_and_checks_new_rows_once(imputer, survey, tmp_path, monkeypatch):
    new, model, report = (tmp_path / name for name in ("new.csv", "model", "report.html"))
    survey.head(80).to_csv(new, index=False)
    imputer.save(model)
    done = []
    for where in ("diffjoint.fitting.model.ValueModel.infer", "diffjoint.inference.check_table"):
        name = where.rsplit(".", 1)[1]
        owner = ValueModel if name == "infer" else inference
        usual = getattr(owner, name)

        def counted(*args, usual=usual, name=name):
            done.append(name)
            return usual(*args)

        monkeypatch.setattr(where, counted)
    options = ["--review", tmp_path / "review.csv", "--report", report, "--self-check", "-q"]
    with pytest.raises(SystemExit) as end:
        main([str(part) for part in ("transform", model, new, tmp_path / "out.csv", *options)])
    assert end.value.code == 0
    assert sorted(done) == ["check_table", "infer"]
    assert "What to trust" in report.read_text(encoding="utf-8")


def test_a_wrapped_imputer_has_a_report_of_its_own_table(survey):
    imputer = SelectiveImputer([], imputer=SimpleImputer()).fit(survey)
    assert imputer.report().summary.n_imputed == imputer.impute(survey).n_imputed


def test_a_report_has_a_file_of_its_own(tmp_path, capsys):
    for report in (tmp_path / "out.csv", tmp_path / "nowhere" / "report.html"):
        with pytest.raises(SystemExit) as end:
            main(["impute", "in.csv", f"{tmp_path / 'out.csv'}", "-m", "", "--report", f"{report}"])
        assert end.value.code != 0
    told = capsys.readouterr().err
    assert "Two outputs are to be written to" in told
    assert "Cannot write" in told


def test_kept_cells_that_are_marked_otherwise_are_said_to_be(imputer, survey):
    marking = pickle.loads(pickle.dumps(imputer)).set_params(mm_output="indicator")
    assert "mm_output=indicator" in marking.report(survey).html
    assert "mm_output" not in imputer.report().html


def test_an_array_has_a_report():
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[:8, 0] = np.nan
    report = new_imputer([], **TINY, random_state=0).fit(X).report(X)
    assert [column.name for column in report.summary.columns] == ["x0", "x1", "x2"]


def test_scikit_learns_own_reprs_stay(imputer):
    assert repr(imputer).startswith("SelectiveImputer(")
    assert "SelectiveImputer" in imputer._repr_html_()
