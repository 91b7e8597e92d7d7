"""Ames housing: houses without a pool have no pool quality."""

from diffjoint.simulate.mechanisms import MechanismName
from diffjoint.simulate.real.labelled import DataFolder, labelled_world, names, read_text
from diffjoint.simulate.source import Source
from diffjoint.simulate.world import World

SOURCE = Source(
    title="Ames housing (De Cock 2011)",
    folder="ames",
    how_to_get=(
        "download AmesHousing.csv from the public repository Migs/AmesHousingData: the table of De "
        "Cock, Journal of Statistics Education 19(3), 2011, with NA and empty cells told apart."
    ),
    licence="none stated; published for teaching and widely redistributed",
)
FILE = "AmesHousing.csv"
SHAPE = (2930, 82)
LABELS = {
    "Alley": 2732,
    **dict.fromkeys(
        ("Bsmt Qual", "Bsmt Cond", "Bsmt Exposure", "BsmtFin Type 1", "BsmtFin Type 2"), 79
    ),
    "Fireplace Qu": 1422,
    **dict.fromkeys(("Garage Type", "Garage Yr Blt", "Garage Finish"), 157),
    **dict.fromkeys(("Garage Qual", "Garage Cond"), 158),
    "Pool QC": 2917,
    "Fence": 2358,
    "Misc Feature": 2824,
}
LOST = {
    "Lot Frontage": 490,
    **dict.fromkeys(("Mas Vnr Type", "Mas Vnr Area"), 23),
    "Bsmt Exposure": 4,
    **dict.fromkeys(names("BsmtFin Type 2, Bsmt Full Bath, Bsmt Half Bath"), 2),
    **dict.fromkeys(names("Garage Yr Blt, Garage Finish"), 2),
    **dict.fromkeys(names("Bsmt Qual, Bsmt Cond, BsmtFin Type 1, BsmtFin SF 1, BsmtFin SF 2"), 1),
    **dict.fromkeys(names("Bsmt Unf SF, Total Bsmt SF, Electrical, Garage Cars, Garage Area"), 1),
    **dict.fromkeys(names("Garage Qual, Garage Cond"), 1),
}
MEASURES = names(
    "Lot Frontage, Lot Area, Year Built, Year Remod/Add, Mas Vnr Area, BsmtFin SF 1, BsmtFin SF 2, "
    "Bsmt Unf SF, Total Bsmt SF, 1st Flr SF, 2nd Flr SF, Low Qual Fin SF, Gr Liv Area, "
    "Garage Yr Blt, Garage Area, Wood Deck SF, Open Porch SF, Enclosed Porch, 3Ssn Porch, "
    "Screen Porch, Pool Area, Misc Val, SalePrice"
)
COUNTS = names(
    "Overall Qual, Overall Cond, Bsmt Full Bath, Bsmt Half Bath, Full Bath, Half Bath, "
    "Bedroom AbvGr, Kitchen AbvGr, TotRms AbvGrd, Fireplaces, Garage Cars, Mo Sold, Yr Sold"
)
NUMBERS = {**dict.fromkeys(MEASURES, "continuous"), **dict.fromkeys(COUNTS, "integer")}
GATES = names(
    "Total Bsmt SF, BsmtFin SF 1, BsmtFin SF 2, Bsmt Unf SF, Bsmt Full Bath, Bsmt Half Bath, "
    "Garage Cars, Garage Area, Pool Area, Misc Val, Fireplaces"
)


def ames_housing(
    *,
    gates: bool = True,
    mechanism: MechanismName | None = "mcar",
    loss_rate: float = 0.1,
    seed: int = 0,
    data: DataFolder = None,
) -> World:
    """Read the Ames housing data: 2,930 houses, 80 columns, 15 of them with meaningful cells.

    The file has NA where a house has no such feature, and an empty cell where a value is unknown.
    The year of a garage that does not exist is empty too; it is made meaningful.

    Parameters
    ----------
    gates : bool
        Whether to keep the 11 columns that are 0 where a feature does not exist, such as the area
        of the pool. Without them it is harder to tell why a cell is missing.
    mechanism, loss_rate, seed
        How cells get lost; none are if ``mechanism`` is None, except those of the file itself.
    data : path, optional
        Data folder. By default the one that ``DIFFJOINT_DATA`` names.
    """
    text = read_text(SOURCE.find(FILE, data), encoding="utf-8-sig")
    SOURCE.check_shape(text, SHAPE)
    text = text.drop(columns=["Order", "PID"])
    meaningful = text == "NA"
    meaningful["Garage Yr Blt"] = (text["Garage Yr Blt"] == "") & meaningful["Garage Type"]
    gone = (text == "") & ~meaningful
    SOURCE.check_labels(meaningful, LABELS)
    SOURCE.check_labels(gone, LOST, "lost")
    if not gates:
        text, meaningful, gone = (part.drop(columns=GATES) for part in (text, meaningful, gone))
    return labelled_world(
        "ames-housing" if gates else "ames-housing-no-gates",
        text,
        meaningful,
        gone=gone,
        numbers={name: kind for name, kind in NUMBERS.items() if name in text},
        mechanism=mechanism,
        loss_rate=loss_rate,
        seed=seed,
    )
