"""Where results go: files written whole, and tables in their place in the documentation."""

from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "results.md"


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    beside = path.with_suffix(".tmp")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


def show_in(name: str, text: str) -> None:
    """Put a table between its marks on the results page."""
    before, start, rest = PAGE.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition("<!-- end -->")
    write(PAGE, before + start + text + end + after)
