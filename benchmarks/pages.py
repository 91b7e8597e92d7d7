"""Where results go: files written whole, and tables in their place in the documentation."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
RESULTS_PAGE, USING = DOCS / "results.md", DOCS / "using.md"
README = ROOT / "README.md"
END = "<!-- end -->"


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


def show_in(name: str, text: str, page: Path = RESULTS_PAGE) -> None:
    """Put a text between its marks on a page."""
    before, _, after = _parts(name, page)
    write(page, before + text + after)


def shown_in(name: str, page: Path = RESULTS_PAGE) -> str:
    """The text between its marks on a page."""
    return _parts(name, page)[1]


def _parts(name: str, page: Path) -> tuple[str, str, str]:
    """What stands on a page up to a mark, between it and its end, and from there on."""
    before, mark, rest = page.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    if not mark:
        raise ValueError(f"{page} has no mark <!-- {name} -->: add it, and {END} after it.")
    text, end, after = rest.partition(END)
    return before + mark, text, end + after
