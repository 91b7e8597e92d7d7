"""Try inputs of one target in a process of its own, led by the code that they reach.

python -m tests.fuzz.guided TARGET N FOLDER CORPUS TOLD

Needs atheris, which sees to it that the library reports what it runs.
"""

import contextlib
import json
import os
import sys
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

TOLD_EVERY = 500
"""Inputs after which the counts are written down."""


def main(name: str, n_runs: int, folder: Path, corpus: Path, told: Path) -> None:
    import atheris

    warnings.simplefilter("ignore")
    with atheris.instrument_imports(include=["diffjoint"]):
        from tests.fuzz.judge import Counts
        from tests.fuzz.targets import TARGETS

    target, counts = TARGETS[name], Counts()

    def one(data: bytes) -> None:
        counts.judge(data, lambda: target.run(data, folder))
        if counts.inputs % TOLD_EVERY == 0 or counts.inputs >= n_runs:
            write_told(told, counts)

    options = [
        f"-runs={n_runs}",
        f"-max_len={target.longest}",
        "-timeout=300",
        "-rss_limit_mb=4000",
        f"-artifact_prefix={folder}/",
        "-print_final_stats=0",
        "-verbosity=0",
    ]
    if target.words:
        listed = folder / "words"
        listed.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words))
        options.append(f"-dict={listed}")
    atheris.Setup([sys.argv[0], *options, str(corpus)], one)
    atheris.Fuzz()


def write_told(path: Path, counts: "Counts") -> None:  # type: ignore[name-defined]  # noqa: F821
    """Write down counts and what was found, so that another process can read them."""
    found = {where: (data.hex(), said) for where, (data, said) in counts.found.items()}
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps({"counts": counts.told(), "found": found}))
    beside.replace(path)


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02X}" for byte in word)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main(sys.argv[1], int(sys.argv[2]), *map(Path, sys.argv[3:6]))
