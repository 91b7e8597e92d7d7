import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from diffjoint.cli import main
from diffjoint.simulate import household_survey
from tests.conftest import TINY

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
    assert shown.out == ""
    assert "cells observed" in shown.err
    assert "pass-through" in shown.err


def test_fit_then_transform_gives_what_impute_gives(survey_file, tmp_path):
    options = ["-m", "spouse_age", "-m", "commute", *SETTINGS, "--quiet"]
    assert run("impute", survey_file, tmp_path / "once.csv", *options) == 0
    assert run("fit", survey_file, tmp_path / "model", *options) == 0
    assert run("transform", tmp_path / "model", survey_file, tmp_path / "twice.csv", "-q") == 0
    assert (tmp_path / "once.csv").read_bytes() == (tmp_path / "twice.csv").read_bytes()


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


def test_an_unseen_level_can_be_let_pass(tmp_path, capsys):
    path, new = tmp_path / "in.csv", tmp_path / "new.csv"
    path.write_text(
        "x,letter\n" + "".join(f"{i * 0.5},{'ab'[i % 2]}\n" for i in range(30)) + "1,\n"
    )
    new.write_text("x,letter\n1.5,z\n")
    assert run("fit", path, tmp_path / "model", "-m", "letter", *SETTINGS, "-q") == 0
    command = ["transform", tmp_path / "model", new, tmp_path / "out.csv", "-q"]
    assert run(*command) == 2
    assert "'letter' holds 'z', a level not seen in fit" in " ".join(
        capsys.readouterr().err.split()
    )
    assert run(*command, "--unseen", "keep") == 0
    assert text(tmp_path / "out.csv")["letter"].tolist() == ["z"]


def test_quiet_says_nothing(survey_file, tmp_path, capfd):
    run("impute", survey_file, tmp_path / "o.csv", "-m", "spouse_age", *SETTINGS, "--quiet")
    assert capfd.readouterr() == ("", "")


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


def test_csv_through_standard_streams(survey_file):
    done = subprocess.run(
        [sys.executable, "-m", "diffjoint", "impute", "-", "-", "-m", "commute", *SETTINGS],
        input=survey_file.read_bytes(), capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout.startswith(b"person_id,age,married")
    assert done.stdout.count(b"\n") == 81


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


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (
            ["impute", "IN", "OUT", "-m", "spouse"],
            2,
            "mm_columns names 'spouse', which is not a column",
        ),
        (["impute", "IN", "OUT"], 2, "Columns with empty cells: age"),
        (["impute", "IN", "OUT", "-m", "age", "--preset", "slow"], 2, "preset must be one of"),
        (
            ["impute", "IN", "OUT", "-m", "age", "--set", "draws=3"],
            2,
            "--set names 'draws'; there is n_iter",
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


def test_a_failed_run_leaves_the_old_output(survey_file, tmp_path, capsys):
    out = tmp_path / "out.csv"
    out.write_text("old")
    options = [*SETTINGS, "--set", "learning_rate=1e30", "--set", "max_epochs=50", "-q"]
    assert run("impute", survey_file, out, "-m", "commute", *options) == 1
    assert "training diverged" in capsys.readouterr().err
    assert out.read_text() == "old"


def test_ctrl_c_ends_with_code_1_and_a_run_goes_on_from_its_checkpoint(survey_file, tmp_path):
    command = [
        sys.executable, "-m", "diffjoint", "impute", str(survey_file), str(tmp_path / "out.csv"),
        "-m", "commute", *SETTINGS, "--set", "n_iterations=4000", "--checkpoint", str(tmp_path / "c"), "-q",
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
        assert "diffjoint impute" in shown or "Example: diffjoint" in " ".join(shown.split())


def test_the_version_is_told(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out.startswith("diffjoint 0.")


def test_the_demo_shows_before_and_after(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        "diffjoint.demo.household_survey", lambda seed: household_survey(120, seed=seed)
    )
    from diffjoint import demo

    quick = demo.SelectiveImputer
    monkeypatch.setattr(
        demo, "SelectiveImputer", lambda *args, **kwargs: quick(*args, **kwargs, **TINY)
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
