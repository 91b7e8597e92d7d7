import builtins
import io
import sys
from types import ModuleType

import pytest
from rich.console import Console

from diffjoint import SelectiveImputer
from diffjoint.progress import ProgressBar, progress_bar
from tests.conftest import FEW_CELLS, TINY, TINY_INPAINT

pytestmark = FEW_CELLS


class Screen(ModuleType):
    """What a notebook has for IPython.display."""

    def __init__(self):
        super().__init__("IPython.display")
        self.pictures = []

    def display(self, picture, display_id):
        assert display_id is True
        self.update(picture)
        return self

    def update(self, picture):
        self.pictures.append(picture)

    HTML = staticmethod(str)


@pytest.fixture
def notebook(monkeypatch):
    class ZMQInteractiveShell:
        pass

    screen = Screen()
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", screen)
    monkeypatch.setattr(builtins, "get_ipython", ZMQInteractiveShell, raising=False)
    return screen


def test_a_notebook_shows_a_bar_without_widgets(notebook):
    with progress_bar() as bar:
        bar.begin(10)
        bar.phase("what <lost> cells held")
        bar.BETWEEN = 0.0
        bar.advance(5, loss=0.25)
    assert "what &lt;lost&gt; cells held: 0%" in notebook.pictures[1]
    assert 'value="0.5000"' in notebook.pictures[2]
    assert "loss 0.250: 50%" in notebook.pictures[2]
    assert notebook.pictures[-1] == ""


def test_work_in_a_notebook_is_shown_there(notebook, survey):
    SelectiveImputer(["age"], **TINY, random_state=0, verbose=True).fit(survey)
    assert any("who is missing beside whom" in picture for picture in notebook.pictures)


def test_a_terminal_has_a_bar_of_its_own():
    assert isinstance(progress_bar(), ProgressBar)


class Listener:
    def __init__(self):
        self.totals, self.phases, self.done = [], [], 0.0

    def begin(self, total):
        self.totals.append(total)

    def phase(self, name):
        self.phases.append(name)

    def advance(self, units, loss=None):
        self.done += units


def test_the_bar_shows_phase_loss_and_time_left():
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120)
    with ProgressBar(console) as bar:
        bar.begin(10)
        bar.phase("pass 1 of 2: training")
        bar.advance(5, loss=0.25)
    shown = screen.getvalue()
    assert "pass 1 of 2: training" in shown
    assert "loss 0.250" in shown
    assert "left:" in shown


def test_the_work_announced_is_the_work_done(survey, monkeypatch):
    listener = Listener()
    monkeypatch.setattr("diffjoint.imputer.Silence", lambda: listener)
    SelectiveImputer(["age"], **TINY, random_state=0).fit(survey)
    assert listener.phases == ["who is missing beside whom", "what lost cells held", "training"]
    assert listener.done == sum(listener.totals)


def test_the_papers_passes_are_announced_each(survey, monkeypatch):
    listener = Listener()
    monkeypatch.setattr("diffjoint.imputer.Silence", lambda: listener)
    SelectiveImputer(["age"], **TINY_INPAINT, random_state=0).fit(survey)
    assert listener.phases == [
        "who is missing beside whom",
        "pass 1 of 2: training",
        "pass 1 of 2: drawing",
        "pass 2 of 2: training",
        "pass 2 of 2: drawing",
    ]
    assert listener.done == sum(listener.totals)


def test_progress_goes_to_standard_error_only_when_asked(survey, capfd):
    SelectiveImputer(["age"], **TINY, random_state=0, verbose=True).fit(survey)
    SelectiveImputer(["age"], **TINY, random_state=0).fit(survey)
    assert capfd.readouterr().out == ""
