"""What a completed table is worth to someone who learns from it: the paper's downstream task.

    python -m benchmarks.downstream            # references: the true table, mean and mode
    python -m benchmarks.downstream --quick    # one seed, few rows

A classifier is trained on the completed train rows and tested on the true test rows, NA being a
class and a category like any other; numbers that can be meaningfully missing are left out.
"""

import argparse
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from xgboost import XGBClassifier

from benchmarks.pages import show_in, write
from benchmarks.published import published
from diffjoint.metrics import class_scores
from diffjoint.simulate import World, bayesian_network

RESULTS = Path(__file__).parent / "results" / "downstream.csv"
NA_CLASS = "na"
VALIDATION_SHARE = 0.2
GRID = {"max_depth": (3, 6), "learning_rate": (0.05, 0.3), "n_estimators": (50, 200)}
RATIOS = (10, 20, 30, 40)
SEEDS = range(5)
MEASURES = ("macro_f1", "roc_auc", "rarity_weighted_f1", "accuracy")
Settings = dict[str, Any]


def downstream_scores(
    world: World, target: str, completed_train: pd.DataFrame, settings: Settings
) -> dict[str, float]:
    """Scores on the true test rows of a classifier trained on completed train rows."""
    test = world.test.truth[world.test.known[target]]
    classes, probability = _learn_and_predict(
        _features(world, target, completed_train),
        _states(completed_train[target]),
        _features(world, target, test),
        settings,
        world.seed,
    )
    real = _states(test[target])
    every_class = sorted({*classes, *real})
    padded = np.zeros((len(test), len(every_class)))
    padded[:, [every_class.index(name) for name in classes]] = probability
    return class_scores(real, padded, every_class)


def choose_settings(world: World, target: str) -> Settings:
    """The classifier's settings by macro-F1 on held-out true train rows; alike for all methods."""
    truth = world.train.truth[world.train.known[target]]
    features, labels = _features(world, target, truth), np.array(_states(truth[target]))
    rare = pd.Series(labels).value_counts().min() < 2
    fit, held_out = train_test_split(
        np.arange(len(truth)),
        test_size=VALIDATION_SHARE,
        random_state=world.seed,
        stratify=None if rare else labels,
    )

    def macro_f1(settings: Settings) -> float:
        classes, probability = _learn_and_predict(
            features.iloc[fit], list(labels[fit]), features.iloc[held_out], settings, world.seed
        )
        guess = np.array(classes)[probability.argmax(axis=1)]
        return float(f1_score(labels[held_out], guess, average="macro", zero_division=0.0))

    grid = [dict(zip(GRID, cell, strict=True)) for cell in product(*GRID.values())]
    return max(grid, key=macro_f1)


def _learn_and_predict(
    train: pd.DataFrame, labels: list[str], test: pd.DataFrame, settings: Settings, seed: int
) -> tuple[list[str], NDArray[np.float64]]:
    """The classes that occur in the labels, and P(class) of each test row."""
    classes = sorted(set(labels))
    if len(classes) == 1:
        return classes, np.ones((len(test), 1))
    classifier = XGBClassifier(
        **settings, tree_method="hist", enable_categorical=True, n_jobs=1, random_state=seed
    )
    classifier.fit(train, pd.Categorical(labels, categories=classes).codes)
    return classes, classifier.predict_proba(test)


def _features(world: World, target: str, table: pd.DataFrame) -> pd.DataFrame:
    """Every column but the target and numbers that can be meaningful; NA is a category."""
    made: dict[str, Any] = {}
    for name, kind in world.column_kinds.items():
        if name == target or kind == "pass-through":
            continue
        if kind == "categorical":
            levels = sorted({*_states(world.truth[name]), NA_CLASS})
            made[name] = pd.Categorical(_states(table[name]), categories=levels)
        elif name not in world.mm_columns:
            made[name] = table[name].to_numpy(dtype=float, na_value=np.nan)
    return pd.DataFrame(made, index=table.index)


def _states(column: pd.Series) -> list[str]:
    """Values as text, numbers alike however they are stored; NA as a state of its own."""
    numeric = pd.api.types.is_numeric_dtype(column)
    states = column.astype(float).map("{:g}".format) if numeric else column.astype(str)
    return list(states.where(column.notna(), NA_CLASS))


def mean_and_mode(world: World) -> pd.DataFrame:
    """The train rows with every empty cell filled, meaningful or not: what imputers do."""
    seen = world.train.observed_table
    fill = {
        name: seen[name].mean() if kind == "continuous" else seen[name].mode().iloc[0]
        for name, kind in world.column_kinds.items()
    }
    return seen.fillna(fill)


def references(seed: int, target: str, sizes: tuple[int, int]) -> list[dict[str, Any]]:
    """What the true table gives, and what mean and mode give at each ratio; the truth is one."""
    worlds = {r: bayesian_network(*sizes, loss_rate=r / 100, seed=seed) for r in RATIOS}
    true = next(iter(worlds.values()))
    settings = choose_settings(true, target)
    tables = {("true table", 0): true.train.truth}
    tables |= {("mean and mode", ratio): mean_and_mode(w) for ratio, w in worlds.items()}
    return [
        {"target": target, "train on": name, "ratio": ratio, "seed": seed}
        | {k: 100 * v for k, v in downstream_scores(true, target, table, settings).items()}
        for (name, ratio), table in tables.items()
    ]


def markdown(results: pd.DataFrame) -> str:
    """Means and standard deviations over seeds, with the paper's mean/mode beside them."""
    lines = [
        "| target | train on | ratio | macro-F1 | ROC-AUC | weighted-F1 | accuracy |\n",
        "| --- | --- | --- | --- | --- | --- | --- |\n",
    ]
    keys = ["target", "train on", "ratio"]
    for target, name, ratio in results[keys].drop_duplicates().itertuples(index=False):
        cell = results[(results[keys] == [target, name, ratio]).all(axis=1)]
        lost = f"{ratio}%" if ratio else ""
        ours = " | ".join(f"{cell[m].mean():.1f} ± {cell[m].std(ddof=0):.1f}" for m in MEASURES)
        lines.append(f"| {target} | {name} | {lost} | {ours} |\n")
        if ratio:
            where = {"method": "mean_mode", "target": target, "ratio": ratio}
            theirs = [published("downstream_network", name, **where) for name in MEASURES]
            shown = " | ".join(f"{value:.1f}" for value in theirs)
            lines.append(f"| {target} | mean/mode in the paper | {lost} | {shown} |\n")
    return "".join(lines)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one seed, few rows")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where results go")
    options = parser.parse_args(arguments)
    seeds, sizes = (range(1), (700, 300)) if options.quick else (SEEDS, (14_000, 6_000))
    cells = product(seeds, ("D2", "D3"))
    results = pd.DataFrame([row for cell in cells for row in references(*cell, sizes)])
    write(options.results, results.round(4).to_csv(index=False))
    made = markdown(pd.read_csv(options.results))
    if options.results == RESULTS:
        show_in("downstream", made)
    print(made)


if __name__ == "__main__":
    main()
