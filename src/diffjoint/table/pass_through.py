"""Find columns that are not filled, and describe them in doubts for the user."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from datetime import date
from numbers import Real
from typing import Any

import narwhals as nw
import pandas as pd

from diffjoint.errors import InputError, option
from diffjoint.table.frame import Table, is_date, missing_cells, objects
from diffjoint.table.schema import UNTICKED, Kind, Schema, infer_kind, is_scarce

MOST_NAMED = 10


def check_observed(table: Table, named: Mapping[str, Iterable[Hashable]]) -> None:
    """Raise if a column that a parameter names has no observed cell.

    Parameters
    ----------
    named : mapping
        Labels by the parameter that names them. Labels that no column has are ignored here.
    """
    for parameter, labels in named.items():
        for label in labels:
            position = table.position(label)
            if position is not None and table.missing(position).all():
                raise InputError(
                    f"{option(parameter)} names {label!r}, which must have at least one observed "
                    "cell; all of its cells are missing, so there is nothing to learn from. Leave "
                    f"it out of {option(parameter)}: then the column is carried along as it is.",
                    parameter=parameter,
                )


def pass_through_doubts(
    table: Table, schema: Schema, column_kinds: Mapping[Hashable, str] | None = None
) -> tuple[str, ...]:
    """Return doubts about columns that are passed through without being asked to be.

    They have no observed cell, hold dates as Python objects, have a dtype that cannot be filled, or
    hold ids or free text of which cells are missing.

    Examples
    --------
    >>> from diffjoint.table import infer_schema, open_table
    >>> table = open_table(pd.DataFrame({"age": [31, 40], "born": [date(1993, 5, 1), None]}))
    >>> pass_through_doubts(table, infer_schema(table))[0].split(". ")[0]
    "'born' holds dates as Python objects, so that it is carried along and not filled"
    """
    asked = {table.position(label) for label in column_kinds or {}}
    unasked = [
        position
        for position, column in enumerate(schema.columns)
        if column.kind is Kind.PASS_THROUGH and position not in asked
    ]
    without_values = [position for position in unasked if table.missing(position).all()]
    scarce = scarce_columns(table, schema, column_kinds)  # told by themselves
    doubts, texts = [], []
    for position in unasked:
        if position in without_values or table.labels[position] in scarce:
            continue
        own = [*_on_dates(table.column(position), table.labels[position])]
        doubts += own
        if not own and table.missing(position).any():
            texts.append(table.labels[position])
    names = [table.names[position] for position in without_values]
    return (*_on_columns_without_values(names), *doubts, *_on_texts(texts))


def unjudged_doubts(
    table: Table, schema: Schema, column_kinds: Mapping[Hashable, str] | None = None
) -> tuple[str, ...]:
    """Return doubts about columns whose missing cells are kept without being asked to be.

    They were taken for checkboxes, or have too few observed cells.

    Examples
    --------
    >>> from diffjoint.table import infer_schema, open_table
    >>> table = open_table(pd.DataFrame({"age": [31, 40], "sprouts": ["served", None]}))
    >>> unjudged_doubts(table, infer_schema(table))[0].split(": ")[0]
    "'sprouts' holds one value or nothing, as checkboxes do"
    """
    asked = {table.position(label) for label in column_kinds or {}}
    checkboxes = [
        table.labels[position]
        for position, column in enumerate(schema.columns)
        if column.is_checkbox and position not in asked
    ]
    scarce = scarce_columns(table, schema, column_kinds)
    return (*_on_checkboxes(checkboxes), *_on_scarce(scarce))


def scarce_columns(
    table: Table, schema: Schema, column_kinds: Mapping[Hashable, str] | None = None
) -> dict[Hashable, tuple[int, Kind]]:
    """Find columns that are passed through because too few of their cells are observed.

    Returns
    -------
    dict
        By label: how many cells are observed, and the kind that the column would have.
    """
    asked = {table.position(label) for label in column_kinds or {}}
    scarce = {}
    for position, column in enumerate(schema.columns):
        series = table.column(position)
        kind = Kind.PASS_THROUGH
        if position not in asked and not column.is_modelled:
            kind = infer_kind(series, column.name)
        if is_scarce(series, kind):
            scarce[table.labels[position]] = (int((~table.missing(position)).sum()), kind)
    return scarce


def check_unticked(table: Table, schema: Schema, named: Mapping[str, Iterable[Hashable]]) -> None:
    """Raise if ``mm_columns`` or ``rules`` names a column that is a checkbox by its kind."""
    for parameter in ("mm_columns", "rules"):
        for label in named.get(parameter, ()):
            position = table.position(label)
            if position is not None and schema.columns[position].is_checkbox:
                raise InputError(
                    f"{option(parameter)} names {label!r}, of which {option('column_kinds')} says "
                    f"that it is a checkbox: a missing cell is {UNTICKED}, and there is nothing to "
                    "tell apart. Leave it out of one or the other.",
                    parameter=parameter,
                )


def _on_columns_without_values(names: list[str]) -> Iterator[str]:
    if not names:
        return
    kinds = _kinds(dict.fromkeys(names, Kind.PASS_THROUGH))
    as_is, it = ("as it is", "it") if len(names) == 1 else ("as they are", "them")
    yield (
        f"No cell of {_listed(names)} holds a value, so that there is nothing to learn from: "
        f"carried along {as_is}. Drop {it}, or say that this is meant: {kinds}."
    )


def _on_texts(labels: list[Hashable]) -> Iterator[str]:
    if not labels:
        return
    is_one = len(labels) == 1
    holds, its, is_ = ("holds", "its", "is") if is_one else ("hold", "their", "are")
    yield (
        f"{_listed(labels)} {holds} ids or free text, so that {its} missing cells stay: "
        f"{'it' if is_one else 'they'} {is_} carried along. To have them filled, say what "
        f"{'it holds' if is_one else 'they hold'}, such as "
        f"{_kinds({labels[0]: Kind.CATEGORICAL})}; or say that this is meant: "
        f"{_kinds(dict.fromkeys(labels, Kind.PASS_THROUGH))}."
    )


def _on_checkboxes(labels: list[Hashable]) -> Iterator[str]:
    if not labels:
        return
    one = _kinds({labels[0]: Kind.CATEGORICAL})
    say = f"{one}, or of all such columns {option('checkboxes', 'fill')}"
    yield (
        f"{_listed(labels)} {'holds' if len(labels) == 1 else 'hold'} one value or nothing, as "
        f"checkboxes do: a missing cell there is taken for {UNTICKED}, is kept as NA, and tells "
        f"nothing of how cells get lost. Where such cells were lost, say so: {say}."
    )


def _on_scarce(scarce: Mapping[Hashable, tuple[int, Kind]]) -> Iterator[str]:
    if not scarce:
        return
    is_one = len(scarce) == 1
    has, its, it = ("has", "its", "it") if is_one else ("have", "their", "them")
    holds = "it holds" if is_one else "they hold"
    counts = [f"{label!r} ({n_observed})" for label, (n_observed, _) in scarce.items()]
    kinds = _kinds({label: kind for label, (_, kind) in scarce.items()})
    yield (
        f"{_joined(counts)} {has} too few observed cells to tell lost from meaningful ones, or to "
        f"fill from: {its} missing cells are kept as they are, carried along. To have them filled, "
        f"say what {holds}: {kinds}; to have them judged name {it} in {option('mm_columns')}."
    )


def _kinds(kinds: Mapping[Hashable, Kind]) -> str:
    """Return the reference to ``column_kinds`` that declares some columns."""
    named = {label: str(kind) for label, kind in list(kinds.items())[:MOST_NAMED]}
    more = " and so on" if len(kinds) > MOST_NAMED else ""
    return option("column_kinds", named) + more


def _listed(labels: Iterable[Hashable]) -> str:
    return _joined([repr(label) for label in labels])


def _joined(texts: list[str]) -> str:
    """Join the first few texts, and count the others."""
    more = len(texts) - MOST_NAMED
    return ", ".join(texts[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _on_dates(series: nw.Series[Any], label: Hashable) -> Iterator[str]:
    """Return a doubt about dates that pandas holds in a dtype other than datetime."""
    if isinstance(getattr(series.to_native(), "dtype", None), pd.PeriodDtype):
        what, how = "periods", f"X[{label!r}].dt.to_timestamp()"
    elif series.dtype == nw.Object and any(isinstance(cell, date) for cell in objects(series)):
        what, how = "dates as Python objects", f"pd.to_datetime(X[{label!r}])"
    elif missing_cells(series).any() and not _is_readable(series):
        yield (
            f"{label!r} is of dtype {_dtype_of(series)}, which cannot be filled, so that it is "
            "carried along and its missing cells stay. Convert it to numbers or text, or say that "
            f"this is meant: {option('column_kinds', {label: 'pass-through'})}."
        )
        return
    else:
        return
    yield (
        f"{label!r} holds {what}, so that it is carried along and not filled. Convert it first, "
        f"X[{label!r}] = {how}, or say that this is meant: "
        f"{option('column_kinds', {label: 'pass-through'})}."
    )


def why_passed_through(series: nw.Series[Any]) -> str:
    """Say in a few words why a column is not modelled.

    Examples
    --------
    >>> frame = nw.from_native(pd.DataFrame({"a": ["x", "y"], "b": [1 + 2j, None]}))
    >>> why_passed_through(frame["a"]), why_passed_through(frame["b"])
    ('an id or free text', 'dtype complex128 cannot be filled')
    """
    return (
        "an id or free text"
        if _is_readable(series)
        else f"dtype {_dtype_of(series)} cannot be filled"
    )


def how_to_model(series: nw.Series[Any], label: Hashable) -> str:
    """Say what to do to have a column modelled that is passed through."""
    if _is_readable(series):
        return f"set {option('column_kinds', {label: 'categorical'})}"
    return "convert it to numbers or text first"


def _is_readable(series: nw.Series[Any]) -> bool:
    """Return whether a column is of numbers, text or truth values."""
    dtype = series.dtype
    if dtype in (nw.Object, nw.Categorical, nw.Enum):
        return all(cell is None or isinstance(cell, str | bool | Real) for cell in objects(series))
    is_number = dtype.is_integer() or dtype.is_float()
    return is_number or dtype in (nw.String, nw.Boolean) or is_date(series)


def _dtype_of(series: nw.Series[Any]) -> Any:
    """Return the dtype of a column as its own library calls it; of categories, that of these."""
    native = series.to_native()
    dtype = getattr(native, "dtype", getattr(native, "type", series.dtype))
    return dtype.categories.dtype if isinstance(dtype, pd.CategoricalDtype) else dtype
