"""The page: a summary put into one HTML file that needs nothing else."""

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

from diffjoint._atomic import write_whole
from diffjoint.report.charts import (
    calibration_chart,
    distribution_chart,
    error_bar,
    history_chart,
    likely_chart,
    table_map,
)
from diffjoint.report.summarize import ColumnSummary, Summary
from diffjoint.report.words import cut

MOST_CARDS = 60
"""Columns shown with charts; the others stand in the list of columns alone."""
MOST_CALIBRATED = 12
"""Columns shown with a chart of P(missing); the others stand in the table alone."""
FRAME_HEIGHT = 760
"""Of the page inside a notebook, in pixels."""

_PAGES = Environment(
    loader=PackageLoader("diffjoint", "report/templates"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=StrictUndefined,
)
_PAGES.filters["cut"] = cut


@dataclass(frozen=True)
class Report:
    """What became of a table, to look at: :meth:`save` it, or show it in a notebook.

    Attributes
    ----------
    summary : Summary
        The numbers; ``summary.to_dict()`` is for JSON.
    """

    summary: Summary

    @cached_property
    def html(self) -> str:
        """The whole page."""
        return render(self.summary)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file that opens in any browser, whole or not at all."""
        content = self.html.encode()
        write_whole(path, lambda file: file.write(content))

    def __repr__(self) -> str:
        """One line; the page itself is for a browser."""
        told = self.summary
        return (
            f"Report({told.title!r}: {told.n_kept:,} cells kept as NA, {told.n_imputed:,} imputed, "
            f"{told.n_review:,} to review; save it with .save('report.html'))"
        )

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that it and the notebook leave each other alone."""
        return (
            f'<iframe title="{escape(self.summary.title)}" sandbox="allow-scripts '
            f'allow-downloads" style="width: 100%; height: {FRAME_HEIGHT}px; border: 0" '
            f'srcdoc="{escape(self.html)}"></iframe>'
        )


def render(summary: Summary) -> str:
    """One self-contained HTML page.

    Whatever comes from the data is escaped by the template, and the page's own policy lets the
    browser run no script but the one below.
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
        history_chart=history_chart,
        error_bar=error_bar,
        calibration_chart=calibration_chart,
        n_calibrated=MOST_CALIBRATED,
        map=table_map(summary),
    )
    return page.strip().encode("utf-8", "replace").decode()


def _cards(columns: Sequence[ColumnSummary]) -> list[tuple[int, ColumnSummary]]:
    """Columns with something to show, and their places: searched ones first, then by gaps."""
    open_ones = [(i, column) for i, column in enumerate(columns) if column.n_missing]
    ordered = sorted(open_ones, key=lambda one: (not one[1].is_searched, -one[1].n_missing))
    return ordered[:MOST_CARDS]


def _page_data(summary: Summary) -> dict[str, Any]:
    """What the page's script works on."""
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
