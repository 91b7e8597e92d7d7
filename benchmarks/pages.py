"""Where results go: files written whole, and blocks in their place in the documentation.

A block is what a page shows between a mark, `<!-- name -->`, and the next `<!-- end -->`. Each
benchmark lists its blocks in `BLOCKS`: the long tables on a page of their own in docs/results, what
matters most of them under the same name on docs/results.md. `benchmarks.show` writes them all.
"""

import os
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
RESULTS_PAGE, USING = DOCS / "results.md", DOCS / "using.md"
README = ROOT / "README.md"
END = "<!-- end -->"
NOT_RUN = "Not run yet.\n"

Blocks = dict[tuple[Path, str], Callable[[], str]]
"""By page and name: what makes the text."""


def result_page(name: str) -> Path:
    """Return the page of a group of long tables.

    Examples
    --------
    >>> result_page("draws").relative_to(DOCS).as_posix()
    'results/draws.md'
    """
    return DOCS / "results" / f"{name}.md"


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    beside = path.with_suffix(f".{os.getpid()}.tmp")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def quick_path(results: Path) -> Path:
    """Where a small version keeps its results, so that it never takes the place of the real ones.

    Examples
    --------
    >>> quick_path(Path("results/auto.csv")).name
    'auto-quick.csv'
    """
    return results.with_stem(f"{results.stem}-quick")


def paragraph(text: str) -> str:
    """Break a text into lines; names with hyphens stay whole."""
    return textwrap.fill(text, 100, break_on_hyphens=False, break_long_words=False) + "\n"


def from_file(path: Path, make: Callable[[Path], str]) -> Callable[[], str]:
    """Make a block's text from a result file, or say that there is none yet."""
    return lambda: make(path) if path.exists() else NOT_RUN


def from_csv(path: Path, make: Callable[[pd.DataFrame], str], **options: Any) -> Callable[[], str]:
    """Make a block's text from the lines of a result file, read with some options."""
    return from_file(path, lambda there: make(pd.read_csv(there, **options)))


def show(blocks: Blocks, name: str | None = None) -> None:
    """Write blocks to their pages: all of them, or those of one name."""
    for (page, block), make in blocks.items():
        if name in (None, block):
            show_in(block, make(), page)


def show_in(name: str, text: str, page: Path) -> None:
    """Put a text between its marks on a page."""
    before, _, after = _parts(name, page)
    write(page, before + text + after)


def shown_in(name: str, page: Path) -> str:
    """Return the text between its marks on a page."""
    return _parts(name, page)[1]


def _parts(name: str, page: Path) -> tuple[str, str, str]:
    """Return what is on a page up to a mark, between it and its end, and from there on."""
    before, mark, rest = page.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    if not mark:
        raise ValueError(f"{page} has no mark <!-- {name} -->: add it, and {END} after it.")
    text, end, after = rest.partition(END)
    return before + mark, text, end + after
