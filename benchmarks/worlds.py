"""The page of worlds: what each is, and where its two kinds of missing cells fall.

    python -m benchmarks.worlds            # every world that is here
    python -m benchmarks.worlds --only thyroid-disease

Writes docs/worlds.md between its marks, and a picture of each world to docs/worlds. Worlds whose
tables are not here keep the section and the picture that they have.
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from benchmarks.pages import DOCS, show_in
from diffjoint.simulate import WORLDS, Entry, World, make_world

PAGE = DOCS / "worlds.md"
PICTURES = DOCS / "worlds"
OBSERVED, MEANINGFUL, LOST, UNKNOWN = "#e9edf2", "#2f6fd0", "#e8a317", "#ffffff"
N_SHOWN = 160
NO_DATA = ("mimic-iv-ed",)
"""Worlds that need credentials: their sections are written by hand."""


def section(entry: Entry, world: World) -> str:
    """Return what the page says about a world, from the world as it is before further losses."""
    n_rows, n_columns = world.truth.shape
    n_test = int((~world.is_train).sum())
    split = f" ({n_rows - n_test:,} train, {n_test:,} test)" if n_test else ""
    own = int(world.lost.to_numpy().sum())
    lines = [
        f"{entry.about[0].upper()}{entry.about[1:]}. {n_rows:,} rows{split}, {n_columns} columns; "
        f"{len(world.mm_columns)} can be meaningfully missing."
    ]
    if own:
        lines.append(f"{own:,} cells were lost before it was published.")
    if unknown := int((~world.kind_known).to_numpy().sum()):
        lines.append(f"Nobody knows whether {unknown:,} more are meaningful; they are not scored.")
    if entry.source:
        got = entry.source.how_to_get
        lines += [f"\n\n*{entry.source.title}.* {got[0].upper()}{got[1:]}"]
        lines.append(f"Licence: {entry.source.licence}.")
    else:
        lines.append("\n\nDrawn by diffjoint: nothing to download.")
    rates = world.meaningful[world.mm_columns].mean()
    listed = ", ".join(f"{name} {100 * rate:.2f}" for name, rate in rates.items())
    return (
        " ".join(lines).replace(" \n", "\n")
        + f"\n\nMeaningful, percent of the rows: {listed}.\n\n"
        + f"![Which cells of {world.name} are missing](worlds/{world.name}.png)\n"
    )


def draw(world: World, path: Path) -> None:
    """Return some rows as columns of pixels, those with the same meaningful cells side by side."""
    rows = np.random.default_rng(0).permutation(len(world.truth))[:N_SHOWN]
    meaningful = world.meaningful.to_numpy()[rows]
    lost, unknown = (part.to_numpy()[rows] for part in (world.lost, ~world.kind_known))
    states = np.select([meaningful, lost, unknown], [1, 2, 3], 0)
    by_pattern = np.lexsort(meaningful[:, ::-1].T)
    n_columns = states.shape[1]
    figure = Figure(figsize=(8, 0.7 + 0.17 * n_columns), layout="constrained")
    axes = figure.add_subplot()
    colours = ListedColormap([OBSERVED, MEANINGFUL, LOST, UNKNOWN])
    axes.imshow(states[by_pattern].T, cmap=colours, vmin=0, vmax=3, aspect="auto")
    axes.set_yticks(np.arange(n_columns), world.truth.columns, fontsize=7.5)
    axes.set_yticks(np.arange(n_columns + 1) - 0.5, minor=True)
    axes.grid(which="minor", axis="y", color="white", linewidth=1)
    axes.tick_params(which="both", length=0)
    axes.set_xticks([])
    axes.set_xlabel(f"{len(rows)} rows, sorted by which cells are meaningfully missing", fontsize=8)
    for label in axes.get_yticklabels():
        label.set_color("black" if label.get_text() in world.mm_columns else "#78828e")
    axes.spines[:].set_visible(False)
    figure.legend(
        handles=[
            Patch(color=OBSERVED, label="observed"),
            Patch(color=MEANINGFUL, label="meaningful: nothing to fill in"),
            Patch(color=LOST, label="lost"),
        ],
        loc="outside upper right",
        ncols=3,
        frameon=False,
        fontsize=8,
    )
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110, metadata={"Software": None})


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="one world")
    parser.add_argument("--pictures", type=Path, default=PICTURES, help="where pictures go")
    options = parser.parse_args(arguments)
    for name, entry in WORLDS.items():
        if name in NO_DATA or options.only not in (None, name):
            continue
        text = section(entry, make_world(name, mechanism=None))
        draw(make_world(name), options.pictures / f"{name}.png")
        if options.pictures == PICTURES:
            show_in(name, text, PAGE)
        print(f"{name}: done")


if __name__ == "__main__":
    main()
