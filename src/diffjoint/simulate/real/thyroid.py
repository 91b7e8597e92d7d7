"""Thyroid disease: blood values that were not ordered do not exist."""

import pandas as pd

from diffjoint.simulate.mechanisms import MechanismName
from diffjoint.simulate.real.labelled import DataFolder, labelled_world, names, read_text
from diffjoint.simulate.source import Source
from diffjoint.simulate.world import World

SOURCE = Source(
    title="Thyroid disease (Garavan Institute)",
    folder="thyroid_sick",
    how_to_get=(
        "download sick.data from the public repository gaberife/PreprocessingPractice: a copy of "
        "Thyroid Disease in the UCI Machine Learning Repository, with 2,799 rows (the original is "
        "said to have one more, and is refused)."
    ),
    licence="CC BY 4.0, as listed by the UCI Machine Learning Repository",
)
FILE = "sick.data"
SHAPE = (2799, 30)
LABS = ["TSH", "T3", "TT4", "T4U", "FTI"]
LOST = {"sex": 110, "age": 1}
LABELS = {"TSH": 284, "T3": 585, "TT4": 184, "T4U": 297, "FTI": 295}
NUMBERS = dict.fromkeys(["age", *LABS], "continuous")
QUESTIONS = names(
    "on thyroxine, query on thyroxine, on antithyroid medication, sick, pregnant, thyroid surgery, "
    "I131 treatment, query hypothyroid, query hyperthyroid, lithium, goitre, tumor, hypopituitary, "
    "psych"
)
COLUMNS = [
    *("age", "sex", *QUESTIONS),
    *(name for lab in [*LABS, "TBG"] for name in (f"{lab} measured", lab)),
    *("referral source", "class"),
]
OLDEST = 120


def thyroid_disease(
    *,
    mechanism: MechanismName | None = "mcar",
    loss_rate: float = 0.1,
    seed: int = 0,
    data: DataFolder = None,
) -> World:
    """Read the thyroid disease data: 2,799 patients, 23 columns, 5 with meaningful cells.

    These five are blood values that were not always ordered. The file says which were measured, in
    columns that serve as labels and are dropped. Sex is lost for 110 patients, and an age of 455
    is treated as lost.

    Parameters
    ----------
    mechanism, loss_rate, seed
        How cells get lost; none are if ``mechanism`` is None, except those of the file itself.
    data : path, optional
        Data folder. By default the one that ``DIFFJOINT_DATA`` names.
    """
    text = read_text(SOURCE.find(FILE, data), header=None)
    SOURCE.check_shape(text, SHAPE)
    text.columns = COLUMNS
    labels = text[[f"{lab} measured" for lab in LABS]].set_axis(LABS, axis=1) == "f"
    text = text.drop(columns=["TBG", *(name for name in COLUMNS if name.endswith(" measured"))])
    text["class"] = text["class"].str.partition(".|")[0]
    meaningful = labels.reindex(columns=text.columns, fill_value=False)
    gone = (text == "?") & ~meaningful
    gone["age"] = ~pd.to_numeric(text["age"], errors="coerce").between(0, OLDEST)
    SOURCE.check_labels(meaningful, LABELS)
    SOURCE.check_labels(gone, LOST, "lost")
    return labelled_world(
        "thyroid-disease",
        text,
        meaningful,
        gone=gone,
        numbers=NUMBERS,
        mechanism=mechanism,
        loss_rate=loss_rate,
        seed=seed,
    )
