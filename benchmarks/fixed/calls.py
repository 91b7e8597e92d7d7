"""Calls of the default way: evidence, and boosted trees or another imputer for the values."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

from benchmarks.fixed.results import (
    EVIDENCE,
    Call,
    Pieces,
    checked,
    explained,
    fitted,
    imputed,
    new_imputer,
    reloaded,
    under,
)
from benchmarks.fixed.survey import (
    BOUNDS,
    CODES,
    FILL,
    KINDS,
    RULES,
    SEARCHED,
    draw_survey,
    with_codes,
)
from diffjoint import find_mm_columns, keep_na, read_decisions
from diffjoint.simulate import (
    MECHANISM_NAMES,
    bayes_posterior,
    bayesian_network,
    make_world,
    mimic_like,
)

ROWS_OF_REAL = 1_500


class NoTableError(Exception):
    """A real table is not there."""


def network(mechanism: Any, folder: Path) -> Pieces:
    """Complete the paper's network, columns named: its own rows, new ones, and after loading."""
    world = bayesian_network(1_050, 450, mechanism=mechanism, loss_rate=0.2)
    new = world.test.observed_table
    imputer = new_imputer(world.mm_columns, column_kinds=world.column_kinds)
    pieces = fitted(imputer, world.train.observed_table)
    loaded = reloaded(imputer, folder)
    return {
        **pieces,
        **under("new rows", imputed(imputer.impute(new))),
        **under("new rows", explained(imputer, new)),
        "transform": imputer.transform(new),
        "loaded transform": loaded.transform(new),
        **under("loaded", explained(loaded, new)),
    }


def network_auto(mechanism: Any, _: Path) -> Pieces:
    """Complete the paper's network, columns found."""
    world = bayesian_network(1_050, 450, mechanism=mechanism, loss_rate=0.2)
    train = world.train.observed_table
    imputer = new_imputer("auto", column_kinds=world.column_kinds)
    return {
        **fitted(imputer, train),
        "transform": imputer.transform(world.test.observed_table),
        "fit_transform": new_imputer("auto").fit_transform(train),
    }


def survey(_: Path, **losses: Any) -> Pieces:
    """Complete a table with every kind of column, and check it."""
    drawn = draw_survey(900, **losses)
    old, new = drawn.rows(0, 600), drawn.rows(600, 900)
    imputer = new_imputer(SEARCHED, column_kinds=KINDS)
    return {
        **fitted(imputer, old),
        **explained(imputer, old),
        **checked(imputer.self_check(old)),
        **under("new rows", imputed(imputer.impute(new))),
        **under("new rows", explained(imputer, new)),
        **under("new rows", checked(imputer.self_check(new, random_state=1))),
        "predict_mm": imputer.predict_mm(new),
        "predict_mm_proba": imputer.predict_mm_proba(new),
        "uncertainty": imputer.uncertainty(new),
    }


def survey_searched(_: Path, **losses: Any) -> Pieces:
    """Look for the columns to search, in a table with every kind of column."""
    table = draw_survey(600, **losses).table
    found = pd.DataFrame(find_mm_columns(table, KINDS), columns=list(EVIDENCE))
    return {"evidence": found, **fitted(new_imputer("auto", column_kinds=KINDS), table)}


def rules_and_codes(folder: Path) -> Pieces:
    """Complete a table of which much is said: rules, reason codes, bounds, what to fill in."""
    drawn = draw_survey(600)
    table = with_codes(drawn)
    old, new = table.iloc[:450], table.iloc[450:]
    imputer = new_imputer(
        SEARCHED, rules=RULES, reason_codes=CODES, bounds=BOUNDS, mm_fill=FILL, column_kinds=KINDS
    )
    pieces = {**fitted(imputer, old), **explained(imputer, old)}
    loaded = reloaded(imputer, folder)
    return {
        **pieces,
        **under("new rows", imputed(imputer.impute(new))),
        **under("loaded", imputed(loaded.impute(new))),
        **under("codes alone", fitted(new_imputer(reason_codes=CODES), old)),
        **under("rules alone", fitted(new_imputer(rules=RULES), drawn.table)),
    }


def known_cells(_: Path) -> Pieces:
    """Complete a table of which some cells are known, by labels and by decisions."""
    drawn = draw_survey(450)
    table, every_other = drawn.table, (np.arange(450) % 2 == 0)[:, None]
    known: dict[str, Any] = {
        "known_meaningful": drawn.meaningful & every_other,
        "known_lost": drawn.lost & every_other,
    }
    imputer = new_imputer(SEARCHED, column_kinds=KINDS)
    pieces = {**fitted(imputer, table, **known), **explained(imputer, table, **known)}
    review = imputer.review(table)
    decided = read_decisions(review.assign(decision=review["call"]), table)
    return {
        **pieces,
        "without": imputer.transform(table),
        "decisions": imputer.transform(table, **decided),
        **under("fit by decisions", imputed(imputer.fit(table, **decided).impute(table))),
    }


def outputs(_: Path) -> Pieces:
    """Put meaningful cells out in every way."""
    drawn = draw_survey(450)
    old, new = drawn.rows(0, 300), drawn.rows(300, 450)
    ways: dict[str, dict[str, Any]] = {
        "category": {"mm_output": "category", "mm_label": "none"},
        "indicator": {"mm_output": "indicator"},
        "filled indicator": {"mm_output": "indicator", "mm_fill": FILL},
        "filled category": {"mm_output": "category", "mm_fill": {"spouse_age": -1}},
    }
    pieces: Pieces = {}
    for name, way in ways.items():
        imputer = new_imputer(SEARCHED, column_kinds=KINDS, **way)
        pieces[f"{name}: fit_transform"] = imputer.fit_transform(old)
        pieces[f"{name}: transform"] = imputer.transform(new)
        pieces[f"{name}: names out"] = imputer.get_feature_names_out()
    return pieces


def options(_: Path) -> Pieces:
    """Set the options that move calls and values, one at a time."""
    table = draw_survey(300).table
    sets: dict[str, dict[str, Any]] = {
        "loss rate": {"loss_rate": 0.2},
        "loss rates": {"loss_rate": {"spouse_age": 0.05, "commute": 0.3}},
        "threshold": {"threshold": 0.8, "review_band": (0.05, 0.95)},
        "no review": {"review_band": None},
        "checkboxes filled": {"checkboxes": "fill"},
        "one checkbox": {"column_kinds": {**KINDS, "newsletter": "categorical"}},
        "kinds": {"column_kinds": {**KINDS, "age": "categorical", "income": "continuous"}},
        "one booster": {"n_boosters": 1},
        "balanced": {"preset": "balanced"},
        "another seed": {"random_state": 7},
        "a random state": {"random_state": np.random.RandomState(7)},
    }
    pieces: Pieces = {}
    for name, chosen in sets.items():
        imputer = new_imputer(SEARCHED, **{"column_kinds": KINDS, **chosen})
        pieces |= under(name, fitted(imputer, table))
    nothing = new_imputer([], column_kinds=KINDS)
    return {**pieces, **under("nothing searched", fitted(nothing, table))}


def unseen(_: Path) -> Pieces:
    """Complete rows with a level that fit did not see."""
    drawn = draw_survey(450)
    old, new = drawn.rows(0, 300), drawn.rows(300, 450).copy()
    new.iloc[:20, new.columns.get_loc("commute")] = "boat"  # type: ignore[index]
    pieces: Pieces = {}
    for way in ("missing", "keep"):
        imputer = new_imputer(SEARCHED, column_kinds=KINDS, unseen=way).fit(old)
        pieces |= under(way, {**imputed(imputer.impute(new)), **explained(imputer, new)})
    return pieces


def containers(_: Path) -> Pieces:
    """Complete tables of other containers: polars, and arrays of numbers and of objects."""
    drawn = draw_survey(450)
    frame = pl.from_pandas(drawn.table.assign(owner=drawn.table["owner"].astype(object)))
    old, new = frame[:300], frame[300:]
    imputer = new_imputer(SEARCHED, column_kinds=KINDS)
    pieces = {
        **under("polars", fitted(imputer, old)),
        **under("polars", explained(imputer, old)),
        "polars: transform": imputer.transform(new),
    }
    columns = ["age", "spouse_age", "weekly_hours", "income"]
    numbers = drawn.table[columns].to_numpy(dtype=float, na_value=np.nan)
    by_place = new_imputer([1, 2])
    objects = drawn.table[["age", "married", "spouse_age", "commute"]]
    cells = objects.astype(object).where(objects.notna(), None).to_numpy()
    return {
        **pieces,
        **under("numbers", fitted(by_place, numbers)),
        **under("numbers", explained(by_place, numbers)),
        **under("objects", fitted(new_imputer([2, 3]), cells)),
    }


def wrapped(_: Path) -> Pieces:
    """Take the values from another imputer."""
    drawn = draw_survey(600)
    old, new = drawn.rows(0, 450), drawn.rows(450, 600)
    others = {"iterative": IterativeImputer(max_iter=3), "neighbours": KNNImputer()}
    pieces: Pieces = {}
    for name, other in others.items():
        imputer = new_imputer(SEARCHED, imputer=other, column_kinds=KINDS)
        told = {**fitted(imputer, old), **checked(imputer.self_check(old))}
        pieces |= under(name, {**told, "transform": imputer.transform(new)})
    return pieces


def kept(_: Path) -> Pieces:
    """Put meaningful cells back after another tool has filled them."""
    drawn = draw_survey(450)
    table = drawn.table.drop(columns=["asked", "owner", "health", "newsletter", "rent"])
    plain = SimpleImputer(strategy="most_frequent").set_output(transform="pandas")
    completed = plain.fit_transform(table.astype(object).where(table.notna(), np.nan))
    imputer = new_imputer(SEARCHED, column_kinds=KINDS).fit(table)
    return {
        "by mask": keep_na(table, completed, drawn.meaningful),
        "by imputer": keep_na(table, completed, imputer),
        "by result": keep_na(table, completed, imputer.impute(table)),
        "by itself": keep_na(table, completed),
    }


def simulated(_: Path) -> Pieces:
    """Draw worlds: every way to lose cells, and what can be known of the network."""
    pieces: Pieces = {}
    for mechanism in MECHANISM_NAMES:
        losses: dict[str, Any] = {"mechanism": mechanism, "loss_rate": 0.2, "seed": 3}
        world = bayesian_network(200, 100, **losses)
        pieces[f"network {mechanism}"] = world.observed_table
        pieces[f"survey {mechanism}"] = draw_survey(200, **losses).table
        pieces[f"stays {mechanism}"] = mimic_like(200, **losses).observed_table
        pieces[f"posterior {mechanism}"] = bayes_posterior(world).meaningful
    return pieces


def real(name: str, _: Path, **losses: Any) -> Pieces:
    """Complete rows of a real table, columns named."""
    try:
        world = make_world(name, **losses)
    except OSError as error:
        raise NoTableError(str(error)) from error
    table = world.observed_table.sample(2 * ROWS_OF_REAL, random_state=0)
    old, new = table.iloc[:ROWS_OF_REAL], table.iloc[ROWS_OF_REAL:]
    imputer = new_imputer(world.mm_columns, column_kinds=world.column_kinds, unseen="keep")
    return {
        **fitted(imputer, old),
        **under("new rows", imputed(imputer.impute(new))),
        **under("new rows", explained(imputer, new)),
    }


CALLS: dict[str, Call] = {
    "network-mcar": partial(network, "mcar"),
    "network-mnar": partial(network, "mnar"),
    "network-auto-mcar": partial(network_auto, "mcar"),
    "network-auto-mnar": partial(network_auto, "mnar"),
    "survey-mcar": survey,
    "survey-blocks": partial(survey, mechanism="blocks"),
    "survey-auto-mcar": survey_searched,
    "survey-auto-blocks": partial(survey_searched, mechanism="blocks"),
    "rules-and-codes": rules_and_codes,
    "known-cells": known_cells,
    "outputs": outputs,
    "options": options,
    "unseen": unseen,
    "containers": containers,
    "wrapped": wrapped,
    "keep-na": kept,
    "simulated": simulated,
    "telco-churn-no-gates": partial(real, "telco-churn-no-gates", loss_rate=0.2),
    "acs-2018-wyoming": partial(real, "acs-2018-wyoming"),
    "acs-2018-wyoming-allocated": partial(real, "acs-2018-wyoming-allocated"),
}
"""Every call of the default way, by its name."""
