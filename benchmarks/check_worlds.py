"""Are these the paper's worlds? Mean and mode on a hundred of them, beside what it publishes.

    python -m benchmarks.check_worlds            # every mechanism and ratio
    python -m benchmarks.check_worlds --quick    # few worlds and rows

Mean and mode leave no room for another implementation: where they differ from the paper's, its
worlds differ from ours, or its measure does. The spread between worlds tells what chance alone can
do, and which mechanisms, one to a seed, would give the published numbers at all four ratios.
"""

import argparse
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchmarks.bayes_limit import MECHANISMS, RATIOS
from benchmarks.cells import NETWORK, scores_of
from benchmarks.kept import Line, measure_missing
from benchmarks.methods.simple import MeanMode
from benchmarks.pages import Blocks, from_csv, quick_path, result_page, show
from benchmarks.published import published, rounded
from diffjoint.simulate import make_world

RESULTS = Path(__file__).parent / "results" / "check_worlds.csv"
SEEDS = range(100, 200)
"""Others than those of the method comparison."""
KEYS = ["losses", "ratio"]
NONE = "nothing"
BY_DIFFPUTER = "mar, rates of DiffPuter"
LOSSES = {
    **{mechanism: mechanism.upper() for mechanism in MECHANISMS},
    BY_DIFFPUTER: "MAR, rates of DiffPuter's code",
}
"""By name, and what tables call them."""


class Measure(NamedTuple):
    """What tables call it, its name in the paper's table, digits, and how near is near."""

    label: str
    published: str
    digits: int
    near: float


MEASURES = {
    "acc_discrete": Measure("ACC of D1, D2 and D3", "acc", 1, 2.0),
    "acc": Measure("ACC of D2 and D3", "acc", 1, 2.0),
    "rmse": Measure("RMSE of C2", "rmse", 2, 0.15),
}


def loss_rate(losses: str, ratio: int) -> float:
    """Return the share of the whole table that is lost.

    Under MAR one of the network's five columns drives the losses of the other four. Here these are
    lost at p / (1 - 1/5), so that the whole table loses p. DiffPuter's published code takes
    p / (1 - 0.3), or p / (1 - 0.1) for p above 0.3, whatever the share of driving columns is.

    Examples
    --------
    >>> [round(loss_rate(BY_DIFFPUTER, ratio), 3) for ratio in (10, 20, 30, 40)]
    [0.114, 0.229, 0.343, 0.356]
    """
    wanted = ratio / 100
    if losses != BY_DIFFPUTER:
        return wanted
    return wanted * (1 - 1 / 5) / (1 - (0.1 if wanted > 0.3 else 0.3))


def measure(losses: str, ratio: int, seed: int, rows: int | None) -> Line:
    """Mean and mode on one world: its scores, and what drives its losses."""
    mechanism: Any = "mar" if losses == BY_DIFFPUTER else losses
    rate = loss_rate(losses, ratio)
    world = make_world(NETWORK, rows=rows, mechanism=mechanism, loss_rate=rate, seed=seed)
    method = MeanMode(world.column_kinds)
    method.fit(world.train.observed_table, world.mm_columns, seed)
    scores = scores_of(world.test, method.transform(world.test.observed_table))
    drivers = world.mechanism.drivers if world.mechanism else ()
    return {
        "seed": seed,
        "drivers": " ".join(drivers) or NONE,
        **{name: scores[name] for name in MEASURES},
    }


def run(seeds: range, path: Path, rows: int | None) -> pd.DataFrame:
    """Measure all worlds under the losses and ratios that are not in the file yet."""

    def lines(losses: str, ratio: int) -> list[Line]:
        return [measure(losses, ratio, seed, rows) for seed in seeds]

    return measure_missing(product(LOSSES, RATIOS), KEYS, path, lines, digits=3)


def gaps(results: pd.DataFrame, name: str, losses: str) -> pd.Series:
    """How far each world is from the published numbers, at the ratio where it is farthest."""
    worlds = _by_ratio(results, name, losses)
    return (worlds - _published(name, losses)).abs().max(axis=1)


def _by_ratio(results: pd.DataFrame, name: str, losses: str) -> pd.DataFrame:
    """Return a line for each world that has the measure: no C2 where it drives MAR."""
    there = results[results["losses"] == losses]
    return there.pivot_table(index="seed", columns="ratio", values=name)


def _published(name: str, losses: str) -> pd.Series:
    mechanism = "mar" if losses == BY_DIFFPUTER else losses
    where = {"method": "mean_mode", "mechanism": mechanism}
    theirs = MEASURES[name].published
    return pd.Series({r: published("method_comparison", theirs, ratio=r, **where) for r in RATIOS})


def table_of(results: pd.DataFrame) -> str:
    """One line per measure and losses, with all four ratios; then which worlds fit two of them."""
    head = (
        "| measure | losses | published | mean of worlds ± standard deviation | nearest world | "
        "driven by | its largest gap | worlds as near |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n"
    )
    lines = [_line(results, *place) for place in product(MEASURES, LOSSES)]
    both = [_fit_both(results, name) for name in ("acc_discrete", "acc")]
    return "".join([head, *lines, *(f"\n{text}" for text in both)])


def _line(results: pd.DataFrame, name: str, losses: str) -> str:
    label, _, digits, near = MEASURES[name]
    worlds, apart = _by_ratio(results, name, losses), gaps(results, name, losses)
    nearest = int(apart.argmin())
    over_worlds = zip(worlds.mean(), worlds.std(), strict=True)
    shown = [
        label,
        LOSSES[losses],
        " / ".join(rounded(value, digits) for value in _published(name, losses)),
        " / ".join(f"{mean:.{digits}f} ± {spread:.{digits}f}" for mean, spread in over_worlds),
        " / ".join(f"{value:.{digits}f}" for value in worlds.iloc[nearest]),
        _drivers(results, losses)[worlds.index[nearest]],
        f"{apart.iloc[nearest]:.{digits}f}",
        f"{int((apart <= near).sum())} of {len(apart)} (within {near:g})",
    ]
    return f"| {' | '.join(shown)} |\n"


def _fit_both(results: pd.DataFrame, name: str) -> str:
    """Say whether the same seeds, each one mechanism, give the published numbers of both."""
    counted = MEASURES[name]
    apart = [gaps(results, name, losses) for losses in ("mnar", BY_DIFFPUTER)]
    mnar, mar = ({int(seed) for seed in a.index[a <= counted.near]} for a in apart)
    drivers = _drivers(results, "mnar")
    by_driver = Counter(drivers[seed] for seed in mnar & mar)
    listed = ", ".join(f"{n} by {driver}" for driver, n in sorted(by_driver.items())) or NONE
    return (
        f"{counted.label} within {counted.near:g} points at all four ratios under MNAR: "
        f"{len(mnar)} mechanisms; under MAR at the rates of DiffPuter's code: {len(mar)}; under "
        f"both: {len(mnar & mar)} (driven: {listed}).\n"
    )


def _drivers(results: pd.DataFrame, losses: str) -> dict[int, str]:
    there = results[results["losses"] == losses]
    return dict(zip(there["seed"], there["drivers"], strict=True))


BLOCKS: Blocks = {(result_page("paper"), "check_worlds"): from_csv(RESULTS, table_of)}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="few worlds and rows")
    parser.add_argument("--results", type=Path, help="file of the results")
    options = parser.parse_args(arguments)
    seeds, rows = (SEEDS[:3], 2_000) if options.quick else (SEEDS, None)
    path = options.results or (quick_path(RESULTS) if options.quick else RESULTS)
    table = table_of(run(seeds, path, rows))
    if path == RESULTS:
        show(BLOCKS)
    print(table)


if __name__ == "__main__":
    main()
