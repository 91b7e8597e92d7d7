"""National Health and Nutrition Examination Survey: questions that were skipped or refused."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pandas as pd

from diffjoint.simulate.real.labelled import DataFolder, labelled_world, names, readable
from diffjoint.simulate.source import Source
from diffjoint.simulate.world import World

SOURCE = Source(
    title="National Health and Nutrition Examination Survey 2017-2018, interviews",
    folder="nhanes_2017_2018",
    how_to_get=(
        "download DEMO_J.XPT, DIQ_J.XPT, HUQ_J.XPT and RHQ_J.XPT from the US National Center for "
        "Health Statistics, wwwn.cdc.gov/nchs/nhanes, survey years 2017-2018."
    ),
    licence="public domain (US government work)",
)
SHAPES = {"DEMO_J": (9254, 46), "DIQ_J": (8897, 54), "HUQ_J": (9254, 10), "RHQ_J": (3286, 47)}
PERSON = "SEQN"

NUMBERS = names(
    "RIDAGEYR, DMDHHSIZ, DMDHHSZA, INDFMPIR, HUQ051, HUD080, DID040, DID250, DIQ280, DIQ300S, "
    "DIQ300D, DID310S, DID310D, DID320, DID330, DID341, DID350, RHQ010, RHQ060, RHQ160, RHQ166, "
    "RHQ169, RHQ171, RHD180, RHD190, RHQ291, RHQ332, RHQ560Q"
)
NOT_ANSWERED = {
    **dict.fromkeys(
        names(
            "DMDCITZN, DMDEDUC2, DMQMILIZ, HUQ010, HUQ030, HUQ071, HUQ090, DIQ010, DIQ160, DIQ170, "
            "DIQ172, DIQ180, DIQ050, DIQ070, DIQ230, DIQ240, DIQ275, DIQ360, DIQ080, RHQ031, "
            "RHQ074, RHQ076, RHQ078, RHQ131, RHD143, RHQ162, RHQ172, RHD280, RHQ305, RHQ420, "
            "RHQ540, RHQ554, RHQ570"
        ),
        (7, 9),
    ),
    **dict.fromkeys(
        names(
            "DMDBORN4, DMDYRSUS, DMDMARTL, INDHHIN2, HUQ041, HUQ051, HUQ061, DIQ291, RHD043, "
            "RHQ160, RHQ166, RHQ169, RHQ171, RHQ560Q"
        ),
        (77, 99),
    ),
    **dict.fromkeys(
        names("DID040, DIQ280, RHQ010, RHQ060, RHD180, RHD190, RHQ291, RHQ332"), (777, 999)
    ),
    **dict.fromkeys(
        names("DID250, DIQ300S, DIQ300D, DID310S, DID310D, DID320, DID330, DID341, DID350"),
        (7777, 9999),
    ),
    "HUD080": (77777, 99999),
}
"""Codes of "refused" and "don't know", by the width of the field."""
NO_SUCH_THING = dict.fromkeys(names("DID310S, DID310D, DID320, DID330"), (6666,))
"""Code for people who were given no goal, or were never tested: meaningful."""
UNKNOWN_KIND = {"DID320": (5555,), "DID341": (8888,)}
"""Codes of missing cells of which it is unknown whether they are meaningful or lost."""
HALF_A_YEAR = {"DID040": (666,), "DID341": (5555,)}
"""Code of an answer below 1, which is read as one half."""
ASKED_OF_EVERYONE = names("INDHHIN2, INDFMPIR, DMDCITZN")
ASKED_OF_DIABETICS = names(
    "DID040, DIQ230, DIQ240, DIQ275, DIQ300S, DIQ300D, DID310S, DID310D, DID320, DID341, DID350, "
    "DIQ360, DIQ080"
)
"""Columns in which a blank is a loss if the person has diabetes."""
DIABETES, YES = "DIQ010", 1


def _counts(text: str) -> Mapping[str, int]:
    """Read counts by column, separated by commas."""
    return MappingProxyType(
        {name: int(count) for name, count in (part.split() for part in names(text))}
    )


@dataclass(frozen=True)
class _Edition:
    """One table: its columns, and the number of meaningful and lost cells of each."""

    columns: list[str]
    meaningful: Mapping[str, int]
    lost: Mapping[str, int]


ABOUT_DIABETES = _Edition(
    names(
        "RIAGENDR, RIDAGEYR, RIDRETH3, DMDBORN4, DMDCITZN, DMDHHSIZ, DMDHHSZA, DMDYRSUS, DMDEDUC2, "
        "DMDMARTL, DMQMILIZ, INDHHIN2, INDFMPIR, HUQ010, HUQ030, HUQ041, HUQ051, HUQ071, HUD080, "
        "HUQ090, HUQ061, DIQ010, DID040, DIQ160, DIQ170, DIQ172, DIQ180, DIQ050, DIQ070, DIQ230, "
        "DIQ240, DID250, DIQ275, DIQ280, DIQ291, DIQ300S, DIQ300D, DID310S, DID310D, DID320, "
        "DID330, DID341, DID350, DIQ360, DIQ080"
    ),
    _counts(
        "DMDYRSUS 6950, DMDEDUC2 3328, DMDMARTL 3328, DMQMILIZ 2893, HUQ041 1388, HUD080 8137, "
        "HUQ090 662, HUQ061 7629, DID040 8004, DIQ160 3203, DIQ170 3021, DIQ172 3021, "
        "DIQ180 3021, DIQ070 7223, DIQ230 8004, DIQ240 8004, DID250 8203, DIQ275 8004, "
        "DIQ280 8150, DIQ291 8148, DIQ300S 8004, DIQ300D 8004, DID310S 8308, DID310D 8308, "
        "DID320 8034, DID330 8350, DID341 8003, DID350 8003, DIQ360 8004, DIQ080 8004"
    ),
    _counts(
        "DMDBORN4 3, DMDCITZN 30, DMDYRSUS 93, DMDEDUC2 13, DMDMARTL 6, DMQMILIZ 3, "
        "INDHHIN2 859, INDFMPIR 1192, HUQ010 7, HUQ030 2, HUQ041 6, HUQ051 24, HUQ071 3, "
        "HUD080 5, HUQ090 4, HUQ061 6, DIQ010 4, DID040 11, DIQ160 8, DIQ170 17, DIQ172 71, "
        "DIQ180 181, DIQ050 1, DIQ070 2, DIQ230 11, DIQ240 2, DID250 3, DIQ275 37, DIQ280 257, "
        "DIQ291 99, DIQ300S 289, DIQ300D 304, DID310S 196, DID310D 216, DID320 693, DID330 447, "
        "DID341 19, DID350 14, DIQ360 18, DIQ080 16"
    ),
)
ABOUT_WOMEN = _Edition(
    names(
        "RIDAGEYR, RIDRETH3, DMDBORN4, DMDHHSIZ, DMDHHSZA, DMDEDUC2, DMDMARTL, INDHHIN2, INDFMPIR, "
        "RHQ010, RHQ031, RHD043, RHQ060, RHQ074, RHQ076, RHQ078, RHQ131, RHD143, RHQ160, RHQ162, "
        "RHQ166, RHQ169, RHQ172, RHQ171, RHD180, RHD190, RHD280, RHQ291, RHQ305, RHQ332, RHQ420, "
        "RHQ540, RHQ554, RHQ570, RHQ560Q"
    ),
    _counts(
        "DMDEDUC2 536, DMDMARTL 536, RHQ031 32, RHD043 1605, RHQ060 1587, RHQ074 1314, "
        "RHQ076 1314, RHQ078 1314, RHQ131 537, RHD143 2357, RHQ160 910, RHQ162 912, RHQ166 920, "
        "RHQ169 1772, RHQ172 1018, RHQ171 1018, RHD180 1059, RHD190 1042, RHD280 553, "
        "RHQ291 2468, RHQ305 554, RHQ332 2738, RHQ420 36, RHQ540 540, RHQ554 2714, RHQ570 2714, "
        "RHQ560Q 2807"
    ),
    _counts(
        "DMDBORN4 3, DMDEDUC2 5, DMDMARTL 3, INDHHIN2 262, INDFMPIR 363, RHQ010 39, RHQ031 7, "
        "RHD043 4, RHQ060 58, RHQ074 3, RHQ076 2, RHQ078 14, RHQ131 5, RHD143 11, RHQ160 2, "
        "RHQ162 2, RHQ166 2, RHQ169 1, RHQ172 14, RHQ171 1, RHD180 5, RHD190 2, RHD280 4, "
        "RHQ291 7, RHQ305 38, RHQ332 5, RHQ420 11, RHQ540 14, RHQ554 21, RHQ570 23, RHQ560Q 5"
    ),
)


def nhanes_diabetes(*, seed: int = 0, data: DataFolder = None) -> World:
    """Read interviews about diabetes and hospitals: 8,897 rows, 45 columns, 30 not for everyone.

    Meaningful are blanks of questions that were skipped, and the code for people who were given no
    goal or were never tested. Lost are answers that people refused or did not know, and blanks in
    questions that were put to them. The true answers are unknown, so that calls can be scored in
    this world, but not values. Of 24 missing cells it is unknown whether they are meaningful or
    lost; they are neither.

    Parameters
    ----------
    seed : int
        Seed for the split into train and test rows.
    data : path, optional
        Data folder. By default the one that ``DIFFJOINT_DATA`` names.
    """
    answers = _read("DIQ_J", data)
    for file in ("DEMO_J", "HUQ_J"):
        answers = answers.merge(_read(file, data), on=PERSON, how="left")
    slips = answers[ASKED_OF_DIABETICS].isna().mul(answers[DIABETES] == YES, axis=0)
    return _world("nhanes-diabetes", answers, ABOUT_DIABETES, slips, seed)


def nhanes_women(*, seed: int = 0, data: DataFolder = None) -> World:
    """Read interviews about reproductive health: 3,025 rows, 35 columns, 27 not for everyone.

    Meaningful are blanks of questions that were skipped. Lost are answers that women refused or
    did not know, and a blank income. The true answers are unknown, so that calls can be scored in
    this world, but not values.

    Parameters
    ----------
    seed : int
        Seed for the split into train and test rows.
    data : path, optional
        Data folder. By default the one that ``DIFFJOINT_DATA`` names.
    """
    women = _read("RHQ_J", data)
    interviewed = women["RHQ010"].notna() | women["RHQ031"].notna()
    answers = women[interviewed].merge(_read("DEMO_J", data), on=PERSON, how="left")
    return _world("nhanes-women", answers, ABOUT_WOMEN, pd.DataFrame(), seed)


def _read(file: str, data: DataFolder) -> pd.DataFrame:
    path = SOURCE.find(f"{file}.XPT", data)
    with readable(path):
        table: pd.DataFrame = pd.read_sas(path, format="xport")
    SOURCE.check_shape(table, SHAPES[file])
    return table.mask(table.abs() < np.finfo(float).eps, 0.0)  # the format writes 0 as 5e-79


def _world(
    name: str, answers: pd.DataFrame, edition: _Edition, slips: pd.DataFrame, seed: int
) -> World:
    """Tell meaningful cells from lost ones, check their numbers and make the world."""
    cells = answers[edition.columns]
    for_all = cells[cells.columns.intersection(ASKED_OF_EVERYONE)].isna()
    unanswered = pd.concat([slips, for_all], axis=1)
    unanswered = unanswered.reindex(columns=cells.columns, fill_value=False)
    lost = unanswered | _holds(cells, NOT_ANSWERED)
    meaningful = (cells.isna() & ~unanswered) | _holds(cells, NO_SUCH_THING)
    SOURCE.check_labels(meaningful, edition.meaningful)
    SOURCE.check_labels(lost, edition.lost, "lost")
    numbers = [column for column in edition.columns if column in NUMBERS]
    return labelled_world(
        name,
        _as_text(cells.mask(_holds(cells, HALF_A_YEAR), 0.5)),
        meaningful,
        gone=lost,
        unknown=_holds(cells, UNKNOWN_KIND),
        numbers=dict.fromkeys(numbers, "continuous"),
        seed=seed,
    )


def _holds(cells: pd.DataFrame, codes: Mapping[str, tuple[int, ...]]) -> pd.DataFrame:
    """Return a mask of the cells that hold one of their column's codes."""
    return pd.DataFrame(
        {name: column.isin(codes.get(str(name), ())) for name, column in cells.items()},
        index=cells.index,
    )


def _as_text(cells: pd.DataFrame) -> pd.DataFrame:
    """Write numbers as text: codes without a decimal point, blanks as empty text."""
    written: pd.DataFrame = cells.map(lambda number: f"{number:.15g}")
    return written.mask(cells.isna(), "")
