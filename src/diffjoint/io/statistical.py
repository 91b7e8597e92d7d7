"""SPSS, Stata and SAS files, with their labels and their codes for missing cells."""

import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from diffjoint._extras import load
from diffjoint.errors import FileError
from diffjoint.knowledge.reason_codes import codes_by_column, matches
from diffjoint.table import FEWEST_OBSERVED, open_table

SPSS, STATA, SAS, TRANSPORT = ".sav", ".dta", ".sas7bdat", ".xpt"
READABLE, WRITABLE = (SPSS, STATA, SAS, TRANSPORT), (SPSS, STATA)
_REASONS = {
    "meaningful": re.compile(
        r"\b(in-?applicable|not applicable|iap|not in universe|niu|does(n't| not) apply"
        r"|(legitimate|valid|logical|structural) skip)\b",
        re.IGNORECASE,
    ),
    "lost": re.compile(
        r"\b(refus(ed|al|es)|do(n't| not) know|no answer|not answered|not ascertained|declined"
        r"|prefer(s|red)? not to|illegible|interview broken off)\b",
        re.IGNORECASE,
    ),
}
"""Words in a code's label that say why a cell is missing. Others, such as NA, have two meanings."""


@dataclass(frozen=True)
class Notes:
    """What a statistical file says beside its cells, to be written back.

    Attributes
    ----------
    ending : str
        What kind of file it was.
    raw : DataFrame
        The cells as they came, codes for missing ones included.
    coded : bool array of the same shape
        Cells that hold such a code.
    options : dict
        Labels, formats and codes as pyreadstat takes them for a file of this kind.
    """

    ending: str
    raw: pd.DataFrame
    coded: NDArray[np.bool_]
    options: dict[str, Any]


@dataclass(frozen=True)
class Read:
    """A statistical file, read.

    Attributes
    ----------
    table : DataFrame
        The cells; codes whose reason is known stay, others are missing.
    notes : Notes
    reason_codes : dict
        Reasons that the labels of codes give, by column.
    kinds : dict
        Columns whose every value has a label: these are categories. A single value, or a few
        among many missing cells, tell no kind: those may be checkboxes, or are carried along.
    without_reason : dict
        Codes that stand for missing cells but do not say why, by column.
    """

    table: pd.DataFrame
    notes: Notes
    reason_codes: dict[str, dict[Any, str]] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    without_reason: dict[str, list[Any]] = field(default_factory=dict)


def read_statistical(path: str, reason_codes: Mapping[Any, Any], *, guess: bool) -> Read:
    """Read an SPSS, Stata or SAS file.

    Parameters
    ----------
    reason_codes : mapping
        Codes whose reason the user has given; they stay in the table.
    guess : bool
        Whether the labels of other codes may tell their reason ("Inapplicable", "Refused").
    """
    library, ending = require_pyreadstat(path), Path(path).suffix.lower()
    reader = {
        SPSS: library.read_sav,
        STATA: library.read_dta,
        SAS: library.read_sas7bdat,
        TRANSPORT: library.read_xport,
    }[ending]
    codes_too = {} if ending == TRANSPORT else {"user_missing": True}
    try:
        raw, meta = reader(path, dates_as_pandas_datetime=True, **codes_too)
    except (library.ReadstatError, library.PyreadstatError) as error:
        raise FileError(
            f"Cannot read {path}: it is not a whole {ending[1:]} file ({error}). Check the file."
        ) from error
    except OverflowError as error:
        raise FileError(
            f"Cannot read {path}: it has a date that is out of range ({error}). Correct it, or the "
            "format of its column."
        ) from error
    coded = np.column_stack(
        [_coded(raw[name], meta) for name in raw] or [np.zeros((len(raw), 0), bool)]
    )
    given = codes_by_column(open_table(raw), reason_codes or None)
    table = raw.copy()
    found: dict[str, dict[Any, str]] = {}
    without_reason: dict[str, list[Any]] = {}
    for i, name in enumerate(raw.columns):
        codes = list(dict.fromkeys(raw.loc[coded[:, i], name]))
        own = matches(given[i], codes)
        labels = meta.variable_value_labels.get(name, {})
        # Of a column that holds nothing else, no reason is asked: it is missing, and carried along.
        asked = guess and bool((raw[name].notna() & (raw[name] != "") & ~coded[:, i]).any())
        told = {c: why for c in codes if c not in own and asked and (why := _why(labels.get(c)))}
        silent = [code for code in codes if code not in own and code not in told]
        table[name] = _emptied(raw[name], raw[name].isin(silent) & coded[:, i])
        found |= {name: told} if told else {}
        without_reason |= {name: silent} if silent else {}
    kinds = {
        name: "categorical"
        for i, name in enumerate(raw)
        if _is_labelled(raw[name], coded[:, i], meta)
    }
    notes = Notes(ending, raw, coded, _options(meta, ending))
    return Read(table, notes, found, kinds, without_reason)


def statistical_bytes(table: pd.DataFrame, ending: str, notes: Notes | None) -> bytes:
    """Write an SPSS or Stata file, with what the file it came from said beside its cells.

    Cells that stay missing get back the code that they had, if the file is of the same kind.
    """
    library = require_pyreadstat(f"a {ending[1:]} file")
    plain = pd.DataFrame({name: _plain(table[name]) for name in table})
    options = {} if notes is None else _options_for(notes, ending, table.columns)
    if notes is not None and notes.ending == ending:
        plain = _with_codes(plain, notes)
    if ending == STATA:
        plain = _with_days(plain, options.get("variable_format", {}))
    writer = {SPSS: library.write_sav, STATA: library.write_dta}[ending]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / f"table{ending}"
        try:
            writer(plain, str(place), **options)
        except (library.ReadstatError, library.PyreadstatError) as error:
            raise FileError(
                f"Cannot write the table as a {ending[1:]} file: {error}. Rename columns that it "
                "cannot have, or write a .csv or .parquet file."
            ) from error
        return place.read_bytes()


def require_pyreadstat(what: str) -> ModuleType:
    """Return the library for statistical files, or say how to get it."""
    return load("pyreadstat", "stats", f"{what}: SPSS, Stata and SAS files need", error=FileError)


BOTH = ("file_label", "column_labels", "variable_value_labels")
"""What every kind of file can say."""


def _coded(column: pd.Series, meta: Any) -> NDArray[np.bool_]:
    """Cells that hold a code which the file declares to stand for a missing one."""
    letters = meta.missing_user_values.get(column.name, [])
    coded = column.isin(letters).to_numpy(dtype=bool) & (column.dtype == object)
    for span in meta.missing_ranges.get(column.name, []):
        if isinstance(span["lo"], str):
            coded |= (column == span["lo"]).to_numpy(dtype=bool)
        else:
            coded |= column.between(span["lo"], span["hi"]).to_numpy(dtype=bool)
    return coded


def _why(label: str | None) -> str | None:
    """Return the reason that a code's label gives, if it gives one alone."""
    found = [why for why, words in _REASONS.items() if label and words.search(label)]
    return found[0] if len(found) == 1 else None


def _emptied(column: pd.Series, gone: pd.Series) -> pd.Series:
    """Return a column without some cells and empty text; as numbers if only those are left."""
    if column.dtype != object and not pd.api.types.is_string_dtype(column.dtype):
        return column.mask(gone)
    left = column.mask(gone | (column == ""))
    has_text = left.map(lambda cell: isinstance(cell, str)).any()
    return left if has_text or column.dtype != object else left.astype("float64")


def _is_labelled(column: pd.Series, coded: NDArray[np.bool_], meta: Any) -> bool:
    labels = meta.variable_value_labels.get(column.name, {})
    there = column[~coded & column.notna().to_numpy()]
    is_enough = len(there) >= min(FEWEST_OBSERVED, len(column) / 2)
    tells = is_enough and len(there.unique()) > 1
    return bool(labels) and tells and bool(there.isin(list(labels)).all())


def _options(meta: Any, ending: str) -> dict[str, Any]:
    """Return what pyreadstat's writers take, from what its readers give."""
    is_text = {name for name, kind in meta.readstat_variable_types.items() if kind == "string"}
    formats = {n: f for n, f in meta.original_variable_types.items() if n not in is_text}
    options = {
        "file_label": meta.file_label or "",
        "column_labels": {n: text for n, text in meta.column_names_to_labels.items() if text},
        "variable_value_labels": dict(meta.variable_value_labels),
        "variable_format": formats,
    }
    if ending == SPSS:
        options["missing_ranges"] = dict(meta.missing_ranges)
        options["variable_measure"] = dict(meta.variable_measure)
        options["variable_display_width"] = dict(meta.variable_display_width)
    if ending == STATA:
        options["missing_user_values"] = dict(meta.missing_user_values)
    return options


def _options_for(notes: Notes, ending: str, names: pd.Index) -> dict[str, Any]:
    """Return what can be said of a table's columns in a file of some kind."""
    options = {
        key: {name: said for name, said in option.items() if name in names}
        if isinstance(option, dict)
        else option
        for key, option in notes.options.items()
        if notes.ending == ending or key in BOTH
    }
    if notes.ending != ending:
        labels = options["variable_value_labels"]
        options["variable_value_labels"] = {
            name: whole for name, own in labels.items() if (whole := _whole_labels(own))
        }
    return options


def _whole_labels(labels: Mapping[Any, str]) -> dict[int, str]:
    """Labels of whole numbers, which every kind of file can have; letters are codes of one kind."""
    return {
        int(value): label
        for value, label in labels.items()
        if not isinstance(value, str) and float(value).is_integer()
    }


def _plain(column: pd.Series) -> pd.Series:
    """Convert a column to a dtype that pyreadstat writes."""
    dtype = column.dtype
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return column.dt.tz_localize(None) if getattr(dtype, "tz", None) else column
    if pd.api.types.is_numeric_dtype(dtype):
        return column.astype("float64")
    return column.astype(object).where(column.notna(), None)


def _with_codes(table: pd.DataFrame, notes: Notes) -> pd.DataFrame:
    """Return the table with the codes that its missing cells had."""
    columns = {}
    for name in table:
        column = table[name]
        if name in notes.raw:
            again = notes.coded[:, notes.raw.columns.get_loc(name)] & column.isna().to_numpy()
            if again.any():
                codes = notes.raw[name].to_numpy(dtype=object)
                cells = np.where(again, codes, column.to_numpy(dtype=object))
                is_text = any(isinstance(code, str) for code in codes[again])
                column = pd.Series(cells, column.index, dtype=object if is_text else column.dtype)
        columns[name] = column
    return pd.DataFrame(columns)


def _with_days(table: pd.DataFrame, formats: Mapping[str, str]) -> pd.DataFrame:
    """Stata counts days for dates and milliseconds for times: dates must be written as dates."""
    days = [name for name, form in formats.items() if form.startswith("%td")]
    return table.assign(
        **{name: table[name].dt.date.where(table[name].notna(), None) for name in days}
    )
