"""Calls that train the diffusion model: draws, and the paper's own way."""

from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.fixed.results import (
    Call,
    Pieces,
    explained,
    fitted,
    imputed,
    learnt,
    new_imputer,
    reloaded,
    under,
    without_words,
)
from benchmarks.fixed.survey import CODES, KINDS, RULES, SEARCHED, draw_survey, with_codes
from diffjoint import SelectiveImputer, pool
from diffjoint.simulate import bayesian_network

SMALL: dict[str, Any] = {"n_steps": 3, "width": 16, "batch_size": 64, "max_epochs": 3}
PAPERS: dict[str, Any] = {**SMALL, "n_iterations": 2, "n_draws": 2, "n_inpaint_repeats": 2}
NOISE: dict[str, Any] = {
    "log_sigma_mean": -0.9,
    "log_sigma_std": 1.1,
    "sigma_data": 0.6,
    "sigma_min": 0.02,
    "sigma_max": 9.0,
    "rho": 5.0,
    "learning_rate": 5e-3,
    "patience": 1,
}
"""Every other number of the diffusion model, away from its default."""


class CutShortError(Exception):
    """A run was cut short, as intended."""


def draws(folder: Path) -> Pieces:
    """Draw completed tables: of the rows of fit, of new ones, and after loading."""
    drawn = draw_survey(300)
    old, new = drawn.rows(0, 200), drawn.rows(200, 300)
    imputer = new_imputer(SEARCHED, column_kinds=KINDS, diffusion=SMALL).fit(old)
    pieces = {**_tables(imputer, old), **under("new rows", _tables(imputer, new))}
    loaded = reloaded(imputer, folder)
    trained = new_imputer(SEARCHED, rules=RULES, reason_codes=CODES, diffusion={**SMALL, **NOISE})
    trained.fit(with_codes(drawn))
    return {
        **pieces,
        **under("after draws", learnt(imputer)),
        **under("after draws", imputed(imputer.impute(old))),
        **under("loaded", _tables(loaded, new)),
        **under("trained to save", _tables(reloaded(trained, folder, draws=True), old)),
    }


def pooled(_: Path) -> Pieces:
    """Pool a mean over drawn tables, and numbers given by hand."""
    table = bayesian_network(300, 100, loss_rate=0.2).train.observed_table
    imputer = new_imputer(["C1", "D2", "D3"], diffusion=SMALL).fit(table)
    columns = [drawn["C2"] for drawn in imputer.sample(table, 4)]
    one = pool([column.mean() for column in columns], [column.var() / 300 for column in columns])
    estimates = np.array([[1.0, 2.0], [1.5, 2.0], [1.25, 2.0]])
    two = pool(estimates, np.full((3, 2), 0.25), dof_complete=50)
    return {
        "of a column": asdict(one),
        "interval": one.interval(0.9),
        "of two parameters": asdict(two),
        "intervals": two.interval(),
    }


def paper(folder: Path) -> Pieces:
    """Decide by draws, as the paper does: the network, a survey, and after loading."""
    world = bayesian_network(300, 100, mechanism="mnar", loss_rate=0.2)
    new = world.test.observed_table
    imputer = new_imputer(world.mm_columns, detector="paper", diffusion=PAPERS)
    pieces = fitted(imputer, world.train.observed_table)
    loaded = reloaded(imputer, folder)
    by_survey = new_imputer(SEARCHED, detector="paper", column_kinds=KINDS, diffusion=PAPERS)
    preset = new_imputer(world.mm_columns, preset="paper", diffusion=PAPERS)
    return {
        **pieces,
        **under("new rows", imputed(imputer.impute(new))),
        **under("new rows", _tables(imputer, new)),
        "new rows: review": without_words(imputer.review(new)),
        "loaded transform": loaded.transform(new),
        **under("survey", fitted(by_survey, draw_survey(200).table)),
        **under("preset", fitted(preset, world.train.observed_table)),
    }


def paper_options(_: Path) -> Pieces:
    """Set what the paper's sampler has of its own, one at a time."""
    table = draw_survey(150).table
    sets: dict[str, dict[str, Any]] = {
        **{f"fusion {way}": {"fusion": way} for way in ("and", "uncertainty", "vote")},
        "modes": {"integer_summary": "mode"},
        "means": {"integer_summary": "mean"},
        "warm start": {"warm_start": True},
        "learning rate cut": {"scheduler_patience": 1, "max_epochs": 8},
        "noise": NOISE,
    }
    pieces: Pieces = {}
    for name, chosen in sets.items():
        diffusion = {**PAPERS, **chosen}
        imputer = new_imputer(SEARCHED, detector="paper", column_kinds=KINDS, diffusion=diffusion)
        pieces |= under(name, fitted(imputer, table))
    return pieces


def inpainted(_: Path) -> Pieces:
    """Take the calls from evidence, and the values from the paper's sampler."""
    drawn = draw_survey(250)
    table = with_codes(drawn)
    diffusion = {**PAPERS, "sampler": "inpaint"}
    imputer = new_imputer(SEARCHED, rules=RULES, reason_codes=CODES, diffusion=diffusion)
    return {**fitted(imputer, table), **explained(imputer, table), **_tables(imputer, table)}


def values_alone(_: Path) -> Pieces:
    """Impute every missing cell, by either sampler."""
    table = draw_survey(200).table
    by_trees = new_imputer(diffusion={**SMALL, "joint": False})
    by_draws = new_imputer(diffusion={**PAPERS, "joint": False, "sampler": "inpaint"})
    return {
        **under("amortised", fitted(by_trees, table)),
        **under("amortised", _tables(by_trees, table)),
        **under("inpaint", fitted(by_draws, table)),
    }


def resumed(folder: Path) -> Pieces:
    """Cut a run short after its first pass, and go on from its checkpoint."""
    table = draw_survey(200).table
    settings: dict[str, Any] = {"detector": "paper", "column_kinds": KINDS}
    settings["diffusion"] = {**PAPERS, "checkpoint": folder}

    def stop(imputer: SelectiveImputer) -> None:
        raise CutShortError

    with suppress(CutShortError):
        new_imputer(SEARCHED, callback=stop, **settings).fit(table)
    passes: list[int] = []
    imputer = new_imputer(
        SEARCHED,
        callback=lambda one: passes.append(len(one.history_)),
        **settings,
    )
    return {**fitted(imputer, table), "passes gone on with": passes}


def _tables(imputer: SelectiveImputer, X: Any) -> Pieces:
    """Two drawn tables."""
    return {f"draw {k}": table for k, table in enumerate(imputer.sample(X, 2))}


CALLS: dict[str, Call] = {
    "draws": draws,
    "pool": pooled,
    "paper": paper,
    "paper-options": paper_options,
    "inpaint": inpainted,
    "values-alone": values_alone,
    "resumed": resumed,
}
"""Every call that trains the diffusion model, by its name."""
