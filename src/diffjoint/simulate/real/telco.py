"""Telco customer churn: customers without internet have no online security."""

from diffjoint.simulate.mechanisms import MechanismName
from diffjoint.simulate.real.labelled import DataFolder, labelled_world, read_text
from diffjoint.simulate.source import Source
from diffjoint.simulate.world import World

SOURCE = Source(
    title="Telco customer churn (IBM sample data)",
    folder="telco_churn",
    how_to_get=(
        "download Telco-Customer-Churn.csv from IBM's repository telco-customer-churn-on-icp4d, "
        "folder data."
    ),
    licence="Apache-2.0",
)
FILE = "Telco-Customer-Churn.csv"
SHAPE = (7043, 21)
ONLINE = (
    "OnlineSecurity",
    "OnlineBackup",
    "DeviceProtection",
    "TechSupport",
    "StreamingTV",
    "StreamingMovies",
)
LABELS = {"MultipleLines": 682, **dict.fromkeys(ONLINE, 1526), "TotalCharges": 11}
NUMBERS = dict.fromkeys(("tenure", "MonthlyCharges", "TotalCharges"), "continuous")
GATES = ["InternetService", "PhoneService"]


def telco_churn(
    *,
    gates: bool = True,
    mechanism: MechanismName | None = "mcar",
    loss_rate: float = 0.1,
    seed: int = 0,
    data: DataFolder = None,
) -> World:
    """Read the Telco customer churn data: 7,043 rows, 20 columns, 8 with meaningful cells.

    "No internet service" and "No phone service" are made NA, and so is the total charge of
    customers who have no bill yet.

    Parameters
    ----------
    gates : bool
        Whether to keep the two columns that say who has internet and telephone. Without them it is
        harder to tell why a cell is missing.
    mechanism, loss_rate, seed
        How cells get lost; none are if ``mechanism`` is None.
    data : path, optional
        Data folder. By default the one that ``DIFFJOINT_DATA`` names.
    """
    text = read_text(SOURCE.find(FILE, data))
    SOURCE.check_shape(text, SHAPE)
    text = text.drop(columns="customerID").apply(lambda column: column.str.strip())
    meaningful = text.isin(["No internet service", "No phone service"])
    meaningful["TotalCharges"] = text["TotalCharges"] == ""
    SOURCE.check_labels(meaningful, LABELS)
    if not gates:
        text, meaningful = text.drop(columns=GATES), meaningful.drop(columns=GATES)
    return labelled_world(
        "telco-churn" if gates else "telco-churn-no-gates",
        text,
        meaningful,
        numbers=NUMBERS,
        mechanism=mechanism,
        loss_rate=loss_rate,
        seed=seed,
    )
