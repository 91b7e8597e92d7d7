"""Simulate a stand-in for MIMIC-IV-ED with the same columns, for those without access.

Nothing here is data of patients. Distributions and dependences are chosen to be plausible, and
constants so that the shares of meaningful cells are near those in the paper. Results on the
stand-in are not results on MIMIC-IV-ED.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit

from diffjoint.simulate.mechanisms import MechanismName
from diffjoint.simulate.mimic.columns import COMPLAINTS, CONDITIONS, N_STAYS, VITALS, mimic_world
from diffjoint.simulate.mimic.scores import charlson_score, news_score
from diffjoint.simulate.world import World, split_rows

Array = NDArray[np.float64]

TRAIN_SHARE = 0.8
ILLNESSES = {
    "MI": (-3.5, 0.8, 0.6),
    "CHF": (-3.1, 1.1, 0.9),
    "PVD": (-3.7, 0.9, 0.7),
    "Stroke": (-3.5, 0.9, 0.4),
    "Dementia": (-5.8, 1.9, 0.3),
    "Pulmonary": (-2.2, 0.3, 0.7),
    "Rheumatic": (-4.0, 0.2, 0.3),
    "PUD": (-4.5, 0.4, 0.6),
    "Liver1": (-2.8, 0.0, 0.8),
    "DM1": (-2.3, 0.5, 0.7),
    "DM2": (-3.6, 0.5, 1.0),
    "Paralysis": (-4.6, 0.3, 0.5),
    "Renal": (-3.0, 0.9, 1.0),
    "Cancer1": (-3.1, 0.7, 0.2),
    "Liver2": (-4.2, 0.1, 1.0),
    "Cancer2": (-4.0, 0.5, 0.4),
    "HIV": (-4.4, -0.2, 0.3),
}
"""Coefficients of the logit of each condition: at age 55, per 20 years, per unit of frailty."""
USUAL = dict(zip(VITALS, (36.75, 84.0, 17.4, 98.2, 134.0, 77.0), strict=True))
URGENCY_ENDS = (-3.85, -1.85, 0.4, 1.85)
"""Values of urgency (low: urgent) that separate the levels of acuity."""


def mimic_like(
    n: int = N_STAYS,
    seed: int = 0,
    *,
    mechanism: MechanismName | None = "mcar",
    loss_rate: float = 0.1,
) -> World:
    """Simulate a stand-in for the paper's MIMIC-IV-ED table, with the same 30 columns.

    Illnesses and earlier stays depend on age and frailty. The complaint, the vitals at triage, the
    acuity, the last vitals and the outcomes depend on these and on the severity of the day. The
    early warning score is computed from the vitals, and the comorbidity score from age and 17
    conditions (three of which are columns). Cells are meaningful by the paper's four rules.

    Parameters
    ----------
    n : int
        Number of rows, by default that of the paper. The first four fifths are for training.
    seed : int
    mechanism, loss_rate
        How cells get lost; none are if ``mechanism`` is None.

    Examples
    --------
    >>> world = mimic_like(1000)
    >>> world.name, world.truth.shape, len(world.train.truth)
    ('mimic-like-stand-in', (1000, 30), 800)
    """
    rng = np.random.default_rng(seed)
    return mimic_world(
        "mimic-like-stand-in",
        draw_stays(n, rng),
        split_rows(n, round(TRAIN_SHARE * n)),
        mechanism=mechanism,
        loss_rate=loss_rate,
        seed=seed,
        rng=rng,
    )


def draw_stays(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw complete stays, without any missing cells."""
    age = np.floor(18 + 75 * rng.beta(1.25, 1.45, n))
    old = (age - 55) / 20
    frailty = rng.normal(size=n)
    ill = _draw_illnesses(old, frailty, rng)
    burden = ill.to_numpy(dtype=float).sum(axis=1)
    stays = ill[list(CONDITIONS.values())].set_axis(list(CONDITIONS), axis=1).assign(age=age)
    stays = stays.assign(**_draw_earlier_stays(burden, frailty, rng))
    severity = rng.normal(size=n) + 0.2 * old + 0.12 * burden
    stays = stays.assign(**_draw_complaints(stays, severity, rng))
    at_triage = _draw_triage_vitals(stays, severity, old, rng)
    stays = stays.assign(**{f"triage_{name}": values for name, values in at_triage.items()})
    stays["triage_pain"] = _draw_pain(stays, rng)
    stays["triage_acuity"] = _draw_acuity(stays, severity, old, rng)
    stays = stays.assign(**_draw_last_vitals(at_triage, severity, rng))
    stays["score_CCI"] = charlson_score(age, ill)
    stays["score_NEWS"] = news_score(at_triage)
    return stays.assign(**_draw_outcomes(stays, severity, rng))


def _draw_illnesses(old: Array, frailty: Array, rng: np.random.Generator) -> pd.DataFrame:
    logit = np.array(
        [
            base + by_age * old + by_frailty * frailty
            for base, by_age, by_frailty in ILLNESSES.values()
        ]
    )
    return pd.DataFrame(rng.random(logit.shape[::-1]) < expit(logit).T, columns=list(ILLNESSES))


def _draw_earlier_stays(
    burden: Array, frailty: Array, rng: np.random.Generator
) -> dict[str, NDArray[np.int64]]:
    habit = rng.gamma(0.6, 1 / 0.6, len(burden))
    n_hosp = rng.poisson(habit * np.exp(-0.95 + 0.38 * np.minimum(burden, 6) + 0.5 * frailty))
    n_hosp = np.minimum(n_hosp, 30)
    return {
        "n_hosp_365d": n_hosp,
        "n_ed_365d": rng.binomial(n_hosp, 0.7) + rng.poisson(0.6 * habit),
        "n_icu_365d": rng.binomial(n_hosp, 0.12),
    }


def _draw_complaints(
    stays: pd.DataFrame, severity: Array, rng: np.random.Generator
) -> dict[str, NDArray[np.bool_]]:
    logits = {
        "chiefcom_chest_pain": -2.7 + 0.3 * stays["cci_CHF"],
        "chiefcom_shortness_of_breath": (
            -3.5 + 1.2 * stays["eci_Pulmonary"] + 1.2 * stays["cci_CHF"] + 0.4 * severity
        ),
        "chiefcom_abdominal_pain": -2.1 - 0.01 * (stays["age"] - 50),
        "chiefcom_fever_chills": -3.4 + 0.4 * severity,
    }
    return {name: rng.random(len(stays)) < expit(logits[name]) for name in COMPLAINTS}


def _draw_triage_vitals(
    stays: pd.DataFrame, severity: Array, old: Array, rng: np.random.Generator
) -> dict[str, Array]:
    fever = stays["chiefcom_fever_chills"].to_numpy(dtype=float)
    breathless = stays["chiefcom_shortness_of_breath"].to_numpy(dtype=float)
    lungs = stays["eci_Pulmonary"].to_numpy(dtype=float)
    noise = rng.normal(size=(6, len(stays)))
    worse = np.maximum(severity, 0.0)
    warm = 0.42 * noise[0] + 0.9 * fever * rng.random(len(stays)) + 0.08 * worse**2
    fast = 14.5 * noise[1] + 11 * warm + 3.0 * severity - 4.0 * old
    pressed = 20 * noise[4] + 7 * old - 2.2 * worse**2
    gasping = np.exp(0.75 * noise[2] + 0.35 * severity + 0.5 * breathless + 0.1 * warm)
    blue = np.exp(0.85 * noise[3] + 0.35 * severity + 0.5 * breathless + 0.5 * lungs + 0.1 * old)
    return _as_measured(
        {
            "temperature": USUAL["temperature"] + warm,
            "heartrate": USUAL["heartrate"] + fast,
            "resprate": USUAL["resprate"]
            - 1.2
            + 1.05 * gasping
            + 0.6 * rng.normal(size=len(stays)),
            "o2sat": USUAL["o2sat"] + 1.2 - 0.8 * blue + 0.6 * rng.normal(size=len(stays)),
            "sbp": USUAL["sbp"] + pressed,
            "dbp": USUAL["dbp"] + 0.42 * pressed + 10 * noise[5] - 4 * old,
        }
    )


def _as_measured(vitals: dict[str, Array]) -> dict[str, Array]:
    """Round vitals as instruments do: to whole numbers, or tenths of a degree Fahrenheit."""
    ranges = {"heartrate": (25, 220), "resprate": (6, 60), "o2sat": (60, 100)}
    ranges |= {"sbp": (50, 260), "dbp": (20, 160)}
    measured = {name: np.clip(np.round(vitals[name]), *ranges[name]) for name in ranges}
    fahrenheit = np.round(vitals["temperature"] * 9 / 5 + 32, 1)
    return {"temperature": (np.clip(fahrenheit, 86, 108) - 32) * 5 / 9, **measured}


def _draw_pain(stays: pd.DataFrame, rng: np.random.Generator) -> Array:
    hurting = stays["chiefcom_chest_pain"] | stays["chiefcom_abdominal_pain"]
    in_pain = rng.random(len(stays)) < np.where(hurting, 0.85, 0.52)
    return np.where(in_pain, np.clip(np.round(rng.normal(6.8, 2.2, len(stays))), 1, 10), 0.0)


def _draw_acuity(
    stays: pd.DataFrame, severity: Array, old: Array, rng: np.random.Generator
) -> Array:
    alarm = (
        0.16 * np.maximum(stays["triage_resprate"] - 18, 0)
        + 0.16 * np.maximum(96 - stays["triage_o2sat"], 0)
        + 0.016 * np.maximum(stays["triage_heartrate"] - 90, 0)
        + 0.016 * np.maximum(105 - stays["triage_sbp"], 0)
    )
    urgency = (
        -1.3
        - 0.75 * severity
        - 0.35 * old
        - np.minimum(alarm, 3.0)
        - 0.9 * stays["chiefcom_chest_pain"]
        + rng.normal(0, 0.8, len(stays))
    )
    acuity: Array = 1.0 + np.searchsorted(URGENCY_ENDS, urgency.to_numpy())
    return acuity


def _draw_last_vitals(
    at_triage: dict[str, Array], severity: Array, rng: np.random.Generator
) -> dict[str, Array]:
    """Draw the last vitals: nearer to the usual values than at triage, more so if not severe."""
    kept = 0.55 + 0.1 * np.tanh(severity)
    scales = dict(zip(VITALS, (0.28, 10.5, 1.7, 1.3, 14.0, 9.5), strict=True))
    drawn = {
        name: USUAL[name]
        + kept * (at_triage[name] - USUAL[name])
        + rng.normal(0, scales[name], len(severity))
        for name in VITALS
    }
    return {f"ed_{name}_last": values for name, values in _as_measured(drawn).items()}


def _draw_outcomes(
    stays: pd.DataFrame, severity: Array, rng: np.random.Generator
) -> dict[str, NDArray[np.bool_]]:
    urgent = 3.0 - stays["triage_acuity"]
    admit = -1.2 + 0.5 * severity + 0.85 * urgent + 0.025 * (stays["age"] - 50)
    admit = admit + 0.15 * stays["score_CCI"] + 0.2 * stays["score_NEWS"]
    hospitalized = rng.random(len(stays)) < expit(admit)
    unstable = -4.6 + 1.1 * urgent + 0.35 * stays["score_NEWS"] + 0.5 * severity
    to_icu = hospitalized & (rng.random(len(stays)) < expit(unstable + 0.5))
    dying = -6.6 + 0.7 * urgent + 0.3 * stays["score_NEWS"] + 0.12 * stays["score_CCI"]
    died = hospitalized & (rng.random(len(stays)) < expit(dying + 0.01 * (stays["age"] - 50)))
    return {
        "outcome_hospitalization": hospitalized,
        "outcome_critical": to_icu | died,
        "outcome_icu_transfer_12h": to_icu,
    }
