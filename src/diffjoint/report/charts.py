"""Draw small charts as SVG. All text is escaped by markupsafe."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from diffjoint.report.check import MissingLine
from diffjoint.report.distributions import Distribution
from diffjoint.report.summarize import Summary
from diffjoint.report.svg import brief, circle, line, rect, slanted, svg, svg_of_own_size, text
from diffjoint.report.words import shorten

WIDTH, HEIGHT, FOOT = 320, 116, 20
"""Size of a chart's drawing area, and height of the axis below it."""
N_BARS = 20
"""Number of bars in the chart of P(meaningful)."""
BAR_LINE, LONGEST_LABEL, CHARACTER = 30, 17, 6.6
"""Bar charts of levels: height of a level, longest name in characters, width of a character."""
SQUARE, MARGIN, LARGEST_DOT, SMALLEST_DOT = 150, 34, 8.0, 2.0
"""Calibration charts: side, room for the axes, and largest and smallest radius of a dot."""
ERROR_WIDTH, MOST_ERROR = 120, 1.25
"""Error bars: width, and the share of the error that fills it."""
SQUARES_WIDE, SQUARE_STEP = 20, 11
"""A hundred squares: number in a line, and distance of one from the next."""
MAP_WIDTH, MAP_HEIGHT, MAP_HEAD, MAP_SIDE = 760, 320, 84, 40
"""Map: drawing area, room for names above it, and room beside it for the last name."""
MOST_MAP_NAMES = 48
"""Largest number of columns to name in the map."""


def likely_chart(likely: Sequence[int], threshold: float, name: str, word: str) -> Markup:
    """Draw a histogram of P(meaningful), with the threshold as a line that the page can move."""
    bars = np.zeros(N_BARS, dtype=np.int64)
    width = (len(likely) - 1) // N_BARS
    for place, count in enumerate(likely):
        bars[max(0, place - 1) // width] += count
    most = max(1, int(bars.max()))
    step = WIDTH / N_BARS
    parts = []
    for k, count in enumerate(bars.tolist()):
        height = max(2.0, count / most * (HEIGHT - 8)) if count else 0.0
        low, high = k / N_BARS, (k + 1) / N_BARS
        title = f"{word} {low:.2f} to {high:.2f}: {count:,} cells" if count else ""
        kind = "kept" if low >= threshold else "imputed" if high <= threshold else "mixed"
        parts.append(rect(kind, k * step + 1, HEIGHT - height, step - 2, height, title))
    parts.append(line("base", 0, HEIGHT, WIDTH, HEIGHT))
    x = threshold * WIDTH
    parts.append(line("threshold", x, 0, x, HEIGHT))
    for at, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end")):
        parts.append(text(at * WIDTH, HEIGHT + 15, f"{at:g}", anchor))
    label = (
        f"{word} of missing cells of {shorten(name)}, from 0 to 1; the threshold is {threshold:g}"
    )
    return svg(WIDTH, HEIGHT + FOOT, label, parts, "likely")


def distribution_chart(found: Distribution, name: str) -> Markup:
    """Draw the distributions of observed and imputed values, as shares of each."""
    return _bins(found, name) if found.is_binned else _levels(found, name)


def _shares(counts: Sequence[int]) -> list[float]:
    total = max(1, sum(counts))
    return [count / total for count in counts]


def _bins(found: Distribution, name: str) -> Markup:
    seen, filled = _shares(found.observed), _shares(found.imputed)
    drawn = [] if found.densities else [_shares(counts) for counts in found.drawn]
    most = max([*seen, *filled, *(share for draw in drawn for share in draw), 1e-12])
    step = WIDTH / len(seen)
    parts, path = [], [f"M0 {HEIGHT}"]
    for k, (before, after) in enumerate(zip(seen, filled, strict=True)):
        height = before / most * (HEIGHT - 8)
        title = (
            f"{found.labels[k]} to {found.labels[k + 1]}: {before:.1%} of the observed, "
            f"{after:.1%} of the imputed"
        )
        parts.append(rect("observed", k * step + 0.5, HEIGHT - height, step - 1, height, title))
        level = HEIGHT - after / most * (HEIGHT - 8)
        path += [f"L{k * step:.1f} {level:.1f}", f"L{(k + 1) * step:.1f} {level:.1f}"]
    if sum(found.imputed):
        outline = " ".join([*path, f"L{WIDTH} {HEIGHT}"])
        parts.append(Markup('<path class="imputed-line" d="{}"/>').format(outline))
    parts += [
        circle("drawn", (k + 0.5) * step, HEIGHT - share / most * (HEIGHT - 8), 2.8)
        for draw in drawn
        for k, share in enumerate(draw)
    ]
    parts.append(line("base", 0, HEIGHT, WIDTH, HEIGHT))
    parts.append(text(0, HEIGHT + 15, found.labels[0]))
    parts.append(text(WIDTH, HEIGHT + 15, found.labels[-1], "end"))
    too = "" if found.densities else _draws_too(found)
    label = f"Observed and imputed values of {shorten(name)}{too}"
    return svg(WIDTH, HEIGHT + FOOT, label, parts, "bins")


def _levels(found: Distribution, name: str) -> Markup:
    seen, filled = _shares(found.observed), _shares(found.imputed)
    drawn = [_shares(counts) for counts in found.drawn]
    most = max([*seen, *filled, *(share for draw in drawn for share in draw), 1e-12])
    names = [shorten(label, LONGEST_LABEL) for label in found.labels]
    start = max(len(name) for name in names) * CHARACTER + 10
    room = WIDTH - start - 34
    parts = []
    for k, (before, after) in enumerate(zip(seen, filled, strict=True)):
        top = k * BAR_LINE
        shown = text(start - 8, top + 17, names[k], "end", "level")
        parts.append(Markup("<g><title>{}</title>{}</g>").format(found.labels[k], shown))
        for kind, share, y in (("observed", before, top + 3), ("imputed", after, top + 14)):
            length = share / most * room
            parts.append(rect(kind, start, y, max(length, 1.0 if share else 0.0), 9))
            words = "" if share == 0 else "<1%" if share < 0.005 else f"{share:.0%}"
            after_it = [draw[k] for draw in drawn] if kind == "imputed" else []
            end = start + max([length, *(share / most * room for share in after_it)])
            parts.append(text(end + 5, y + 8.5, words, "start", "share"))
            parts += [
                circle("drawn", start + share / most * room, y + 4.5, 2.8) for share in after_it
            ]
    label = f"Levels of {shorten(name)}, observed and imputed{_draws_too(found)}"
    return svg(WIDTH, len(seen) * BAR_LINE, label, parts, "levels")


def hundred_squares(share: float, label: str) -> Markup:
    """Draw a share as coloured squares out of a hundred; one at least if it is not zero."""
    n_coloured = max(round(100 * share), int(share > 0))
    parts = [
        rect(
            "mixed" if k < n_coloured else "observed",
            k % SQUARES_WIDE * SQUARE_STEP,
            k // SQUARES_WIDE * SQUARE_STEP,
            SQUARE_STEP - 2,
            SQUARE_STEP - 2,
        )
        for k in range(100)
    ]
    height = 100 // SQUARES_WIDE * SQUARE_STEP - 2
    return svg_of_own_size(SQUARES_WIDE * SQUARE_STEP - 2, height, label, parts, "squares-100")


def density_chart(found: Distribution, name: str) -> Markup:
    """Draw the density of the observed numbers, with a line for each draw of the imputed cells."""
    most = max(max(curve) for curve in found.densities) or 1.0
    step = WIDTH / len(found.densities[0])
    paths = [
        " ".join(
            f"{(k + 0.5) * step:.0f},{brief(HEIGHT - level / most * (HEIGHT - 8))}"
            for k, level in enumerate(curve)
        )
        for curve in found.densities
    ]
    area = f"0,{HEIGHT} {paths[0]} {WIDTH},{HEIGHT}"
    parts = [Markup('<polygon class="observed" points="{}"/>').format(area)]
    parts += [Markup('<polyline class="draw" points="{}"/>').format(path) for path in paths[1:]]
    parts.append(line("base", 0, HEIGHT, WIDTH, HEIGHT))
    parts.append(text(0, HEIGHT + 15, found.labels[0]))
    parts.append(text(WIDTH, HEIGHT + 15, found.labels[-1], "end"))
    label = f"Density of the observed values of {shorten(name)}{_draws_too(found)}"
    return svg(WIDTH, HEIGHT + FOOT, label, parts, "density")


def _draws_too(found: Distribution) -> str:
    """Say how many draws are shown."""
    n = len(found.drawn)
    return f", with {n} draws" if n > 1 else ", with all draws together" if n else ""


def error_bar(left: float, is_better: bool) -> Markup:
    """Draw an error as a share of that of the mean or mode, with a line at 100%."""
    scale = ERROR_WIDTH / MOST_ERROR
    length = min(left, MOST_ERROR) * scale
    words = f"{left:.0%} of the error of the mean or mode"
    parts = [
        rect("observed", 0, 3, ERROR_WIDTH, 8),
        rect("imputed" if is_better else "mixed", 0, 3, max(length, 1.0), 8, words),
        line("threshold", scale, 0, scale, 14),
    ]
    return svg(ERROR_WIDTH, 14, words, parts, "error")


def calibration_chart(found: MissingLine) -> Markup:
    """Draw predicted against observed P(missing): a dot for each tenth, and the diagonal."""
    most = max([n for _, _, n in found.points], default=1)
    end = SQUARE + MARGIN
    parts = [line("base", MARGIN, SQUARE, end, SQUARE), line("base", MARGIN, 0, MARGIN, SQUARE)]
    parts.append(line("threshold", MARGIN, SQUARE, end, 0))
    for predicted, observed, n_cells in found.points:
        radius = max(SMALLEST_DOT, LARGEST_DOT * float(np.sqrt(n_cells / most)))
        title = f"predicted {predicted:.0%}, observed {observed:.0%}: {n_cells:,} cells"
        x, y = MARGIN + predicted * SQUARE, SQUARE - observed * SQUARE
        parts.append(circle("dot", x, y, radius, title))
    for at, anchor in ((0.0, "start"), (1.0, "end")):
        parts.append(text(MARGIN + at * SQUARE, SQUARE + 15, f"{at:.0%}", anchor))
        parts.append(text(MARGIN - 6, SQUARE - at * (SQUARE - 10), f"{at:.0%}", "end"))
    parts.append(text(MARGIN + SQUARE / 2, SQUARE + 15, "predicted", "middle"))
    parts.append(text(MARGIN - 6, SQUARE / 2 + 4, "is", "end"))
    rates = f"predicted {found.said:.0%}, observed {found.found:.0%}"
    label = f"P(missing) of {shorten(found.name)}: {rates}"
    return svg(end + LARGEST_DOT, SQUARE + FOOT, label, parts, "square")


def table_map(summary: Summary) -> Markup:
    """Draw the map of the table: a line per row, each cell in the colour of its state."""
    n_columns, n_rows = summary.n_columns, len(summary.map_rows)
    named = n_columns <= MOST_MAP_NAMES
    head = MAP_HEAD if named else 4
    width, height = MAP_WIDTH / n_columns, MAP_HEIGHT / n_rows
    parts = [rect("observed", 0, head, MAP_WIDTH, MAP_HEIGHT)]
    for state, kind in (("1", "imputed"), ("2", "kept"), ("3", "left")):
        path = [
            f"M{j * width:.1f} {head + start * height:.1f}h{width - 0.8:.1f}v{n * height:.1f}"
            f"h-{width - 0.8:.1f}z"
            for j in range(n_columns)
            for start, n in _runs([row[j] == state for row in summary.map_rows])
        ]
        if path:
            parts.append(Markup('<path class="{}" d="{}"/>').format(kind, "".join(path)))
    for j, column in enumerate(summary.columns):
        x = j * width
        parts.append(line("gap", x + width - 0.4, head, x + width - 0.4, head + MAP_HEIGHT))
        if named:
            parts.append(slanted(x + width / 2 + 3, head - 6, shorten(column.name, 16)))
        parts.append(rect("hover", x, head, width, MAP_HEIGHT, shorten(column.name)))
    label = "A map of the table: observed, imputed and kept cells"
    return svg(MAP_WIDTH + (MAP_SIDE if named else 0), head + MAP_HEIGHT + 2, label, parts, "map")


def _runs(flags: Sequence[bool]) -> list[tuple[int, int]]:
    """Return the start and length of each run of True."""
    padded = np.diff(np.concatenate([[0], np.asarray(flags, dtype=np.int8), [0]]))
    starts, ends = np.flatnonzero(padded == 1), np.flatnonzero(padded == -1)
    return list(zip(starts.tolist(), (ends - starts).tolist(), strict=True))


def history_chart(values: Sequence[float | None], label: str) -> Markup:
    """Draw one number per pass as a line."""
    points = [(k, value) for k, value in enumerate(values) if value is not None]
    if len(points) < 2:
        return Markup("")
    most = max(1e-12, *(value for _, value in points))
    last = max(1, len(values) - 1)
    at = [
        (k / last * (WIDTH - 12) + 6, HEIGHT - value / most * (HEIGHT - 12)) for k, value in points
    ]
    points_text = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
    parts = [line("base", 0, HEIGHT, WIDTH, HEIGHT)]
    parts.append(Markup('<polyline class="history" points="{}"/>').format(points_text))
    parts += [circle("dot", *xy, 3.0) for xy in at]
    parts.append(text(0, HEIGHT + 15, "pass 1"))
    parts.append(text(WIDTH, HEIGHT + 15, f"pass {len(values)}", "end"))
    parts.append(text(WIDTH, 10, f"at most {most:.3g}", "end"))
    return svg(WIDTH, HEIGHT + FOOT, label, parts, "line")
