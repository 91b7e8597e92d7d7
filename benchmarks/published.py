"""What the paper reports, from one file."""

import tomllib
from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("published.toml")


@cache
def _everything() -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def published(table: str, measure: str, **where: Any) -> float | None:
    """Return a number of one of the paper's tables, None if the paper does not have it.

    Examples
    --------
    >>> published("method_comparison", "acc", method="cmae", mechanism="mar", ratio=40)
    45.15
    >>> published("method_comparison", "acc", method="diffjoint", mechanism="mar", ratio=40)
    """
    found = [
        row
        for row in _everything()[table]
        if all(row.get(k) == value for k, value in where.items())
    ]
    if len(found) > 1:
        raise ValueError(f"{FILE.name}: {len(found)} rows of {table} have {where}; expected one.")
    return found[0].get(measure) if found else None


def published_with_spread(table: str, measure: str, **where: Any) -> dict[str, float | None]:
    """Return a number of the paper and how much it differs between runs, if it says so.

    Examples
    --------
    >>> place = {"method": "diffjoint_paper", "mechanism": "mcar", "ratio": 10}
    >>> published_with_spread("mm_recall_precision", "recall", **place)
    {'published': 92.02, 'published_spread': 1.34}
    """
    names = {"published": measure, "published_spread": f"{measure}_spread"}
    return {key: published(table, name, **where) for key, name in names.items()}


def rounded(value: float, digits: int) -> str:
    """Round a printed number, halves up: binary fractions would take some down.

    Examples
    --------
    >>> rounded(69.35, 1), f"{69.35:.1f}"
    ('69.4', '69.3')
    """
    step = Decimal(1).scaleb(-digits)
    return str(Decimal(str(value)).quantize(step, ROUND_HALF_UP))
