"""Check the names of columns: each must be text, and one column's alone."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from diffjoint.errors import InputError


def check_names(names: Sequence[str], labels: Iterable[Any] = ()) -> None:
    """Raise unless names, and the labels that they were made from, are distinct and text.

    Examples
    --------
    >>> check_names(["1", "True"], [1, True])
    Traceback (most recent call last):
    diffjoint.errors.InputError: The table must have columns with labels of their own; 1 and True \
count as the same. Rename the columns.
    """
    for name in names:
        _check_characters(name)
    repeated = sorted(name for name, n in Counter(names).items() if n > 1)
    if repeated:
        raise InputError(
            "The table must have columns with names of their own; "
            f"{', '.join(map(repr, repeated))} occurs more than once. Rename the columns."
        )
    index = pd.Index(list(labels), dtype=object, tupleize_cols=False)
    alike = index[index.duplicated(keep=False)].tolist()
    if alike:
        raise InputError(
            "The table must have columns with labels of their own; "
            f"{' and '.join(map(repr, alike[:2]))} count as the same. Rename the columns."
        )


def _check_characters(name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"Columns must have names of whole characters; {name!r} holds half of one (a lone "
            "surrogate). Rename the column."
        ) from error
