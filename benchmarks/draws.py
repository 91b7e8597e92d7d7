"""Whether draws are distributions: intervals that cover, frequencies that come true.

    python -m benchmarks.draws                      # the network and a real table, three seeds
    python -m benchmarks.draws --draws diffusion    # by the diffusion model
    python -m benchmarks.draws --quick              # few rows

On lost cells of test rows, column by column. Numbers: the share of true values inside the interval
between the 10% and 90% quantiles of the draws; of draws that are distributions it is 80%. The k-th
of n draws is their quantile at k / (n + 1), which keeps that share for any n. Levels, and the mask:
cells are grouped by how often half of the draws say so, and how often the other half does is
compared with how often it is so; the mean gap over ten groups is shown. Draws of another seed are
compared cell by cell. One line per column and seed; results that are there are kept.
"""

import argparse
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.imputers import new_imputer
from benchmarks.kept import measure_missing
from benchmarks.pages import RESULTS_PAGE, Blocks, from_csv, result_page, show
from diffjoint.simulate import World, make_world

RESULTS = Path(__file__).parent / "results" / "draws.csv"
BY_TREES = RESULTS.with_name("draws_by_trees.csv")
"""Of draws by diffusion, and of the default's."""
SEEDS = 0, 1, 2
RATIOS = {"bayesian-network": (10, 30, 40), "telco-churn-no-gates": (10, 30)}
PLACES = [(world, ratio) for world, ratios in RATIOS.items() for ratio in ratios]
CELLS = [(*place, seed) for place in PLACES for seed in SEEDS]
SHOWN = {"frequency_gap": 3, "mask_gap": 3, "other_by_draw": 0, "other_by_seed": 0}
"""Beside how many lie inside the intervals, and with how many digits."""
N_DRAWS, MOST_ROWS = 40, 3_000
FEWEST_DRAWS, FEWEST_CELLS = 10, 30
"""Draws with a value below which a cell says little, and cells below which a column does."""
N_GROUPS = 10
INSIDE, NEAR = 0.8, 4
"""What an interval should hold, and by how many points it may be off."""

Numbers = NDArray[np.float64]
Way = Literal["trees", "diffusion"]


def coverage(draws: Numbers, truth: Numbers) -> tuple[float, int]:
    """Share of true numbers inside the draws' interval, and how many were asked; in percent.

    Parameters
    ----------
    draws : array of shape (n_draws, n_cells)
        NaN where a draw keeps the cell empty.
    """
    enough = (~np.isnan(draws)).sum(axis=0) >= FEWEST_DRAWS
    if not enough.any():
        return float("nan"), 0
    ends = [(1 - INSIDE) / 2, (1 + INSIDE) / 2]
    low, high = np.nanquantile(draws[:, enough], ends, axis=0, method="weibull")
    inside = (low <= truth[enough]) & (truth[enough] <= high)
    return 100 * float(inside.mean()), int(enough.sum())


def frequency_gap(says: NDArray[np.bool_], counts: NDArray[np.bool_], truly: Numbers) -> float:
    """How far frequencies of draws are from what is so, on average over groups of cells.

    Parameters
    ----------
    says, counts : bool arrays of shape (n_draws, n_cells)
        Whether a draw says so, and whether it says anything.
    truly : array of shape (n_cells,)
        1 if it is so, 0 if not.
    """
    half = len(says) // 2
    first, second = (_share(says[part], counts[part]) for part in (slice(half), slice(half, None)))
    known = ~np.isnan(first + second)
    group = np.minimum((first[known] * N_GROUPS).astype(int), N_GROUPS - 1)
    gaps = np.bincount(group, (second - truly)[known], minlength=N_GROUPS)
    return float(np.abs(gaps).sum() / max(known.sum(), 1))


def measure(world: World, by: Way, **settings: Any) -> list[dict[str, Any]]:
    """One line per column with enough lost test cells."""
    table = world.test.observed_table[:MOST_ROWS]
    test, n_rows = world.test, len(table)

    def drawn(seed: int, n_draws: int) -> list[pd.DataFrame]:
        imputer = new_imputer(
            world.mm_columns,
            column_kinds=world.column_kinds,
            random_state=seed,
            unseen="keep",
            **settings,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a world makes the imputer doubt is no news here
            fitted = imputer.fit(world.train.observed_table)
            return list(fitted.sample(table, n_draws, draws=by))

    tables, of_another_seed = drawn(0, N_DRAWS), drawn(1, 1)[0]
    lines = []
    for name, kind in world.column_kinds.items():
        truth = test.truth[name][:n_rows]
        lost = (test.lost[name][:n_rows] & truth.notna()).to_numpy()
        if kind == "pass-through" or lost.sum() < FEWEST_CELLS:
            continue
        draws = np.stack([one[name].to_numpy(dtype=object)[lost] for one in tables])
        line: dict[str, Any] = {"column": name, "kind": kind, "lost": int(lost.sum())}
        other = of_another_seed[name].to_numpy(dtype=object)[lost]
        line["other_by_seed"] = _percent_other(draws[0], other)
        line["other_by_draw"] = _percent_other(draws[0], draws[1])
        line |= _line(draws, truth.to_numpy(dtype=object)[lost], kind)
        if name in world.mm_columns:
            missing = table[name].isna().to_numpy()
            empty = np.stack([one[name].isna().to_numpy()[missing] for one in tables])
            truly = test.meaningful[name].to_numpy()[:n_rows][missing].astype(float)
            line["mask_gap"] = frequency_gap(empty, np.ones_like(empty), truly)
        lines.append(line)
    return lines


def _line(draws: NDArray[np.object_], truth: NDArray[np.object_], kind: str) -> dict[str, Any]:
    """Coverage of a column of numbers, or the gap of a column of levels."""
    there = ~pd.isna(draws)
    if kind == "categorical":
        levels = pd.unique(truth)
        says = np.concatenate([(draws == level) & there for level in levels], axis=1)
        counts = np.tile(there, len(levels))
        truly = np.concatenate([(truth == level).astype(float) for level in levels])
        return {"frequency_gap": frequency_gap(says, counts, truly)}
    covered, n_cells = coverage(_as_numbers(draws), _as_numbers(truth))
    return {"coverage": covered, "asked": n_cells}


def _as_numbers(cells: NDArray[np.object_]) -> Numbers:
    flat = pd.Series(cells.ravel(), dtype=object)
    if isinstance(flat.dropna().iloc[0], pd.Timestamp):
        flat = (pd.to_datetime(flat) - pd.Timestamp(0)) / pd.Timedelta(days=1)
    numbers: Numbers = pd.to_numeric(flat).to_numpy(dtype=float, na_value=np.nan)
    return numbers.reshape(cells.shape)


def _share(says: NDArray[np.bool_], counts: NDArray[np.bool_]) -> Numbers:
    n_counted = counts.sum(axis=0)
    share = (says & counts).sum(axis=0) / np.maximum(n_counted, 1)
    return np.where(n_counted > 0, share, np.nan)


def _percent_other(one: NDArray[np.object_], other: NDArray[np.object_]) -> float:
    same = (one == other) | (pd.isna(one) & pd.isna(other))
    return 100 * float(1 - same.mean())


def run(
    cells: Sequence[tuple[str, int, int]],
    path: Path,
    rows: int | None,
    by: Way,
    **settings: Any,
) -> pd.DataFrame:
    """Measure every world that is not in the file yet."""

    def lines(name: str, ratio: int, seed: int) -> list[dict[str, Any]]:
        world = make_world(name, rows=rows, mechanism="mcar", loss_rate=ratio / 100, seed=seed)
        return measure(world, by, **settings)

    return measure_missing(cells, ["world", "ratio", "seed"], path, lines)


def draws_table(results: pd.DataFrame) -> str:
    """One line per column of each world, means over seeds; then how many intervals hold."""
    lines = [
        "| table | lost | column | lost cells | inside 80% intervals | gap of level frequencies | "
        "gap of mask frequencies | differs by draw | differs by seed |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    ]
    for world, ratio in PLACES:
        here = results[(results["world"] == world) & (results["ratio"] == ratio)]
        if here.empty:
            lines.append(f"| {world} | {ratio}% | not run | | | | | | |\n")
        for column, of_seeds in here.groupby("column", sort=False):
            said = [_mean(of_seeds[part], digits) for part, digits in SHOWN.items()]
            lines.append(
                f"| {world} | {ratio}% | {column} | {of_seeds['lost'].sum():,} | "
                f"{_mean_and_ends(of_seeds['coverage'])} | {' | '.join(said)} |\n"
            )
    return "".join(lines) + "\n" + _within(results)


def summary(results: pd.DataFrame) -> str:
    """Return the columns of each table in a line: ends over columns; then how many intervals hold.

    Seeds are averaged first, so that ends are those of columns, not of seeds.
    """
    heads = ["inside 80% intervals", "gap of level frequencies", "gap of mask frequencies"]
    lines = [f"| table | lost | {' | '.join(heads)} |\n", f"|{' --- |' * (2 + len(heads))}\n"]
    parts = {"coverage": 1, "frequency_gap": 3, "mask_gap": 3}
    for world, ratio in PLACES:
        here = results[(results["world"] == world) & (results["ratio"] == ratio)]
        if here.empty:
            lines.append(f"| {world} | {ratio}% | not run | | |\n")
            continue
        means = here.groupby("column")[list(parts)].mean()
        said = [_ends(means[part], digits) for part, digits in parts.items()]
        lines.append(f"| {world} | {ratio}% | {' | '.join(said)} |\n")
    return "".join(lines) + "\n" + _within(results)


def _ends(numbers: "pd.Series[float]", digits: int) -> str:
    """Return the least and the most of some columns."""
    if numbers.isna().all():
        return "-"
    return f"{numbers.min():.{digits}f} to {numbers.max():.{digits}f}"


def _mean(numbers: "pd.Series[float]", digits: int) -> str:
    return "" if numbers.isna().all() else f"{numbers.mean():.{digits}f}"


def _mean_and_ends(numbers: "pd.Series[float]") -> str:
    ends = f" ({numbers.min():.1f} to {numbers.max():.1f})" if len(numbers) > 1 else ""
    return "" if numbers.isna().all() else f"{numbers.mean():.1f}{ends}"


def _within(results: pd.DataFrame) -> str:
    """In how many columns the intervals hold what they should, seeds taken together and alone."""
    numbers = results.dropna(subset=["coverage"])
    together = numbers.groupby(["world", "ratio", "column"], sort=False)["coverage"].mean()
    near, alone = (
        int((abs(found - 100 * INSIDE) <= NEAR).sum()) for found in (together, numbers["coverage"])
    )
    return (
        f"Within {NEAR} points of {100 * INSIDE:.0f}%: {near} of {len(together)} columns of "
        f"numbers, averaged over their seeds; {alone} of {len(numbers)} in single seeds.\n"
    )


BLOCKS: Blocks = {
    (result_page("draws"), "draws"): from_csv(RESULTS, draws_table),
    (result_page("draws"), "draws_by_trees"): from_csv(BY_TREES, draws_table),
    (RESULTS_PAGE, "draws"): from_csv(RESULTS, summary),
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the network at 30%, few rows")
    parser.add_argument("--draws", choices=["trees", "diffusion"], default="trees")
    parser.add_argument("--worlds", nargs="+", choices=[*RATIOS], default=[*RATIOS])
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    parser.add_argument("--results", type=Path, help="file of the results")
    options = parser.parse_args(arguments)
    path = options.results or (BY_TREES if options.draws == "trees" else RESULTS)
    if options.quick:
        results = run([("bayesian-network", 30, 0)], path, 1_500, options.draws, max_epochs=10)
    else:
        cells = [one for one in CELLS if one[0] in options.worlds and one[2] in options.seeds]
        results = run(cells, path, None, options.draws)
    if path in (RESULTS, BY_TREES):
        show(BLOCKS)
    print(draws_table(results))


if __name__ == "__main__":
    main()
