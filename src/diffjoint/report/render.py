"""Render a summary as one self-contained HTML page."""

import base64
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from diffjoint.report.charts import (
    calibration_chart,
    density_chart,
    distribution_chart,
    error_bar,
    history_chart,
    hundred_squares,
    likely_chart,
    table_map,
)
from diffjoint.report.missing_charts import correlation_chart, missing_in_words, pattern_chart
from diffjoint.report.summarize import ColumnSummary, Summary
from diffjoint.report.words import shorten
from diffjoint.skip_rules.picture import as_svg
from diffjoint.storage.atomic import write_whole

MOST_CARDS = 60
"""Largest number of columns with charts; the list of columns has all."""
MOST_CALIBRATED = 12
"""Largest number of columns with a chart of P(missing); the table beside it has all."""
MOST_BLOCKS = 12
"""Largest number of groups of columns that are missing together."""
FRAME_HEIGHT = 760
"""Height of the page in a notebook, in pixels."""

_PAGES = Environment(
    loader=PackageLoader("diffjoint", "report/templates"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
_PAGES.filters["shorten"] = shorten


@dataclass(frozen=True)
class Report:
    """Report on a completed table: :meth:`save` it, or show it in a notebook.

    Attributes
    ----------
    summary : Summary
        All numbers of the report; ``summary.to_dict()`` gives them as plain data.
    """

    summary: Summary

    @cached_property
    def html(self) -> str:
        """The page as HTML."""
        return render(self.summary)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to an HTML file, whole or not at all."""
        content = self.html.encode()
        write_whole(path, lambda file: file.write(content))

    def __repr__(self) -> str:
        """Return one line; the page itself is for a browser."""
        numbers = self.summary
        return (
            f"Report({numbers.title!r}: {numbers.n_kept:,} cells kept as NA, "
            f"{numbers.n_imputed:,} imputed, {numbers.n_review:,} to review; save it with "
            ".save('report.html'))"
        )

    def _repr_html_(self) -> str:
        """Return the page in an iframe, so that its styles and the notebook's do not mix."""
        return (
            f'<iframe title="{escape(self.summary.title)}" sandbox="allow-scripts '
            f'allow-downloads" style="width: 100%; height: {FRAME_HEIGHT}px; border: 0" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )


def render(summary: Summary) -> str:
    """Render a summary as one self-contained HTML page.

    The template escapes all text from the data, and the page's content security policy allows no
    script but its own.
    """
    source = _PAGES.loader
    assert source is not None
    style, script = (Markup(source.get_source(_PAGES, name)[0]) for name in ("page.css", "page.js"))
    cards = _cards(summary.columns)
    page = _PAGES.get_template("page.html").render(
        summary=summary,
        style=style,
        script=script,
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        cards=cards,
        n_without_card=sum(column.n_missing > 0 for column in summary.columns) - len(cards),
        word="P(meaningful)" if summary.is_probability else "Score",
        data=_page_data(summary),
        likely_chart=likely_chart,
        distribution_chart=distribution_chart,
        density_chart=density_chart,
        history_chart=history_chart,
        hundred_squares=hundred_squares,
        error_bar=error_bar,
        calibration_chart=calibration_chart,
        n_calibrated=MOST_CALIBRATED,
        map=table_map(summary),
        pattern_words=missing_in_words,
        most_blocks=MOST_BLOCKS,
        patterns=pattern_chart(summary.patterns) if summary.patterns.patterns else Markup(""),
        correlations=correlation_chart(summary.together)
        if summary.together.columns
        else Markup(""),
        gates=Markup(as_svg(summary.rules)),
    )
    return page.strip().encode("utf-8", "replace").decode()


def _cards(columns: Sequence[ColumnSummary]) -> list[tuple[int, ColumnSummary]]:
    """Return columns with missing cells and their positions: searched first, most missing first."""
    incomplete = [(i, column) for i, column in enumerate(columns) if column.n_missing]
    ordered = sorted(incomplete, key=lambda one: (not one[1].is_searched, -one[1].n_missing))
    return ordered[:MOST_CARDS]


def _page_data(summary: Summary) -> dict[str, Any]:
    """Return the data for the page's script."""
    return {
        "threshold": summary.threshold,
        "n_observed": summary.n_observed,
        "columns": [
            {
                "name": column.name,
                "likely": column.likely,
                "settled_kept": column.n_settled_kept,
                "missing": column.n_missing - column.n_left,
                "kept": column.n_kept,
            }
            for column in summary.columns
        ],
        "review": [
            [
                cell.row,
                cell.index,
                cell.column,
                round(cell.probability, 4),
                cell.call,
                cell.imputed,
                cell.reason,
                int(cell.is_settled),
            ]
            for cell in summary.review
        ],
    }
