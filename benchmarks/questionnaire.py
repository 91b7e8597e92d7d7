"""A made-up questionnaire of 120 columns, 40 of them opened by gates up to three deep.

Answers are correlated: some factors drive all columns. A rule asks one to three earlier columns for
a level, some levels or a number on one side of a threshold, joined by "and" or "or". What a gate
opens is asked where the rule holds and left out elsewhere; a comparison with what is left out is
false.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from diffjoint.simulate import World, make_mechanism

N_ROOTS, DEPTHS, N_ROWS = 80, (18, 14, 8), 5_000
"""Columns asked of everyone; columns whose rules ask those, or gates that lie one deeper each."""
SHARES = (0.25, 0.8)
"""Share of the rows asked a rule's first gate that it opens a column for: least and most."""


@dataclass(frozen=True)
class Questionnaire:
    """A table without losses, and when each of its gated columns is asked.

    Attributes
    ----------
    truth : DataFrame
    rules : dict
        By column, in the language of ``rules=``.
    """

    truth: pd.DataFrame
    rules: dict[str, str]

    def world(self, mechanism: Any, loss_rate: float, seed: int) -> World:
        """Lose cells."""
        nothing = pd.DataFrame(False, index=self.truth.index, columns=self.truth.columns)
        rng = np.random.default_rng(seed)
        drawn = make_mechanism(mechanism, self.truth, loss_rate, rng)
        whole = World(
            name="questionnaire",
            seed=seed,
            truth=self.truth,
            meaningful=self.truth.isna(),
            lost=nothing,
            mm_columns=list(self.rules),
            column_kinds={
                str(name): "categorical"
                if column.dtype == object or str(column.dtype) == "str"
                else "integer"
                for name, column in self.truth.items()
            },
            is_train=np.ones(len(self.truth), dtype=bool),
        )
        return replace(whole, lost=drawn.lose(self.truth, rng), mechanism=drawn)


def draw_questionnaire(seed: int, n_rows: int = N_ROWS) -> Questionnaire:
    """Draw answers and rules."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n_rows, 4))
    columns: dict[str, pd.Series] = {}
    layers: list[list[str]] = [[]]
    for k in range(N_ROOTS):
        columns[f"Q{k + 1:03d}"] = _answers(factors, rng)
    layers[0] = list(columns)
    rules: dict[str, str] = {}
    for depth, n_columns in enumerate(DEPTHS, start=1):
        layers.append([])
        for _ in range(n_columns):
            name = f"Q{len(columns) + 1:03d}"
            rules[name], asked = _rule(columns, layers[depth - 1], layers[0], rng)
            columns[name] = _answers(factors, rng).where(asked)
            layers[-1].append(name)
    return Questionnaire(pd.DataFrame(columns), rules)


def _answers(factors: np.ndarray, rng: np.random.Generator) -> pd.Series:
    """Draw a column: numbers, or two to five levels, that depend on the factors."""
    score = factors @ rng.normal(size=factors.shape[1]) + rng.normal(size=len(factors))
    score = (score - score.mean()) / score.std()
    if rng.random() < 0.35:
        return pd.Series(np.round(50 + 15 * score)).astype("Int64")
    n_levels = int(rng.integers(2, 6))
    cuts = np.sort(rng.normal(0, 0.8, n_levels - 1))
    levels = np.array(list("abcde"))[rng.permutation(n_levels)]
    return pd.Series(levels[np.searchsorted(cuts, score)])


def _rule(
    columns: dict[str, pd.Series], nearest: list[str], roots: list[str], rng: np.random.Generator
) -> tuple[str, pd.Series]:
    """Draw a rule that asks a column of the layer before, and roots beside it."""
    while True:
        n_parts = int(rng.choice([1, 2, 3], p=[0.6, 0.3, 0.1]))
        names = [str(rng.choice(nearest)), *map(str, rng.choice(roots, n_parts - 1, replace=False))]
        if len(set(names)) < n_parts:
            continue
        parts = [_condition(name, columns[name], rng) for name in names]
        text, holds = parts[0]
        for further, also in parts[1:]:
            by_or = rng.random() < 0.3
            text = f"({text}) {'or' if by_or else 'and'} {further}"
            holds = holds | also if by_or else holds & also
        if SHARES[0] <= holds[columns[names[0]].notna()].mean() <= SHARES[1]:
            return text, holds


def _condition(name: str, column: pd.Series, rng: np.random.Generator) -> tuple[str, pd.Series]:
    if column.dtype == "Int64":
        at = int(column.quantile(rng.uniform(0.3, 0.7)))
        if rng.random() < 0.5:
            return f"{name} >= {at}", (column >= at).fillna(False).astype(bool)
        return f"{name} < {at}", (column < at).fillna(False).astype(bool)
    levels = sorted(column.dropna().unique())
    inside = list(rng.choice(levels, int(rng.integers(1, max(len(levels), 2))), replace=False))
    listed = ", ".join(f'"{level}"' for level in inside)
    return f"{name} in [{listed}]", column.isin(inside)
