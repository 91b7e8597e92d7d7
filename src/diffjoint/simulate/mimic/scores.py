"""Compute two clinical scores from their published points."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

NEWS_POINTS = {
    "resprate": ((8, 11, 20, 24), (3, 1, 0, 2, 3)),
    "o2sat": ((91, 93, 95), (3, 2, 1, 0)),
    "temperature": ((35, 36, 38, 39), (3, 1, 0, 1, 2)),
    "sbp": ((90, 100, 110, 219), (3, 2, 1, 0, 3)),
    "heartrate": ((40, 50, 90, 110, 130), (3, 1, 0, 1, 2, 3)),
}
"""Upper ends of the ranges, and the points of each range and of values above the last."""
AGE_POINTS = ((49, 59, 69, 79), (0, 1, 2, 3, 4))
CHARLSON_POINTS = {
    **dict.fromkeys(("MI", "CHF", "PVD", "Stroke", "Dementia"), 1),
    **dict.fromkeys(("Pulmonary", "Rheumatic", "PUD", "Liver1", "DM1"), 1),
    **dict.fromkeys(("DM2", "Paralysis", "Renal", "Cancer1"), 2),
    "Liver2": 3,
    "Cancer2": 6,
    "HIV": 6,
}
"""Points of each condition."""


def news_score(vitals: Mapping[str, ArrayLike]) -> NDArray[np.int64]:
    """Compute the National Early Warning Score without its terms for consciousness and oxygen.

    Parameters
    ----------
    vitals : mapping
        resprate, o2sat, temperature (Celsius), sbp and heartrate; NaN gives 0 points.

    Examples
    --------
    >>> calm = {"resprate": [16], "o2sat": [98], "temperature": [37], "sbp": [120]}
    >>> news_score({**calm, "heartrate": [70]}), news_score({**calm, "heartrate": [131]})
    (array([0]), array([3]))
    """
    points = [_points(vitals[name], *ranges) for name, ranges in NEWS_POINTS.items()]
    total: NDArray[np.int64] = np.sum(points, axis=0)
    return total


def charlson_score(age: ArrayLike, conditions: pd.DataFrame) -> NDArray[np.int64]:
    """Compute the Charlson comorbidity index with points for age.

    Parameters
    ----------
    age : array
    conditions : bool DataFrame
        One column for each name in ``CHARLSON_POINTS``.

    Examples
    --------
    >>> healthy = pd.DataFrame(False, index=[0], columns=list(CHARLSON_POINTS))
    >>> charlson_score([81], healthy), charlson_score([30], healthy.assign(CHF=True, Renal=True))
    (array([4]), array([3]))
    """
    ill = conditions[list(CHARLSON_POINTS)].to_numpy(dtype=int)
    points: NDArray[np.int64] = ill @ np.array(list(CHARLSON_POINTS.values()))
    return _points(age, *AGE_POINTS) + points


def _points(
    values: ArrayLike, ends: tuple[float, ...], points: tuple[int, ...]
) -> NDArray[np.int64]:
    values = np.asarray(values, dtype=float)
    found = np.array(points)[np.searchsorted(ends, values)]
    return np.where(np.isnan(values), 0, found)
