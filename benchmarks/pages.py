"""Where results go: files written whole, and tables in their place in the documentation."""

from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
RESULTS_PAGE = DOCS / "results.md"


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    beside = path.with_suffix(".tmp")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def show_in(name: str, text: str, page: Path = RESULTS_PAGE) -> None:
    """Put a text between its marks on a page."""
    before, start, rest = page.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    if not start:
        raise ValueError(f"{page} has no mark <!-- {name} -->: add it, and <!-- end --> after it.")
    _, end, after = rest.partition("<!-- end -->")
    write(page, before + start + text + end + after)
