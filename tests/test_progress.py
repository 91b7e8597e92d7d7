import io

from rich.console import Console

from diffjoint import SelectiveImputer
from diffjoint.progress import ProgressBar
from tests.conftest import FEW_CELLS, TINY, TINY_INPAINT

pytestmark = FEW_CELLS


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
