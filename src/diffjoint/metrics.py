"""How right the calls and the values are, where the truth is known."""

import numpy as np
import pandas as pd
from sklearn.metrics import precision_recall_fscore_support, root_mean_squared_error

from diffjoint.simulate import World


def mm_scores(world: World, meaningful: pd.DataFrame) -> dict[str, float]:
    """Precision, recall and F1 of meaningful cells, over the missing cells of the mm columns.

    Examples
    --------
    >>> from diffjoint.simulate import bayesian_network
    >>> world = bayesian_network(100, 100)
    >>> everything = world.observed_table.isna()
    >>> mm_scores(world, everything)["recall"]
    1.0
    """
    columns = world.mm_columns
    missing = world.observed_table[columns].isna().to_numpy()
    truly = world.meaningful[columns].to_numpy()[missing]
    called = np.asarray(meaningful[columns], dtype=bool)[missing]
    precision, recall, f1, _ = precision_recall_fscore_support(
        truly, called, average="binary", zero_division=0.0
    )
    return {"precision": float(precision), "recall": float(recall), "f1": float(f1)}


def token_accuracy(world: World, completed: pd.DataFrame) -> float:
    """Share of missing cells in discrete mm columns whose state is right, NA or value."""
    columns = [name for name in world.mm_columns if world.column_kinds[name] == "categorical"]
    missing = world.observed_table[columns].isna().to_numpy()
    truth, state = world.truth[columns], completed[columns]
    right = (truth.isna() & state.isna()) | (truth == state).fillna(False)
    return float(right.to_numpy(dtype=bool)[missing].mean())


def lost_rmse(world: World, completed: pd.DataFrame) -> float:
    """Root mean squared error of lost cells in continuous columns that are never meaningful."""
    columns = [
        name
        for name, kind in world.column_kinds.items()
        if kind == "continuous" and name not in world.mm_columns
    ]
    lost = world.lost[columns].to_numpy()
    truth = world.truth[columns].to_numpy(dtype=float)[lost]
    return float(root_mean_squared_error(truth, completed[columns].to_numpy(dtype=float)[lost]))
