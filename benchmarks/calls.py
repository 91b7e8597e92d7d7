"""How well the default imputer tells meaningful cells from lost ones, and fills in the latter.

    python -m benchmarks.calls                  # the network: every mechanism and ratio, five seeds
    python -m benchmarks.calls --tables         # real tables, one seed
    python -m benchmarks.calls --quick          # few rows

On test rows, one call per cell for all scores, beside what can be known at all where that is known.
Calls and values do not depend on the diffusion model, which is for draws and is therefore trained
as little as it can be. One line per world; results that are there are kept.
"""

import argparse
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.bayes_limit import MECHANISMS, RATIOS, SEEDS
from benchmarks.bayes_limit import RESULTS as LIMITS
from benchmarks.imputers import new_imputer
from benchmarks.kept import measure_missing
from benchmarks.pages import (
    README,
    RESULTS_PAGE,
    Blocks,
    from_csv,
    paragraph,
    result_page,
    show,
)
from benchmarks.published import published, rounded
from diffjoint import Imputation, SelectiveImputer
from diffjoint.metrics import (
    lost_accuracy,
    lost_errors,
    lost_left_empty,
    mm_scores,
    token_accuracy,
)
from diffjoint.simulate import World, make_world

FOLDER = Path(__file__).parent / "results"
PAGE = result_page("calls")
TABLES = (
    ("telco-churn-no-gates", (97, 95)),
    ("ames-housing-no-gates", (97, 94)),
    ("thyroid-disease", (87, 70)),
    ("acs-2018-wyoming", (98, 97)),
)
"""Real tables, and the F1 set as a goal where 10 and 30% are lost at random."""
LEAST: dict[str, Any] = {
    "max_epochs": 1,
    "n_steps": 2,
    "width": 8,
    "unseen": "keep",
}
"""As little training as there can be; levels that are in test rows alone stay as they are."""
ACC_AIMS = {
    "mcar": {10: 93.0, 20: 88.5, 30: 84.0, 40: 78.8},
    "mar": {10: 92.5, 20: 88.5, 30: 85.5, 40: 85.0},
    "mnar": {10: 92.5, 20: 87.5, 30: 83.0, 40: 77.5},
}
F1_AIMS = {10: 92.2, 20: 84.0, 30: 79.0, 40: 72.5}
"""Goals on the network, set before the detector was built."""
KEYS = ["world", "mechanism", "ratio", "seed"]


def fit_on_train(world: World) -> SelectiveImputer:
    """Fit the default imputer on the train rows, the searched columns named."""
    imputer = new_imputer(
        world.mm_columns, column_kinds=world.column_kinds, random_state=world.seed, **LEAST
    )
    return imputer.fit(world.train.observed_table)


def calls_on_test(world: World) -> Imputation:
    """Return what is said of the test rows by an imputer that has seen the train rows."""
    return fit_on_train(world).impute(world.test.observed_table)


def measure(world: World) -> dict[str, float]:
    """Scores on the world's test rows; accuracies, and scores of calls but Brier's, in percent."""
    test, result = world.test, calls_on_test(world)
    scores = mm_scores(test, result.meaningful, result.probability)
    percent = {name: 100 * scores[name] for name in ("precision", "recall", "f1", "auc")}
    errors = lost_errors(test, result.table)
    return (
        percent
        | {name: scores[name] for name in ("brier", "calibration_error")}
        | {
            "acc": 100 * token_accuracy(test, result.table),
            "lost_acc": 100 * lost_accuracy(test, result.table),
            "lost_empty": 100 * lost_left_empty(test, result.table),
            "rmse": errors["rmse"],
            "standardised_rmse": errors["standardised_rmse"],
        }
    )


def run(cells: list[tuple[str, str, int, int]], path: Path, rows: int | None) -> pd.DataFrame:
    """Measure every world that is not in the file yet."""

    def lines(name: str, mechanism: Any, ratio: int, seed: int) -> list[dict[str, float]]:
        options = {"mechanism": mechanism, "loss_rate": ratio / 100, "seed": seed}
        return [measure(make_world(name, rows=rows, **options))]

    return measure_missing(cells, KEYS, path, lines)


def network_table(results: pd.DataFrame) -> str:
    """Means over seeds; the limit in brackets."""
    limits = pd.read_csv(LIMITS)
    lines = [
        "| mechanism | ratio | ACC | goal | F1 | goal | AUC | Brier | calibration error | "
        "RMSE |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    ]
    for mechanism, ratio in product(MECHANISMS, RATIOS):
        at = (results["mechanism"] == mechanism) & (results["ratio"] == ratio)
        if not at.any():
            lines.append(f"| {mechanism.upper()} | {ratio} | not run | | | | | | | |\n")
            continue
        ours = results[at][["acc", "f1", "auc", "brier", "calibration_error", "rmse"]].mean()
        there = (limits["mechanism"] == mechanism) & (limits["ratio"] == ratio)
        best = limits[there][["ACC", "F1", "AUC", "Brier", "RMSE"]].mean()
        f1_aim = f"{F1_AIMS[ratio]:.1f}" if mechanism == "mcar" and ratio in F1_AIMS else ""
        lines.append(
            f"| {mechanism.upper()} | {ratio} | {ours['acc']:.1f} ({best['ACC']:.1f}) | "
            f"{ACC_AIMS[mechanism][ratio]:.1f} | {ours['f1']:.1f} ({best['F1']:.1f}) | {f1_aim} | "
            f"{ours['auc']:.1f} ({best['AUC']:.1f}) | {ours['brier']:.3f} ({best['Brier']:.3f}) | "
            f"{ours['calibration_error']:.3f} | {ours['rmse']:.2f} ({best['RMSE']:.2f}) |\n"
        )
    return "".join(lines)


def network_notes(results: pd.DataFrame) -> str:
    """How far below the limit, and which goals were missed: in words, as the table rounds."""
    ours = _means(results, ["acc", "f1"]).round(1)
    missed = [
        f"{name} under {mechanism.upper()} at {ratio}% (by {aim - value:.1f} points)"
        for (mechanism, ratio), acc, f1 in ours.itertuples()
        for name, value, aim in (
            ("ACC", acc, ACC_AIMS[mechanism][ratio]),
            ("F1", f1, F1_AIMS[ratio] if mechanism == "mcar" else 0.0),
        )
        if value < aim
    ]
    said = f"{_below_the_limit(ours)} Goals missed: {', '.join(missed) or 'none'}."
    return "\n" + paragraph(said)


def _below_the_limit(ours: pd.DataFrame) -> str:
    """How many points below the limit at most, under each mechanism."""
    below = _means(pd.read_csv(LIMITS), ["ACC", "F1"]).round(1) - ours.set_axis(
        ["ACC", "F1"], axis=1
    )
    most = below.groupby("mechanism", sort=False).max().dropna()
    farthest = [
        f"{name} by "
        + ", ".join(f"{gap:.1f} under {str(mechanism).upper()}" for mechanism, gap in gaps.items())
        for name, gaps in most.items()
    ]
    return f"Farthest below the limit, in points: {'; '.join(farthest)}."


def _means(results: pd.DataFrame, measures: list[str]) -> pd.DataFrame:
    """Over seeds, by mechanism and ratio."""
    return results.groupby(["mechanism", "ratio"], sort=False)[measures].mean()


def network_section(results: pd.DataFrame) -> str:
    """Return the network's table and what it comes to."""
    return network_table(results) + network_notes(results)


def real_table(results: pd.DataFrame) -> str:
    """One line per table, mechanism and ratio."""
    lines = [
        "| table | mechanism | ratio | precision | recall | F1 | goal | AUC | Brier | "
        "lost levels right | lost levels left as NA | RMSE of lost numbers |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    ]
    for name, aims in TABLES:
        for mechanism, (ratio, aim) in product(MECHANISMS, zip((10, 30), aims, strict=True)):
            at = (results[KEYS[:3]] == [name, mechanism, ratio]).all(axis=1)
            start = f"| {name} | {mechanism.upper()} | {ratio} |"
            if not at.any():
                lines.append(f"{start} not run | | | | | | | | |\n")
                continue
            row = results[at].iloc[0]
            shown = f"{aim}" if mechanism == "mcar" else ""
            lines.append(
                f"{start} {row['precision']:.1f} | {row['recall']:.1f} | {row['f1']:.1f} | "
                f"{shown} | {row['auc']:.1f} | {row['brier']:.3f} | {row['lost_acc']:.1f} | "
                f"{row['lost_empty']:.1f} | {_or_none(row['standardised_rmse'])} |\n"
            )
    return "".join(lines)


def _or_none(value: float) -> str:
    return "none lost" if pd.isna(value) else f"{value:.3f}"


def real_section(results: pd.DataFrame) -> str:
    """Return the table, and how much lower F1 is where losses depend on something, on average."""
    f1 = results.pivot_table(index=["world", "ratio"], columns="mechanism", values="f1").dropna()
    if set(f1.columns) != set(MECHANISMS) or f1.empty:
        return real_table(results)
    lower = -f1.sub(f1["mcar"], axis=0).mean()
    text = (
        f"Averaged over the {len(f1)} tables and ratios that were run under all three mechanisms, "
        f"F1 is {lower['mar']:.1f} points lower under MAR than under MCAR, and "
        f"{lower['mnar']:.1f} points lower under MNAR."
    )
    return f"{real_table(results)}\n{paragraph(text)}"


def network_summary(results: pd.DataFrame) -> str:
    """Return ACC and F1 beside the limit, and the calibration error: a line per mechanism."""
    means = _means(results, ["acc", "f1", "calibration_error"])
    limits = _means(pd.read_csv(LIMITS), ["ACC", "F1"])
    head = [f"{ratio}% lost" for ratio in RATIOS]
    lines = [f"| score | losses | {' | '.join(head)} |\n", f"|{' --- |' * (2 + len(head))}\n"]
    for score, best, digits in (("acc", "ACC", 1), ("f1", "F1", 1), ("calibration_error", "", 3)):
        for mechanism in MECHANISMS:
            parts = _texts(means[score], mechanism, digits)
            if best:
                at_best = _texts(limits[best], mechanism, digits)
                parts = [f"{ours} ({known})" for ours, known in zip(parts, at_best, strict=True)]
            name = best or "calibration error"
            lines.append(f"| {name} | {mechanism.upper()} | {' | '.join(parts)} |\n")
    return "".join(lines) + "\n" + paragraph(_below_the_limit(means[["acc", "f1"]].round(1)))


def beside_the_paper(results: pd.DataFrame) -> str:
    """Return ACC where cells are lost completely at random, beside the paper's and the limit."""
    ours, limits = _means(results, ["acc"])["acc"], _means(pd.read_csv(LIMITS), ["ACC"])["ACC"]
    where = {"method": "diffjoint_paper", "mechanism": "mcar"}
    theirs = [published("method_comparison", "acc", ratio=ratio, **where) for ratio in RATIOS]
    lines = ["| lost | paper | diffjoint | at best |\n|---|---|---|---|\n"]
    for ratio, known, *parts in zip(
        RATIOS, theirs, _texts(ours, "mcar", 1), _texts(limits, "mcar", 1), strict=True
    ):
        paper = "-" if known is None else rounded(known, 1)
        lines.append(f"| {ratio}% | {paper} | {' | '.join(parts)} |\n")
    return "".join(lines)


def _texts(means: "pd.Series[float]", mechanism: str, digits: int) -> list[str]:
    """Return a measure under a mechanism, ratio by ratio."""
    by_ratio = means.reindex([(mechanism, ratio) for ratio in RATIOS])
    return ["not run" if pd.isna(mean) else f"{mean:.{digits}f}" for mean in by_ratio]


def real_summary(results: pd.DataFrame) -> str:
    """Return the F1 of calls on real tables: a line per table."""
    f1 = results.set_index(KEYS[:3])["f1"]
    places = list(product(MECHANISMS, (10, 30)))
    head = [f"{mechanism.upper()}, {ratio}% lost" for mechanism, ratio in places]
    lines = [f"| table | {' | '.join(head)} |\n", f"|{' --- |' * (1 + len(head))}\n"]
    for name, _ in TABLES:
        parts = [f"{f1[name, *at]:.1f}" if (name, *at) in f1.index else "not run" for at in places]
        lines.append(f"| {name} | {' | '.join(parts)} |\n")
    return "".join(lines)


BLOCKS: Blocks = {
    (PAGE, "calls_network"): from_csv(FOLDER / "calls_network.csv", network_section),
    (PAGE, "calls_tables"): from_csv(FOLDER / "calls_tables.csv", real_section),
    (RESULTS_PAGE, "calls_network"): from_csv(FOLDER / "calls_network.csv", network_summary),
    (RESULTS_PAGE, "calls_tables"): from_csv(FOLDER / "calls_tables.csv", real_summary),
    (README, "calls_network"): from_csv(FOLDER / "calls_network.csv", beside_the_paper),
}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one seed, few rows")
    parser.add_argument("--tables", action="store_true", help="real tables, not the network")
    parser.add_argument("--results", type=Path, default=FOLDER, help="folder of the results")
    options = parser.parse_args(arguments)
    if options.tables:
        cells = [(n, m, r, 0) for (n, _), m, r in product(TABLES, MECHANISMS, (10, 30))]
        name, made = "calls_tables", real_section
    else:
        seeds = range(1) if options.quick else SEEDS
        cells = [("bayesian-network", *cell) for cell in product(MECHANISMS, RATIOS, seeds)]
        name, made = "calls_network", network_section
    results = run(cells, options.results / f"{name}.csv", 400 if options.quick else None)
    if options.results == FOLDER:
        show(BLOCKS, name)
    print(made(results))


if __name__ == "__main__":
    main()
