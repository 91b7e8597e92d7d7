"""Some seconds of the fuzzers in each run of the tests; `python -m tests.fuzz` takes a night.

Altered models are tried in tests/fitting/test_stored.py, which has models at hand.
"""

import pytest

from tests.fuzz.__main__ import CORPUS, known
from tests.fuzz.chance import try_by_chance
from tests.fuzz.judge import ChangedError, Counts, HangError, Target
from tests.fuzz.table_checks import try_tables
from tests.fuzz.targets import TARGETS

pytestmark = pytest.mark.filterwarnings("ignore")
N_RUNS = {"rules": 500, "rule files": 200, "model bytes": 200}
"""Inputs of a short run."""


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in TARGETS if name != "altered models"])
def test_what_strangers_give_is_taken_or_refused_in_words(name, tmp_path):
    counts = try_by_chance(TARGETS[name], known(name), N_RUNS.get(name, 60), tmp_path)
    assert counts.is_good, counts.found
    assert counts.inputs == counts.taken + counts.refused > N_RUNS.get(name, 60)
    assert counts.refused > 0


@pytest.mark.slow
def test_tables_of_every_dtype_come_back_or_are_refused_in_words():
    counts = try_tables(60)
    assert counts.is_good, counts.found
    assert counts.taken > counts.refused > 0


def test_the_corpus_belongs_to_targets():
    assert {path.name.replace("_", " ") for path in CORPUS.iterdir()} <= {*TARGETS}


def wrong(error):
    def run(data, folder):
        if data == b"bad":
            raise error

    return Target(run, (b"good", b"bad"), (), 1)


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (KeyError("x"), "internal_errors"),
        (MemoryError(), "internal_errors"),
        (ChangedError("x"), "changed"),
        (HangError("x"), "hangs"),
    ],
)
def test_what_goes_wrong_is_seen(error, name, tmp_path):
    target = wrong(error)
    counts = try_by_chance(target, target.seeds, 0, tmp_path)
    assert not counts.is_good
    assert (counts.taken, counts.told()[name]) == (1, 1)
    ((data, said),) = counts.found.values()
    assert data == b"bad"
    assert type(error).__name__ in said


def test_what_takes_too_long_is_stopped(monkeypatch):
    monkeypatch.setattr("tests.fuzz.judge.LONGEST", 0.05)

    def forever():
        while True:
            pass

    counts = Counts()
    counts.judge(b"", forever)
    assert counts.hangs == 1
