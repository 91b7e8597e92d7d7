"""Define the paper's 30 columns, and the rules by which their cells are meaningful."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from diffjoint.simulate.mechanisms import MechanismName
from diffjoint.simulate.world import World, lose_cells, nothing_lost

VITALS = ("temperature", "heartrate", "resprate", "o2sat", "sbp", "dbp")
TRIAGE = [f"triage_{name}" for name in (*VITALS, "pain", "acuity")]
LAST = [f"ed_{name}_last" for name in VITALS]
COUNTS = ["age", "n_ed_365d", "n_hosp_365d", "n_icu_365d", "score_CCI", "score_NEWS"]
OUTCOMES = ["outcome_hospitalization", "outcome_critical", "outcome_icu_transfer_12h"]
COMPLAINTS = {
    "chiefcom_chest_pain": "chest pain",
    "chiefcom_shortness_of_breath": "breath",
    "chiefcom_abdominal_pain": "abdominal pain|abd pain",
    "chiefcom_fever_chills": "fever|chill",
}
"""Indicators of the chief complaint, and the words to search for."""
CONDITIONS = {"cci_CHF": "CHF", "cci_Renal": "Renal", "eci_Pulmonary": "Pulmonary"}
"""Indicators of earlier diagnoses, and their conditions."""

N_STAYS = 353_150 + 88_287
"""Number of train and test rows of the paper's table."""
COLUMN_KINDS = {
    **dict.fromkeys(TRIAGE + LAST, "continuous"),
    **dict.fromkeys(COUNTS, "integer"),
    **dict.fromkeys([*OUTCOMES, *COMPLAINTS, *CONDITIONS], "categorical"),
}
MM_COLUMNS = [
    "outcome_critical",
    "outcome_icu_transfer_12h",
    "outcome_hospitalization",
    "cci_CHF",
]


def mimic_world(
    name: str,
    stays: pd.DataFrame,
    is_train: NDArray[np.bool_],
    *,
    mechanism: MechanismName | None,
    loss_rate: float,
    seed: int,
    rng: np.random.Generator,
) -> World:
    """Make a world from complete stays: first the paper's meaningful cells, then losses."""
    stays = stays[list(COLUMN_KINDS)].astype(
        {
            name: "float64" if kind == "continuous" else "Int64"
            for name, kind in COLUMN_KINDS.items()
        }
    )
    meaningful = meaningful_cells(stays, rng)
    world = World(
        name=name,
        seed=seed,
        truth=stays.mask(meaningful),
        meaningful=meaningful,
        lost=nothing_lost(stays),
        mm_columns=list(MM_COLUMNS),
        column_kinds=dict(COLUMN_KINDS),
        is_train=is_train,
    )
    return lose_cells(world, mechanism, loss_rate, rng)


def meaningful_cells(stays: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Apply the paper's four rules: two are certain, two random, more likely at higher risk."""
    urgent = stays["triage_acuity"] <= 2
    short_of_air = (stays["triage_o2sat"] < 95) | (stays["triage_resprate"] >= 22)
    meaningful = nothing_lost(stays)
    meaningful["outcome_critical"] = urgent & (short_of_air | (stays["triage_heartrate"] >= 110))
    meaningful["outcome_icu_transfer_12h"] = urgent & (short_of_air | (stays["n_icu_365d"] >= 1))
    admitted = (
        urgent.astype(int)
        + (stays["score_NEWS"] >= 2)
        + (stays["age"] >= 70)
        + (stays["n_hosp_365d"] >= 1)
    )
    failing = (
        (stays["age"] >= 75).astype(int)
        + (stays["n_hosp_365d"] >= 2)
        + (stays["triage_sbp"] < 110)
        + (stays["score_CCI"] >= 4)
    )
    for column, score, base, step, most in (
        ("outcome_hospitalization", admitted, 0.02, 0.10, 0.45),
        ("cci_CHF", failing, 0.03, 0.16, 0.70),
    ):
        chance = np.clip(base + step * score.to_numpy(dtype=float), 0.0, most)
        meaningful[column] = rng.random(len(stays)) < chance
    return meaningful.astype(bool)
