"""Write down what the fault harness, the fuzzers and the load test saw.

Each command adds its counts to benchmarks/results/reliability.json; from these the page
benchmarks/results/reliability.md is written.
"""

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
COMMANDS = {
    "faults": ("Faults", "python -m tests.faults"),
    "fuzz": ("Altered files and random input", "python -m tests.fuzz"),
    "load": ("Load", "python -m tests.load"),
}
INTRODUCTION = """# Reliability

What the commands below saw when they were run last. They write this page.

A fault lets one step on a file fail, or kills the process there. After it, all files of the run must be the old
ones or the new ones; after a kill, as soon as the next command names one of them. *Went on*: of a dataset, which is
written piece by piece, a part of the pieces was there, whole, and the next run made the others. *Wrong* counts everything
else.
"""


def record(part: str, name: str, counts: dict[str, Any]) -> None:
    """Add what was counted, in place of what was counted there before, and write the page."""
    path = RESULTS / "reliability.json"
    told = json.loads(path.read_text()) if path.exists() else {}
    told.setdefault(part, {})[name] = counts
    path.write_text(json.dumps(told, indent=1) + "\n")
    (RESULTS / "reliability.md").write_text(page(told))


def page(told: dict[str, dict[str, dict[str, Any]]]) -> str:
    """Return the page of all counts, a table for each command."""
    parts = [INTRODUCTION]
    for part, (title, command) in COMMANDS.items():
        rows = told.get(part)
        if not rows:
            continue
        names = list(dict.fromkeys(name for counts in rows.values() for name in counts))
        lines = [["", *(name.replace("_", " ").removeprefix("n ") for name in names)]]
        lines.append(["---"] * len(lines[0]))
        lines += [[row, *(_shown(counts.get(n)) for n in names)] for row, counts in rows.items()]
        table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
        parts.append(f"## {title}\n\n`{command}`\n\n{table}\n")
    return "\n".join(parts)


def _shown(count: Any) -> str:
    if count is None:
        return ""
    return f"{count:,}" if isinstance(count, int) else str(count)
