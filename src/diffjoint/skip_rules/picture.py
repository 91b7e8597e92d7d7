"""Draw gates and what they open: as Mermaid text, or as an SVG picture."""

from collections.abc import Mapping, Sequence
from html import escape

from diffjoint.skip_rules.find import FoundRule

WIDE, HIGH, GAP, ACROSS = 200, 26, 10, 90
"""Width and height of a box, and the distances between boxes, in pixels."""
MOST_SHOWN = 26
"""Letters of a column's name that are shown."""


def as_mermaid(rules: Sequence[FoundRule]) -> str:
    """Return a flowchart from gates to the columns that they open, as Mermaid text.

    Examples
    --------
    >>> rule = FoundRule("hours", 1, 'work == "yes"', ("work",), True, 9, 0, 9, 1, 0.1)
    >>> print(as_mermaid([rule]))
    flowchart LR
      c0["work"]
      c1["hours"]
      c0 -- "work == #quot;yes#quot;" --> c1
    """
    places = {name: k for k, name in enumerate(_columns(rules))}
    lines = ["flowchart LR"]
    lines += [f'  c{k}["{_plain(name)}"]' for name, k in places.items()]
    for rule in rules:
        for gate in rule.gates:
            edge = f'-- "{_plain(rule.as_rule)}" -->'
            lines.append(f"  c{places[gate]} {edge} c{places[rule.column]}")
    return "\n".join(lines)


def as_svg(rules: Sequence[FoundRule]) -> str:
    """Return a picture of gates, on the left, and the columns that they open, as SVG."""
    depth = _depths(rules)
    layers: dict[int, list[str]] = {}
    for name, layer in depth.items():
        layers.setdefault(layer, []).append(name)
    at = {
        name: (layer * (WIDE + ACROSS), k * (HIGH + GAP))
        for layer, names in layers.items()
        for k, name in enumerate(names)
    }
    width = (max(layers, default=0) + 1) * (WIDE + ACROSS) - ACROSS + 2
    height = max(map(len, layers.values()), default=1) * (HIGH + GAP) - GAP + 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 {width} {height}" '
        f'width="{width}" height="{height}" role="img" '
        f'aria-label="Gates and the columns that they open" font-family="sans-serif" '
        f'font-size="12">'
    ]
    for rule in rules:
        for gate in rule.gates:
            parts.append(_arrow(at[gate], at[rule.column], rule.as_rule))
    texts = {rule.column: str(rule) for rule in rules}
    parts += [_box(name, at[name], texts.get(name, name)) for name in depth]
    return "\n".join([*parts, "</svg>"])


def _columns(rules: Sequence[FoundRule]) -> list[str]:
    """Return the columns that rules speak of, gates first."""
    return list(dict.fromkeys(name for rule in rules for name in (*rule.gates, rule.column)))


def _depths(rules: Sequence[FoundRule]) -> Mapping[str, int]:
    """Return how many gates deep each column lies; rules have gates first."""
    depth: dict[str, int] = {}
    for rule in rules:
        for gate in rule.gates:
            depth.setdefault(gate, 0)
        depth[rule.column] = 1 + max(depth[gate] for gate in rule.gates)
    return depth


def _arrow(start: tuple[int, int], end: tuple[int, int], rule: str) -> str:
    x, y = start[0] + WIDE, start[1] + HIGH // 2
    to_x, to_y = end[0], end[1] + HIGH // 2
    middle = (x + to_x) // 2
    curve = f"M{x} {y} C{middle} {y} {middle} {to_y} {to_x} {to_y}"
    return (
        f'<path d="{curve}" fill="none" stroke="#8a94a6" stroke-width="1.2">'
        f"<title>{escape(rule)}</title></path>"
    )


def _box(name: str, at: tuple[int, int], about: str) -> str:
    shown = name if len(name) <= MOST_SHOWN else f"{name[: MOST_SHOWN - 1]}…"
    return (
        f'<g><title>{escape(about)}</title><rect x="{at[0]}" y="{at[1]}" width="{WIDE}" '
        f'height="{HIGH}" rx="4" fill="#eef2f8" stroke="#5b6b85"/>'
        f'<text x="{at[0] + 8}" y="{at[1] + 17}" fill="#1c2533">{escape(shown)}</text></g>'
    )


def _plain(text: str) -> str:
    """Return text as Mermaid takes it between quotes."""
    return " ".join(text.replace("#", "#35;").replace('"', "#quot;").split())
