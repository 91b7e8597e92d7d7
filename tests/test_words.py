"""Every text that reaches a user is in the words of the side that it reaches."""

import json
import re
import signal
import warnings

import pandas as pd
import pytest

from diffjoint import SelectiveImputer, inspect, load
from diffjoint.cli import main
from diffjoint.diffusion.checkpoint import explained_interrupts
from diffjoint.errors import DiffJointError
from diffjoint.simulate import household_survey
from tests.cli.test_cli import SETTINGS

WARNED = pytest.mark.filterwarnings("always::diffjoint.errors.DataWarning")
PRIVATE = re.compile("[\ue000-\uf8ff]")
"""Characters that stand around references to parameters, and are for nobody to see."""


@pytest.fixture(scope="module")
def survey():
    """A table that much can be said of: odd columns, few rows, no rate of losses to go by."""
    table = household_survey(300, seed=1).observed_table.astype(object)
    odd = pd.Series([None] * 281 + [1.5] * 9 + [2.5] * 10, index=table.index, dtype=float)
    table = table.assign(void=None, ticked=table["married"].where(table["married"] == "yes"))
    return table.assign(scarce=odd, born=pd.Timestamp("2001-01-01").date())


def wrong(survey):
    """Parameters that are refused, each in its own words."""
    return [
        {"mm_columns": ["nothing"]},
        {"mm_columns": ["void"]},
        {"mm_columns": "commute"},
        {"column_kinds": {"age": "number"}},
        {"column_kinds": {"commute": "integer"}},
        {"column_kinds": {"void": "integer"}},
        {"column_kinds": {"commute": "checkbox"}},
        {"column_kinds": 7},
        {"rules": {"void": "age > 3"}},
        {"rules": {"person_id": "age > 3"}},
        {"rules": {"commute": "person_id == 'x'"}},
        {"rules": {"commute": "old > 3"}},
        {"rules": {"commute": "married == 'yes'", "married": "commute == 'car'"}},
        {"reason_codes": {"age": "lost"}},
        {"reason_codes": {"person_id": {"x": "lost"}}},
        {"reason_codes": {"age": {"x": "gone"}}},
        {"loss_rate": 2},
        {"loss_rate": {"age": 0.1}},
        {"bounds": {"commute": (0, 1)}},
        {"bounds": {"age": 3}},
        {"bounds": {"age": (60, None)}},
        {"bounds": {"age": (9, 8)}},
        {"mm_fill": {"age": 1}},
        {"mm_fill": {"commute": 7.5}},
        {"mm_output": "nothing"},
        {"checkboxes": "no"},
        {"unseen": "no"},
        {"preset": "no"},
        {"detector": "no"},
        {"memory_limit": "no"},
        {"n_threads": 0},
        {"review_band": 3},
        {"imputer": 7},
        {"mm_output": "category", "mm_label": "car", "mm_columns": ["commute"]},
    ]


@pytest.mark.filterwarnings("ignore::diffjoint.errors.DataWarning")
def test_no_error_shows_a_private_character_in_python(survey):
    for params in wrong(survey):
        imputer = SelectiveImputer(**{"mm_columns": ["commute"], **params})
        with pytest.raises(DiffJointError) as error:
            imputer.fit(survey)
        said = [str(error.value), repr(error.value), *map(str, error.value.args)]
        assert not PRIVATE.search("".join(said)), params
        assert "--" not in str(error.value), params


@WARNED
@pytest.mark.parametrize("columns", [["commute", "spouse_age"], "auto"])
def test_no_text_shows_a_private_character_in_python(survey, columns, recwarn, tmp_path):
    imputer = SelectiveImputer(
        columns, reason_codes={"age": {-9: "lost"}}, random_state=0, n_boosters=1
    ).fit(survey)
    imputer.save(tmp_path / "model")
    said = []
    for fitted in (imputer, load(tmp_path / "model")):
        check = fitted.self_check(survey)
        said += [str(check), repr(check), check.alarm, *check.verdicts, json.dumps(check.to_dict())]
        said += [*fitted.doubts_, repr(fitted), fitted.report(survey, self_check=check).html]
        said += [str(fitted.explain(survey)), str(fitted.review(survey).to_dict())]
    found = inspect(survey)
    said += [repr(found), json.dumps(found.to_dict(), default=str), str(found.to_frame())]
    said += [str(warning.message) for warning in recwarn]
    said += [warnings.formatwarning(w.message, w.category, "", 1, "") for w in recwarn]
    assert len(imputer.doubts_) > 0
    assert len(recwarn) > 3
    assert not PRIVATE.search("\n".join(said))


def test_an_interruption_shows_no_private_character():
    with (
        pytest.raises(KeyboardInterrupt, match="set checkpoint to a folder"),
        explained_interrupts(None),
    ):
        signal.raise_signal(signal.SIGINT)


def run(capsys, *arguments):
    """What the command line says."""
    with pytest.raises(SystemExit):
        main([str(argument) for argument in arguments])
    shown = capsys.readouterr()
    return shown.out + shown.err


@WARNED
def test_the_command_line_says_options_and_nothing_private(survey, tmp_path, capsys):
    survey = survey.drop(columns="born")
    source, out, model = (tmp_path / name for name in ("in.csv", "out.csv", "model"))
    survey.to_csv(source, index=False)
    said = [
        run(capsys, "inspect", source),
        run(capsys, "inspect", source, "--json"),
        run(
            capsys, "impute", source, out, "-m", "commute,spouse_age", "--model-out", model,
            "--code", "age: -9=lost", "--report", tmp_path / "report.html", "--self-check",
            "--review", tmp_path / "review.csv", *SETTINGS,
        ),
        run(capsys, "transform", model, source, out),
        run(capsys, "fit", source, model, "-m", "auto", "--set", "n_draws=3", *SETTINGS),
        *(
            run(capsys, "impute", source, out, *options)
            for options in (
                ["-m", "void"], ["-m", "person_id"], ["-m", "nothing"], ["-m", "", "--rule", "a: b"],
                ["-m", "commute", "--kind", "age=number"], ["-m", "commute", "--bounds", "age=60:"],
                ["-m", "commute", "--mm-fill", "age=1"], ["-m", "commute", "--code", "x: a=lost"],
                ["-m", "", "--kind", "commute=integer"], ["-m", "", "--threads", "0"],
                ["-m", "commute", "--loss-rate", "age=0.1"], ["-m", "", "--memory-limit", "x"],
            )
        ),
    ]  # fmt: skip
    told = "\n".join(said)
    assert "--kind 'void=pass-through'" in told
    assert "--mm-columns names 'nothing'" in told
    assert "Warning: " in told
    assert not PRIVATE.search(told)
    for path in tmp_path.glob("*.[ch]*"):
        assert not PRIVATE.search(path.read_text()), path
