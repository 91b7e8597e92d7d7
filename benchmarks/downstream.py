"""What a completed table is worth to someone who learns from it: the paper's downstream task.

A classifier is trained on the completed train rows and tested on the true test rows, NA being a
class and a category like any other; numbers that can be meaningfully missing are left out.
"""

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from xgboost import XGBClassifier

from diffjoint.metrics import class_scores
from diffjoint.simulate import World

NA_CLASS = "na"
VALIDATION_SHARE = 0.2
GRID = {"max_depth": (3, 6), "learning_rate": (0.05, 0.3), "n_estimators": (50, 200)}
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
    """Choose the classifier's settings by macro-F1 on held-out true train rows, for all methods."""
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
    """Return the classes that occur in the labels, and P(class) of each test row."""
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
