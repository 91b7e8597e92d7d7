"""The calls that docs/architecture.md follows pass the files that it names, in that order."""

import re
import sys
from pathlib import Path

import pytest

import diffjoint
from diffjoint import Diffusion, SelectiveImputer
from diffjoint.cli import main
from diffjoint.simulate import household_survey

pytestmark = pytest.mark.filterwarnings("ignore::diffjoint.errors.DataWarning")
SOURCE = Path(diffjoint.__file__).parent
PAGE = SOURCE.parents[1] / "docs" / "architecture.md"
BRIEF = Diffusion(
    sampler="inpaint", n_iterations=1, n_steps=3, n_draws=2, width=8, batch_size=64, max_epochs=2
)


@pytest.fixture(scope="module")
def survey():
    return household_survey(250).observed_table[["age", "married", "spouse_age", "income"]]


@pytest.fixture(scope="module")
def shown():
    """The files that each call is said to pass, by its heading; "as above" stands for no file."""
    part = PAGE.read_text(encoding="utf-8").partition("## Three calls")[2].partition("\n## ")[0]
    calls = re.split(r"^\*\*`(.*)`\*\*$", part, flags=re.MULTILINE)[1:]
    return {
        call: re.findall(r"`([\w/]+\.py)`", told)
        for call, told in zip(calls[::2], calls[1::2], strict=True)
    }


def passed(call):
    """Return the files that a call enters, in the order in which it first does."""
    entered = {}

    def note(frame, event, _):
        file = frame.f_code.co_filename
        is_new = event == "call" and file.startswith(f"{SOURCE}") and file not in entered
        if is_new and not is_imported(frame):
            entered[file] = None

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return [Path(file).relative_to(SOURCE).as_posix() for file in entered]


def is_imported(frame):
    """Whether a frame is part of the import of one of our modules, and no step of the call."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "<module>" and code.co_filename.startswith(f"{SOURCE}"):
            return True
        frame = frame.f_back
    return False


def check(named, entered):
    assert [file for file in named if not (SOURCE / file).is_file()] == []
    assert [file for file in named if file not in entered] == []
    assert named == sorted(named, key=entered.index)


@pytest.mark.slow
def test_fit_transform(survey, shown):
    imputer = SelectiveImputer(random_state=0)
    check(shown["imputer.fit_transform(X)"], passed(lambda: imputer.fit_transform(survey)))


@pytest.mark.slow
def test_the_papers_own_method(survey, shown):
    imputer = SelectiveImputer(["spouse_age"], detector="paper", diffusion=BRIEF, random_state=0)
    named = shown['SelectiveImputer(detector="paper").fit(X)']
    check(named, passed(lambda: imputer.fit(survey)))


@pytest.mark.slow
def test_the_command_line(survey, shown, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    survey.to_csv("survey.csv", index=False)
    command = "diffjoint impute survey.csv completed.csv --report report.html"

    def call():
        with pytest.raises(SystemExit) as end:
            main(command.split()[1:])
        assert end.value.code == 0

    check(shown[command], passed(call))


def test_nothing_else_is_followed(shown):
    assert len(shown) == 3
    assert all(shown.values())
