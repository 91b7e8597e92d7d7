import builtins
import io
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from diffjoint._effort import evidence_units, fit_units, value_units
from diffjoint._progress import ProgressBar, ScaledProgress, progress_bar
from diffjoint.evidence import n_folds_alone
from diffjoint.settings import settings_for
from tests.conftest import FEW_CELLS, TINY, TINY_INPAINT, new_imputer

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
    new_imputer(["age"], **TINY, random_state=0, verbose=True).fit(survey)
    assert any("which cells are missing together" in picture for picture in notebook.pictures)


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


@pytest.mark.slow
def test_the_work_announced_is_the_work_done(survey, monkeypatch):
    listener = Listener()
    monkeypatch.setattr("diffjoint.fitting.running.NoProgress", lambda: listener)
    imputer = new_imputer(["age"], **TINY, random_state=0).fit(survey)
    assert listener.phases == ["which cells are missing together", "what lost cells held"]
    assert listener.done == sum(listener.totals)
    imputer.sample(survey, 2, draws="diffusion")
    assert listener.phases[2:] == ["learning to draw", "drawing"]
    assert listener.done == sum(listener.totals)
    imputer.sample(survey, 2)
    assert listener.phases[4:] == ["how to draw lost cells", "drawing"]
    assert listener.done == sum(listener.totals)


def gated(together):
    """Two answers that a gate skips; a tenth of the rows loses cells, all at once or one by one."""
    rng = np.random.default_rng(0)
    n_rows = 600
    table = pd.DataFrame(rng.normal(size=(n_rows, 6)), columns=list("abcdef"))
    table["gate"] = rng.random(n_rows) < 0.5
    table.loc[table["gate"], ["a", "b"]] = np.nan
    refuses = rng.random((n_rows, 1 if together else 6)) < 0.1
    table[list("abcdef")] = table[list("abcdef")].mask(np.broadcast_to(refuses, (n_rows, 6)))
    return table


@pytest.mark.slow
@pytest.mark.parametrize("together", [False, True], ids=["one by one", "together"])
@pytest.mark.parametrize("sampler", ["amortised", "inpaint"])
@pytest.mark.filterwarnings("ignore:Cells get lost together:diffjoint.errors.DataWarning")
def test_masks_learnt_in_turn_are_announced_where_that_is_work(sampler, together, monkeypatch):
    """Where cells get lost together, one number decides on a row, and nothing is learnt for it."""
    listener, table = Listener(), gated(together)
    monkeypatch.setattr("diffjoint.fitting.running.NoProgress", lambda: listener)
    options = TINY if sampler == "amortised" else TINY_INPAINT
    imputer = new_imputer(["a", "b"], **options, random_state=0).fit(table)
    assert imputer._fitted.model.belief.evidence.leans_on_values == together
    assert listener.done == pytest.approx(sum(listener.totals))
    in_turn = "which cells are skipped together"
    assert (in_turn in listener.phases) == (sampler == "inpaint" and not together)
    imputer.sample(table, 2)
    assert listener.done == pytest.approx(sum(listener.totals))
    assert listener.phases.count(in_turn) == (0 if together else 1)


def test_training_for_a_saved_model_is_announced(survey, tmp_path, monkeypatch):
    imputer = new_imputer(["age"], **TINY, random_state=0).fit(survey)
    listener = Listener()
    monkeypatch.setattr("diffjoint.fitting.running.NoProgress", lambda: listener)
    imputer.save(tmp_path / "without")
    assert listener.phases == []
    imputer.save(tmp_path / "with", draws=True)
    assert listener.phases == ["how to draw lost cells"]
    assert listener.done == sum(listener.totals)
    imputer.save(tmp_path / "with", draws="diffusion")
    assert listener.phases[1:] == ["learning to draw"]
    assert listener.done == sum(listener.totals)


def test_the_papers_passes_are_announced_each(survey, monkeypatch):
    listener = Listener()
    monkeypatch.setattr("diffjoint.fitting.running.NoProgress", lambda: listener)
    new_imputer(["age"], **TINY_INPAINT, random_state=0).fit(survey)
    assert listener.phases == [
        "which cells are missing together",
        "pass 1 of 2: training",
        "pass 1 of 2: drawing",
        "pass 2 of 2: training",
        "pass 2 of 2: drawing",
    ]
    assert listener.done == sum(listener.totals)


def test_progress_goes_to_standard_error_only_when_asked(survey, capfd):
    new_imputer(["age"], **TINY, random_state=0, verbose=True).fit(survey)
    new_imputer(["age"], **TINY, random_state=0).fit(survey)
    assert capfd.readouterr().out == ""


class Network:
    """The paper's network as the effort sees it: five columns, three of them searched."""

    def __init__(self, n_rows, is_level=(False, False, True, True, True), mm=(0, 3, 4)):
        self.n_columns, self.mm = len(is_level), mm
        self.values = np.zeros((n_rows, self.n_columns))
        columns = [SimpleNamespace(is_categorical=level) for level in is_level]
        self.schema = SimpleNamespace(modelled=columns)


def test_more_boosters_are_more_work_most_of_all_on_levels():
    """On tables of both, three were measured to take 1.7 to 2.2 times as long as one."""
    for is_level, n_times in ((True, 2.1), (False, 1.4)):
        table = Network(5_000, [is_level] * 5)
        one, three = (value_units(table, table, settings_for("fast", n_boosters=n)) for n in (1, 3))
        assert three / one == pytest.approx(n_times, rel=0.02)


WIDE = Network(1_000, [True] * 47 + [False] * 33, range(40))
"""Eighty columns, half of them searched."""


@pytest.mark.parametrize(
    ("table", "n_boosters", "evidence", "values"),
    [
        (Network(5_000), 1, 19.1, 2.8),
        (Network(14_000), 1, 27.4, 4.2),
        (WIDE, 3, 191.0, 135.0),
    ],
    ids=["5,000 rows", "14,000 rows", "80 columns"],
)
def test_time_left_is_right_within_a_third_after_a_tenth_of_the_work(
    table, n_boosters, evidence, values
):
    """On a clock ten times as slow as the phases were on one core, at speeds of their own."""
    now, settings = [0.0], settings_for("fast", n_boosters=n_boosters)
    bar = ProgressBar(Console(file=io.StringIO()), clock=lambda: now[0])
    bar.begin(fit_units(table, table, settings, by_evidence=True, n_passes=1))
    steps = [
        (
            n_folds_alone(len(table.values), len(table.mm)),
            evidence,
            ScaledProgress(bar, evidence_units(table, settings)),
            1,
        ),
        (table.n_columns, values, ScaledProgress(bar, value_units(table, table, settings)), 1),
    ]
    everything = evidence + values
    for n_steps, seconds, listener, units in steps:
        for _ in range(n_steps):
            now[0] += seconds / n_steps
            listener.advance(units)
            left = everything - now[0]
            if now[0] > everything / 10 and left > 2:
                assert bar.seconds_left == pytest.approx(left, rel=0.3, abs=1)
