"""Report on a completed table: findings are summarised in numbers and rendered as one page."""

from diffjoint.report.findings import Findings
from diffjoint.report.render import Report, render
from diffjoint.report.summarize import Summary, summarize

__all__ = ["Findings", "Report", "Summary", "render", "summarize"]
