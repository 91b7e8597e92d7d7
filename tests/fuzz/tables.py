"""Tables of every dtype that pandas, polars, Arrow and NumPy have, made up by hypothesis."""

import datetime as dt
import decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

N_ROWS = [1, 2, 3, 4, 5, 5, 5, 6, 6, 6, 7, 7, 8, 8, 9, 9, 9, 9, 9, 40]
MOST_OWN_ROWS = 9
_NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 2.5, -3.0, 1e300, -1e-300, 1e16]),
    st.floats(allow_nan=False, width=16),
)
_INTEGERS = st.one_of(st.integers(0, 3), st.integers(-(2**63), 2**64 - 1))
_TEXTS = st.one_of(
    st.sampled_from(["a", "b", "", " a", "A", "=1", "\ud800", "٣٤", "NA", "nan", "1", "\x00", "é"]),
    st.text(max_size=3),
)
_STAMPS = st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1))
_DAYS = st.dates(dt.date(1700, 1, 1), dt.date(2200, 1, 1))
_SPANS = st.timedeltas(dt.timedelta(days=-9999), dt.timedelta(days=9999))
_DECIMALS = st.decimals(-999, 999, places=2)
_BYTES = st.binary(max_size=3)
_MIXED = st.one_of(
    _NUMBERS, _TEXTS, st.booleans(), st.just(float("inf")), _DAYS, _BYTES, _DECIMALS,
    st.lists(st.integers(0, 2), max_size=2), st.integers(-(10**30), 10**30),
    st.complex_numbers(max_magnitude=9), st.just(dt.time(12, 30)), st.just(pd.NaT),
    st.fractions(max_denominator=5), st.just({"k": 1}), st.tuples(st.booleans()),
)  # fmt: skip


def _whole(bits: int, *, signed: bool) -> Any:
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return st.one_of(st.integers(0, 3), st.integers(low, high))


def _with_gaps(draw: Any, cells: Any, n_rows: int) -> list[Any]:
    """Draw a few cells, some of them missing, and repeat them where there are more rows."""
    n_own = min(n_rows, MOST_OWN_ROWS)
    values = draw(st.lists(cells, min_size=n_own, max_size=n_own))
    gaps = draw(st.lists(st.booleans(), min_size=n_own, max_size=n_own))
    own = [None if gap else value for value, gap in zip(values, gaps, strict=True)]
    return [own[i % n_own] for i in range(n_rows)]


def _pandas_kinds() -> dict[str, tuple[Any, Any]]:
    """Cells, and the dtype or function that makes a column of them, by name."""
    kinds: dict[str, tuple[Any, Any]] = {}
    for bits in (8, 16, 32, 64):
        for name, signed in (("int", True), ("uint", False)):
            cells = _whole(bits, signed=signed)
            kinds[f"{name}{bits}"] = cells, _without_gaps(f"{name}{bits}")
            kinds[f"{name.capitalize().replace('Ui', 'UI')}{bits}"] = (
                cells, name.capitalize().replace("Ui", "UI") + str(bits)
            )  # fmt: skip
            kinds[f"{name}{bits} of Arrow"] = cells, f"{name}{bits}[pyarrow]"
    for name in ("float16", "float32", "float64", "Float32", "Float64", "float[pyarrow]", "double[pyarrow]"):  # fmt: skip
        kinds[name] = _NUMBERS, name
    kinds |= {
        "float16 of Arrow": (_NUMBERS, pd.ArrowDtype(pa.float16())),
        "big-endian float": (_NUMBERS, ">f8"),
        "big-endian whole": (_whole(32, signed=True), _without_gaps(">i4")),
        "long double": (_NUMBERS, "longdouble"),
        "complex": (st.complex_numbers(max_magnitude=9), "complex128"),
        "infinite": (st.sampled_from([1.0, float("inf"), -float("inf")]), "float64"),
        "bool": (st.booleans(), _without_gaps("bool")),
        "boolean": (st.booleans(), "boolean"),
        "bool of Arrow": (st.booleans(), "bool[pyarrow]"),
        "str": (st.text("ab\x00é", max_size=2), "str"),
        "string of Python": (st.sampled_from(["a", "b", "٣"]), pd.StringDtype("python")),
        "string of Arrow": (st.text("ab\x00é", max_size=2), "string[pyarrow]"),
        "large string": (st.text("ab", max_size=2), pd.ArrowDtype(pa.large_string())),
        "text in objects": (_TEXTS, "object"),
        "mixed": (_MIXED, "object"),
        "numbers in objects": (_INTEGERS, "object"),
        "Decimal": (_DECIMALS, "object"),
        "bytes": (_BYTES, "object"),
        "dates": (_DAYS, "object"),
        "category": (st.sampled_from("ab"), "category"),
        "category of numbers": (st.sampled_from([1.5, 2.5]), "category"),
        "category of dates": (st.sampled_from([dt.datetime(2020, 1, 1), dt.datetime(2021, 1, 1)]), "category"),
        "ordered": (st.sampled_from("ab"), pd.CategoricalDtype(["b", "a", "c"], True)),
        "cut": (_NUMBERS, lambda cells: pd.cut(pd.Series(cells, dtype="float64"), [-5, 0, 2, 1e301])),
        "interval": (_NUMBERS, _intervals),
        "period": (_DAYS, lambda cells: pd.Series(pd.PeriodIndex(cells, freq="M"))),
        "sparse": (_NUMBERS, pd.SparseDtype("float64")),
        "sparse whole": (st.integers(0, 2), _without_gaps(pd.SparseDtype("int64", 0))),
        "sparse bool": (st.booleans(), _without_gaps(pd.SparseDtype("bool", False))),
        "zoned": (_STAMPS, lambda cells: pd.Series(cells, dtype="datetime64[us]").dt.tz_localize("UTC").dt.tz_convert("Asia/Kathmandu")),
        "decimal of Arrow": (_DECIMALS, pd.ArrowDtype(pa.decimal128(9, 2))),
        "date of Arrow": (_DAYS, pd.ArrowDtype(pa.date32())),
        "date64 of Arrow": (_DAYS, pd.ArrowDtype(pa.date64())),
        "stamp of Arrow": (_STAMPS, pd.ArrowDtype(pa.timestamp("us"))),
        "zoned stamp of Arrow": (_STAMPS, pd.ArrowDtype(pa.timestamp("ms", "UTC"))),
        "duration of Arrow": (_SPANS, pd.ArrowDtype(pa.duration("us"))),
        "time of Arrow": (st.times(), pd.ArrowDtype(pa.time64("us"))),
        "binary of Arrow": (_BYTES, pd.ArrowDtype(pa.binary())),
        "list of Arrow": (st.lists(st.integers(0, 2), max_size=2), pd.ArrowDtype(pa.list_(pa.int8()))),
        "struct of Arrow": (st.fixed_dictionaries({"k": st.integers(0, 2)}), pd.ArrowDtype(pa.struct([("k", pa.int8())]))),
        "null of Arrow": (st.none(), pd.ArrowDtype(pa.null())),
        "dictionary of Arrow": (st.sampled_from("ab"), pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
        "nothing": (st.none(), "object"),
    }  # fmt: skip
    for unit in ("s", "ms", "us", "ns"):
        kinds[f"datetime {unit}"] = _STAMPS, f"datetime64[{unit}]"
        kinds[f"timedelta {unit}"] = _SPANS, f"timedelta64[{unit}]"
    return kinds


def _without_gaps(dtype: Any) -> Any:
    """Return what makes a column that can have no missing cell."""

    def make(cells: list[Any]) -> pd.Series:
        return pd.Series([0 if cell is None else cell for cell in cells]).astype(dtype)

    return make


def _intervals(cells: list[Any]) -> pd.Series:
    known = [cell if cell is not None and abs(cell) < 1e9 else 0.0 for cell in cells]
    return pd.Series(pd.arrays.IntervalArray.from_tuples([(cell, cell + 1) for cell in known]))


PANDAS = _pandas_kinds()
POLARS: dict[str, tuple[Any, Any]] = {
    **{f"Int{n}": (_whole(n, signed=True), getattr(pl, f"Int{n}")) for n in (8, 16, 32, 64, 128)},
    **{f"UInt{n}": (_whole(n, signed=False), getattr(pl, f"UInt{n}")) for n in (8, 16, 32, 64)},
    "Float32": (_NUMBERS, pl.Float32),
    "Float64": (_NUMBERS, pl.Float64),
    "NaN": (st.sampled_from([1.0, float("nan")]), pl.Float64),
    "Decimal": (_DECIMALS, pl.Decimal(9, 2)),
    "Boolean": (st.booleans(), pl.Boolean),
    "String": (st.text("ab\x00é", max_size=2), pl.String),
    "Binary": (_BYTES, pl.Binary),
    "Categorical": (st.sampled_from("ab"), pl.Categorical),
    "Enum": (st.sampled_from("ab"), pl.Enum(["b", "a", "c"])),
    "Date": (_DAYS, pl.Date),
    "Time": (st.times(), pl.Time),
    "Duration": (_SPANS, pl.Duration("us")),
    **{f"Datetime {unit}": (_STAMPS, pl.Datetime(unit)) for unit in ("ms", "us", "ns")},
    "zoned": (_STAMPS, pl.Datetime("us", "Asia/Kathmandu")),
    "List": (st.lists(st.integers(0, 2), max_size=2), pl.List(pl.Int8)),
    "Array": (st.lists(st.integers(0, 2), min_size=2, max_size=2), pl.Array(pl.Int8, 2)),
    "Struct": (st.fixed_dictionaries({"k": st.integers(0, 2)}), pl.Struct({"k": pl.Int8})),
    "Object": (st.just(decimal.Context()), pl.Object),
    "Null": (st.none(), pl.Null),
    **{
        name: (_NUMBERS if name == "Float16" else st.integers(0, 9), getattr(pl, name))
        for name in ("Float16", "UInt128")
        if hasattr(pl, name)
    },
}
LABELS = ["a", "b c", "=d", "\n", "", "ü", "1"]
ODD_LABELS = [*LABELS, "\ud800", 1, 2.5, ("t", 1), None, True, dt.date(2020, 1, 1)]
INDEXES = {
    "range": pd.RangeIndex,
    "turned": lambda n: pd.Index(range(n)[::-1]),
    "same": lambda n: pd.Index([7] * n),
    "text": lambda n: pd.Index([f"r{i}" for i in range(n)], name="index"),
    "dates": lambda n: pd.date_range("2020-01-01", periods=n),
    "two levels": lambda n: pd.MultiIndex.from_product([["x"], range(n)]),
}
ARRAYS = ["f2", "f4", "f8", ">f8", "i1", ">i4", "u8", "bool", "O", "U3", "S3", "g", "c16", "M8[s]"]


def _numbers(n_rows: int) -> list[float]:
    """Return a column that can be modelled whatever stands beside it."""
    return [float(i % 7) for i in range(n_rows)]


@st.composite
def pandas_tables(draw: Any) -> pd.DataFrame:
    n_rows = draw(st.sampled_from(N_ROWS))
    kinds = draw(st.lists(st.sampled_from(sorted(PANDAS)), min_size=1, max_size=4))
    columns = [pd.Series(_numbers(n_rows))]
    for kind in kinds:
        cells, how = PANDAS[kind]
        given = _with_gaps(draw, cells, n_rows)
        columns.append(how(given) if callable(how) else pd.Series(given, dtype=how))
    names = st.sampled_from(draw(st.sampled_from([LABELS, LABELS, LABELS, ODD_LABELS])))
    labels = draw(st.lists(names, min_size=len(kinds), max_size=len(kinds), unique_by=str))
    frame = pd.concat(columns, axis=1)
    held = "str" if set(labels) <= set(LABELS) else "object"
    columns_held = pd.Index(["plain", *labels], dtype=held, tupleize_cols=False)
    frame = frame.set_axis(columns_held, axis=1)
    return frame.set_axis(INDEXES[draw(st.sampled_from(sorted(INDEXES)))](n_rows), axis=0)


@st.composite
def polars_tables(draw: Any) -> pl.DataFrame:
    n_rows = draw(st.sampled_from(N_ROWS))
    kinds = draw(st.lists(st.sampled_from(sorted(POLARS)), min_size=1, max_size=4, unique=True))
    return pl.DataFrame(
        [
            pl.Series("plain", _numbers(n_rows)),
            *(
                pl.Series(kind, _with_gaps(draw, POLARS[kind][0], n_rows), dtype=POLARS[kind][1])
                for kind in kinds
            ),
        ]
    )


@st.composite
def arrays(draw: Any) -> np.ndarray:
    n_rows, n_columns = draw(st.sampled_from(N_ROWS)), draw(st.integers(1, 3))
    dtype = draw(st.sampled_from(ARRAYS))
    cells = st.sampled_from([0, 1, 2, 3, 100])
    rows = [[draw(cells) for _ in range(n_columns)] for _ in range(n_rows)]
    array = np.array(rows).astype(dtype)
    if array.dtype.kind in "fgO":
        array[draw(st.integers(0, n_rows - 1)), 0] = np.nan
    return array


def any_table() -> Any:
    """Return a strategy of all sorts of tables."""
    return st.one_of(pandas_tables(), pandas_tables(), polars_tables(), arrays())
