"""When results were measured, and what was changed about the default since.

    python -m benchmarks.measured      # once new results are committed

A line of a result file counts as measured when it was last changed; a result, when the oldest of
its lines or files was. What came out the same when it was measured again seems older than it is.
"""

import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from benchmarks.pages import ROOT, Blocks, from_csv, result_page, show, write

FOLDER = ROOT / "benchmarks" / "results"
RESULTS = FOLDER / "measured.csv"
OURS = "diffjoint"
"""The default among the methods of a result file."""
MEASURED = {
    "[calls on the network](calls.md)": "calls_network.csv",
    "[calls on tables](calls.md#real-tables)": "calls_tables.csv",
    "[losses in life, real](losses-in-life.md)": "real_losses.csv",
    "[losses in life, drawn](losses-in-life.md)": "life_losses.csv",
    "[columns found](found-columns.md)": "auto.csv",
    "[rules found](found-rules.md)": "found_rules*.csv",
    "[values on real tables](real-tables.md)": "cells/*/diffjoint_filled",
    "[method comparison](method-comparison.md)": "cells/bayesian-network/diffjoint",
    "[emergency stays](emergency-stays.md)": "cells/mimic-like-stand-in*/diffjoint",
    "[draws by trees](draws.md)": "drawn_tables.csv",
    "[regressions on draws](draws.md#regressions-on-draws)": "regressions.csv",
    "[drawn masks](draws.md#whether-drawn-masks-agree)": "coherence.csv",
    "[intervals of pooled draws](draws.md#intervals-of-pooled-draws)": "coverage.csv",
    "[draws by diffusion](draws.md)": "draws.csv",
    "[time and memory against rows](speed.md)": "speed/*.json",
    "[time against columns](speed.md)": "columns.csv",
    "[folders of files](../scale.md)": "scale.csv",
}
"""The files of results that depend on the default imputer, as patterns below ``FOLDER``."""
CHANGES = {
    "2026-11-18T12:53": "Calls rest on values where cells get lost together; loss rates by column.",
    "2026-11-18T18:24": "Trees learn faster, in six folds, from some columns of wide tables.",
    "2026-11-18T21:52": "Losses shaped like those of other columns are tried.",
    "2026-11-18T23:37": "Draws are made by trees unless the diffusion model is asked for.",
    "2026-11-19T00:18": "What is lost beside a column bounds its loss rate; columns missing "
    "together for no reason that the table holds get no sure answer.",
    "2026-11-19T21:33": "Completed rows agree with themselves: sums, orders and found rules "
    "hold in what is filled in.",
    "2026-11-19T21:41": "Rules that the table follows are evidence where cells get lost together.",
    "2026-11-19T22:16": "Drawn cells behind a gate follow it; trees may stand in for products; "
    "fewer cells are weighed.",
    "2026-11-19T22:50": "Trees learn faster still, for as long as all rows held out call for.",
    "2026-11-20T00:23": "Behind a missing gate, losses along with it are told from skips.",
    "2026-11-20T01:14": "Rules make calls surer where cells are lost one by one, too.",
    "2026-11-20T01:57": "Columns that few rows skip are found; sums keep columns that are nearly "
    "always 0.",
}
"""What changed calls, values, draws or times of the default, by when it did."""


def last_changed(path: Path) -> str | None:
    """Return when a file or folder was last changed; of a table, its oldest line of the default."""
    if path.suffix != ".csv":
        return _git("log", "-1", "--format=%cI", "--", str(path)).strip() or None
    _, *lines = path.read_text(encoding="utf-8").splitlines()
    own = [number for number, line in enumerate(lines, 2) if OURS in line.split(",")]
    blamed = _git("blame", "--line-porcelain", "--", str(path)).split("\ncommitter-time ")[1:]
    seconds = [int(part.split(maxsplit=1)[0]) for part in blamed]
    oldest = min(seconds[number - 1] for number in own or range(2, len(lines) + 2))
    return datetime.fromtimestamp(oldest, UTC).isoformat()


def _git(*arguments: str) -> str:
    return subprocess.check_output(["git", *arguments], cwd=ROOT, text=True)


def measure() -> pd.DataFrame:
    """Return when each result was measured; one without a file is left out."""
    rows = []
    for result, pattern in MEASURED.items():
        moments = [last_changed(path) for path in sorted(FOLDER.glob(pattern))]
        if found := [moment for moment in moments if moment]:
            rows.append({"result": result, "measured": min(found, key=datetime.fromisoformat)})
    return pd.DataFrame(rows)


def markdown(measured: pd.DataFrame, changes: Mapping[str, str] = CHANGES) -> str:
    """Return a table of results, the oldest first, and the list of changes.

    Examples
    --------
    >>> measured = pd.DataFrame({"result": ["calls"], "measured": ["2026-11-18T20:00:00"]})
    >>> print(markdown(measured, {"2026-11-18T12:00": "Faster.", "2026-11-18T21:00": "Smaller."}))
    | result | measured | before |
    | --- | --- | --- |
    | calls | 18 November 2026 | 2 |
    <BLANKLINE>
    1. Faster.
    2. Smaller.
    <BLANKLINE>
    """
    lines = ["| result | measured | before |", "| --- | --- | --- |"]
    moments = [_naive(moment) for moment in measured["measured"]]
    for moment, result in sorted(zip(moments, measured["result"], strict=True)):
        later = [str(k) for k, when in enumerate(changes, 1) if moment < _naive(when)]
        lines.append(f"| {result} | {moment.day} {moment:%B %Y} | {', '.join(later) or 'none'} |")
    numbered = [f"{k}. {what}" for k, what in enumerate(changes.values(), 1)]
    return "\n".join([*lines, "", *numbered]) + "\n"


def _naive(moment: str) -> datetime:
    return datetime.fromisoformat(moment).replace(tzinfo=None)


BLOCKS: Blocks = {(result_page("measured"), "measured"): from_csv(RESULTS, markdown)}


def main() -> None:
    """Write the dates and the block."""
    write(RESULTS, measure().to_csv(index=False))
    show(BLOCKS)


if __name__ == "__main__":
    main()
