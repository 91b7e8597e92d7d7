"""What a classifier can tell that is taught with the true kinds of the train rows' missing cells.

Nobody has these labels: it shows how much the other cells of a row say about a missing one, and so
how far a method without labels may come.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

from diffjoint.simulate import World

N_RARER = 10
"""How many train cells of the rarer kind a column must have to be learnt."""


class TaughtClassifier:
    """One classifier for each mm column: meaningful or lost, from the other cells of the row.

    Learns from the missing train cells whose kind is known. A column with fewer than ten of one
    kind gets the share of meaningful cells that it has in the train rows.

    Attributes
    ----------
    models_ : dict
        The classifier of each column that could be learnt.
    shares_ : dict
        The share of meaningful cells of each column that could not.
    """

    def fit(self, world: World) -> "TaughtClassifier":
        """Learn from the world's train rows and their true kinds."""
        self.models_: dict[str, HistGradientBoostingClassifier] = {}
        self.shares_: dict[str, float] = {}
        train, cells = world.train, coded(world)[world.is_train]
        for name in world.mm_columns:
            at = (train.meaningful | train.lost)[name].to_numpy()
            kind = train.meaningful[name].to_numpy()[at]
            if min(kind.sum(), (~kind).sum()) < N_RARER:
                self.shares_[name] = float(kind.mean()) if len(kind) else 1.0
                continue
            model = HistGradientBoostingClassifier(random_state=world.seed)
            others = cells[at].dropna(axis=1, how="all")  # the column itself is among the empty
            self.models_[name] = model.fit(others, kind)
        return self

    def probability(self, world: World) -> pd.DataFrame:
        """P(meaningful) of the test rows' missing cells in mm columns; 0 elsewhere."""
        cells, missing = coded(world)[~world.is_train], world.test.observed_table.isna()
        likely = pd.DataFrame(0.0, index=missing.index, columns=missing.columns)
        for name in world.mm_columns:
            at = missing[name].to_numpy()
            if at.any():
                likely.loc[at, name] = self._likely(name, cells[at])
        return likely

    def _likely(self, name: str, cells: pd.DataFrame) -> NDArray[np.float64] | float:
        if name in self.shares_:
            return self.shares_[name]
        model = self.models_[name]
        said: NDArray[np.float64] = model.predict_proba(cells[model.feature_names_in_])
        return said[:, 1]


def coded(world: World) -> pd.DataFrame:
    """All rows of the observed table as numbers: levels by their order, NaN where missing."""
    table = world.observed_table
    return pd.DataFrame(
        {
            name: _codes(table[name]) if kind == "categorical" else table[name].astype("Float64")
            for name, kind in world.column_kinds.items()
        }
    ).astype("float64")


def _codes(column: pd.Series) -> pd.Series:
    codes = pd.Series(pd.factorize(column, sort=True)[0], index=column.index, dtype="float64")
    return codes.mask(codes < 0)
