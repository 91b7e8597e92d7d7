import json
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from diffjoint import load
from diffjoint.cli import main
from diffjoint.cli.console import by_options
from diffjoint.errors import DataWarning, InputError, in_python, option
from diffjoint.simulate import bayesian_network, household_survey
from tests.conftest import FEW_CELLS, TINY, new_imputer

pytestmark = FEW_CELLS

SETTINGS = [part for name, value in TINY.items() for part in ("--set", f"{name}={value}")]


def run(*arguments):
    """Exit code of the command line."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return end.value.code


@pytest.fixture
def survey_file(tmp_path):
    table = household_survey(80).observed_table
    path = tmp_path / "survey.csv"
    table.to_csv(path, index=False)
    return path


def text(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


@pytest.mark.slow
def test_impute_writes_everything_asked_for(survey_file, tmp_path, capsys):
    names = {name: tmp_path / f"{name}.csv" for name in ("out", "mask", "proba", "spread")}
    code = run(
        "impute", survey_file, names["out"], "--mm-columns", "spouse_age,commute", *SETTINGS,
        "--mask-out", names["mask"], "--proba-out", names["proba"],
        "--uncertainty-out", names["spread"], "--model-out", tmp_path / "model",
    )  # fmt: skip
    assert code == 0
    before, after = text(survey_file), text(names["out"])
    there = (before != "").to_numpy()
    assert (after.to_numpy()[there] == before.to_numpy()[there]).all()
    mask = pd.read_csv(names["mask"])
    np.testing.assert_array_equal((after == "").to_numpy(), mask.to_numpy())
    assert ((pd.read_csv(names["proba"]) > 0.5) == mask).all(axis=None)
    shown = capsys.readouterr()
    assert shown.err.strip() == ""
    assert "cells observed" in shown.out
    assert "pass-through" in shown.out


@pytest.mark.slow
@pytest.mark.parametrize(("by_hand", "n_boosters"), [([], 3), (["--set", "n_boosters=1"], 1)])
def test_few_rows_get_several_boosters_unless_set_by_hand(
    survey_file, tmp_path, by_hand, n_boosters
):
    model = tmp_path / "model"
    command = ["impute", survey_file, tmp_path / "out.csv", "-m", "commute", "--model-out", model]
    assert run(*command, *by_hand, "-q") == 0
    assert load(model).settings_.n_boosters == n_boosters


@pytest.mark.slow
def test_cells_to_review_are_counted_and_written(tmp_path, capsys):
    source, listed = tmp_path / "survey.csv", tmp_path / "review.csv"
    household_survey(600).observed_table.to_csv(source, index=False)
    options = ["-m", "spouse_age,weekly_hours,commute", *SETTINGS]
    code = run(
        "impute", source, tmp_path / "out.csv", *options,
        "--review", listed, "--model-out", tmp_path / "model",
    )  # fmt: skip
    assert code == 0
    review = pd.read_csv(listed)
    facts = ["row", "column", "probability", "call", "imputed", "reason"]
    assert list(review) == [*facts, "decision"]
    assert review["decision"].isna().all()
    assert review["probability"].between(0.2, 0.8).all()
    assert review["reason"].str.startswith("missing in ").all()
    told = capsys.readouterr().out
    assert f"{len(review):,} of these are doubtful: see " in told.replace("\n", " ")
    again = tmp_path / "again.csv"
    model, out = tmp_path / "model", tmp_path / "out2.csv"
    assert run("transform", model, source, out, "--review", again) == 0
    assert again.read_bytes() == listed.read_bytes()
    assert run("transform", model, source, tmp_path / "out3.csv") == 0
    assert "doubtful: --review FILE lists them" in capsys.readouterr().out
    assert run("impute", source, listed, *options, "--review", listed) == 2


@pytest.mark.slow
@pytest.mark.filterwarnings("default::diffjoint.errors.DataWarning")
def test_doubts_are_told_once_and_again_in_transform(tmp_path, capsys):
    source = tmp_path / "survey.csv"
    table = household_survey(300).observed_table[["age", "spouse_age"]]
    table.dropna(subset="age").to_csv(source, index=False)
    assert run("fit", source, tmp_path / "model", "-m", "spouse_age", *SETTINGS) == 0
    assert capsys.readouterr().err.count("the loss rate is told by each column alone") == 1
    assert run("transform", tmp_path / "model", source, tmp_path / "out.csv") == 0
    assert capsys.readouterr().err.count("the loss rate is told by each column alone") == 1
    assert run("transform", tmp_path / "model", source, tmp_path / "out.csv", "-q") == 0
    assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_fit_then_transform_gives_what_impute_gives(survey_file, tmp_path):
    options = ["-m", "spouse_age", "-m", "commute", *SETTINGS, "--quiet"]
    assert run("impute", survey_file, tmp_path / "once.csv", *options) == 0
    assert run("fit", survey_file, tmp_path / "model", *options) == 0
    assert run("transform", tmp_path / "model", survey_file, tmp_path / "twice.csv", "-q") == 0
    assert (tmp_path / "once.csv").read_bytes() == (tmp_path / "twice.csv").read_bytes()


@pytest.mark.slow
def test_a_model_draws_if_that_was_asked_for(survey_file, tmp_path, capsys):
    options = ["-m", "commute", *SETTINGS]
    assert run("fit", survey_file, tmp_path / "without", *options) == 0
    assert "explain and review tables; fit --draws saves one that" in capsys.readouterr().out
    assert not load(tmp_path / "without").can_sample_
    assert run("fit", survey_file, tmp_path / "with", *options, "--draws") == 0
    assert "complete, explain and review tables, and draw them." in capsys.readouterr().out
    assert len(load(tmp_path / "with").sample(pd.read_csv(survey_file), 2)) == 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::diffjoint.errors.DataWarning")
def test_new_files_need_not_look_like_the_one_that_was_fitted(tmp_path):
    path = tmp_path / "in.csv"
    rows = "".join(
        f"{i * 7 % 50},{i * 0.37:.2f},2024-01-{i % 28 + 1:02d},{'ab'[i % 2]}\n" for i in range(60)
    )
    path.write_text("n,x,day,letter\n" + rows.replace("b", ""))
    assert run("fit", path, tmp_path / "model", "-m", "letter", *SETTINGS, "-q") == 0
    for line in ("7,,,a", ",3,2024-01-02,", "3,,,", ",4,,a"):
        new = tmp_path / "new.csv"
        new.write_text(f"n,x,day,letter\n{line}\n")
        assert run("transform", tmp_path / "model", new, tmp_path / "out.csv", "-q") == 0
        cells = text(tmp_path / "out.csv").iloc[0]
        assert all(cells[["n", "x", "day"]] != "")
        assert [cells.iloc[i] for i, cell in enumerate(line.split(",")) if cell] == [
            cell for cell in line.split(",") if cell
        ]


@pytest.mark.filterwarnings("ignore::diffjoint.errors.DataWarning")
def test_an_unseen_level_can_be_let_pass(tmp_path, capsys):
    path, new = tmp_path / "in.csv", tmp_path / "new.csv"
    path.write_text(
        "x,letter\n" + "".join(f"{i * 0.5},{'ab'[i % 2]}\n" for i in range(30)) + "1,\n"
    )
    new.write_text("x,letter\n1.5,z\n")
    assert run("fit", path, tmp_path / "model", "-m", "letter", *SETTINGS, "-q") == 0
    command = ["transform", tmp_path / "model", new, tmp_path / "out.csv", "-q"]
    assert run(*command, "--unseen", "error") == 2
    assert "'letter' holds 'z', a level not seen in fit" in " ".join(
        capsys.readouterr().err.split()
    )
    assert run(*command, "--unseen", "keep") == 0
    assert text(tmp_path / "out.csv")["letter"].tolist() == ["z"]


@pytest.mark.slow
def test_quiet_says_nothing(survey_file, tmp_path, capfd):
    run(
        "impute",
        survey_file,
        tmp_path / "o.csv",
        "-m",
        "spouse_age,weekly_hours,commute",
        *SETTINGS,
        "--quiet",
    )
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_parquet_in_and_out(survey_file, tmp_path):
    table = household_survey(80).observed_table
    table.to_parquet(tmp_path / "in.parquet")
    assert (
        run(
            "impute",
            tmp_path / "in.parquet",
            tmp_path / "out.parquet",
            "-m",
            "commute",
            *SETTINGS,
            "-q",
        )
        == 0
    )
    out = pd.read_parquet(tmp_path / "out.parquet")
    assert out.dtypes.equals(table.dtypes)
    assert out["age"].notna().all()


@pytest.mark.slow
def test_csv_through_standard_streams(survey_file):
    done = subprocess.run(
        [sys.executable, "-m", "diffjoint", "impute", "-", "-", "-m", "commute", *SETTINGS],
        input=survey_file.read_bytes(), capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith(b"person_id,age,married")
    assert done.stdout.count(b"\n") == 81


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::diffjoint.errors.DataWarning")
def test_kinds_tokens_and_output_of_meaningful_cells(tmp_path):
    path = tmp_path / "in.csv"
    rows = "".join(f"{i % 9},{'ab?'[i % 3]},{i * 0.5}\n" for i in range(60))
    path.write_text("n,letter,x\n" + rows)
    code = run(
        "impute", path, tmp_path / "out.csv", "-m", "letter", "--na-values", "?", "--kind",
        "n=integer", "--mm-output", "category", *SETTINGS, "-q",
    )  # fmt: skip
    assert code == 0
    assert set(text(tmp_path / "out.csv")["letter"]) <= {"a", "b", "not applicable"}


@pytest.mark.slow
def test_columns_that_are_not_named_are_found_and_told(tmp_path, capsys):
    household_survey(700).observed_table.to_csv(tmp_path / "in.csv", index=False)
    paths = tmp_path / "in.csv", tmp_path / "out.csv"
    assert run("impute", *paths, *SETTINGS) == 0
    shown = capsys.readouterr().out
    assert "may be meaningful: spouse_age, weekly_hours, commute." in shown
    assert "spouse_age, weekly_hours, commute: the rest of the row tells which cells" in shown
    assert "age, married, employed, income: missing as cells are that get lost." in shown
    assert "--mm-columns names the columns instead; --mm-columns '' has every" in shown
    assert text(tmp_path / "out.csv")["age"].ne("").all()


def test_a_column_called_auto_is_named_with_a_comma(survey_file, tmp_path, capsys):
    table = pd.read_csv(survey_file).rename(columns={"commute": "auto"})
    table.to_csv(survey_file, index=False)
    model = tmp_path / "model"
    assert run("fit", survey_file, model, "-m", "auto,", *SETTINGS, "-q") == 0
    assert load(model).mm_columns_ == ["auto"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (
            ["impute", "IN", "OUT", "-m", "spouse"],
            2,
            "--mm-columns names 'spouse', which is not a column of the table",
        ),
        (["impute", "IN", "OUT", "-m", "age", "--preset", "slow"], 2, "preset must be one of"),
        (
            ["impute", "IN", "OUT", "-m", "age", "--set", "draws=3"],
            2,
            "--set names 'draws'; there is sampler, n_boosters",
        ),
        (["impute", "IN", "OUT", "-m", "age", "--set", "n_draws"], 2, "--set takes NAME=VALUE"),
        (
            ["impute", "IN", "OUT", "-m", "age", "--set", "n_draws=x"],
            2,
            "n_draws must be a whole number",
        ),
        (["impute", "IN", "out.xls", "-m", "age"], 2, "must end in .csv"),
        (["impute", "nothing.csv", "OUT", "-m", "age"], 1, "Cannot read nothing.csv"),
        (["impute", "IN", "no/where.csv", "-m", "age"], 1, "Cannot write no/where.csv"),
        (["transform", "nothing", "IN", "OUT"], 1, "there is no such file"),
        (
            ["impute", "IN", "OUT", "-m", "age", "--mask-out", "OUT"],
            2,
            "Two outputs are to be written",
        ),
        (["impute", "IN", "OUT", "-m", "age", "--seed", "-1"], 2, "greater than or equal to 0"),
        (
            ["impute", "IN", "OUT", "-m", "age", "--set", "joint=no"],
            2,
            "joint must be one of True, False",
        ),
        (["impute", "IN", "OUT", "-m", "age", "--set", "log_sigma_mean=x"], 2, "must be a number"),
        (["impute", "IN", "o" * 300 + ".csv", "-m", "age"], 1, "File name too long"),
        (["impute", "IN", "OUT", "-m", "auto,commute"], 2, "--mm-columns auto stands alone"),
        (
            ["impute", "IN", "OUT", "-m", "agee"],
            2,
            "--mm-columns names 'agee', which is not a column of the table",
        ),
        (
            ["impute", "IN", "OUT", "-m", "age", "--loss-rate", "much"],
            2,
            "--loss-rate takes a rate such as 0.1",
        ),
        (
            ["impute", "IN", "OUT", "-m", "age", "--loss-rate", "0.1,age=0.2"],
            2,
            "--loss-rate takes one rate for all",
        ),
        (
            ["impute", "IN", "OUT", "-m", "age", "--loss-rate", "2"],
            2,
            "--loss-rate must be at least 0 and below 1",
        ),
        (
            ["impute", "IN", "OUT", "-m", "spouse_age", "--bounds", "age=120"],
            2,
            "--bounds takes a column and its limits",
        ),
        (
            ["impute", "IN", "OUT", "-m", "spouse_age", "--bounds", "age=60:"],
            2,
            "cells lie below and 0 above",
        ),
        (
            ["impute", "IN", "OUT", "-m", "spouse_age", "--mm-fill", "spouse_age=none"],
            2,
            "--mm-fill['spouse_age'] must be a finite number",
        ),
        (["impute", "IN"], 2, "Missing argument 'OUT'"),
        (["complete"], 2, "No such command"),
    ],
)
def test_wrong_use_and_failed_runs_have_their_codes(
    survey_file, tmp_path, capsys, arguments, code, words
):
    places = {"IN": survey_file, "OUT": tmp_path / "out.csv"}
    assert run(*(places.get(argument, argument) for argument in arguments)) == code
    assert words in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("always::diffjoint.errors.DataWarning")
def test_a_column_without_a_value_is_named_and_carried_along(survey_file, tmp_path, capsys):
    text(survey_file).assign(void="", **{"n/a": "NA"}).to_csv(survey_file, index=False)
    out, model = tmp_path / "out.csv", tmp_path / "model.diffjoint"
    command = ["impute", survey_file, out, *SETTINGS, "--model-out", model]
    command += ["--report", tmp_path / "report.html", "--self-check"]
    assert run(*command, "-m", "commute,void") == 2
    assert "--mm-columns names 'void'" in " ".join(capsys.readouterr().err.split())
    assert run(*command, "-m", "commute") == 0
    told = " ".join(capsys.readouterr().err.split())
    assert told.count("No cell of 'void', 'n/a' holds a value") == 1
    assert "--kind 'void=pass-through' --kind 'n/a=pass-through'." in told
    completed = text(out)
    assert (completed["void"] == "").all()
    assert (completed["n/a"] == "NA").all()
    assert (completed["age"] != "").all()
    new = text(survey_file).head(20).assign(void="x")
    new.to_csv(survey_file, index=False)
    assert run("transform", model, survey_file, out, "-q") == 0
    assert (text(out)["void"] == "x").all()


@pytest.mark.parametrize(
    ("said", "python", "shown"),
    [
        (option("loss_rate"), "loss_rate", "--loss-rate"),
        (option("mm_columns", "auto"), "mm_columns='auto'", "--mm-columns auto"),
        (option("mm_columns", []), "mm_columns=[]", "--mm-columns ''"),
        (option("sampler", "inpaint"), "sampler='inpaint'", "--set sampler=inpaint"),
        (option("column_kinds"), "column_kinds", "--kind"),
        (
            option("column_kinds", {"a b": "integer", 7: "datetime"}),
            "column_kinds={'a b': 'integer', 7: 'datetime'}",
            "--kind 'a b=integer' --kind '7=datetime'",
        ),
        (
            option("reason_codes", {"a:b": {"x": "lost"}}),
            "reason_codes={'a:b': {'x': 'lost'}}",
            "--code '`a:b`: x=lost'",
        ),
        (option("bounds", {"age": (0, None)}), "bounds={'age': (0, None)}", "--bounds 'age=0:'"),
        (option("rules", {"a": "b > 1"}), "rules={'a': 'b > 1'}", "--rule 'a: b > 1'"),
        (
            option("mm_label", {"deck": "lost"}),
            "mm_label={'deck': 'lost'}",
            "--mm-label 'deck=lost'",
        ),
        (option("callback"), "callback", "callback"),
        (option("imputer", np.int64(1)), "imputer=np.int64(1)", "imputer=np.int64(1)"),
    ],
)
def test_messages_speak_of_parameters_in_python_and_of_options_here(said, python, shown):
    for kind in (InputError, DataWarning, in_python):
        message = kind(f"Set {said}.")
        assert str(message) == f"Set {python}."
        assert by_options(message) == f"Set {shown}."
    assert by_options(f"Set {said}.") == f"Set {shown}."


def test_a_column_that_is_called_like_a_parameter_keeps_its_name():
    said = "loss_rate names 'loss_rate'".replace("loss_rate", option("loss_rate"), 1)
    assert by_options(said) == "--loss-rate names 'loss_rate'"


@pytest.mark.slow
@pytest.mark.filterwarnings("always::diffjoint.errors.DataWarning")
def test_rates_by_column_are_kept_and_contradictions_told_once(survey_file, tmp_path, capsys):
    model, new = tmp_path / "model", tmp_path / "new.csv"
    code = run(
        "fit", survey_file, model, "-m", "weekly_hours", *SETTINGS, "-q",
        "--rule", 'commute: employed == "yes"', "--loss-rate", "weekly_hours=0.1,commute=0.2",
    )  # fmt: skip
    assert code == 0
    assert load(model).loss_rate == {"weekly_hours": 0.1, "commute": 0.2}
    survey = text(survey_file)
    survey.loc[survey["employed"] == "no", "commute"] = "car"
    survey.to_csv(new, index=False)
    capsys.readouterr()
    review = tmp_path / "review.csv"
    assert run("transform", model, new, tmp_path / "out.csv", "--review", review, "-q") == 0
    assert capsys.readouterr().err.count("contradict their rule") == 1


def test_a_failed_run_leaves_the_old_output(survey_file, tmp_path, capsys):
    out = tmp_path / "out.csv"
    out.write_text("old")
    options = [*SETTINGS, "--set", "learning_rate=1e30", "--set", "max_epochs=50", "-q"]
    options += ["--set", "sampler=inpaint"]
    assert run("impute", survey_file, out, "-m", "commute", *options) == 1
    assert "training diverged" in capsys.readouterr().err
    assert out.read_text() == "old"


@pytest.mark.slow
def test_ctrl_c_ends_with_code_1_and_a_run_goes_on_from_its_checkpoint(survey_file, tmp_path):
    command = [
        sys.executable, "-m", "diffjoint", "impute", str(survey_file), str(tmp_path / "out.csv"),
        "-m", "commute", *SETTINGS, "--set", "sampler=inpaint",
        "--set", "n_iterations=4000", "--checkpoint", str(tmp_path / "c"), "-q",
    ]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "c" / "checkpoint.diffjoint").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Whole passes are saved in" in said
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("command", [[], ["impute"], ["fit"], ["transform"], ["demo"]])
def test_help_is_there_with_examples(capsys, command):
    assert run(*command, "--help") == 0
    shown = capsys.readouterr().out
    assert "Usage" in shown
    if command != ["demo"]:
        assert f"diffjoint {(command or ['impute'])[0]} " in " ".join(shown.split())


def test_the_version_is_told(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out.startswith("diffjoint 0.")


@pytest.mark.slow
def test_the_demo_shows_before_and_after(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        "diffjoint.cli.run.demo.household_survey", lambda seed: household_survey(120, seed=seed)
    )
    from diffjoint.cli.run import demo

    monkeypatch.setattr(
        demo, "SelectiveImputer", lambda *args, **kwargs: new_imputer(*args, **kwargs, **TINY)
    )
    assert run("demo", "--folder", tmp_path / "demo", "--quiet") == 0
    shown = capsys.readouterr().out
    for words in (
        "Before",
        "After",
        "cells observed",
        "kept as NA",
        "imputed",
        "survey_completed.csv",
    ):
        assert words in shown
    assert (tmp_path / "demo" / "survey_completed.csv").exists()
    last = shown.strip().splitlines()[-1]
    assert last.endswith((tmp_path / "demo" / "report.html").as_uri())
    assert (tmp_path / "demo" / "report.html").exists()


def test_simulate_loses_cells_as_in_life(tmp_path):
    asked = ["--rows", 200, "--mechanism", "survey", "--ratio", 20, "--out", tmp_path / "world"]
    assert run("simulate", "bayesian-network", *asked) == 0
    expected = bayesian_network(140, 60, mechanism="survey", loss_rate=0.2).observed_table
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "world" / "observed.csv"), expected)


@pytest.mark.slow
def test_simulate_impute_and_score(tmp_path, capsys):
    world = tmp_path / "world"
    asked = ["--rows", 200, "--mechanism", "mar", "--ratio", 20, "--seed", 1, "--out", world]
    assert run("simulate", "bayesian-network", *asked) == 0
    assert "Next: diffjoint impute" in capsys.readouterr().out
    observed, done, proba = (world / f"{name}.csv" for name in ("observed", "done", "proba"))
    expected = bayesian_network(140, 60, mechanism="mar", loss_rate=0.2, seed=1).observed_table
    pd.testing.assert_frame_equal(pd.read_csv(observed), expected)
    options = ["-m", "C1,D2,D3", "--proba-out", proba, "--quiet", *SETTINGS]
    assert run("impute", observed, done, *options) == 0
    assert run("score", world, done, "--proba", proba, "--json") == 0
    scores = json.loads(capsys.readouterr().out)
    assert set(scores["meaningful"]) == {"C1", "D2", "D3", "pooled"}
    assert 0 <= scores["meaningful"]["pooled"]["brier"] <= 1
    assert scores["observed_cells_changed"] == 0
    assert scores["rmse"] > 0


def test_the_truth_scores_full_marks(tmp_path, capsys):
    world = tmp_path / "world"
    assert run("simulate", "household-survey", "--rows", 80, "--out", world, "-q") == 0
    assert run("score", world, world / "truth.csv") == 0
    shown = capsys.readouterr().out
    assert "pooled            1.000      1.000   1.000" in shown
    assert "token accuracy: 1\n" in shown


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_test_rows_and_a_mask_can_be_scored(form, tmp_path, capsys):
    folder = tmp_path / "world"
    simulate = ["bayesian-network", "--rows", 200, "--format", form, "--out", folder]
    assert run("simulate", *simulate, "--quiet") == 0
    test = bayesian_network(140, 60).test
    test.truth.fillna(9).to_csv(tmp_path / "filled.csv", index=False)
    test.meaningful.to_csv(tmp_path / "right.csv", index=False)
    (test.meaningful & False).to_csv(tmp_path / "none.csv", index=False)
    for name, f1, accuracy in (("right", 1.0, 1.0), ("none", 0.0, None)):
        options = ["--split", "test", "--mask", tmp_path / f"{name}.csv", "--json"]
        assert run("score", folder, tmp_path / "filled.csv", *options) == 0
        scores = json.loads(capsys.readouterr().out)
        assert scores["meaningful"]["pooled"]["f1"] == f1
        assert accuracy in (None, scores["token_accuracy"])


def test_changed_observed_cells_are_told(tmp_path, capsys):
    folder = tmp_path / "world"
    assert run("simulate", "bayesian-network", "--rows", 100, "--out", folder, "--quiet") == 0
    truth = pd.read_csv(folder / "truth.csv")
    truth.assign(C2=truth["C2"].round()).to_csv(tmp_path / "rounded.csv", index=False)
    assert run("score", folder, tmp_path / "rounded.csv") == 0
    assert "Observed cells that are not as they were: C2 (" in capsys.readouterr().err


def test_simulate_lists_its_worlds(capsys):
    assert run("simulate", "--list") == 0
    assert "acs-2018-wyoming-allocated" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bayesian-network"], "A world and --out are needed"),
        (["telco", "--out", "x"], "There is no world 'telco'"),
        (["bayesian-network", "--out", "x", "--ratio", "0"], "--ratio is a percentage between"),
        (["bayesian-network", "--out", "x", "--mechanism", "no"], "--mechanism must be one of"),
        (["bayesian-network", "--out", "x", "--format", "xls"], "--format must be one of 'csv'"),
        (["bayesian-network", "--out", "x", "--rows", "1"], "rows must be at least 2"),
        (["acs-2018-wyoming-allocated", "--out", "x", "--ratio", "5"], "has losses of its own"),
        (
            ["bayesian-network", "--out", "x", "--ratio", "5", "--mechanism", "none"],
            "loses nothing",
        ),
        (["bayesian-network", "--out", "."], "is there already"),
    ],
)
def test_simulate_says_what_is_wrong(arguments, message, tmp_path, monkeypatch, capsys):
    (tmp_path / "mine.txt").touch()
    monkeypatch.chdir(tmp_path)
    assert run("simulate", *arguments) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_a_real_table_that_is_not_there_is_asked_for(tmp_path, capsys):
    assert run("simulate", "telco-churn", "--data", tmp_path, "--out", tmp_path / "x") == 1
    assert "To get it: download Telco-Customer-Churn.csv" in capsys.readouterr().err


# What the user knows


@pytest.fixture
def coded_file(tmp_path):
    """A survey with skip logic, in which some missing cells say why they are empty."""
    survey = household_survey(120, seed=5).observed_table.astype(object)
    empty = survey.isna()
    survey.loc[empty["income"], "income"] = "refused"
    survey.loc[empty["spouse_age"] & (survey["married"] == "no"), "spouse_age"] = "-1"
    path = tmp_path / "coded.csv"
    survey.to_csv(path, index=False)
    return path


KNOWN = [
    "--rule", 'weekly_hours: employed == "yes"', "--rule", '`commute`: employed == "yes"',
    "--code", "refused=lost", "--code", "spouse_age: -1=meaningful", "-m", "",
]  # fmt: skip


@pytest.mark.slow
def test_rules_and_codes_are_obeyed(coded_file, tmp_path, capsys):
    out = tmp_path / "out.csv"
    assert run("impute", coded_file, out, *KNOWN, *SETTINGS) == 0
    before, after = text(coded_file), text(out)
    for column in ("weekly_hours", "commute"):
        assert ((after[column] != "") == (after["employed"] == "yes")).all()
    assert (after.loc[before["spouse_age"] == "-1", "spouse_age"] == "").all()
    assert after["income"].str.fullmatch(r"\d+").all()
    there = ((before != "") & (before != "refused") & (before != "-1")).to_numpy()
    assert (after.to_numpy()[there] == before.to_numpy()[there]).all()
    shown = capsys.readouterr().out
    assert all(f"{name} " in shown for name in ("integer", "spouse_age"))


@pytest.mark.slow
def test_a_model_keeps_its_rules_and_codes(coded_file, tmp_path):
    assert run("impute", coded_file, tmp_path / "a.csv", *KNOWN, *SETTINGS, "-q") == 0
    assert run("fit", coded_file, tmp_path / "model", *KNOWN, *SETTINGS, "-q") == 0
    assert run("transform", tmp_path / "model", coded_file, tmp_path / "b.csv", "-q") == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


@pytest.mark.slow
def test_codes_in_parquet(coded_file, tmp_path):
    table = pd.read_csv(coded_file).astype({"spouse_age": "Int64"})
    table.to_parquet(tmp_path / "in.parquet", index=False)
    assert run("impute", tmp_path / "in.parquet", tmp_path / "out.parquet", *KNOWN, *SETTINGS, "-q") == 0  # fmt: skip
    after = pd.read_parquet(tmp_path / "out.parquet")
    assert after["income"].notna().all()
    assert after["income"].dtype.kind == "i"
    assert after["spouse_age"].isna()[table["spouse_age"].eq(-1).fillna(False)].all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rule", "commute"], "--rule takes a column, a colon and its condition"),
        (["--rule", "comute: age > 3"], "--rule names 'comute', .*Did you mean 'commute'"),
        (["--rule", "commute: age > 3", "--rule", "commute: age > 4"], "given twice for 'commute'"),
        (["--rule", "commute: employed = 'yes'"], "Compare with ==, not with ="),
        (["--code", "refused"], "--code takes NAME=VALUE; got 'refused'"),
        (["--code", "refused=gone"], "The reason in --code 'refused=gone' must be one of"),
        (["--code", "incom: refused=lost"], "--code names 'incom', .*Did you mean 'income'"),
    ],
)  # fmt: skip
def test_what_cannot_be_known_is_said(coded_file, tmp_path, capsys, options, words):
    assert run("impute", coded_file, tmp_path / "out.csv", *options, *SETTINGS, "-q") == 2
    assert re.search(words, " ".join(capsys.readouterr().err.split()))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Columns outside mm_columns:diffjoint.errors.DataWarning")
def test_constants_bounds_and_a_self_check_can_be_asked_for(survey_file, tmp_path, capsys):
    out, model = tmp_path / "out.csv", tmp_path / "model"
    code = run(
        "impute", survey_file, out, "--rule", 'spouse_age: married == "yes"', *SETTINGS, "-q",
        "--mm-fill", "spouse_age=0", "--bounds", "age=0:120", "--model-out", model, "--self-check",
    )  # fmt: skip
    assert code == 0
    before, after = text(survey_file), text(out)
    assert (after.loc[before["married"] == "no", "spouse_age"] == "0").all()
    assert load(model).bounds == {"age": (0, 120)}
    shown = capsys.readouterr().out
    assert "hidden and filled in again" in shown
    assert "loss rate x 1.5" in shown


@pytest.mark.slow
@pytest.mark.parametrize("quietly", [[], ["-q"]])
@pytest.mark.filterwarnings("ignore::diffjoint.errors.DataWarning")
def test_calls_that_are_often_wrong_are_warned_of(
    quietly, survey_file, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("diffjoint.results.verdict.MOST_FALSE", -1.0)
    options = ["-m", "commute", "--report", tmp_path / "report.html", "--self-check", *quietly]
    assert run("impute", survey_file, tmp_path / "out.csv", *options, *SETTINGS) == 0
    shown = "".join(capsys.readouterr())
    assert shown.count("Warning: Do not trust the calls of commute: ") == 1
    assert "set --loss-rate if you know" in shown
    assert ("Of 100 lost cells" in shown) == (not quietly)
    if not quietly:
        assert (
            shown.index("Do not trust")
            < shown.index("Of 100")
            < shown.index("Observed cells that were hidden")
        )


@pytest.mark.parametrize(
    "options", [["--detector", "paper"], ["--preset", "paper"], ["--set", "sampler=inpaint"]]
)
def test_a_self_check_that_cannot_be_made_is_refused_before_the_work(options, tmp_path, capsys):
    asked = ["impute", "nowhere.csv", tmp_path / "out.csv", "-m", "", "--self-check", *options]
    assert run(*asked) == 2
    assert "--self-check is for values that need no draws" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["survey.csv"], "Start with: diffjoint inspect survey.csv"),
        (["my file.csv"], "Start with: diffjoint inspect 'my file.csv'"),
        (["report", "survey.csv"], "completed.csv --report FILE"),
        (["imput", "a.csv"], "No such command 'imput'. Did you mean impute?"),
        (["inspect", "a.xlsx"], "Save the sheet as CSV"),
    ],
)
def test_a_first_try_that_fails_is_told_how_to_go_on(arguments, words, capsys):
    assert run(*arguments) == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_help_names_the_first_step_first_and_flags_without_a_value(capsys):
    assert run("--help") == 0
    shown = capsys.readouterr().out
    assert shown.index("inspect") < shown.index("impute")
    assert run("impute", "--help") == 0
    line = next(text for text in capsys.readouterr().out.splitlines() if "--self-check" in text)
    assert "bool" not in line


GROUPS = [
    "Which columns and losses",
    "What you know",
    "What comes out",
    "Reading the file",
    "The method",
    "Running",
]


@pytest.mark.parametrize("command", ["impute", "fit"])
def test_help_shows_options_in_groups(command, capsys):
    assert run(command, "--help") == 0
    shown = capsys.readouterr().out
    places = [shown.index(f"─ {group} ─") for group in GROUPS]
    assert places == sorted(places)
    first = shown[shown.index("─ Options ─") : places[0]]
    assert re.findall(r"--[a-z-]+", first) == ["--help"]
