"""Tell columns of the same name apart, as pandas does."""

from collections.abc import Sequence


def distinct_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names that all differ: those that occurred before get a number.

    Examples
    --------
    >>> distinct_names(["age", "Other", "Other", "Other.1", "Other"])
    ('age', 'Other', 'Other.2', 'Other.1', 'Other.3')
    """
    taken, found, last = set(names), set[str](), dict[str, int]()
    distinct = []
    for place, name in enumerate(names):
        new, number = name, last.get(name, 0)
        base = name or f"Unnamed: {place}"
        while new in found or (number and new in taken):
            number += 1
            new = f"{base}.{number}" if name else base
        last[name] = number
        found.add(new)
        distinct.append(new)
    return tuple(distinct)


def renamed(names: Sequence[str], header: Sequence[str]) -> dict[str, str]:
    """Return the names that are not those of the file, and what the file has in their place."""
    return {new: old for new, old in zip(names, header, strict=True) if new != old}
