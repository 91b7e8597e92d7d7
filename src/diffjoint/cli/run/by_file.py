"""Options that mean something only beside the file: names of columns, and values in them."""

from typing import Any

import narwhals as nw

from diffjoint.cli.parsing import parse_rate, parse_value, split_pair
from diffjoint.errors import InputError
from diffjoint.fitting.auto_columns import AUTO
from diffjoint.io.files import TableFile
from diffjoint.results.complete import USUAL_LABEL


def parse_columns(file: TableFile, mm_columns: list[str] | None) -> list[str] | str:
    """Names given one by one or with commas; a name may itself have a comma. None: to be found."""
    if mm_columns is None or mm_columns == [AUTO]:
        return AUTO
    held = file.opened.names
    found = [[text] if text in held else text.split(",") for text in mm_columns]
    names = [name if name in held else name.strip() for part in found for name in part]
    if AUTO in names and AUTO not in held:
        raise InputError(
            f"--mm-columns auto stands alone, and has all columns searched; got "
            f"{', '.join(mm_columns)}, and no column is called auto. Pass auto by itself, or name "
            "the columns.",
            parameter="mm_columns",
        )
    return [name for name in names if name]


def parse_loss_rate(file: TableFile, texts: list[str] | None) -> float | dict[str, float] | None:
    """One rate for all searched columns, or rates by column; a name may itself have a comma."""
    if not texts:
        return None
    names = file.opened.names
    parts = [
        part
        for text in texts
        for part in ([text] if text.rpartition("=")[0] in names else text.split(","))
    ]
    if len(parts) == 1 and "=" not in parts[0]:
        return parse_rate(parts[0])
    if not all("=" in part for part in parts):
        raise InputError(
            "--loss-rate takes one rate for all searched columns, or a rate for each column that "
            f"is named, such as income=0.2,age=0.1; got {', '.join(texts)}.",
            parameter="loss_rate",
        )
    pairs = (split_pair("--loss-rate", part) for part in parts)
    return {name if name in names else name.strip(): parse_rate(value) for name, value in pairs}


def with_codes_of(file: TableFile, given: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the codes given, and those whose reason the file itself tells."""
    merged: dict[str, Any] = {**(given or {})}
    for name, codes in file.reason_codes.items():
        merged[name] = {**codes, **merged.get(name, {})}
    return merged or None


def parse_mm_label(texts: list[str] | None) -> str | dict[str, str]:
    """Return one text for all columns, or texts by column."""
    if not texts:
        return USUAL_LABEL
    if len(texts) == 1 and "=" not in texts[0]:
        return texts[0]
    return dict(split_pair("--mm-label", text) for text in texts)


def parse_mm_fill(file: TableFile, texts: list[str] | None) -> dict[str, Any] | None:
    """Constants by column: numbers and truth values where the column holds those."""
    if not texts:
        return None
    table, read = file.opened, {}
    for name, value in (split_pair("--mm-fill", text) for text in texts):
        dtype = table.column(table.require(name, "mm_fill")).dtype
        read[name] = parse_value(value) if dtype.is_numeric() or dtype == nw.Boolean else value
    return read
