"""Use the library for a long time, and many times at once, and write down what was seen.

python -m tests.load [--minutes M] [--transforms N]
"""

import argparse
import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from tests.load import at_once, mixed
from tests.reliability import record

MIXED = "mixed use"
WARM = 10.0
"""Minutes after which nothing may grow; a fifth of a shorter run."""
MOST_GROWTH = 5.0
"""Percent of memory."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.load", description=__doc__)
    parser.add_argument("--minutes", type=float, default=120.0, help="of mixed use (120)")
    parser.add_argument("--transforms", type=int, default=1_000, help="at once (1,000)")
    parser.add_argument("--no-record", action="store_true", help="do not write the counts")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    bad = False

    def keep(part: str, counts: dict[str, Any]) -> None:
        nonlocal bad
        bad |= is_bad(counts)
        faults = counts.pop("first_faults", [])
        print(f"{part}: {counts}", *faults, sep="\n  ", flush=True)
        if not asked.no_record:
            record("load", part, counts)

    with _own_folder() as folder:
        if asked.transforms:
            for how, counts in at_once.run(asked.transforms, folder).items():
                keep(f"transforms at once, {how}", counts)
    with _own_folder() as folder:
        if asked.minutes:
            warm, often = min(WARM, asked.minutes / 5), partial(keep, MIXED)
            keep(MIXED, mixed.run(asked.minutes, warm, folder, keep=often))
    return 1 if bad else 0


@contextmanager
def _own_folder() -> Iterator[Path]:
    """Make a folder for all files, temporary ones included, so that what is left over is seen."""
    usual = tempfile.tempdir
    with tempfile.TemporaryDirectory() as name:
        tempfile.tempdir = name
        try:
            yield Path(name)
        finally:
            tempfile.tempdir = usual


def is_bad(counts: dict[str, object]) -> bool:
    """Whether something went wrong that must not."""
    faults = ("errors", "different_answers", "open_files_more", "left_over_files")
    return any(counts.get(name) for name in faults) or (
        float(str(counts.get("most_growth_%", 0))) > MOST_GROWTH
    )


if __name__ == "__main__":
    sys.exit(main())
