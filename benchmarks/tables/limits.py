"""The best that can be known of the network, as measured by `benchmarks.bayes_limit`."""

from functools import cache

import pandas as pd

from benchmarks.bayes_limit import RESULTS


@cache
def _by_seed() -> pd.DataFrame:
    return pd.read_csv(RESULTS, keep_default_na=False)


@cache
def _limits() -> pd.DataFrame:
    return _by_seed().groupby(["mechanism", "ratio"]).mean(numeric_only=True)


def drivers(mechanism: str) -> dict[int, str]:
    """What drives the losses of the network at full size, by seed; the same at every ratio."""
    there = _by_seed()[_by_seed()["mechanism"] == mechanism]
    return dict(zip(there["seed"], there["drivers"], strict=True))


def limit(measure: str, mechanism: str, ratio: int) -> float:
    """Mean over five seeds of full size: ACC, best F1, AUC, Brier or RMSE."""
    return float(_limits().loc[(mechanism, ratio), measure])  # type: ignore[arg-type]
