"""A few faults in each run of the tests; `python -m tests.faults` injects all."""

import os
import re
import subprocess
import sys

import pytest

from tests.faults.harness import build_shim

COMMANDS = ["transform in place", "fit", "save and load in Python", "checkpoint"]


@pytest.mark.slow
def test_no_fault_leaves_a_third_state(tmp_path):
    """A step in every twelve of these commands, in each mode."""
    if build_shim(tmp_path) is None:
        pytest.skip("faults need a C compiler, and Linux")
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults", "--no-record", "--every", "12", *COMMANDS],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LD_PRELOAD": ""},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = re.findall(
        r"(\d+) steps, (\d+) faults: (\d+) old, (\d+) new, 0 went on, 0 wrong", done.stdout
    )
    assert len(told) == len(COMMANDS)
    for n_steps, n_faults, old, new in (map(int, counts) for counts in told):
        assert n_faults == 3 * len(range(1, n_steps + 1, 12)) == old + new
    assert sum(int(new) for *_, new in told) > 0
