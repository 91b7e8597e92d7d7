"""Map diagnoses to conditions.

The Charlson conditions follow the code lists of Quan et al., Medical Care 43(11), 2005, in ICD-9-CM
and ICD-10, as prefixes of codes without dots. In a range such as "4254-9" the last digit runs from
4 to 9.
"""

import re

import pandas as pd

_ICD_9 = {
    "MI": "410 412",
    "CHF": "39891 40201 40211 40291 40401 40403 40411 40413 40491 40493 4254-9 428",
    "PVD": "0930 4373 440 441 4431-9 4471 5571 5579 V434",
    "Stroke": "36234 430-8",
    "Dementia": "290 2941 3312",
    "Pulmonary": "4168 4169 490-9 500-5 5064 5081 5088",
    "Rheumatic": "4465 7100-4 7140-2 7148 725",
    "PUD": "531-4",
    "Liver1": "07022 07023 07032 07033 07044 07054 0706 0709 570 571 5733 5734 5738 5739 V427",
    "DM1": "2500-3 2508 2509",
    "DM2": "2504-7",
    "Paralysis": "3341 342 343 3440-6 3449",
    "Renal": (
        "40301 40311 40391 40402 40403 40412 40413 40492 40493 582 5830-7 585 586 5880 V420 V451 "
        "V56"
    ),
    "Cancer1": "140-9 150-9 160-9 170-2 174-9 180-9 190-4 1950-8 200-8 2386",
    "Liver2": "4560-2 5722-8",
    "Cancer2": "196-9",
    "HIV": "042-4",
}
_ICD_10 = {
    "MI": "I21 I22 I252",
    "CHF": "I099 I110 I130 I132 I255 I420 I425-9 I43 I50 P290",
    "PVD": "I70 I71 I731 I738 I739 I771 I790 I792 K551 K558 K559 Z958 Z959",
    "Stroke": "G45 G46 H340 I60-9",
    "Dementia": "F00-3 F051 G30 G311",
    "Pulmonary": "I278 I279 J40-7 J60-7 J684 J701 J703",
    "Rheumatic": "M05 M06 M315 M32-4 M351 M353 M360",
    "PUD": "K25-8",
    "Liver1": "B18 K700-3 K709 K713-5 K717 K73 K74 K760 K762-4 K768 K769 Z944",
    "DM1": (
        "E100 E101 E106 E108 E109 E110 E111 E116 E118 E119 E120 E121 E126 E128 E129 "
        "E130 E131 E136 E138 E139 E140 E141 E146 E148 E149"
    ),
    "DM2": "E102-5 E107 E112-5 E117 E122-5 E127 E132-5 E137 E142-5 E147",
    "Paralysis": "G041 G114 G801 G802 G81 G82 G830-4 G839",
    "Renal": "I120 I131 N032-7 N052-7 N18 N19 N250 Z490-2 Z940 Z992",
    "Cancer1": (
        "C00-9 C10-9 C20-6 C30-4 C37-9 C40 C41 C43 C45-9 C50-8 C60-9 C70-6 C81-5 C88 C90-7"
    ),
    "Liver2": "I850 I859 I864 I982 K704 K711 K721 K729 K765-7",
    "Cancer2": "C77-9 C80",
    "HIV": "B20-2 B24",
}


def conditions_of(diagnoses: pd.DataFrame) -> pd.DataFrame:
    """Return the conditions that each diagnosis stands for.

    Parameters
    ----------
    diagnoses : DataFrame
        ``icd_code`` (text) and ``icd_version`` (9 or 10).

    Returns
    -------
    bool DataFrame
        One row per diagnosis, one column per condition.

    Examples
    --------
    >>> coded = pd.DataFrame({"icd_code": ["4280", "I501", "4280"], "icd_version": [9, 10, 10]})
    >>> conditions_of(coded)["CHF"].tolist()
    [True, True, False]
    """
    coded = diagnoses[["icd_code", "icd_version"]].copy()
    coded["icd_code"] = coded["icd_code"].astype(str).str.strip().str.upper()
    distinct = coded.drop_duplicates()
    is_9 = distinct["icd_version"].astype(int) == 9
    found = {}
    for name, beginnings in _ICD_9.items():
        in_9 = distinct["icd_code"].str.match(_pattern(beginnings))
        in_10 = distinct["icd_code"].str.match(_pattern(_ICD_10[name]))
        found[name] = in_9.where(is_9, in_10).to_numpy(dtype=bool)
    table = pd.DataFrame(found, index=pd.MultiIndex.from_frame(distinct))
    rows = table.loc[pd.MultiIndex.from_frame(coded)]
    return rows.set_axis(diagnoses.index)


def _pattern(prefixes: str) -> str:
    """Return a regular expression for codes with one of these prefixes."""
    ranges = re.sub(r"(\w)-(\w)", r"[\1-\2]", prefixes)
    return "(?:" + "|".join(ranges.split()) + ")"
