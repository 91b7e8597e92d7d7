"""Relations as named arrays, and back."""

import numpy as np
from numpy.typing import NDArray

from diffjoint.relations.equations import Equation
from diffjoint.relations.found import Relations
from diffjoint.relations.lookups import Band, Lookup
from diffjoint.trees import Arrays, join_arrays, split_arrays, stored, stored_lengths

PREFIX = "relation_"
JOINED = ("columns", "weights", "looked_up", "low", "high", "level_numbers")


def pack_relations(relations: Relations) -> Arrays:
    """Return plain arrays that :func:`unpack_relations` makes the same of."""
    equations, lookups, bands = relations.equations, relations.lookups, relations.bands
    arrays: Arrays = {
        "equations": np.array([[e.constant, e.is_product, e.share] for e in equations]).reshape(
            -1, 3
        ),
        "lookups": _pairs([(one.source, one.target) for one in lookups]),
        "bands": _pairs([(one.number, one.levels) for one in bands]),
        "orders": relations.orders,
        "units": relations.units,
        **join_arrays("level_numbers", relations.level_numbers),
    }
    columns = [np.array(equation.columns, dtype=np.int64) for equation in equations]
    arrays |= join_arrays("columns", columns)
    arrays["columns"] = arrays["columns"].astype(np.int64)
    arrays |= join_arrays("weights", [np.array(equation.weights) for equation in equations])
    arrays |= join_arrays("looked_up", [one.values for one in lookups])
    arrays |= join_arrays("low", [one.low for one in bands])
    arrays |= join_arrays("high", [one.high for one in bands])
    return {f"{PREFIX}{name}": array for name, array in arrays.items()}


def _pairs(pairs: list[tuple[int, int]]) -> NDArray[np.int64]:
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _own(arrays: Arrays) -> Arrays:
    return {
        name.removeprefix(PREFIX): array
        for name, array in arrays.items()
        if name.startswith(PREFIX)
    }


def unpack_relations(arrays: Arrays) -> Relations:
    """Return what :func:`pack_relations` packed."""
    own = _own(arrays)
    parts = {name: split_arrays(own, name) for name in JOINED}
    equations = tuple(
        Equation(tuple(columns.tolist()), tuple(weights.tolist()), constant, product > 0, share)
        for columns, weights, (constant, product, share) in zip(
            parts["columns"], parts["weights"], own["equations"].tolist(), strict=True
        )
    )
    lookups = tuple(
        Lookup(source, target, values)
        for (source, target), values in zip(
            own["lookups"].tolist(), parts["looked_up"], strict=True
        )
    )
    bands = tuple(
        Band(number, levels, low, high)
        for (number, levels), low, high in zip(
            own["bands"].tolist(), parts["low"], parts["high"], strict=True
        )
    )
    return Relations(
        equations, lookups, bands, own["orders"], own["units"], tuple(parts["level_numbers"])
    )


def check_relations(arrays: Arrays, n_levels: NDArray[np.int64]) -> None:
    """Raise ValueError unless arrays from a file are relations between columns of such levels."""
    own, n = _own(arrays), len(n_levels)
    n_equations = len(stored(own, "equations", "f", (None, 3)))
    columns = stored(own, "columns", "i", (None,), low=0, high=n - 1)
    lengths = stored_lengths(own, "columns", n_equations)
    stored(own, "weights", "f", (None,))
    stored(own, "level_numbers", "f", (None,))
    n_numbers = stored_lengths(own, "level_numbers")
    n_numbers = n_numbers if len(n_numbers) else np.zeros(n, dtype=np.int64)
    if len(n_numbers) != n or ((n_numbers > 0) & (n_numbers != n_levels)).any():
        raise ValueError("its levels stand for other numbers")
    are_words = (n_levels > 0) & (n_numbers == 0)
    if (stored_lengths(own, "weights", n_equations) != lengths - 1).any() or are_words[
        columns
    ].any():
        raise ValueError("its equations are not between numbers, one weight for each")
    is_product = own["equations"][:, 1] > 0
    if (lengths < 2).any() or (lengths[is_product] != 3).any() or not own["weights"].all():
        raise ValueError("its equations cannot be solved")
    lookups = stored(own, "lookups", "i", (None, 2), low=0, high=n - 1)
    sizes = stored_lengths(own, "looked_up", len(lookups))
    codes = [values[~np.isnan(values)] for values in split_arrays(own, "looked_up")]
    for held, (_, target) in zip(codes, lookups.tolist(), strict=True):
        if n_levels[target] and ((held < 0) | (held >= n_levels[target]) | (held % 1 != 0)).any():
            raise ValueError("its lookups give levels that there are not")
    if (sizes != n_levels[lookups[:, 0]]).any():
        raise ValueError("its lookups have other levels")
    bands = stored(own, "bands", "i", (None, 2), low=0, high=n - 1)
    for name in ("low", "high"):
        if (stored_lengths(own, name, len(bands)) != n_levels[bands[:, 1]]).any():
            raise ValueError("its ranges are of other levels")
    for low in split_arrays(own, "low"):
        if np.isnan(low).all():
            raise ValueError("its ranges are none")
    orders = stored(own, "orders", "i", (None, 2), low=0, high=n - 1)
    if len(stored(own, "units", "f", (None,), low=0.0, high=1.0)) not in (0, n):
        raise ValueError("its units are those of other columns")
    if n_levels[orders].any() or n_levels[bands[:, 0]].any():
        raise ValueError("its orders and ranges are not of numbers")
