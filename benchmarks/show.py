"""Write every generated block of the documentation from the result files; measure nothing.

    python -m benchmarks.show

The benchmarks write their own blocks when they have measured something. This writes all of them:
after a change of how they are shown, or of result files that came from elsewhere. Only
docs/worlds.md is left out: it is made from the tables themselves, see benchmarks.worlds.
"""

from importlib import import_module

from benchmarks import pages

MODULES = (
    "auto",
    "bayes_limit",
    "calls",
    "calls_columns",
    "check_limit",
    "check_worlds",
    "coherence",
    "columns",
    "contradictions",
    "coverage",
    "drawn_tables",
    "draws",
    "found_rules",
    "ideal",
    "known_rates",
    "life_losses",
    "measured",
    "paper",
    "paper_passes",
    "profiling",
    "real_losses",
    "reduced_paper",
    "regressions",
    "rules_used",
    "scale",
    "scale_fit",
    "scale_kills",
    "speed",
)
"""The benchmarks that show something on a page."""
BLOCKS: pages.Blocks = {
    place: make
    for name in MODULES
    for place, make in import_module(f"benchmarks.{name}").BLOCKS.items()
}
"""Of all benchmarks: by page and name, what makes the text."""


def main() -> None:
    pages.show(BLOCKS)
    for page in dict.fromkeys(page for page, _ in BLOCKS):
        print(page.relative_to(pages.ROOT))


if __name__ == "__main__":
    main()
