"""How a run ends that does not end well: a sentence and exit code 1, at any moment."""

import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from diffjoint.cli import main
from diffjoint.simulate import household_survey

SEND = """
import os, sys, time
from importlib.abc import MetaPathFinder

class Interrupt(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), {number})
            time.sleep(5)

sys.meta_path.insert(0, Interrupt())
sys.argv = ["diffjoint", *{arguments!r}]
from diffjoint.cli import main
main()
"""
"""Sends a signal to itself when a module is about to be loaded."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("module", ["rich", "typer", "pandas", "sklearn"])
def test_an_interruption_while_loading_is_told_in_a_sentence(number, module, tmp_path):
    household_survey(40).observed_table.to_csv(tmp_path / "in.csv", index=False)
    code = SEND.format(
        module=module, number=int(number), arguments=["impute", "in.csv", "out.csv", "-m", "commute"]
    )  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.strip() == "Error: Interrupted; no file was left half written."
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv"]


def test_a_request_to_end_clears_away_what_is_half_written(tmp_path):
    code = """
import os, signal, sys
import diffjoint.io.files as files

def write(*args):
    os.kill(os.getpid(), signal.SIGTERM)

files.TextWriter.write = write
sys.argv = ["diffjoint", "impute", "in.csv", "out.csv", "-m", "commute", "-q"]
from diffjoint.cli import main
main()
"""
    household_survey(40).observed_table.to_csv(tmp_path / "in.csv", index=False)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "Interrupted; no file was left half written." in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv"]


def test_an_interruption_ends_with_code_1_wherever_it_comes(tmp_path):
    """In text that Python runs, too, as it does to make named tuples and data classes."""
    household_survey(40).observed_table.to_csv(tmp_path / "in.csv", index=False)
    code = (
        "import diffjoint.cli.run.inspecting as run; from diffjoint.cli import main\n"
        "run.inspect = lambda *_, **__: exec('raise KeyboardInterrupt')\n"
        "main(['inspect', 'in.csv', '-q'])"
    )
    (tmp_path / "started.py").write_text(code)
    command = [sys.executable, "-m", "started"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, "Interrupted" in done.stderr) == (1, True)


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """A folder, and a command that fails in a way nobody foresaw."""

    def fail(*_, **__):
        raise ZeroDivisionError("nobody\nforesaw this")

    monkeypatch.setattr("diffjoint.cli.run.inspecting.inspect", fail)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path)
    household_survey(40).observed_table.to_csv("in.csv", index=False)
    return tmp_path


def end(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code


def test_an_unexpected_error_is_short_and_its_details_are_in_a_file(broken, capsys):
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    assert end("inspect", "in.csv", "-q") == 1
    said = capsys.readouterr().err
    (details,) = (broken / "temporary").iterdir()
    assert sorted(path.name for path in broken.iterdir()) == ["in.csv", "temporary"]
    assert details.match("diffjoint-error-*.txt")
    assert stat.S_IMODE(details.stat().st_mode) == 0o600
    assert said.startswith("Error: Unexpected ZeroDivisionError: nobody.")
    assert f"The details are in {details}: please send it to the developers." in said
    assert "Traceback" not in said
    assert "Traceback (most recent call last)" in details.read_text()
    assert "foresaw this" in details.read_text()
    assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)] == handlers


def test_no_memory_is_no_riddle(broken, monkeypatch, capsys):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr("diffjoint.cli.run.inspecting.inspect", fail)
    assert end("inspect", "in.csv", "-q") == 1
    assert "Error: There is not enough memory for this table" in capsys.readouterr().err
    assert not list(broken.rglob("diffjoint-error-*"))


def test_what_the_system_refuses_is_no_unexpected_error(broken, monkeypatch, capsys):
    def fail(*_, **__):
        raise OSError(28, "No space left on device", "a file")

    monkeypatch.setattr("diffjoint.cli.run.inspecting.inspect", fail)
    assert end("inspect", "in.csv", "-q") == 1
    said = capsys.readouterr().err
    assert said.startswith("Error: The system could not read or write a file: No space left on")
    assert not list(broken.rglob("diffjoint-error-*"))


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom", "/dev/null"])
def test_devices_are_not_read(device, tmp_path, monkeypatch, capsys):
    """Some never end."""
    monkeypatch.chdir(tmp_path)
    household_survey(40).observed_table.to_csv("in.csv", index=False)
    for name in ("t.csv", "t.parquet", "t.toml", "codebook.csv"):
        Path(name).symlink_to(device)
    for command in (
        ["inspect", "t.csv"],
        ["inspect", "t.parquet"],
        ["impute", "in.csv", "o.csv", "--decisions", "t.csv"],
        ["check", "in.csv", "--rules", "t.toml"],
        ["check", "in.csv", "--rules", "codebook.csv"],
    ):
        assert end(*command, "-q") == 1
        assert "it is a device, not a file." in capsys.readouterr().err
    assert end("transform", device, "in.csv", "o.csv", "-q") == 1
    assert not Path("o.csv").exists()


def test_details_go_to_the_current_folder_where_the_temporary_one_takes_none(
    broken, monkeypatch, capsys
):
    make = tempfile.mkstemp

    def refuse(suffix, prefix, folder):
        if folder is None:
            raise PermissionError(folder)
        return make(suffix, prefix, folder)

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    assert end("inspect", "in.csv", "-q") == 1
    (details,) = broken.glob("diffjoint-error-*.txt")
    assert str(details) in capsys.readouterr().err


def test_details_that_cannot_be_written_are_shown(broken, monkeypatch, capsys):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    assert end("inspect", "in.csv", "-q") == 1
    assert "Traceback" in capsys.readouterr().err


def test_what_starts_the_command_line_loads_hardly_anything():
    code = (
        "import sys; before = {*sys.modules}; import diffjoint.cli; print(*{*sys.modules} - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"typer", "rich", "traceback", "tempfile"} & set(done.stdout.split())


@pytest.mark.parametrize("command", ["inspect", "impute", "rules"])
def test_names_and_cells_do_nothing_to_a_terminal(command, tmp_path, monkeypatch, capsys):
    """Nor are they read as the markup of what prints them."""
    survey = household_survey(300).observed_table
    names = ["a\x1b[2Jb", "[/bold]", ":smile:", "\x9b31m"]
    survey = survey.rename(columns=dict(zip(survey.columns[2:], names, strict=False)))
    survey["employed"] = ["\x1b]0;taken over\x07", "[/red]"] * 150
    survey.to_csv(tmp_path / "in.csv", index=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    out = ["out.csv", "--set", "n_boosters=1"] if command == "impute" else []
    assert end(command, "in.csv", *out) == 0
    said = "".join(capsys.readouterr())
    assert not {"\x1b", "\x07", "\x9b"} & set(said)
    if command == "impute":
        assert all(name in said for name in (r"a\x1b[2Jb", "[/bold]", ":smile:", r"\x9b31m"))
