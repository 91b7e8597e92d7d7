"""Draws of real tables: intervals, scores, and whether drawn rows hold what observed rows do.

    python -m benchmarks.drawn_tables                   # two tables, three seeds; an hour or two
    python -m benchmarks.drawn_tables --tables ames --ways trees --seeds 0
    python -m benchmarks.drawn_tables --quick           # few rows, for tests

Fifteen numbers of Ames, and telco as it is. A fifth of the cells gets lost at random; 20 draws.
Beside draws by trees: chained equations with the defaults of R's mice (benchmarks.chained) and
miceforest, both told which cells are meaningful, and what the default fills in. Results that are
there are kept.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.chained import chain
from benchmarks.kept import Line, measure_missing
from benchmarks.pages import Blocks, from_csv, quick_path, result_page, show
from diffjoint import SelectiveImputer
from diffjoint.simulate import World, make_world

RESULTS = Path(__file__).parent / "results" / "drawn_tables.csv"
KEYS = ("table", "way", "seed")
N_DRAWS, LOST, SEEDS = 20, 0.2, (0, 1, 2)
AMES = (
    "Lot Area",
    "Overall Qual",
    "Year Built",
    "Year Remod/Add",
    "Total Bsmt SF",
    "1st Flr SF",
    "2nd Flr SF",
    "Gr Liv Area",
    "Full Bath",
    "Bedroom AbvGr",
    "TotRms AbvGrd",
    "Fireplaces",
    "Garage Cars",
    "Garage Area",
    "SalePrice",
)
GATES = {
    "PhoneService": ("MultipleLines",),
    "InternetService": (
        "OnlineSecurity",
        "OnlineBackup",
        "DeviceProtection",
        "TechSupport",
        "StreamingTV",
        "StreamingMovies",
    ),
}
"""Columns of telco that have no value where the gate says No."""
NO_VALUE = "(no value)"
WHOLE_TABLE = "(table)"
Numbers = NDArray[np.float64]
Drawn = list[pd.DataFrame]


def ames(seed: int) -> World:
    """Fifteen numbers of Ames, a fifth of them lost."""
    whole = make_world("ames-housing", mechanism=None, loss_rate=0.0, seed=seed)
    rows = whole.truth[list(AMES)].notna().all(axis=1)
    truth = whole.truth.loc[rows, list(AMES)].astype(float)
    lost = np.random.default_rng(seed).random(truth.shape) < LOST
    nothing = pd.DataFrame(False, truth.index, truth.columns)
    return World(
        name="ames",
        seed=seed,
        truth=truth,
        meaningful=nothing,
        lost=pd.DataFrame(lost, truth.index, truth.columns),
        mm_columns=[],
        column_kinds={name: whole.column_kinds[name] for name in AMES},
        is_train=np.ones(len(truth), dtype=bool),
    )


def telco(seed: int) -> World:
    """Telco with its gates, a fifth of its cells lost."""
    return make_world("telco-churn", mechanism="mcar", loss_rate=LOST, seed=seed)


TABLES: dict[str, Callable[[int], World]] = {"ames": ames, "telco": telco}


def some_rows(world: World, n_rows: int | None) -> World:
    """Return a world's first rows."""
    if n_rows is None:
        return world
    parts = {part: getattr(world, part)[:n_rows] for part in ("truth", "meaningful", "lost")}
    return World(**{**vars(world), **parts, "is_train": world.is_train[:n_rows]})


def new_imputer(world: World) -> SelectiveImputer:
    """Return an imputer that is told the kinds of columns and where to search."""
    return SelectiveImputer(
        world.mm_columns, column_kinds=world.column_kinds, random_state=world.seed
    )


def by_trees(world: World, n_draws: int) -> Drawn:
    """Draw tables by the default, which is told no meaningful cell."""
    drawn: Drawn = new_imputer(world).fit(world.observed_table).sample(None, n_draws)
    return drawn


def filled(world: World, n_draws: int) -> Drawn:
    """Fill cells in once, as often as draws are made."""
    return [new_imputer(world).fit_transform(world.observed_table)] * n_draws


def told(world: World) -> pd.DataFrame:
    """Return the observed table; cells that are meaningful have a level that says so."""
    table = world.observed_table.astype(
        dict.fromkeys(numbers_of(world), float) | dict.fromkeys(levels_of(world), object)
    )
    for name in levels_of(world):
        table[name] = table[name].mask(world.meaningful[name], NO_VALUE)
    return table


def by_chained_equations(world: World, n_draws: int) -> Drawn:
    """Draw tables as R's mice does by default."""
    return chain(told(world), n_draws, world.seed)


def by_miceforest(world: World, n_draws: int) -> Drawn:
    """Draw tables by miceforest at its defaults, five rounds."""
    miceforest = import_module("miceforest")
    table = told(world).astype(dict.fromkeys(levels_of(world), "category")).reset_index(drop=True)
    safe = {name: f"column_{place}" for place, name in enumerate(table)}
    kernel = miceforest.ImputationKernel(
        table.rename(columns=safe), num_datasets=n_draws, random_state=world.seed
    )
    kernel.mice(5)
    back = {short: name for name, short in safe.items()}
    drawn = (kernel.complete_data(k).rename(columns=back) for k in range(n_draws))
    return [one.set_axis(world.truth.index) for one in drawn]


WAYS: dict[str, Callable[[World, int], Drawn]] = {
    "trees": by_trees,
    "chained equations": by_chained_equations,
    "miceforest": by_miceforest,
    "filled in": filled,
}


def numbers_of(world: World) -> list[str]:
    """Return the columns of numbers."""
    return [name for name in world.truth if world.column_kinds[name] in ("continuous", "integer")]


def levels_of(world: World) -> list[str]:
    """Return the columns of levels."""
    return [name for name in world.truth if name not in numbers_of(world)]


def score_numbers(draws: Numbers, truth: Numbers, scale: float, seed: int) -> dict[str, float]:
    """Score draws of a column of numbers on its lost cells.

    A true value among its draws has a rank; the share of ranks in the middle is what intervals
    hold. Values that are equal to some draws have a rank among these at random.

    Parameters
    ----------
    draws : array of shape (n_draws, n_cells)
        NaN where a draw keeps a cell missing: such cells do not count.
    scale : float
        Lengths are in this unit.
    """
    kept = ~np.isnan(draws).any(axis=0)
    draws, truth, n_draws = draws[:, kept], truth[kept], len(draws)
    below, ties = (draws < truth).sum(axis=0), (draws == truth).sum(axis=0)
    at_random = np.random.default_rng(seed).random(len(truth))
    middle = np.abs((below + at_random * (ties + 1)) / (n_draws + 1) - 0.5)
    low, high = np.quantile(draws, [0.1, 0.9], axis=0, method="weibull")
    order = 2 * np.arange(1, n_draws + 1) - n_draws - 1
    apart = (order @ np.sort(draws, axis=0)) / n_draws**2
    crps = np.abs(draws - truth).mean(axis=0) - apart
    return {
        "inside_50": 100 * float((middle < 0.25).mean()),
        "inside_80": 100 * float((middle < 0.4).mean()),
        "width_80": float((high - low).mean()) / scale,
        "crps": float(crps.mean()) / scale,
        "rmse": float(np.sqrt(((draws.mean(axis=0) - truth) ** 2).mean())) / scale,
    }


def score_levels(draws: NDArray[Any], truth: NDArray[Any]) -> dict[str, float]:
    """Score draws of a column of levels on its lost cells.

    Parameters
    ----------
    draws : array of shape (n_draws, n_cells)
        Keeping a cell missing is a level like others.
    """
    levels = np.unique(np.r_[draws.ravel(), truth])
    shares = np.stack([(draws == level).mean(axis=0) for level in levels])
    truly = np.stack([truth == level for level in levels])
    return {
        "brier": float(((shares - truly) ** 2).sum(axis=0).mean()),
        "right": 100 * float((levels[shares.argmax(axis=0)] == truth).mean()),
    }


def contradictions(table: pd.DataFrame, lost: pd.DataFrame) -> int:
    """Count rows of telco in which a drawn cell contradicts a gate, or a gate others."""
    found = pd.Series(False, table.index)
    for gate, gated in GATES.items():
        closed = table[gate] == "No"
        for name in gated:
            has_value = table[name].notna() & (table[name] != NO_VALUE)
            found |= (closed == has_value) & (lost[gate] | lost[name])
    return int(found.sum())


def score_ames(drawn: Drawn, world: World) -> dict[str, float]:
    """Score what relates columns of Ames in rows that are drawn in part."""
    garage = world.lost[["Garage Cars", "Garage Area"]].any(axis=1)
    floors = world.lost[["1st Flr SF", "2nd Flr SF", "Gr Liv Area"]].any(axis=1)

    def correlation(table: pd.DataFrame) -> float:
        return float(table.loc[garage, "Garage Cars"].corr(table.loc[garage, "Garage Area"]))

    def apart(table: pd.DataFrame) -> float:
        sums = table["1st Flr SF"] + table["2nd Flr SF"] - table["Gr Liv Area"]
        return float(sums[floors].abs().median())

    return {
        "garage_r": float(np.mean([correlation(table) for table in drawn])),
        "garage_r_true": correlation(world.truth),
        "floors_apart": float(np.mean([apart(table) for table in drawn])),
    }


def measure(
    table: str, way: str, seed: int, *, n_rows: int | None = None, n_draws: int = N_DRAWS
) -> list[Line]:
    """Score all columns of one table by one way."""
    world = some_rows(TABLES[table](seed), n_rows)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # doubts are not what is measured
        drawn = WAYS[way](world, n_draws)
    by_column: dict[str, dict[str, float]] = {WHOLE_TABLE: {"seconds": time.process_time() - start}}
    judged = world.lost & world.truth.notna()
    for name in world.truth:
        at, truth = judged[name].to_numpy(), world.truth[name]
        if name in numbers_of(world):
            cells = np.stack([one[name].to_numpy(float, na_value=np.nan)[at] for one in drawn])
            scale = float(truth.astype(float).std())
            scores = score_numbers(cells, truth.to_numpy(float, na_value=np.nan)[at], scale, seed)
        else:
            texts = [one[name].astype(object).where(one[name].notna(), NO_VALUE) for one in drawn]
            cells = np.stack([text.astype(str).to_numpy()[at] for text in texts])
            scores = score_levels(cells, truth.astype(str).to_numpy()[at])
        by_column[name] = scores
    if table == "ames":
        by_column[WHOLE_TABLE] |= score_ames(drawn, world)
    else:
        counts = [contradictions(one, world.lost) for one in drawn]
        by_column[WHOLE_TABLE]["contradictions"] = float(np.mean(counts))
    return [
        {"column": name, "score": score, "value": value}
        for name, scores in by_column.items()
        for score, value in scores.items()
    ]


def summary(results: pd.DataFrame) -> pd.DataFrame:
    """Return each table and way's means over columns and seeds."""
    gated = results["column"].isin([name for names in GATES.values() for name in names])
    of_gated = results[gated & (results["score"] == "brier")].assign(score="gated_brier")
    every = pd.concat([results, of_gated])
    return every.pivot_table(
        index=["table", "way"], columns="score", values="value", aggfunc="mean", sort=False
    )


SHOWN = {
    "inside_50": ("inside 50% intervals", 1),
    "inside_80": ("inside 80%", 1),
    "width_80": ("80% width", 2),
    "crps": ("CRPS", 3),
    "brier": ("Brier", 3),
    "gated_brier": ("Brier behind gates", 3),
    "garage_r": ("cars with area, r", 2),
    "garage_r_true": ("r in truth", 2),
    "floors_apart": ("floors off, sq ft", 0),
    "contradictions": ("rows that contradict themselves", 1),
    "seconds": ("CPU seconds", 0),
}


def markdown(results: pd.DataFrame) -> str:
    """Return a table of a page for each table that was drawn."""
    found = summary(results[results["way"] != "filled in"])
    parts = []
    for table in dict.fromkeys(results["table"]):
        if table not in found.index:
            continue
        lines = found.loc[table].dropna(axis=1, how="all")
        names = [name for name in SHOWN if name in lines]
        parts.append(
            f"| {table} | " + " | ".join(SHOWN[name][0] for name in names) + " |\n"
            "| --- |" + " --- |" * len(names) + "\n"
        )
        parts += [
            f"| draws by {way} | "
            + " | ".join(_shown(line[name], SHOWN[name][1]) for name in names)
            + " |\n"
            for way, line in lines.iterrows()
        ]
        parts.append("\n")
    return "".join(parts).removesuffix("\n")


def _shown(value: float, digits: int) -> str:
    return "" if np.isnan(value) else f"{value:,.{digits}f}"


def markdown_of_likeliest(results: pd.DataFrame) -> str:
    """Return how accurate draws' likeliest values are beside what is filled in, by column."""
    wanted = results[results["way"].isin(("trees", "filled in"))]
    wanted = wanted[wanted["score"].isin(("right", "rmse"))]
    means = wanted.pivot_table(
        index=["table", "column", "score"], columns="way", values="value", sort=False
    ).dropna()
    rows = [
        "| table | column | measure | filled in | draws' likeliest |\n"
        "| --- | --- | --- | --- | --- |\n"
    ]
    for (table, column, score), line in means.iterrows():
        digits, name = (1, "% right") if score == "right" else (3, "RMSE, in standard deviations")
        rows.append(
            f"| {table} | {column} | {name} | {line['filled in']:.{digits}f} | "
            f"{line['trees']:.{digits}f} |\n"
        )
    return "".join(rows)


PAGE = result_page("draws")
BLOCKS: Blocks = {
    (PAGE, "drawn-tables"): from_csv(RESULTS, markdown),
    (PAGE, "likeliest-draws"): from_csv(RESULTS, markdown_of_likeliest),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="few rows and draws, for tests")
    parser.add_argument("--tables", nargs="+", choices=[*TABLES], default=[*TABLES])
    parser.add_argument("--ways", nargs="+", choices=[*WAYS], default=[*WAYS])
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    path, one = asked.results, measure
    if asked.quick:
        path, one = quick_path(path), partial(measure, n_rows=300, n_draws=4)
    wanted = [(table, way, s) for table in asked.tables for way in asked.ways for s in asked.seeds]
    results = measure_missing(wanted, KEYS, path, one)
    if path == RESULTS:
        show(BLOCKS)
    print(markdown(results))


if __name__ == "__main__":
    main()
