"""What a report is made from, collected from a table and what was inferred about it."""

from collections.abc import Mapping, Sequence
from typing import Any

from diffjoint._types import Mask
from diffjoint.diffusion.aggregate import Aggregated
from diffjoint.fitting.fitted import Fitted
from diffjoint.fitting.options import Options
from diffjoint.fitting.prepare import CodedTable
from diffjoint.fitting.running import running
from diffjoint.report.drawn import Drawn, draw_filled_cells
from diffjoint.report.findings import Findings
from diffjoint.results.constants import read_meanings
from diffjoint.results.explain import check_band, in_band
from diffjoint.results.explainer import explainer_of
from diffjoint.results.self_check import SelfCheck
from diffjoint.skip_rules.find import FoundRule


def collect_findings(
    coded: CodedTable,
    fitted: Fitted,
    inferred: Aggregated,
    options: Options,
    *,
    doubts: Sequence[str],
    history: Sequence[Mapping[str, Any]],
    settings: Mapping[str, Any],
    check: SelfCheck | None,
    rules: Sequence[FoundRule] = (),
    n_draws: int | None = 0,
) -> Findings:
    """Collect what a report is made from.

    Parameters
    ----------
    settings : mapping
        Every number of the method, and the choices made.
    check : SelfCheck or None
        None: there was none.
    rules : sequence of FoundRule
        Rules that the table of ``fit`` follows.
    n_draws : int or None
        How often to draw the filled-in cells; None: as usual, if that is little work.
    """
    known, model = coded.known, fitted.model
    state = fitted.settle(coded, inferred)
    score = coded.settle_score(inferred.meaningful_score, inferred.threshold, state.meaningful)
    candidates = coded.observe(model.space, model.seed).candidates
    band = check_band(options.review_band)
    return Findings(
        coded.table,
        model.space.schema,
        model.space.mm,
        state.values,
        coded.missing,
        state.meaningful,
        known.fill_certain(score),
        candidates & ~known.undecided,
        in_band(band, score, candidates),
        inferred.threshold,
        band,
        explainer_of(coded, model, state.meaningful),
        doubts,
        history,
        settings,
        None if check is None else check.to_dict(),
        rules,
        _draw(coded, state.meaningful, fitted, options, n_draws),
        read_meanings(options.mm_label, coded.table, model.space, were_found=options.were_found),
    )


def _draw(
    coded: CodedTable, called: Mask, fitted: Fitted, options: Options, n_draws: int | None
) -> Drawn | None:
    """Draw the filled-in cells, with the threads and the progress that were asked for."""
    with running(options.n_threads, verbose=options.verbose) as progress:
        return draw_filled_cells(coded, called, fitted, n_draws, options.memory_bytes, progress)
