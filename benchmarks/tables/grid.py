"""Tables of numbers: published, ours with spread, limit; as Markdown and as HTML."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Literal

import numpy as np

from benchmarks.cells import Cell, Result, read
from benchmarks.published import rounded

NOTHING = "-"
Get = Callable[[Result], float]


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
        """Ours over the seeds that have a number; None where there is none."""
        return float(np.mean([*self.by_seed.values()])) if self.by_seed else None

    @property
    def spread(self) -> float | None:
        """Standard deviation over the seeds; None for fewer than two."""
        return float(np.std([*self.by_seed.values()])) if len(self.by_seed) > 1 else None

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
        """Whether no other line of its group has a better number, over the seeds that both have."""
        column, mine = self.columns[j], row.shown[j].by_seed
        group = [r.shown[j].by_seed for r in self.rows if r.group == row.group and r.competes]
        there = [by_seed for by_seed in group if by_seed]
        if not (column.better and row.competes and mine and len(there) > 1):
            return False
        return all(_is_as_good(mine, theirs, column) for theirs in there)

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
        """Return the table as the documentation shows it."""
        head = [*self.heads, *(column.head for column in self.columns)]
        lines = [head, ["---"] * len(head), *self.texts(lambda text: f"**{text}**")]
        body = "".join(f"| {' | '.join(line)} |\n" for line in lines)
        return f"*{self.title}* ({self.key})\n\n{body}"

    def html(self) -> str:
        """Return the table as a web page shows it."""
        n_heads = len(self.heads)
        head = "".join(
            f"<th>{escape(h)}</th>" for h in (*self.heads, *(c.head for c in self.columns))
        )
        lines = [
            "<tr>"
            + "".join(f"<th scope='row'>{escape(text)}</th>" for text in line[:n_heads])
            + "".join(f"<td>{text}</td>" for text in line[n_heads:])
            + "</tr>"
            for line in self.texts(lambda text: f"<b>{text}</b>")
        ]
        caption = f"<caption>{escape(self.title)} ({escape(self.key)})</caption>"
        body = f"{caption}\n<tr>{head}</tr>\n" + "\n".join(lines)
        return f"<div><table>\n{body}\n</table></div>\n"


def _is_as_good(mine: Mapping[int, float], theirs: Mapping[int, float], column: Column) -> bool:
    """Whether mine is no worse as shown, over the seeds that both have; they must have some."""
    shared = mine.keys() & theirs.keys()
    if not shared:
        return False
    means = [float(np.mean([numbers[seed] for seed in shared])) for numbers in (mine, theirs)]
    ahead = round(means[0], column.digits) - round(means[1], column.digits)
    return ahead >= 0 if column.better == "higher" else ahead <= 0


def _text(shown: Shown, column: Column, mark: Callable[[str], str], with_published: bool) -> str:
    parts = [mark(ours_text(shown, column.digits))]
    if with_published:
        parts.insert(0, _published_text(shown, column.digits))
    if shown.limit is not None:
        parts.append(number_text(shown.limit, column.digits))
    return " / ".join(parts)


def _published_text(shown: Shown, digits: int) -> str:
    if shown.published is None:
        return NOTHING
    spread = shown.published_spread
    around = "" if spread is None else f" ± {rounded(spread, digits)}"
    return rounded(shown.published, digits) + around


def ours_text(shown: Shown, digits: int) -> str:
    """Mean and spread, how many seeds if not all; "failed" or "not run" if none."""
    n_there, n_left = len(shown.ours), shown.n_wanted - len(shown.ours) - shown.n_failed
    if not n_there:
        if not shown.n_failed:
            return "not run" if shown.n_wanted else NOTHING
        return f"failed ({n_left} not run)" if n_left > 0 else "failed"
    if shown.mean is None:
        return NOTHING
    text = number_text(shown.mean, digits)
    if shown.spread is not None:
        text += f" ± {number_text(shown.spread, digits)}"
    parts = [f"{shown.n_failed} failed"] if shown.n_failed else []
    if n_left > 0:
        parts.append(f"{n_there} of {shown.n_wanted} seeds")
    return f"{text} ({', '.join(parts)})" if parts else text


def number_text(value: float | None, digits: int) -> str:
    """Return a number with so many digits, or a dash."""
    return NOTHING if value is None or np.isnan(value) else f"{value:.{digits}f}"


def gather(
    cells: Iterable[Cell],
    get: Get,
    folder: Path,
    published: float | None = None,
    limit: float | None = None,
    published_spread: float | None = None,
) -> Shown:
    """Return the numbers of a method over seeds, one cell for each."""
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


def score(name: str) -> Get:
    """Return what gets one of a result's scores."""
    return lambda result: float(result["scores"].get(name, float("nan")))


def failures(cells: Sequence[Cell], folder: Path) -> list[str]:
    """Return what failed, a line each."""
    lines = []
    for cell in cells:
        result = read(cell, folder)
        if result and result["status"] == "failed":
            about = f"{cell.method}, {cell.world}, {cell.mechanism} {cell.ratio}, seed {cell.seed}"
            lines.append(f"- failed: {about}: {result['error']}\n")
    return lines
