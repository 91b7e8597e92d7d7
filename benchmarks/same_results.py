"""Fix what a set of calls gives, bit for bit, and show later that it is still the same.

    python -m benchmarks.same_results write FILE.json      # before the code is restructured
    python -m benchmarks.same_results compare FILE.json    # after: exit code 1 if anything differs
    python -m benchmarks.same_results compare FILE.json --only survey-mcar paper

Tables, masks, probabilities, draws, numbers and data files are fixed; words, such as messages and
reports, are not. Calls on real tables are skipped, by name, where DIFFJOINT_DATA does not have
them. Results are the same on one machine with the same versions alone: write and compare there.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.fixed import calls, commands, draws
from benchmarks.fixed.fingerprints import Parts, fingerprint
from benchmarks.fixed.results import Call
from benchmarks.pages import write

CALLS: dict[str, Call] = {**calls.CALLS, **draws.CALLS, **commands.CALLS}
LIBRARIES = ("numpy", "scipy", "pandas", "polars", "pyarrow", "scikit-learn", "torch")
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
"""Sums depend on how they are shared among threads; set before any library is loaded."""

Prints = dict[str, Parts]
"""The fingerprint of each piece of a call."""


@dataclass
class Fixed:
    """Fingerprints of calls.

    Attributes
    ----------
    calls : dict
        By call, piece and part.
    skipped : list of str
        Calls whose table is not there.
    made_with : dict
        Versions, and the kind of machine.
    """

    calls: dict[str, Prints] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    made_with: dict[str, str] = field(default_factory=dict)

    @property
    def n_pieces(self) -> int:
        """How many pieces are fixed."""
        return sum(len(pieces) for pieces in self.calls.values())


def take_prints(chosen: Mapping[str, Call]) -> Fixed:
    """Make calls, each with a folder of its own; say on standard error how long each takes."""
    fixed = Fixed(made_with=_made_with())
    for name, call in chosen.items():
        start = time.perf_counter()
        try:
            with TemporaryDirectory() as folder, warnings.catch_warnings():
                warnings.simplefilter("ignore")  # words are not fixed
                pieces = call(Path(folder))
        except calls.NoTableError as absent:
            fixed.skipped.append(name)
            _say(f"{name}: skipped. {absent}")
            continue
        fixed.calls[name] = {piece: fingerprint(result) for piece, result in pieces.items()}
        _say(f"{name}: {len(pieces)} pieces, {time.perf_counter() - start:.1f} s")
    return fixed


def differences(before: Fixed, after: Fixed) -> Iterator[str]:
    """Say what is not the same: a line for each piece, and for each call that is gone."""
    for name, old in before.calls.items():
        if name in after.calls:
            yield from (f"{name}, {line}" for line in _changes(old, after.calls[name]))
        elif name not in after.skipped:
            yield f"{name}: the call is gone"


def _changes(old: Prints, new: Prints) -> Iterator[str]:
    """Say which pieces of one call are not the same, and in which parts."""
    for piece in {**old, **new}:
        if piece not in new:
            yield f"{piece}: gone"
        elif piece not in old:
            yield f"{piece}: new"
        elif old[piece] != new[piece]:
            was, now = old[piece], new[piece]
            parts = [part for part in {**was, **now} if was.get(part) != now.get(part)]
            yield f"{piece}: not the same in {', '.join(parts)}"


def not_compared(before: Fixed, after: Fixed) -> Iterator[str]:
    """Say which calls are not compared, and why, a line for each."""
    for name in before.skipped:
        yield f"{name}: not compared, skipped when the file was written"
    for name in after.skipped:
        if name in before.calls:
            yield f"{name}: not compared, skipped now"
    for name in after.calls:
        if name not in before.calls and name not in before.skipped:
            yield f"{name}: not compared, not in the file"


def compare(before: Fixed, after: Fixed) -> bool:
    """Print what differs, or how much is the same; return whether nothing differs."""
    for what, was in before.made_with.items():
        now = after.made_with.get(what)
        if was != now:
            print(f"{what}: {was} then, {now} now. Results may differ for that alone.")
    for line in not_compared(before, after):
        print(line)
    found = [*differences(before, after)]
    compared = before.calls.keys() & after.calls.keys()
    n_pieces = sum(len(before.calls[name]) for name in compared)
    if found:
        print(*found, sep="\n")
        print(f"{len(found):,} differences, in {n_pieces:,} pieces of {len(compared)} calls.")
    elif compared:
        print(f"{n_pieces:,} pieces of {len(compared)} calls are the same, bit for bit.")
    else:
        print("No call was compared.")
    return bool(compared) and not found


def read(path: Path, chosen: Mapping[str, Call], *, is_whole: bool) -> Fixed:
    """Read fingerprints; those of the chosen calls alone unless they are all there are."""
    fixed = Fixed(**json.loads(path.read_text(encoding="utf-8")))
    if is_whole:
        return fixed
    kept = {name: pieces for name, pieces in fixed.calls.items() if name in chosen}
    skipped = [name for name in fixed.skipped if name in chosen]
    return replace(fixed, calls=kept, skipped=skipped)


def _made_with() -> dict[str, str]:
    """Return what results may depend on beside the code."""
    versions = {library: version(library) for library in LIBRARIES}
    return {"python": platform.python_version(), "machine": platform.machine(), **versions}


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("write", "compare"), help="what to do with the file")
    parser.add_argument("file", type=Path, help="JSON file of fingerprints")
    parser.add_argument(
        "--only", nargs="+", choices=CALLS, metavar="CALL", help=f"of {', '.join(CALLS)}"
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or compare; return the exit code."""
    given = sys.argv[1:] if arguments is None else [*arguments]
    parser = _parser()
    options = parser.parse_args(given)
    path = options.file
    if options.what == "compare" and not path.is_file():
        parser.error(f"{path} is not there. Have it written first, by the code to compare with.")
    if not path.parent.is_dir():
        parser.error(f"{path.parent} is no folder. Name a file in one that is there.")
    if os.environ.get("OMP_NUM_THREADS") != "1":
        again = [sys.executable, "-m", "benchmarks.same_results", *given]
        return subprocess.run(again, env={**os.environ, **ONE_THREAD}, check=False).returncode
    chosen = {name: CALLS[name] for name in options.only or CALLS}
    if options.what == "write":
        fixed = take_prints(chosen)
        write(path, json.dumps(asdict(fixed), indent=1) + "\n")
        print(f"{fixed.n_pieces:,} pieces of {len(fixed.calls)} calls are fixed in {path}.")
        return 0
    before = read(path, chosen, is_whole=options.only is None)
    return 0 if compare(before, take_prints(chosen)) else 1


if __name__ == "__main__":
    sys.exit(main())
