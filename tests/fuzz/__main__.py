"""Try altered and random input for a night, and write down what was seen.

python -m tests.fuzz [--share S] [--by-chance] [TARGET ...]
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from tests.fuzz.chance import try_by_chance
from tests.fuzz.judge import Counts, Target, name_of
from tests.fuzz.table_checks import try_tables
from tests.fuzz.targets import TARGETS
from tests.reliability import record

CORPUS = Path(__file__).parent / "corpus"
TABLES, N_TABLES = "tables", 20_000
IN_MEMORY = Path("/dev/shm")
"""Where files need not reach a disk."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="of a night's inputs (1)")
    parser.add_argument("--seed", type=int, default=0, help="of what is made by chance (0)")
    parser.add_argument("--by-chance", action="store_true", help="even if atheris is installed")
    parser.add_argument("--keep", type=Path, help="a folder for inputs that reach new code")
    parser.add_argument("--no-record", action="store_true", help="do not write the counts")
    parser.add_argument("targets", nargs="*", help=", ".join([*TARGETS, TABLES]))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    asked.by_chance |= importlib.util.find_spec("atheris") is None
    is_good = True
    for name in asked.targets or [*TARGETS, TABLES]:
        start, keep = time.time(), partial(_record, name, asked)
        if name == TABLES:
            counts = try_tables(round(asked.share * N_TABLES), asked.seed, keep)
        else:
            n_runs = round(asked.share * TARGETS[name].n_runs)
            with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as base:
                counts = _try(name, n_runs, Path(base), asked)
        is_good &= counts.is_good
        keep(counts)
        _tell(name, counts, time.time() - start)
    return 0 if is_good else 1


def _record(name: str, asked: Any, counts: Counts) -> None:
    if not asked.no_record:
        how = "by chance" if asked.by_chance else "led by the code they reach"
        row = f"{name}, seed {asked.seed}" if asked.seed else name
        record("fuzz", row, {"made": "by hypothesis" if name == TABLES else how, **counts.told()})


def _try(name: str, n_runs: int, folder: Path, asked: Any) -> Counts:
    target = TARGETS[name]
    files = folder / "files"
    files.mkdir()
    target.prepare(files)
    if asked.by_chance:
        return try_by_chance(target, known(name), n_runs, files, asked.seed)
    corpus = asked.keep / name if asked.keep else folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for data in known(name):
        (corpus / name_of(data)).write_bytes(data)
    told = folder / "told.json"
    command = [sys.executable, "-m", "tests.fuzz.guided", name, str(n_runs)]
    paths = [str(path) for path in (files, corpus, told)]
    done = subprocess.run([*command, *paths], capture_output=True, text=True, check=False)
    return _read_told(told, done, target)


def _read_told(path: Path, done: Any, target: Target) -> Counts:
    """Read what a guided run wrote; one that ended before its time counts as a hang."""
    told = json.loads(path.read_text()) if path.exists() else {"counts": {}, "found": {}}
    counts = Counts(**told["counts"])
    counts.found = {
        where: (bytes.fromhex(data), said) for where, (data, said) in told["found"].items()
    }
    if done.returncode != 0:
        counts.hangs += 1
        counts.found["the process"] = b"", done.stderr[-2_000:]
    return counts


def known(name: str) -> list[bytes]:
    """Return the inputs to start from: those that are written down, and those once found."""
    found = sorted((CORPUS / name.replace(" ", "_")).glob("*"))
    return [*TARGETS[name].seeds, *(path.read_bytes() for path in found)]


def _tell(name: str, counts: Counts, seconds: float) -> None:
    print(f"{name}: {counts.told()} in {seconds:.0f} s", flush=True)
    for where, (given, said) in counts.found.items():
        print(f"  {where}: {given!r}\n{said}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
