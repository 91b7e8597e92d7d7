"""Build the paper's 30 columns from the raw tables of MIMIC-IV-ED and MIMIC-IV.

Follows the public MIMIC-IV-ED benchmark (Xie et al., Scientific Data 9, 2022), which the paper
starts from. Conditions follow the published code lists; the benchmark may differ in single codes.
"""

import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from diffjoint.errors import DataWarning, FileError
from diffjoint.simulate.mechanisms import MechanismName
from diffjoint.simulate.mimic.columns import (
    COMPLAINTS,
    CONDITIONS,
    LAST,
    N_STAYS,
    TRIAGE,
    VITALS,
    mimic_world,
)
from diffjoint.simulate.mimic.comorbidities import conditions_of
from diffjoint.simulate.mimic.scores import charlson_score, news_score
from diffjoint.simulate.source import Source
from diffjoint.simulate.world import World

FULL = Source(
    title="MIMIC-IV-ED and MIMIC-IV 1.0",
    folder="mimic_iv_ed",
    how_to_get=(
        "apply for access to both at PhysioNet, and put the folders ed, core, hosp and icu side by "
        "side."
    ),
    licence="PhysioNet Credentialed Health Data License",
)
DEMO = Source(
    title="MIMIC-IV-ED Demo and MIMIC-IV Clinical Database Demo 2.2",
    folder="mimic_iv_ed_demo",
    how_to_get=(
        "download both demos (open access) from PhysioNet and put the folders ed, hosp and icu "
        "side by side."
    ),
    licence="Open Database License 1.0",
)
TABLES = {
    "edstays": ["subject_id", "hadm_id", "stay_id", "intime", "outtime"],
    "triage": ["stay_id", *VITALS, "pain", "acuity", "chiefcomplaint"],
    "vitalsign": ["stay_id", "charttime", *VITALS],
    "patients": ["subject_id", "anchor_age", "anchor_year", "dod"],
    "admissions": ["subject_id", "hadm_id", "admittime", "dischtime"],
    "diagnoses_icd": ["hadm_id", "icd_code", "icd_version"],
    "icustays": ["subject_id", "hadm_id", "intime"],
}
TIMES = ("intime", "outtime", "charttime", "dod", "admittime", "dischtime")
BOUNDS = {
    "temperature": (14.2, 26.0, 45.0, 47.0),
    "heartrate": (0.0, 0.0, 350.0, 390.0),
    "resprate": (0.0, 0.0, 300.0, 330.0),
    "o2sat": (0.0, 0.0, 100.0, 150.0),
    "sbp": (0.0, 0.0, 375.0, 375.0),
    "dbp": (0.0, 0.0, 375.0, 375.0),
    "pain": (0.0, 0.0, 10.0, 10.0),
    "acuity": (1.0, 1.0, 5.0, 5.0),
}
"""Values outside the first and last number are missing; others are clipped to the middle two."""
DAYS_BACK = 365
DIAGNOSIS_DAYS_BACK = 356 * 5
TRAIN_SHARE, SPLIT_SEED = 0.8, 10
DEMO_MARK = "demo_subject_id.csv"
"""Name of a file that only the open demo has."""

Tables = dict[str, pd.DataFrame]


def mimic_iv_ed(
    folder: str | os.PathLike[str],
    *,
    mechanism: MechanismName | None = "mcar",
    loss_rate: float = 0.1,
    seed: int = 0,
) -> World:
    """Build the paper's real data, stays in an emergency department, from the raw tables.

    Parameters
    ----------
    folder : path
        Folder with edstays, triage, vitalsign (MIMIC-IV-ED), patients, admissions, diagnoses_icd
        and icustays (MIMIC-IV) as .csv or .csv.gz, in any folders below it. PhysioNet grants
        access to them. Version 1.0 of both gives the paper's 353,150 train and 88,287 test rows;
        later versions have other stays.
    mechanism, loss_rate, seed
        How cells get lost. The seed also decides which cells are meaningful where that is random.

    Notes
    -----
    Vitals that were not taken are set to the median of the train rows before cells are lost, as in
    the paper's data. So missing cells are either meaningful by the paper's rules, or lost.
    """
    if any(Path(folder).rglob(DEMO_MARK)):
        raise FileError(
            f"{folder} holds the open demo, not the full tables. Make mimic-iv-ed-demo of it, or "
            f"point to the full tables. To get them: {FULL.how_to_get}"
        )
    world = _build("mimic-iv-ed", Path(folder), mechanism, loss_rate, seed)
    if len(world.truth) != N_STAYS:
        warnings.warn(
            f"{folder} gives {len(world.truth):,} stays; the paper's table, from version 1.0, has "
            f"{N_STAYS:,}. Numbers on this table are not comparable to the paper's.",
            DataWarning,
            stacklevel=2,
        )
    return world


def mimic_iv_ed_demo(
    *,
    mechanism: MechanismName | None = "mcar",
    loss_rate: float = 0.1,
    seed: int = 0,
    data: str | os.PathLike[str] | None = None,
) -> World:
    """Build the same table from the open demo, which has 64 patients.

    Parameters
    ----------
    mechanism, loss_rate, seed
        As in :func:`mimic_iv_ed`.
    data : path, optional
        Data folder. By default the one that ``DIFFJOINT_DATA`` names.
    """
    folder = DEMO.find("ed/edstays.csv.gz", data).parents[1]
    return _build("mimic-iv-ed-demo", folder, mechanism, loss_rate, seed)


def _build(
    name: str, folder: Path, mechanism: MechanismName | None, loss_rate: float, seed: int
) -> World:
    stays = build_stays(read_tables(folder))
    chosen = stays.sample(frac=TRAIN_SHARE, random_state=SPLIT_SEED).index
    is_train = stays.index.isin(chosen)
    return mimic_world(
        name,
        with_scores(with_medians(stays, is_train)),
        is_train,
        mechanism=mechanism,
        loss_rate=loss_rate,
        seed=seed,
        rng=np.random.default_rng(seed),
    )


def read_tables(folder: Path) -> Tables:
    """Read the raw tables from anywhere below the folder."""
    return {name: _read(folder, name, columns) for name, columns in TABLES.items()}


def build_stays(tables: Tables) -> pd.DataFrame:
    """Build one row per stay of an adult with an acuity, without medians and scores."""
    stays = tables["edstays"].sort_values(["subject_id", "intime"], ignore_index=True)
    stays = stays.merge(tables["patients"], how="left", on="subject_id")
    stays["age"] = stays["intime"].dt.year - stays["anchor_year"] + stays["anchor_age"]
    stays = stays.join(_at_triage(tables["triage"]), on="stay_id")
    stays = stays.join(_last_vitals(tables["vitalsign"]), on="stay_id")
    stays = pd.concat([stays, _counts(stays, tables), _conditions(stays, tables)], axis=1)
    stays = stays.assign(**_outcomes(stays, tables))
    kept = (stays["age"] >= 18) & stays["triage_acuity"].notna()
    return stays[kept].reset_index(drop=True)


def with_medians(stays: pd.DataFrame, is_train: NDArray[np.bool_]) -> pd.DataFrame:
    """Set vitals that were not taken to the medians of the train rows."""
    vitals = [*TRIAGE, *LAST]
    return stays.assign(**stays[vitals].fillna(stays.loc[is_train, vitals].median()))


def with_scores(stays: pd.DataFrame) -> pd.DataFrame:
    """Add both clinical scores."""
    return stays.assign(
        score_CCI=charlson_score(stays["age"], stays),
        score_NEWS=news_score({name: stays[f"triage_{name}"] for name in VITALS}),
    )


def _read(folder: Path, name: str, columns: list[str]) -> pd.DataFrame:
    found = sorted(
        path for ending in (".csv", ".csv.gz") for path in folder.rglob(f"{name}{ending}")
    )
    if len(found) != 1:
        got = ", ".join(map(str, found)) or "none"
        raise FileError(
            f"Expected one file {name}.csv or {name}.csv.gz below {folder}; got {got}. Point to "
            "the folder that holds the tables of MIMIC-IV-ED and MIMIC-IV, in one version each."
        )
    text = {column: str for column in columns if column in ("icd_code", "pain")}
    try:
        table = pd.read_csv(found[0], usecols=columns, dtype=text)
    except ValueError as error:
        raise FileError(
            f"{found[0]} must have the columns {', '.join(columns)}: {error}. Take the file as "
            "PhysioNet gives it."
        ) from error
    for column in table.columns.intersection(list(TIMES)):
        table[column] = pd.to_datetime(table[column])
    return table


def _at_triage(triage: pd.DataFrame) -> pd.DataFrame:
    """Return vitals and complaints on arrival, by stay."""
    complaint = triage["chiefcomplaint"].fillna("").astype(str)
    table = pd.DataFrame({"stay_id": triage["stay_id"]})
    for name in (*VITALS, "acuity"):
        table[f"triage_{name}"] = _plausible(name, triage[name])
    table["triage_pain"] = _plausible("pain", _leading_number(triage["pain"]))
    for column, words in COMPLAINTS.items():
        table[column] = complaint.str.contains(words, case=False)
    return table.set_index("stay_id")


def _last_vitals(vitalsign: pd.DataFrame) -> pd.DataFrame:
    """Return the last value of each vital, by stay."""
    last = vitalsign.sort_values("charttime", kind="stable").groupby("stay_id")[list(VITALS)].last()
    plausible = {f"ed_{name}_last": _plausible(name, last[name]) for name in VITALS}
    return pd.DataFrame(plausible)


def _plausible(name: str, values: pd.Series) -> pd.Series:
    values = values.astype(float)
    if name == "temperature":
        values = (values - 32) * 5 / 9
    lowest, low, high, highest = BOUNDS[name]
    return values.where(values.between(lowest, highest)).clip(low, high)


def _leading_number(text: pd.Series) -> pd.Series:
    """Return the number that a text begins with; the middle of a range such as 5-7."""
    numbers = text.astype("string").str.extract(r"^\s*(\d+(?:\.\d+)?)(?:\s*-\s*(\d+(?:\.\d+)?))?")
    return numbers.astype(float).mean(axis=1)


def _counts(stays: pd.DataFrame, tables: Tables) -> pd.DataFrame:
    """Count the stays of the same person in the year before."""
    events = {
        "n_ed_365d": (tables["edstays"], "intime"),
        "n_hosp_365d": (tables["admissions"], "admittime"),
        "n_icu_365d": (tables["icustays"], "intime"),
    }
    return pd.DataFrame(
        {
            column: n_before(stays, table["subject_id"], table[time], DAYS_BACK)
            for column, (table, time) in events.items()
        },
        index=stays.index,
    )


def _conditions(stays: pd.DataFrame, tables: Tables) -> pd.DataFrame:
    """Return the conditions diagnosed in admissions that ended before the stay."""
    diagnoses = tables["diagnoses_icd"]
    made = conditions_of(diagnoses).groupby(diagnoses["hadm_id"]).any()
    known = tables["admissions"].join(made, on="hadm_id")
    found = {}
    for name in made.columns:
        ended = known[known[name].eq(True)]
        n_times = n_before(stays, ended["subject_id"], ended["dischtime"], DIAGNOSIS_DAYS_BACK)
        found[name] = n_times > 0
    found.update({column: found[name] for column, name in CONDITIONS.items()})
    return pd.DataFrame(found, index=stays.index)


def _outcomes(stays: pd.DataFrame, tables: Tables) -> dict[str, pd.Series]:
    admissions = tables["admissions"].drop(columns="subject_id").drop_duplicates("hadm_id")
    ended = stays[["hadm_id"]].merge(admissions, how="left", on="hadm_id")["dischtime"]
    died = stays["dod"].notna() & (ended.set_axis(stays.index) >= stays["dod"])
    to_icu = stays["hadm_id"].map(tables["icustays"].groupby("hadm_id")["intime"].min())
    soon = (to_icu - stays["outtime"]) <= pd.Timedelta(hours=12)
    return {
        "outcome_hospitalization": stays["hadm_id"].notna(),
        "outcome_critical": died | soon,
        "outcome_icu_transfer_12h": soon,
    }


def n_before(
    stays: pd.DataFrame, subjects: pd.Series, times: pd.Series, days: int
) -> NDArray[np.int64]:
    """Count the events of each stay's person in the days before the stay.

    Person and time are coded as one number that sorts by person, then time. The events of a
    window are then the difference of two positions in the sorted events.
    """
    events = np.sort(_keys(subjects[times.notna()], times[times.notna()]))
    arrivals = _keys(stays["subject_id"], stays["intime"])
    earliest = arrivals - days * 86_400
    return np.asarray(np.searchsorted(events, arrivals) - np.searchsorted(events, earliest))


def _keys(subjects: pd.Series, times: pd.Series) -> NDArray[np.int64]:
    """Code person and second as one number; MIMIC's dates are after 2100, none is near zero."""
    seconds = times.astype("datetime64[s]").astype("int64")
    return np.asarray(subjects.astype("int64") * 2**34 + seconds, dtype=np.int64)
