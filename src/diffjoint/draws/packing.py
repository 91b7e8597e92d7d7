"""What draws by trees have learnt as named arrays, and back."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diffjoint.draws.chain import MOST_SETS, Kept
from diffjoint.draws.column import ColumnModel, ColumnPlan
from diffjoint.draws.design import Layout
from diffjoint.draws.donors import Donors
from diffjoint.draws.gates import Gates
from diffjoint.draws.learn import Plans
from diffjoint.draws.never import NeverTogether
from diffjoint.draws.trees import TreeDraws
from diffjoint.relations import check_relations, pack_relations, unpack_relations
from diffjoint.state import JointSpace
from diffjoint.trees import (
    Arrays,
    check_trees,
    join_arrays,
    pack_trees,
    split_arrays,
    stored,
    stored_lengths,
    unpack_trees,
)

CHOICES = ("penalty", "n_trees", "by_trees", "has_spread")
"""What a plan chose, as numbers."""
DONORS = ("expected", "truth", "spread", "shared")
BY_PLAN = ("inputs", "class_of", "plan_shared", "weighed_by")
BY_MODEL = ("coefficients", "spread", "level_shares", *(f"donor_{part}" for part in DONORS))
"""Arrays of each plan and of each model, which are joined end to end."""


def pack_draws(drawer: TreeDraws) -> Arrays:
    """Return plain arrays that :func:`unpack_draws` makes the same of."""
    plans, never = drawer.plans, drawer.plans.kept.never
    models = [model for learnt in drawer.sets for model in learnt]
    arrays: Arrays = {
        "flagged": plans.layout.flagged,
        "order": plans.kept.order,
        "apart": plans.kept.apart,
        "choices": np.array(
            [[float(getattr(plan, name)) for name in CHOICES] for plan in plans.columns]
        ).reshape(-1, len(CHOICES)),
        "never_column": never.column,
        "never_other": never.other,
        "gate": plans.gates.gate,
        "gated": plans.gates.column,
        "draw_gates": np.array([plans.gates.draw_missing]),
        "n_outputs": np.array([m.coefficients.shape[1] for m in models], dtype=np.int64),
    }
    joined: dict[str, Sequence[NDArray[Any]]] = {
        "level_places": plans.layout.level_places,
        "gate_closed": list(plans.gates.closed),
        "never_possible": [possible.ravel() for possible in never.possible],
        "pairs": [plan.pairs.ravel() for plan in plans.columns],
        "inputs": [plan.inputs for plan in plans.columns],
        "class_of": [plan.class_of for plan in plans.columns],
        "plan_shared": [plan.shared for plan in plans.columns],
        "weighed_by": [plan.weighed_by for plan in plans.columns],
        "coefficients": [model.coefficients.ravel() for model in models],
        "spread": [model.spread for model in models],
        "level_shares": [model.level_shares for model in models],
        **{f"donor_{part}": [getattr(m.donors, part) for m in models] for part in DONORS},
    }
    for name, parts in joined.items():
        arrays |= join_arrays(name, parts)
    for name in ("never_possible", "gate_closed"):
        arrays[name] = arrays[name].astype(bool)
    arrays |= pack_relations(plans.kept.relations)
    return arrays | pack_trees([model.trees for model in models])


def unpack_draws(arrays: Arrays, space: JointSpace) -> TreeDraws | None:
    """Return what :func:`pack_draws` packed; None if there are no arrays."""
    if not arrays:
        return None
    places = tuple(split_arrays(arrays, "level_places"))
    layout = Layout(space.schema.modelled, places, arrays["flagged"])
    plans = tuple(
        ColumnPlan(
            inputs,
            layout.of(inputs),
            pairs.reshape(-1, 2),
            float(choice[0]),
            int(choice[1]),
            float(choice[2]),
            bool(choice[3]),
            shared,
            class_of,
            weighed_by,
        )
        for inputs, pairs, choice, shared, class_of, weighed_by in zip(
            split_arrays(arrays, "inputs"),
            split_arrays(arrays, "pairs"),
            arrays["choices"],
            split_arrays(arrays, "plan_shared"),
            split_arrays(arrays, "class_of"),
            split_arrays(arrays, "weighed_by"),
            strict=True,
        )
    )
    columns = arrays["never_column"]
    possible = tuple(
        flat.reshape(-1, plans[j].n_classes)
        for flat, j in zip(split_arrays(arrays, "never_possible"), columns, strict=True)
    )
    never = NeverTogether(columns, arrays["never_other"], possible)
    models = _models(arrays, plans)
    n_plans = len(plans)
    sets = tuple(models[k : k + n_plans] for k in range(0, len(models), n_plans))
    kept = Kept(arrays["order"], never, unpack_relations(arrays), arrays["apart"])
    gates = Gates(
        arrays["gate"],
        arrays["gated"],
        tuple(split_arrays(arrays, "gate_closed")),
        bool(arrays["draw_gates"][0]),
    )
    return TreeDraws(Plans(layout, plans, kept, gates), sets)


def _models(arrays: Arrays, plans: tuple[ColumnPlan, ...]) -> tuple[ColumnModel, ...]:
    parts = {name: split_arrays(arrays, name) for name in BY_MODEL}
    return tuple(
        ColumnModel(
            plans[i % len(plans)],
            parts["coefficients"][i].reshape(-1, n_outputs),
            trees,
            parts["spread"][i],
            Donors(*(parts[f"donor_{part}"][i] for part in DONORS)),
            parts["level_shares"][i],
        )
        for i, (n_outputs, trees) in enumerate(
            zip(arrays["n_outputs"].tolist(), unpack_trees(arrays), strict=True)
        )
    )


def check_draws(arrays: Arrays, space: JointSpace) -> None:
    """Raise ValueError unless arrays from a file are what draws of such columns have learnt."""
    n_levels = space.schema.n_levels
    apart = stored(arrays, "apart", "i", (None, 2), low=0, high=len(n_levels) - 1)
    column_of = np.r_[np.arange(len(n_levels)), apart[:, 0]]
    n = len(column_of)
    for name in ("pairs", *BY_PLAN):
        stored_lengths(arrays, name, n)
    _check_plans(arrays, n_levels, column_of)
    check_relations(arrays, n_levels)
    _check_gates(arrays, n_levels)
    n_models = len(stored(arrays, "n_outputs", "i", (None,), low=1))
    if not 0 < n_models <= n * MOST_SETS or n_models % n:
        raise ValueError("its draws have models of more or fewer columns")
    for name in BY_MODEL:
        stored(arrays, name, "f", (None,))
        stored_lengths(arrays, name, n_models)
    n_outputs = check_trees(arrays, [len(n_levels)] * n_models, n_levels)
    drawer = unpack_draws(arrays, space)
    assert drawer is not None
    for learnt in drawer.sets:
        for j, model in enumerate(learnt):
            _check_model(model, drawer.plans.layout, int(n_levels[column_of[j]]))
    by_trees = [m for learnt in drawer.sets for m in learnt]
    for model, given in zip(by_trees, n_outputs.tolist(), strict=True):
        n_classes = model.plan.n_classes
        wanted = n_classes if model.plan.by_trees > 0 and n_classes > 2 else 1
        if given != wanted:
            raise ValueError("its draws' trees tell another number of classes apart")


def _check_plans(arrays: Arrays, n_levels: NDArray[np.int64], column_of: NDArray[np.int64]) -> None:
    n, n_plans = len(n_levels), len(column_of)
    stored(arrays, "flagged", "b", (n,))
    order = stored(arrays, "order", "i", (n,), low=0, high=n - 1)
    if len(set(order.tolist())) != n:
        raise ValueError("its draws take a column twice")
    stored(arrays, "inputs", "i", (None,), low=0, high=n - 1)
    weighed_by = stored(arrays, "weighed_by", "i", (None,), low=0, high=n - 1)
    if n_levels[weighed_by].any():
        raise ValueError("its draws weigh by columns that are no numbers")
    stored(arrays, "pairs", "i", (None,), low=0)
    stored(arrays, "plan_shared", "f", (None,))
    choices = stored(arrays, "choices", "f", (n_plans, len(CHOICES)), low=0.0)
    if (choices[:, 2:] > 1.0).any():
        raise ValueError("its draws have shares above 1")
    for name, levels in (("class_of", n_levels[column_of]), ("level_places", n_levels)):
        stored(arrays, name, "i", (None,), low=-1)
        if (stored_lengths(arrays, name, len(levels)) != levels).any():
            raise ValueError(f"its draws have {name} of other levels")
    class_of = split_arrays(arrays, "class_of")
    columns = stored(arrays, "never_column", "i", (None,), low=0, high=n - 1)
    others = stored(arrays, "never_other", "i", (len(columns),), low=0, high=n - 1)
    stored(arrays, "never_possible", "b", (None,))
    sizes = stored_lengths(arrays, "never_possible", len(columns))
    n_classes = np.array([of.max(initial=-1) + 1 for of in class_of])
    if (sizes != (n_levels[others] + 1) * n_classes[columns]).any():
        raise ValueError("its draws rule out levels that there are not")


def _check_gates(arrays: Arrays, n_levels: NDArray[np.int64]) -> None:
    n = len(n_levels)
    gate = stored(arrays, "gate", "i", (None,), low=0, high=n - 1)
    stored(arrays, "gated", "i", (len(gate),), low=0, high=n - 1)
    stored(arrays, "draw_gates", "b", (1,))
    stored(arrays, "gate_closed", "b", (None,))
    if (stored_lengths(arrays, "gate_closed", len(gate)) != n_levels[gate]).any():
        raise ValueError("its draws have gates of other levels")
    if not n_levels[gate].all():
        raise ValueError("its draws have gates without levels")


def _check_model(model: ColumnModel, layout: Layout, n_levels: int) -> None:
    plan = model.plan
    if len(plan.coordinates) <= plan.pairs.max(initial=-1):
        raise ValueError("its draws multiply coordinates that there are not")
    n_basis = 1 + len(plan.coordinates) + len(plan.pairs)
    is_number = n_levels == 0
    wanted = (n_basis, 1 if is_number else plan.n_classes)
    only_trees = not is_number and plan.by_trees == 1.0
    if model.coefficients.shape != wanted and not only_trees:
        raise ValueError("its draws have more or fewer coefficients")
    if is_number and len(model.spread) != (1 + len(plan.coordinates) if plan.has_spread else 1):
        raise ValueError("its draws have a spread of other coordinates")
    donors = model.donors
    sizes = {len(donors.expected), len(donors.truth), len(donors.spread)}
    if len(sizes) != 1 or not len(donors.expected) or (donors.spread <= 0).any():
        raise ValueError("its draws have donors that are none")
    if not is_number and (len(model.level_shares) != n_levels or not model.level_shares.any()):
        raise ValueError("its draws have shares of other levels")
