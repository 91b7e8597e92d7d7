"""Draw docs/before-after.svg: rows of the built-in survey as they come and as they go.

python docs/picture.py
"""

from html import escape
from pathlib import Path

import numpy as np

from diffjoint import SelectiveImputer
from diffjoint.cli.run.demo import telling_rows
from diffjoint.simulate import household_survey

OUT = Path(__file__).with_name("before-after.svg")
CELL, LINE, LEFT = 108, 26, 16
INK, PAPER, RULE = "#1f2933", "#ffffff", "#d9dee4"
EMPTY, FILLED, KEPT = ("#fdf0c8", "#8a6100"), ("#d5f0dd", "#156b36"), ("#dbe6fb", "#1c4fa0")


def draw() -> str:
    """Draw the picture as SVG text."""
    world = household_survey()
    survey = world.observed_table
    imputer = SelectiveImputer(world.mm_columns, column_kinds=world.column_kinds, random_state=0)
    result = imputer.fit(survey).impute(survey)
    missing, kept = survey.isna().to_numpy(), result.meaningful.to_numpy()
    rows = telling_rows(missing, kept)[:6]
    names = list(survey.columns)
    values = result.table.iloc[rows].to_numpy(dtype=object)
    width = 2 * LEFT + CELL * len(names)
    height = 2 * (len(rows) + 2) * LINE + 76
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="system-ui, sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="{PAPER}"/>',
    ]
    top = 16
    heading = "Before: every missing cell looks the same"
    parts += _table(top, heading, names, values, missing[rows], missing[rows], ("?", EMPTY))
    top += (len(rows) + 2) * LINE + 16
    heading = "After: lost cells are imputed, meaningful ones are kept as NA"
    parts += _table(top, heading, names, values, missing[rows], kept[rows], ("NA", KEPT))
    parts += _legend(height - 20)
    return "\n".join([*parts, "</svg>\n"])


def _table(
    top: int,
    heading: str,
    names: list[str],
    values: np.ndarray,
    missing: np.ndarray,
    empty: np.ndarray,
    sign: tuple[str, tuple[str, str]],
) -> list[str]:
    parts = [_text(LEFT, top + 18, heading, weight=700)]
    parts += [
        _text(LEFT + j * CELL + 6, top + LINE + 18, name, weight=600)
        for j, name in enumerate(names)
    ]
    for i, row in enumerate(values):
        y = top + (i + 2) * LINE
        parts.append(
            f'<line x1="{LEFT}" x2="{LEFT + CELL * len(names)}" y1="{y}" y2="{y}" stroke="{RULE}"/>'
        )
        for j, value in enumerate(row):
            x = LEFT + j * CELL
            if empty[i, j]:
                parts += _coloured(x, y, sign[0], sign[1])
            elif missing[i, j]:
                parts += _coloured(x, y, str(value), FILLED)
            else:
                parts.append(_text(x + 6, y + 18, str(value)))
    return parts


def _legend(y: int) -> list[str]:
    parts = []
    for i, (words, colours) in enumerate([("empty", EMPTY), ("imputed", FILLED), ("kept", KEPT)]):
        x = LEFT + i * CELL
        parts.append(_box(x, y - 11, 14, 14, colours[0]))
        parts.append(_text(x + 20, y + 1, words))
    return parts


def _coloured(x: int, y: int, words: str, colours: tuple[str, str]) -> list[str]:
    box = _box(x + 1, y + 2, CELL - 4, LINE - 4, colours[0])
    return [box, _text(x + 6, y + 18, words, weight=700, fill=colours[1])]


def _box(x: int, y: int, width: int, height: int, fill: str) -> str:
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="4" fill="{fill}"/>'


def _text(x: int, y: int, words: str, *, weight: int = 400, fill: str = INK) -> str:
    return f'<text x="{x}" y="{y}" font-weight="{weight}" fill="{fill}">{escape(words)}</text>'


if __name__ == "__main__":
    OUT.write_text(draw(), encoding="utf-8")
    print(f"Wrote {OUT}")
