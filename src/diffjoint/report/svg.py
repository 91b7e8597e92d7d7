"""Parts of SVG pictures. All text is escaped by markupsafe."""

from collections.abc import Iterable

from markupsafe import Markup


def svg(
    width: float, height: float, label: str, parts: Iterable[Markup], kind: str, fixed: str = ""
) -> Markup:
    """Return a picture with a text alternative.

    Parameters
    ----------
    fixed : str
        The size on the page, as attributes; empty: as wide as there is room.
    """
    return Markup(
        '<svg class="chart {kind}" viewBox="0 0 {width:g} {height:g}"{fixed} role="img" '
        'aria-label="{label}">{body}</svg>'
    ).format(
        kind=kind,
        width=width,
        height=height,
        fixed=Markup(fixed),
        label=label,
        body=Markup("").join(parts),
    )


def svg_of_own_size(
    width: float, height: float, label: str, parts: Iterable[Markup], kind: str
) -> Markup:
    """Return a picture that keeps its size, so that its text stays legible."""
    size = f' width="{width:g}" height="{height:g}"'
    return svg(width, height, label, parts, f"own-size {kind}", size)


def rect(kind: str, x: float, y: float, width: float, height: float, title: str = "") -> Markup:
    """Return a rectangle, with a tooltip if there is a title."""
    sides = map(brief, (x, y, max(0.0, width), max(0.0, height)))
    return Markup('<rect class="{}" x="{}" y="{}" width="{}" height="{}">{}</rect>').format(
        kind, *sides, tooltip(title)
    )


def circle(kind: str, x: float, y: float, radius: float, title: str = "") -> Markup:
    """Return a circle, with a tooltip if there is a title."""
    return Markup('<circle class="{}" cx="{}" cy="{}" r="{}">{}</circle>').format(
        kind, *map(brief, (x, y, radius)), tooltip(title)
    )


def brief(number: float) -> str:
    """Write a coordinate: a tenth is enough, and pages have many.

    Examples
    --------
    >>> brief(14.0), brief(0.25)
    ('14', '0.2')
    """
    return f"{number:.1f}".removesuffix(".0")


def tooltip(title: str) -> Markup:
    """Return a tooltip; nothing if there is no title."""
    return Markup("<title>{}</title>").format(title) if title else Markup("")


def text(
    x: float, y: float, words: str, anchor: str = "start", kind: str = "axis", title: str = ""
) -> Markup:
    """Return a line of text."""
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}{}</text>').format(
        kind, x, y, anchor, tooltip(title), words
    )


def slanted(x: float, y: float, words: str, kind: str = "name", title: str = "") -> Markup:
    """Return a line of text that rises to the right."""
    return Markup(
        '<text class="{}" transform="translate({:.1f} {:.1f}) rotate(-52)">{}{}</text>'
    ).format(kind, x, y, tooltip(title), words)


def line(kind: str, x1: float, y1: float, x2: float, y2: float) -> Markup:
    """Return a straight line."""
    return Markup('<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(
        kind, *map(brief, (x1, y1, x2, y2))
    )
