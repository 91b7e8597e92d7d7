"""Some seconds of the load in each run of the tests; `python -m tests.load` takes hours."""

import pytest

from tests.load import at_once, mixed
from tests.load.__main__ import is_bad

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_mixed_use_by_threads_gives_the_same_answers_and_holds_on_to_nothing(tmp_path):
    counts = mixed.run(0.07, 0.03, tmp_path, n_threads=2)
    wrong = ("errors", "different_answers", "open_files_more", "threads_more", "left_over_files")
    assert {name: counts[name] for name in wrong} == dict.fromkeys(wrong, 0), counts
    assert counts["uses"] > 2
    assert counts["most_growth_%"] < 50


def test_transforms_at_once_are_equal(tmp_path):
    told = at_once.run(20, tmp_path, n_threads=8, n_processes=1)
    assert len(told) == 2
    for counts in told.values():
        assert (counts["transforms"], counts["errors"], counts["different_answers"]) == (20, 0, 0)


@pytest.mark.parametrize("name", ["errors", "different_answers", "most_growth_%"])
def test_what_goes_wrong_is_seen(name):
    good = {"errors": 0, "different_answers": 0, "most_growth_%": 4.0, "uses": 9}
    assert not is_bad(good)
    assert is_bad(good | {name: 6})
