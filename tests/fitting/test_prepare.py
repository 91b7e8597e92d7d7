"""A table is opened, checked and coded once, whatever is asked about it afterwards."""

import pandas as pd
import pytest

from diffjoint.cli import main
from diffjoint.fitting import prepare
from diffjoint.simulate import household_survey
from diffjoint.state import keys
from tests.conftest import FEW_CELLS, TINY_INPAINT, new_imputer

pytestmark = FEW_CELLS
SEARCHED = ["spouse_age", "weekly_hours"]


@pytest.fixture(scope="module")
def survey():
    return household_survey(300).observed_table[["age", "married", "spouse_age", "weekly_hours"]]


@pytest.fixture
def done(monkeypatch):
    """How often tables are coded."""
    calls = []
    usual = prepare.code_table

    def code_table(*args):
        calls.append("coded")
        return usual(*args)

    monkeypatch.setattr(prepare, "code_table", code_table)
    return calls


def test_the_table_of_fit_is_coded_once(survey, done):
    imputer = new_imputer(SEARCHED, random_state=0).fit(survey)
    result = imputer.impute()
    imputer.review(result=result)
    imputer.report(result=result)
    imputer.self_check()
    assert done == ["coded"]


def test_new_rows_are_coded_once(survey, done):
    imputer = new_imputer(SEARCHED, random_state=0).fit(survey.head(200))
    done.clear()
    new = survey.tail(100)
    result = imputer.impute(new)
    imputer.review(new, result)
    imputer.report(new, result)
    imputer.self_check(new, result)
    assert done == ["coded"]


def test_a_table_that_changed_since_fit_is_coded_again(survey):
    own = survey.copy()
    imputer = new_imputer(SEARCHED, random_state=0).fit(own)
    own.loc[0, "age"] = 99.0
    assert imputer.transform(own).loc[0, "age"] == 99.0


def test_other_known_cells_are_not_taken_for_those_of_the_result(survey):
    imputer = new_imputer(SEARCHED, random_state=0).fit(survey)
    result = imputer.impute(survey)
    lost = pd.DataFrame({"spouse_age": survey["spouse_age"].isna()})
    with pytest.raises(ValueError, match="it is of another table"):
        imputer.report(survey, result, known_lost=lost)


@pytest.mark.parametrize("command", ["impute", "transform"])
def test_a_command_codes_its_table_once(command, survey, done, tmp_path, capsys):
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    survey.to_csv(source, index=False)
    given = [str(source), str(out)]
    if command == "transform":
        new_imputer(SEARCHED, random_state=0).fit(survey).save(tmp_path / "model")
        given = [str(tmp_path / "model"), *given]
        done.clear()
    else:
        given += ["-m", ",".join(SEARCHED)]
    beside = ["--review", str(tmp_path / "r.csv"), "--report", str(tmp_path / "r.html")]
    with pytest.raises(SystemExit) as end:
        main([command, *given, *beside, "--self-check", "-q"])
    assert end.value.code == 0
    assert done == ["coded"]


@pytest.fixture
def hashed(monkeypatch):
    """How often rows were hashed, whatever for."""
    made, usual = [], keys.content_keys

    def counted(values, seed):
        made.append(seed)
        return usual(values, seed)

    monkeypatch.setattr(keys, "content_keys", counted)
    return made


def test_rows_are_hashed_once_for_each_use(survey, hashed):
    imputer = new_imputer(SEARCHED, random_state=0).fit(survey)
    assert len(hashed) == 3, "for the canonical order, the noise of a seed, and the folds"
    result = imputer.impute()
    imputer.report(result=result)
    imputer.review(result=result)
    assert len(hashed) == 4, "for the folds of the rows in their own order, to explain the calls"


def test_the_paper_needs_no_folds(survey, hashed):
    imputer = new_imputer(SEARCHED, detector="paper", **TINY_INPAINT, random_state=0)
    imputer.fit_transform(survey)
    assert len(hashed) == 2
