"""Outputs that would take the place of each other, or of what is read, are refused."""

import os
from pathlib import Path

import pandas as pd
import pytest

from diffjoint.cli import main
from diffjoint.simulate import household_survey
from tests.cli.test_cli import SETTINGS
from tests.conftest import FEW_CELLS

pytestmark = FEW_CELLS


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    household_survey(80).observed_table.to_csv("in.csv", index=False)
    Path("folder").mkdir()
    Path("model").write_bytes(b"a model")
    Path("list.csv").write_text("row,column,decision\n")
    for name in ("in.csv", "model", "list.csv"):
        Path(f"link-{name}").symlink_to(name)
        os.link(name, f"hard-{name}")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    yield tmp_path
    assert {name: Path(name).read_bytes() for name in before} == before


def refused(capsys, *arguments):
    """What is said when a command is refused."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in (*arguments, "-q")])
    said = " ".join(capsys.readouterr().err.split())
    assert end.value.code == 2, said
    return said


OTHER_NAMES = ["{}", "./{}", "folder/../{}", "link-{}", "hard-{}"]


@pytest.mark.parametrize("written", OTHER_NAMES)
def test_the_input_is_not_written_over(files, written, capsys):
    path = written.format("in.csv")
    options = ["-m", "commute"]
    said = refused(capsys, "impute", "in.csv", path, *options)
    assert f"OUT would be written over IN: {path} is the file that is read." in said
    assert "or pass --force to have it replaced" in said
    said = refused(capsys, "impute", "in.csv", "out.csv", *options, "--proba-out", path)
    assert "--proba-out would be written over IN" in said
    assert "MODEL would be written over IN" in refused(capsys, "fit", "in.csv", path, *options)
    absolute = files / path
    assert "written over IN" in refused(capsys, "impute", "in.csv", absolute, *options)


@pytest.mark.parametrize("written", OTHER_NAMES)
def test_a_model_and_a_list_of_decisions_are_not_written_over(files, written, capsys):
    model, listed = written.format("model"), written.format("list.csv")
    transform = ["transform", "model", "in.csv", "out.csv"]
    said = refused(capsys, *transform, "--report", model, "--force")
    assert "--report would be written over MODEL" in said
    assert "--force" not in said
    said = refused(capsys, *transform, "--decisions", "list.csv", "--review", listed)
    assert "--review would be written over --decisions" in said


@pytest.mark.parametrize("written", OTHER_NAMES)
def test_rules_and_broken_cells_are_not_written_over_what_is_read(files, written, capsys):
    table, listed = written.format("in.csv"), written.format("list.csv")
    for option in ("--out", "--svg", "--mermaid"):
        said = refused(capsys, "rules", "in.csv", option, table)
        assert f"{option} would be written over IN" in said
    check = ["check", "in.csv", "--rules", "list.csv", "--out"]
    assert "--out would be written over IN" in refused(capsys, *check, table)
    assert "--out would be written over --rules" in refused(capsys, *check, listed)


def test_rules_and_keys_are_not_written_over(files, capsys):
    Path("key").write_text("a key of sixteen characters")
    for option, path in {"--rules": "list.csv", "--key-file": "key"}.items():
        said = refused(capsys, "impute", "in.csv", path, "-m", "commute", option, path)
        assert f"OUT would be written over {option}" in said
        said = refused(capsys, "fit", "in.csv", path, "-m", "commute", option, path)
        assert f"MODEL would be written over {option}" in said


def test_two_pictures_are_two_files(files, capsys):
    said = refused(capsys, "rules", "in.csv", "--out", "r.toml", "--svg", "./r.toml")
    assert "--out and --svg" in said


@pytest.mark.parametrize("name", ["./new.csv", "folder/../new.csv", "{}/new.csv", "to-new.csv"])
def test_two_outputs_are_two_files(files, name, capsys):
    Path("to-new.csv").symlink_to("new.csv")
    outputs = ["new.csv", "-m", "commute", "--mask-out", name.format(files)]
    said = refused(capsys, "impute", "in.csv", *outputs)
    assert "Two outputs are to be written to" in said
    assert "OUT and --mask-out" in said
    Path("to-new.csv").unlink()


def test_standard_output_takes_one_table(files, capsys):
    said = refused(capsys, "impute", "in.csv", "-", "-m", "commute", "--mask-out", "-")
    assert "Two outputs are to be written to -" in said


def test_the_input_is_replaced_if_that_is_asked_for(tmp_path):
    source = tmp_path / "in.csv"
    household_survey(80).observed_table.to_csv(source, index=False)
    n_missing = pd.read_csv(source).isna().sum().sum()
    with pytest.raises(SystemExit) as end:
        main(["impute", str(source), str(source), "-m", "", "--force", "-q", *SETTINGS])
    assert end.value.code == 0
    assert n_missing > 0
    assert not pd.read_csv(source).isna().any(axis=None)


def test_a_link_to_itself_is_told_in_a_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("self.csv").symlink_to("self.csv")
    household_survey(40).observed_table.to_csv("in.csv", index=False)
    for source, out, said in (("self.csv", "o.csv", "read"), ("in.csv", "self.csv", "write")):
        with pytest.raises(SystemExit) as end:
            main(["impute", source, out, "-m", "commute", "-q", *SETTINGS])
        assert end.value.code == 1
        assert f"Cannot {said} self.csv" in capsys.readouterr().err


def test_closed_standard_streams_are_told_before_any_work(files, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdout", None)
    for source, out in (("in.csv", "-"), ("-", "out.csv")):
        monkeypatch.setattr("sys.stdin", None)
        with pytest.raises(SystemExit) as end:
            main(["impute", source, out, "-m", "commute", "-q"])
        assert end.value.code == 1
        assert "it is closed. Name a file instead of -." in capsys.readouterr().err
