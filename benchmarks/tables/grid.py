"""Tables of numbers: published, ours with spread, limit; as Markdown and as HTML."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from benchmarks.cells import Cell, Result, read
from benchmarks.published import rounded

NOTHING = "-"
Get = Callable[[Result], float]
Key = TypeVar("Key")


@dataclass(frozen=True)
class Column:
    """A measure.

    Attributes
    ----------
    label : str
    better : {"higher", "lower", ""}
        Which numbers are best and therefore bold; "" for none.
    digits : int
    """

    label: str
    better: Literal["higher", "lower", ""] = "higher"
    digits: int = 1

    @property
    def head(self) -> str:
        """The label, with an arrow to where numbers are better."""
        return self.label + {"higher": " ↑", "lower": " ↓", "": ""}[self.better]


@dataclass(frozen=True)
class Shown:
    """What one place of a table holds.

    Attributes
    ----------
    ours : tuple of float
        One number per seed that was measured.
    n_wanted, n_failed : int
        Seeds that there should be, and those that failed.
    published, limit : float or None
    seeds : tuple of int
        Those of the numbers; if not given, the first ones.
    published_spread : float or None
        How much the published number differs between runs.
    """

    ours: tuple[float, ...] = ()
    n_wanted: int = 0
    n_failed: int = 0
    published: float | None = None
    limit: float | None = None
    seeds: tuple[int, ...] = ()
    published_spread: float | None = None

    @property
    def mean(self) -> float | None:
        """Ours over the seeds; None where nothing was measured."""
        return float(np.mean(self.ours)) if self.ours else None

    @property
    def by_seed(self) -> dict[int, float]:
        """Ours, by seed; without those that are no number."""
        seeds = self.seeds or range(len(self.ours))
        return {s: n for s, n in zip(seeds, self.ours, strict=True) if not np.isnan(n)}


@dataclass(frozen=True)
class Row:
    """A line of a table.

    Attributes
    ----------
    heads : tuple of str
        What the line is about.
    shown : tuple of Shown
    group : str
        The best of a group is bold.
    competes : bool
        False for lines that are there for comparison alone, such as a limit.
    """

    heads: tuple[str, ...]
    shown: tuple[Shown, ...]
    group: str = ""
    competes: bool = True


@dataclass(frozen=True)
class Grid:
    """A table.

    Attributes
    ----------
    title : str
    heads : tuple of str
        Names of what the lines are about.
    columns : tuple of Column
    rows : tuple of Row
    legend : str
        What the numbers of a place are, if not what they are elsewhere.
    """

    title: str
    heads: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    legend: str = ""

    def texts(self, bold: Callable[[str], str]) -> list[list[str]]:
        """Every line's texts."""
        with_published = any(s.published is not None for row in self.rows for s in row.shown)
        lines = []
        for row in self.rows:
            shown = [
                _text(s, column, bold if self._is_best(row, j) else str, with_published)
                for j, (s, column) in enumerate(zip(row.shown, self.columns, strict=True))
            ]
            lines.append([*row.heads, *shown])
        return lines

    def _is_best(self, row: Row, j: int) -> bool:
        """Whether a line is the best of its group, over the seeds that all of them have."""
        column = self.columns[j]
        group = [r for r in self.rows if r.group == row.group and r.competes]
        means = over_shared_seeds({r.heads: r.shown[j].by_seed for r in group})
        if not (column.better and row.competes and row.heads in means) or len(means) < 2:
            return False
        shown = {heads: round(mean, column.digits) for heads, mean in means.items()}
        best = max if column.better == "higher" else min
        return shown[row.heads] == best(shown.values())

    @property
    def key(self) -> str:
        """What the numbers of a place are."""
        if self.legend:
            return self.legend
        parts = ["ours ± standard deviation over seeds"]
        everything = [s for row in self.rows for s in row.shown]
        if any(s.published is not None for s in everything):
            parts.insert(0, "published")
        if any(s.limit is not None for s in everything):
            parts.append("limit")
        return " / ".join(parts)

    def markdown(self) -> str:
        """The table as the documentation shows it."""
        head = [*self.heads, *(column.head for column in self.columns)]
        lines = [head, ["---"] * len(head), *self.texts(lambda text: f"**{text}**")]
        body = "".join(f"| {' | '.join(line)} |\n" for line in lines)
        return f"*{self.title}* ({self.key})\n\n{body}"

    def html(self) -> str:
        """The table as a web page shows it."""
        head = "".join(
            f"<th>{escape(h)}</th>" for h in (*self.heads, *(c.head for c in self.columns))
        )
        lines = [
            "<tr>" + "".join(f"<td>{text}</td>" for text in line) + "</tr>"
            for line in self.texts(lambda text: f"<b>{text}</b>")
        ]
        caption = f"<caption>{escape(self.title)} ({escape(self.key)})</caption>"
        return f"<table>\n{caption}\n<tr>{head}</tr>\n" + "\n".join(lines) + "\n</table>\n"


def _text(shown: Shown, column: Column, mark: Callable[[str], str], with_published: bool) -> str:
    parts = [mark(ours_text(shown, column.digits))]
    if with_published:
        parts.insert(0, _published_text(shown, column.digits))
    if shown.limit is not None:
        parts.append(_number(shown.limit, column.digits))
    return " / ".join(parts)


def _published_text(shown: Shown, digits: int) -> str:
    if shown.published is None:
        return NOTHING
    spread = shown.published_spread
    around = "" if spread is None else f" ± {rounded(spread, digits)}"
    return rounded(shown.published, digits) + around


def ours_text(shown: Shown, digits: int) -> str:
    """Mean and spread, how many seeds if not all; "failed" or "not run" if none."""
    if not shown.ours:
        if shown.n_failed:
            return "failed"
        return "not run" if shown.n_wanted else NOTHING
    text = _number(shown.mean, digits)
    if text == NOTHING:
        return text
    if len(shown.ours) > 1:
        text += f" ± {_number(float(np.std(shown.ours)), digits)}"
    if shown.n_failed:
        return f"{text} ({shown.n_failed} failed)"
    if len(shown.ours) < shown.n_wanted:
        return f"{text} ({len(shown.ours)} of {shown.n_wanted} seeds)"
    return text


def _number(value: float | None, digits: int) -> str:
    return NOTHING if value is None or np.isnan(value) else f"{value:.{digits}f}"


def gather(
    cells: Iterable[Cell],
    get: Get,
    folder: Path,
    published: float | None = None,
    limit: float | None = None,
    published_spread: float | None = None,
) -> Shown:
    """The numbers of a method over seeds, one cell for each."""
    wanted = list(cells)
    results = [read(cell, folder) for cell in wanted]
    done = {
        cell.seed: get(result)
        for cell, result in zip(wanted, results, strict=True)
        if result and result["status"] == "done"
    }
    return Shown(
        ours=tuple(done.values()),
        n_wanted=len(wanted),
        n_failed=sum(bool(result) and result["status"] == "failed" for result in results if result),
        published=published,
        published_spread=published_spread,
        limit=limit,
        seeds=tuple(done),
    )


def over_shared_seeds(numbers: Mapping[Key, Mapping[int, float]]) -> dict[Key, float]:
    """Means over the seeds that all have, without those that have none; nothing if all differ."""
    shared = shared_seeds(numbers)
    there = {key: by_seed for key, by_seed in numbers.items() if by_seed and shared}
    return {key: float(np.mean([n[seed] for seed in shared])) for key, n in there.items()}


def shared_seeds(numbers: Mapping[Key, Mapping[int, float]]) -> set[int]:
    """The seeds that all have, but for those that have none."""
    there = [set(by_seed) for by_seed in numbers.values() if by_seed]
    return set.intersection(*there) if there else set()


def score(name: str) -> Get:
    """Gets one of a result's scores."""
    return lambda result: float(result["scores"].get(name, float("nan")))


def failures(cells: Sequence[Cell], folder: Path) -> list[str]:
    """What failed, a line each."""
    lines = []
    for cell in cells:
        result = read(cell, folder)
        if result and result["status"] == "failed":
            about = f"{cell.method}, {cell.world}, {cell.mechanism} {cell.ratio}, seed {cell.seed}"
            lines.append(f"- failed: {about}: {result['error']}\n")
    return lines
