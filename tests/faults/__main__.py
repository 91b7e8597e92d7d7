"""Inject faults into all commands, or some, and write down what was seen.

python -m tests.faults [--every N] [COMMAND ...]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from dataclasses import asdict
from pathlib import Path

from tests.faults.harness import Shim, build_shim, inject
from tests.reliability import record


def main() -> int:
    """Start again with the shim, or, if it is there, inject."""
    shim = os.environ.get("LD_PRELOAD")
    if shim:
        return _inject(shim)
    with tempfile.TemporaryDirectory() as folder:
        built = build_shim(Path(folder))
        if built is None:
            print("Faults need a C compiler, and Linux.", file=sys.stderr)
            return 2
        environment = {**os.environ, "LD_PRELOAD": str(built), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "tests.faults", *sys.argv[1:]]
        return subprocess.run(command, env=environment, check=False).returncode


def _inject(shim: str) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="take one step in so many")
    parser.add_argument("--no-record", action="store_true", help="do not write the counts")
    parser.add_argument("commands", nargs="*")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    from tests.faults.cases import cases

    wrong = 0
    with tempfile.TemporaryDirectory() as base:
        all_cases = cases(Path(base))
        for name in asked.commands or all_cases:
            start = time.time()
            counts = inject(all_cases[name], Shim(shim), every=asked.every)
            wrong += len(counts.wrong)
            print(
                f"{name}: {counts.n_steps} steps, {counts.n_faults} faults: {counts.old} old, "
                f"{counts.new} new, {counts.went_on} went on, {len(counts.wrong)} wrong ({time.time() - start:.0f} s)",
                *counts.wrong[:5],
                sep="\n  ",
                flush=True,
            )
            if not asked.no_record:
                told = {**asdict(counts), "wrong": len(counts.wrong)}
                record("faults", name, told)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
