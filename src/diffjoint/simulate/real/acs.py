"""American Community Survey: some questions are not put to everyone."""

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

import pandas as pd

from diffjoint.errors import InputError
from diffjoint.simulate.mechanisms import MechanismName
from diffjoint.simulate.real.labelled import (
    DataFolder,
    labelled_world,
    names,
    read_text,
    readable,
)
from diffjoint.simulate.source import Source
from diffjoint.simulate.world import World

State = Literal["wyoming", "delaware"]

SOURCE = Source(
    title="American Community Survey 2018, public use microdata, persons",
    folder="acs_pums_2018",
    how_to_get=(
        "download csv_pwy.zip (Wyoming) and csv_pde.zip (Delaware) from the US Census Bureau, "
        "www2.census.gov/programs-surveys/acs/data/pums/2018/1-Year."
    ),
    licence="public domain (US government work); the Census Bureau asks for citation",
)
ALWAYS_ASKED = names("AGEP, SEX, RAC1P, HISP, MAR, CIT, RELP, PUMA, DEAR, DEYE, HICOV, NATIVITY")
ASKED_OF_SOME = names(
    "SCHL, SCHG, SCH, COW, ESR, JWTR, JWMNP, JWRIP, WKHP, WKW, WKL, WAGP, PINCP, PERNP, SSP, INTP, "
    "POVPIP, MIL, DRATX, FER, GCL, MARHT, MARHYP, MIGSP, ENG, LANX, DREM, FOD1P"
)
COLUMNS = ALWAYS_ASKED + ASKED_OF_SOME
NUMBERS = dict.fromkeys(
    names("AGEP, JWMNP, WKHP, WAGP, PINCP, PERNP, SSP, INTP, POVPIP, MARHYP"), "continuous"
)
IRREGULAR_FLAGS = {"RAC1P": "FRACP", "MIL": "FMILSP", "FOD1P": "FFODP"}
DERIVED = {"NATIVITY": "FCITP", "POVPIP": "FPINCP"}
"""Columns that are computed from an answer, and the flag of that answer."""
NEVER_ASKED = "PUMA"


@dataclass(frozen=True)
class _Edition:
    """File of one state: its shape, and the number of blank cells of each column."""

    archive: str
    file: str
    shape: tuple[int, int]
    blank: Mapping[str, int]


def _blank(counts: str) -> Mapping[str, int]:
    return MappingProxyType(dict(zip(ASKED_OF_SOME, map(int, counts.split()), strict=True)))


EDITIONS: Mapping[State, _Edition] = {
    "wyoming": _Edition(
        "csv_pwy.zip",
        "psam_p56.csv",
        (5740, 286),
        _blank(
            "193 4404 193 2146 1063 3030 3182 3381 2638 2638 1063 992 992 1063 992 992 187 1145 "
            "5118 4580 1985 2127 2127 4884 5405 323 323 4625"
        ),
    ),
    "delaware": _Edition(
        "csv_pde.zip",
        "psam_p10.csv",
        (9123, 286),
        _blank(
            "224 7278 224 3553 1348 4949 5204 5446 4362 4362 1348 1264 1264 1348 1264 1264 358 "
            "1469 8203 7276 2799 3577 3577 8111 8135 383 383 6730"
        ),
    ),
}


def acs_2018(
    state: State = "wyoming",
    *,
    mechanism: MechanismName | None = "mcar",
    loss_rate: float = 0.1,
    seed: int = 0,
    data: DataFolder = None,
) -> World:
    """Read the American Community Survey of Wyoming (5,740 rows) or Delaware (9,123).

    It has 40 columns; 28 of them are questions that were not put to everyone. A blank means that
    the question does not apply. The Census Bureau imputes all answers that were not given. Here
    the imputed answers count as true; :func:`acs_2018_allocated` makes them missing.

    Parameters
    ----------
    state : {"wyoming", "delaware"}
    mechanism, loss_rate, seed
        How cells get lost; none are if ``mechanism`` is None.
    data : path, optional
        Data folder. By default the one that ``DIFFJOINT_DATA`` names.
    """
    persons = _read(state, data)
    answers = _answers(persons)
    return labelled_world(
        f"acs-2018-{state}",
        answers,
        answers == "",
        numbers=NUMBERS,
        mechanism=mechanism,
        loss_rate=loss_rate,
        seed=seed,
    )


def acs_2018_allocated(
    state: State = "wyoming", *, seed: int = 0, data: DataFolder = None
) -> World:
    """Read the American Community Survey with its real losses: answers that were not given.

    The Census Bureau flags every answer that it imputed. Here those cells are lost, and so are
    cells that are computed from them (POVPIP where the person's own income is lost, although it
    also depends on relatives' incomes). The true answers are unknown, so that calls can be scored
    in this world, but not values.

    Parameters
    ----------
    state : {"wyoming", "delaware"}
    seed : int
        Seed for the split into train and test rows.
    data : path, optional
        Data folder. By default the one that ``DIFFJOINT_DATA`` names.
    """
    persons = _read(state, data)
    answers = _answers(persons)
    allocated = pd.DataFrame(
        {name: persons[_flag(name)] == "1" if name != NEVER_ASKED else False for name in COLUMNS},
        index=answers.index,
    )
    return labelled_world(
        f"acs-2018-{state}-allocated",
        answers,
        answers == "",
        numbers=NUMBERS,
        gone=allocated & (answers != ""),
        seed=seed,
    )


def _read(state: State, data: DataFolder) -> pd.DataFrame:
    if state not in get_args(State):
        raise InputError(
            f"state must be one of {', '.join(get_args(State))}; got {state!r}.", parameter="state"
        )
    edition = EDITIONS[state]
    path = SOURCE.find(edition.archive, data)
    with readable(path), zipfile.ZipFile(path) as archive:
        persons = read_text(archive.open(edition.file))
    SOURCE.check_shape(persons, edition.shape)
    SOURCE.check_labels(persons[COLUMNS] == "", edition.blank)
    return persons


def _answers(persons: pd.DataFrame) -> pd.DataFrame:
    """Take the 40 columns, and reduce the field of degree to its group (the first two digits)."""
    answers = persons[COLUMNS].copy()
    answers["FOD1P"] = answers["FOD1P"].str[:2]
    return answers


def _flag(name: str) -> str:
    """Return the name of the column that says whether the Census Bureau imputed an answer."""
    return (IRREGULAR_FLAGS | DERIVED).get(name) or f"F{name.removesuffix('P')}P"
