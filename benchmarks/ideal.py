"""Run Algorithm 1 with a nearly perfect model in place of the network.

Shows where the algorithm itself ends, whatever the network.

    python -m benchmarks.ideal                          # MCAR, four ratios, three seeds; minutes
    python -m benchmarks.ideal --ratios 10 --seeds 0
    python -m benchmarks.ideal --quick                  # few rows, for tests

The paper's network, ten passes of 30 draws. The model of a pass is the completed table itself: a
draw is one of the rows that agree with what is known of a row, nearest in its numbers, of which as
many are taken as the table has thousands, times three. Nothing has to be trained, and nothing is
lost by a small network: what falls short of the limit is the algorithm's own. Results that are
there are kept.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.neighbors import KDTree

from benchmarks.kept import Line, measure_missing
from benchmarks.pages import Blocks, from_csv, quick_path, result_page, show
from benchmarks.published import published
from diffjoint.metrics import lost_errors, mm_scores, token_accuracy
from diffjoint.simulate import World, bayesian_network

RESULTS = Path(__file__).parent / "results" / "ideal.csv"
KEYS = ("ratio", "seed")
RATIOS, SEEDS = (10, 20, 30, 40), (0, 1, 2)
N_PASSES, N_DRAWS, DONORS_PER_ROW = 10, 30, 0.003
NUMBERS, SEARCHED = (0, 1), (0, 3, 4)
"""Places of C1 and C2, and of C1, D2 and D3."""
Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class State:
    """Values and mask of a completed table, both of shape (n_rows, n_columns)."""

    values: Numbers
    meaningful: Mask

    @property
    def coordinates(self) -> Numbers:
        """Values, and the mask of the columns that can be meaningful beside them."""
        return np.hstack([self.values, self.meaningful[:, SEARCHED]])


def first_state(observed: Numbers, rng: np.random.Generator) -> State:
    """Fill missing cells with any of their column's values; call none meaningful."""
    values = observed.copy()
    for j, column in enumerate(observed.T):
        missing = np.isnan(column)
        values[missing, j] = rng.choice(np.unique(column[~missing]), missing.sum())
    return State(values, np.zeros(values.shape, dtype=bool))


def draw(state: State, observed: Numbers, rng: np.random.Generator) -> tuple[Numbers, Mask]:
    """Draw values and mask of each row given what is known of it, from the rows of a state.

    Returns
    -------
    array, bool array of shape (N_DRAWS, n_rows, n_columns)
        Observed cells are as observed.
    """
    taught = state.coordinates
    known = np.hstack([~np.isnan(observed), ~np.isnan(observed[:, SEARCHED])])
    given = np.nan_to_num(np.hstack([observed, np.zeros((len(observed), len(SEARCHED)))]))
    drawn = np.tile(given, (N_DRAWS, 1, 1))
    for pattern in np.unique(known, axis=0):
        if pattern.all():
            continue
        rows = np.flatnonzero((known == pattern).all(axis=1))
        exact = [j for j in np.flatnonzero(pattern).tolist() if j not in NUMBERS]
        near = [j for j in NUMBERS if pattern[j]]
        donors = _donors(taught, given[rows], exact, near)
        for place, row in enumerate(rows):
            taken = rng.choice(donors[place], N_DRAWS)
            drawn[:, row, ~pattern] = taught[taken][:, ~pattern]
    n_columns = observed.shape[1]
    meaningful = np.zeros((N_DRAWS, *observed.shape), dtype=bool)
    meaningful[:, :, SEARCHED] = drawn[:, :, n_columns:] > 0
    return drawn[:, :, :n_columns], meaningful


def _donors(
    taught: Numbers, given: Numbers, exact: Sequence[int], near: Sequence[int]
) -> list[NDArray[np.intp]]:
    """Return for each row the rows that it is drawn from."""
    wanted = max(10, round(DONORS_PER_ROW * len(taught)))
    numbers = np.array(near, dtype=np.int64)
    scale = taught[:, numbers].std(axis=0)
    found: list[NDArray[np.intp]] = [np.arange(len(taught))] * len(given)
    for levels in np.unique(given[:, exact], axis=0):
        asked = np.flatnonzero((given[:, exact] == levels).all(axis=1))
        alike = np.flatnonzero((taught[:, exact] == levels).all(axis=1))
        if not len(alike):
            continue
        places = np.tile(alike, (len(asked), 1))
        if len(near) and len(alike) > wanted:
            tree = KDTree(taught[np.ix_(alike, numbers)] / scale)
            nearest = tree.query(
                given[np.ix_(asked, numbers)] / scale, wanted, return_distance=False
            )
            places = alike[nearest]
        for row, of_row in zip(asked, places, strict=True):
            found[row] = of_row
    return found


def aggregate(
    values: Numbers, meaningful: Mask, observed: Numbers, centres: Numbers | None
) -> tuple[State, Numbers]:
    """Sum draws up: means and modes, and calls by uncertainty or vote.

    Parameters
    ----------
    centres : array of shape (n_searched, 2), optional
        Of the clusters of uncertainty; found here if None.
    """
    summed, uncertainty = np.empty(observed.shape), np.empty(observed.shape)
    for j in range(observed.shape[1]):
        drawn = values[:, :, j]
        if j in NUMBERS:
            summed[:, j], uncertainty[:, j] = drawn.mean(axis=0), drawn.std(axis=0)
            continue
        levels = np.unique(drawn)
        shares = np.stack([(drawn == level).mean(axis=0) for level in levels])
        summed[:, j] = levels[shares.argmax(axis=0)]
        logs = np.log(np.maximum(shares, 1e-300))
        uncertainty[:, j] = -(shares * logs).sum(axis=0)
    missing = np.isnan(observed)
    if centres is None:
        split = KMeans(n_clusters=2, n_init=10, random_state=0)
        centres = np.array(
            [
                np.sort(split.fit(uncertainty[missing[:, j], j][:, None]).cluster_centers_[:, 0])
                for j in SEARCHED
            ]
        )
    called = np.zeros(observed.shape, dtype=bool)
    for j, ends in zip(SEARCHED, centres, strict=True):
        is_uncertain = uncertainty[:, j] > ends.mean()
        is_voted = meaningful[:, :, j].mean(axis=0) > 0.5
        called[:, j] = missing[:, j] & (is_uncertain | is_voted)
    return State(np.where(missing, summed, observed), called), centres


def measure(ratio: int, seed: int, *, n_rows: tuple[int, int] = (14_000, 6_000)) -> list[Line]:
    """Return the paper's measures of the test rows after each pass."""
    world = bayesian_network(*n_rows, loss_rate=ratio / 100, seed=seed)
    rng = np.random.default_rng(seed)
    train = world.train.observed_table.to_numpy(dtype=float)
    test = world.test.observed_table.to_numpy(dtype=float)
    state, lines = first_state(train, rng), []
    for number in range(1, N_PASSES + 1):
        learnt = state
        state, centres = aggregate(*draw(learnt, train, rng), train, None)
        completed, _ = aggregate(*draw(learnt, test, rng), test, centres)
        lines.append({"pass": number, **score(world.test, completed)})
    return lines


def score(world: World, completed: State) -> dict[str, float]:
    """Score calls and values of the test rows."""
    table = world.observed_table
    values = np.where(completed.meaningful, np.nan, completed.values)
    kept = pd.DataFrame(values, index=table.index, columns=table.columns)
    calls = pd.DataFrame(completed.meaningful, index=table.index, columns=table.columns)
    found = mm_scores(world, calls)
    return {
        "acc": 100 * token_accuracy(world, kept),
        "recall": 100 * found["recall"],
        "precision": 100 * found["precision"],
        "rmse": lost_errors(world, kept)["rmse"],
    }


MEASURES = {"acc": "ACC", "recall": "recall", "precision": "precision", "rmse": "RMSE"}


def markdown(results: pd.DataFrame) -> str:
    """Return means over seeds after some passes, beside what is published."""
    ratios = [ratio for ratio in RATIOS if ratio in set(results["ratio"])]
    lines = [
        "| ratio | seeds | measure | published | pass 1 | pass 2 | pass 4 | pass 10 |\n",
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n",
    ]
    for ratio in ratios:
        here = results[results["ratio"] == ratio]
        where = {"method": "diffjoint_paper", "mechanism": "mcar", "ratio": ratio}
        for name, shown in MEASURES.items():
            table = "method_comparison" if name in ("acc", "rmse") else "mm_recall_precision"
            digits = 2 if name == "rmse" else 1
            after = here.groupby("pass")[name].mean()
            cells = " | ".join(f"{after[k]:.{digits}f}" for k in (1, 2, 4, N_PASSES))
            lines.append(
                f"| {ratio} | {here['seed'].nunique()} | {shown} | "
                f"{published(table, name, **where):.{digits}f} | {cells} |\n"
            )
    return "".join(lines)


BLOCKS: Blocks = {(result_page("paper"), "ideal"): from_csv(RESULTS, markdown)}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--quick", action="store_true", help="few rows, for tests")
    parser.add_argument("--ratios", nargs="+", type=int, choices=RATIOS, default=RATIOS)
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    path, one, places = asked.results, measure, [(r, s) for s in asked.seeds for r in asked.ratios]
    if asked.quick:
        path, one, places = quick_path(path), partial(measure, n_rows=(600, 300)), [(10, 0)]
    results = measure_missing(places, KEYS, path, one)
    if path == RESULTS:
        show(BLOCKS)
    print(markdown(results))


if __name__ == "__main__":
    main()
