"""Whom surveys put their questions to, as their own documents say, in the language of ``rules=``.

ACS: the values "b" to "bbbbbbb" of the data dictionary of 2018 (PUMS_Data_Dictionary_2018.csv). It
names no universe of POVPIP in words, and that of MIGSP rests on a column that the world leaves out.
NHANES 2017-2018: the routing of the questionnaires.
"""

_ADULT = {"AGEP >= 15": "WAGP PINCP SSP INTP", "AGEP >= 16": "ESR WKL PERNP"}
ACS = {
    **{column: rule for rule, columns in _ADULT.items() for column in columns.split()},
    **dict.fromkeys(("SCHL", "SCH"), "AGEP >= 3"),
    **dict.fromkeys(("LANX", "DREM"), "AGEP >= 5"),
    **dict.fromkeys(("MARHT", "MARHYP"), 'AGEP >= 15 and MAR != "5"'),
    **dict.fromkeys(("WKHP", "WKW"), 'AGEP >= 16 and WKL == "1"'),
    "SCHG": 'SCH in ["2", "3"]',
    "COW": 'AGEP >= 16 and (ESR != "6" or WKL != "3")',
    "JWTR": 'ESR in ["1", "4"]',
    "JWMNP": 'applies(JWTR) and JWTR != "11"',
    "JWRIP": 'JWTR == "01"',
    "MIL": "AGEP >= 17",
    "DRATX": 'AGEP >= 17 and MIL != "4"',
    "FER": 'SEX == "2" and 15 <= AGEP <= 50',
    "GCL": 'AGEP >= 30 and RELP != "16"',
    "ENG": 'AGEP >= 5 and LANX == "1"',
    "FOD1P": 'SCHL in ["21", "22", "23", "24"]',
}
_OF_DIABETICS = (
    *("DID040", "DIQ230", "DIQ240", "DIQ275", "DIQ300S", "DIQ300D", "DID310S", "DID310D"),
    *("DID320", "DID330"),
)
NHANES_DIABETES = {
    **dict.fromkeys(("DMDEDUC2", "DMDMARTL"), "RIDAGEYR >= 20"),
    **dict.fromkeys(_OF_DIABETICS, 'DIQ010 == "1"'),
    **dict.fromkeys(("DID341", "DID350", "DIQ360", "DIQ080"), 'DIQ010 == "1" and RIDAGEYR >= 12'),
    **dict.fromkeys(("DIQ170", "DIQ172", "DIQ180"), 'RIDAGEYR >= 12 and DIQ010 != "1"'),
    "DIQ160": 'RIDAGEYR >= 12 and DIQ010 == "2"',
    "DMDYRSUS": 'DMDBORN4 == "2"',
    "DMQMILIZ": "RIDAGEYR >= 17",
    "HUQ041": 'HUQ030 != "2"',
    "HUD080": 'HUQ071 == "1"',
    "HUQ090": "RIDAGEYR >= 4",
    "HUQ061": "HUQ051 == 0",
    "DIQ070": 'DIQ010 in ["1", "3"] or DIQ160 == "1"',
    "DID250": 'DIQ240 == "1"',
    "DIQ280": 'DIQ275 == "1"',
    "DIQ291": 'DIQ275 == "1"',
}
