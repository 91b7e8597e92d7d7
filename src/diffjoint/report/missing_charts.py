"""Draw which cells are missing: patterns, and columns that are missing together."""

from collections.abc import Sequence

from markupsafe import Markup

from diffjoint.report.patterns import Pattern, PatternColumn, Patterns
from diffjoint.report.svg import circle, line, rect, slanted, svg_of_own_size, text, tooltip
from diffjoint.report.together import Together
from diffjoint.report.words import shorten

LINE, STEP, DOT = 22, 26, 6.5
"""Patterns: height of a column's line, width of a pattern, radius of a dot."""
BARS, COUNTS, TOTALS = 84, 20, 110
"""Patterns: height of the bars above, room for their counts, and width of the bars beside."""
LONGEST, CHARACTER = 22, 6.9
"""Longest name in characters, and width of a character."""
CELL, BESIDE, RISE = 24, 76, 5.4
"""Correlations: side of a cell, room beside for the last name, and rise of a slanted character."""
LONGEST_SLANTED = 16
"""Longest slanted name in characters."""
WRITTEN = 0.15
"""Smallest correlation to show."""
DARK = 0.55
"""Correlation from which on the number is light on dark."""


def pattern_chart(found: Patterns) -> Markup:
    """Draw patterns as an UpSet picture: a line for each column, and a dot for each missing cell.

    Bars above say how many rows have a pattern, bars beside how many cells of a column are missing.
    """
    others = f"{found.n_others:,} other column{'s' if found.n_others > 1 else ''}"
    names = [shorten(column.name, LONGEST) for column in found.columns]
    names += [others] if found.n_others else []
    left, top = max(map(len, names)) * CHARACTER + 12, BARS + COUNTS
    middle = left + len(found.patterns) * STEP
    height, width = top + len(names) * LINE + 4, middle + 14 + TOTALS + 44
    parts = []
    for i, name in enumerate(names):
        y = top + i * LINE
        if i % 2 == 0:
            parts.append(rect("stripe", 0, y, width, LINE))
        whole = found.columns[i].name if i < len(found.columns) else ""
        parts.append(
            text(left - 10, y + 15.5, name, "end", "level", shorten(whole) if whole else "")
        )
    for k in range(len(found.patterns)):
        parts += _pattern(found, k, left + (k + 0.5) * STEP, top)
    parts += _totals(found.columns, middle + 14, top)
    label = f"Patterns of missing cells: {_in_words(found)}"
    return svg_of_own_size(width, height, label, parts, "patterns")


def _pattern(found: Patterns, k: int, x: float, top: float) -> list[Markup]:
    """Draw one pattern: its bar, a line from the first to the last dot, and the dots."""
    pattern, most = found.patterns[k], found.patterns[0].n_rows
    height = max(1.5, pattern.n_rows / most * BARS)
    words = f"{pattern.n_rows:,} rows miss {missing_in_words(pattern, found)}"
    parts = [rect("rows", x - 8, top - 6 - height, 16, height, words)]
    parts.append(text(x, top - 10 - height, _short(pattern.n_rows), "middle", "share"))
    places = [i for i, missing in enumerate(pattern.is_missing) if missing]
    first, last = (top + (i + 0.5) * LINE for i in (places[0], places[-1]))
    path = "".join(
        f"M{x - 2:g} {top + (i + 0.5) * LINE:g}h4"
        for i, missing in enumerate(pattern.is_missing)
        if not missing
    )
    parts.append(Markup('<path class="small-dots" d="{}"/>').format(path))
    parts.append(line("link", x, first, x, last))
    for i in places:
        parts += _dot(x, top + (i + 0.5) * LINE, pattern.kept_share[i])
    return parts


def _dot(x: float, y: float, kept: float) -> list[Markup]:
    """Draw a ring if the cells are kept, a disc if they are filled in, both if some are."""
    if kept == 0:
        return [circle("imputed", x, y, DOT)]
    inside = [circle("imputed", x, y, DOT - 3.5)] if kept < 1 else []
    return [circle("ring", x, y, DOT - 1), *inside]


def _totals(columns: Sequence[PatternColumn], x: float, top: float) -> list[Markup]:
    """Draw how many cells of each column are missing, and what became of them."""
    most = max((column.n_missing for column in columns), default=1)
    parts = []
    for i, column in enumerate(columns):
        at, y = x, top + i * LINE + 6
        words = f"{column.n_missing:,} missing: {column.n_kept:,} kept as NA, "
        words += f"{column.n_imputed:,} filled in"
        for kind, n in (
            ("imputed", column.n_imputed),
            ("kept", column.n_kept),
            ("left", column.n_left),
        ):
            if n:
                parts.append(rect(kind, at, y, n / most * TOTALS, 10, words))
                at += n / most * TOTALS
        parts.append(text(at + 5, y + 9, f"{column.n_missing:,}", "start", "share"))
    return parts


def missing_in_words(pattern: Pattern, found: Patterns) -> str:
    """Name the columns that a pattern misses."""
    names = [shorten(column.name) for column in found.columns]
    names += ["some other column"] if found.n_others else []
    return ", ".join(
        name for name, missing in zip(names, pattern.is_missing, strict=True) if missing
    )


def _in_words(found: Patterns) -> str:
    most = found.patterns[:3]
    return "; ".join(f"{one.n_rows:,} rows miss {missing_in_words(one, found)}" for one in most)


def _short(n: int) -> str:
    """Write a count in at most four characters."""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if n >= size:
            return f"{n / size:.1f}{unit}" if n < 10 * size else f"{n / size:.0f}{unit}"
    return str(n)


def correlation_chart(found: Together) -> Markup:
    """Draw how strongly columns are missing together, as a triangle of coloured cells."""
    names = [shorten(name, LONGEST) for name in found.columns]
    above = [shorten(name, LONGEST_SLANTED) for name in found.columns[:-1]]
    left, n = max(map(len, names)) * CHARACTER + 10, len(names)
    head = max(len(name) * RISE - j * CELL for j, name in enumerate(above)) + 16
    parts = []
    for i in range(1, n):
        y = head + (i - 1) * CELL
        parts.append(text(left - 8, y + 16, names[i], "end", "level", shorten(found.columns[i])))
        for j in range(i):
            parts += _correlation(found, i, j, left + j * CELL, y)
    for j, name in enumerate(above):
        x, y = left + (j + 0.5) * CELL + 4, head + j * CELL - 6
        parts.append(slanted(x, y, name, title=shorten(found.columns[j])))
    width, height = left + (n - 1) * CELL + BESIDE, head + (n - 1) * CELL + 4
    pairs = "; ".join(f"{p.first} and {p.second} {p.correlation:.2f}" for p in found.pairs[:3])
    label = f"How strongly columns are missing together: {pairs}"
    return svg_of_own_size(width, height, label, parts, "correlations")


def _correlation(found: Together, i: int, j: int, x: float, y: float) -> list[Markup]:
    """Draw the correlation of two columns: the stronger, the darker, with a number if not weak."""
    strength, side = found.correlations[i][j], CELL - 2
    cell = rect("observed faint", x + 1, y + 1, side, side)
    if abs(strength) < WRITTEN:
        return [cell]
    words = f"{shorten(found.columns[i])} and {shorten(found.columns[j])}: {strength:.2f}"
    kind = "together" if strength > 0 else "apart"
    shade = Markup(
        '<rect class="{}" x="{:g}" y="{:g}" width="{}" height="{}" fill-opacity="{:.2f}">{}</rect>'
    ).format(kind, x + 1, y + 1, side, side, min(1.0, abs(strength)), tooltip(words))
    weight = "strong" if strength > DARK else "weak"
    number = f"{strength:.1f}".replace("0.", ".")
    return [cell, shade, text(x + CELL / 2, y + 16, number, "middle", f"share {weight}")]
