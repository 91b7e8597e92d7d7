"""Thirteen kinds of tables that strangers bring, made up small: each comes out right, as it is.

Each goes through `diffjoint impute IN OUT`, with the options that its own commands suggest and no
others. Found on public tables of the same shapes; none of these holds a cell of them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from tests.first_contact.command_line import run

QUICK = ("--set", "n_boosters=1")
TOWNS = {"C": "Cherbourg", "Q": "Queenstown", "S": "Southampton"}


@dataclass
class Came:
    """What came out, what was said, and what went in: with and without losses."""

    table: pd.DataFrame
    said: str
    truth: pd.DataFrame
    given: pd.DataFrame

    def kept(self, column, where):
        """The share of cells that are missing in the output."""
        return float(self.table[column].isna()[where].mean())

    @property
    def lost(self):
        return self.given.isna() & self.truth.notna()


Check = Callable[[Came], None]


def lose(truth, rates, rng):
    """Lose cells of some columns."""
    lost = pd.DataFrame(False, truth.index, truth.columns)
    for column, rate in rates.items():
        lost[column] = rng.random(len(truth)) < rate
    return truth.mask(lost)


def all_filled(came):
    assert came.table[[*came.lost.columns[came.lost.any()]]].notna().all(axis=None)


def animals(rng):
    truth = pd.DataFrame(rng.normal(5, 1, (62, 6)), columns=[*"abcdef"]).round(2)
    truth["danger"] = rng.integers(1, 6, 62)
    return truth, lose(truth, {"b": 0.2, "c": 0.06}, rng)


def came_animals(came):
    assert "none found" in came.said
    assert "too few to tell" in came.said
    all_filled(came)


def flights(rng, n=900):
    cancelled = rng.random(n) < 0.08
    day = pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 365, n), "D")
    planned = day + pd.to_timedelta(rng.integers(5 * 60, 23 * 60, n), "min")
    airline = rng.choice(["AA", "BB", "CC"], n)
    delay, air_time = (pd.Series(rng.normal(*one, n).round()) for one in ((9, 20), (140, 40)))
    truth = pd.DataFrame(
        {
            "planned": planned,
            "airline": airline,
            "name": [f"Air {one}" for one in airline],
            "status": np.where(cancelled, "cancelled", "flown"),
            "delay": delay.mask(cancelled),
            "air_time": air_time.mask(cancelled),
        }
    )
    return truth, lose(truth, {"airline": 0.04, "name": 0.04, "delay": 0.03, "air_time": 0.05}, rng)


def came_flights(came):
    cancelled = came.truth["status"] == "cancelled"
    for column in ("delay", "air_time"):
        assert came.kept(column, cancelled) == 1.0
        assert came.kept(column, ~cancelled) < 0.01
    assert (came.table["name"] == "Air " + came.table["airline"]).all()
    assert came.table["planned"].equals(came.given["planned"])


def passengers(rng, n=700):
    rank = rng.choice([1, 2, 3], n, p=[0.25, 0.2, 0.55])
    port = rng.choice([*TOWNS], n, p=[0.2, 0.1, 0.7])
    siblings, parents = (rng.choice([0, 1, 2, 3], n, p=[0.7, 0.2, 0.07, 0.03]) for _ in range(2))
    parents[:2] = 6
    deck = pd.Series(rng.choice([*"ABCDE"], n)).where((rank == 1) & (rng.random(n) < 0.8))
    truth = pd.DataFrame(
        {
            "rank": rank,
            "age": rng.normal(33, 12, n).round(),
            "sibsp": siblings,
            "parch": parents,
            "family": siblings + parents + 1,
            "embarked": port,
            "embark_town": [TOWNS[one] for one in port],
            "deck": deck,
        }
    )
    rates = {"age": 0.2, "embarked": 0.05, "embark_town": 0.05, "family": 0.05, "sibsp": 0.04}
    return truth, lose(truth, rates, rng)


def came_passengers(came):
    table = came.table
    assert (table["embarked"].map(TOWNS) == table["embark_town"]).all()
    assert (table["sibsp"] + table["parch"] + 1 == table["family"]).all()
    assert came.kept("age", came.lost["age"]) == 0.0
    assert came.kept("deck", came.truth["rank"] > 1) > 0.95


def storms(rng, n=900):
    year = rng.integers(1990, 2020, n)
    wind = rng.integers(4, 30, n) * 5
    truth = pd.DataFrame(
        {
            "year": year,
            "wind": wind,
            "pressure": (1010 - wind / 2 + rng.normal(0, 3, n)).round(),
            "diameter": pd.Series((wind * 2 + rng.normal(0, 20, n)).round()).where(year >= 2004),
        }
    )
    return truth, lose(truth, {"pressure": 0.05, "diameter": 0.03}, rng)


def came_storms(came):
    before = came.truth["year"] < 2004
    assert came.kept("diameter", before) == 1.0
    assert came.kept("diameter", ~before) == 0.0
    assert "structurally missing" in came.said
    assert "not applicable</em> where you say so" in came.said
    assert "nothing to fill in" not in came.said


def boxes(rng, n=400):
    truth = pd.DataFrame({"age": rng.integers(18, 80, n), "guests": rng.integers(0, 15, n)})
    for name, share in {"turkey": 0.8, "sprouts": 0.15, "yams": 0.4, "rolls": 0.5}.items():
        truth[name] = pd.Series([name] * n).where(rng.random(n) < share)
    return truth, lose(truth, {"guests": 0.05}, rng)


def came_boxes(came):
    for name in ("turkey", "sprouts", "yams", "rolls"):
        assert came.table[name].equals(came.given[name])
        assert f"'{name}'" in came.said
    all_filled(came)


def houses(rng, n=600):
    has_garage = rng.random(n) < 0.9
    first, second = rng.integers(500, 1800, n), rng.integers(0, 900, n) * (rng.random(n) < 0.6)
    cars = rng.integers(1, 4, n) * has_garage
    pool = pd.Series(rng.choice(["Gd", "Fa"], n)).where(np.arange(n) % 50 == 7)
    truth = pd.DataFrame(
        {
            "first_floor": first,
            "second_floor": second,
            "living_area": first + second,
            "garage_area": cars * rng.integers(200, 300, n),
            "garage_type": pd.Series(rng.choice(["Attchd", "Detchd"], n)).where(has_garage),
            "garage_year": pd.Series(rng.integers(1950, 2010, n)).where(has_garage),
            "pool": pool,
            "price": (first * 100 + second * 60 + rng.normal(0, 9000, n)).round(),
        }
    )
    rates = dict.fromkeys(["first_floor", "second_floor", "living_area"], 0.06)
    return truth, lose(truth, {**rates, "garage_type": 0.04, "garage_area": 0.04}, rng)


def came_houses(came):
    table = came.table
    assert (table["first_floor"] + table["second_floor"] == table["living_area"]).all()
    has_garage = came.truth["garage_area"] > 0
    assert came.kept("garage_type", ~has_garage) == 1.0
    assert came.kept("garage_type", has_garage & came.given["garage_area"].notna()) == 0.0
    assert (table["garage_type"].isna() == table["garage_year"].isna()).all()
    assert (table["garage_type"].isna() == (table["garage_area"] < 200)).all()
    assert table["pool"].equals(came.given["pool"])
    assert "'pool'" in came.said


def labs(rng, n=400):
    truth = pd.DataFrame(
        rng.lognormal(3, 0.4, (n, 6)).round(1),
        columns=["bili", "chol", "trig", "alk", "ast", "plt"],
    )
    given = lose(truth, {"plt": 0.03, "bili": 0.02}, rng)
    together = rng.random(n) < 0.07
    given.loc[together, ["chol", "trig"]] = np.nan
    return truth, given


def came_labs(came):
    assert "none found" in came.said
    all_filled(came)


def wages(rng, n=750):
    works = rng.random(n) < 0.57
    wage = pd.Series(rng.lognormal(1, 0.5, n).round(2)).where(works)
    truth = pd.DataFrame(
        {
            "works": works.astype(int),
            "age": rng.integers(30, 60, n),
            "school": rng.integers(8, 18, n),
            "wage": wage,
            "log_wage": np.log(wage).round(4),
        }
    )
    given = lose(truth, {"school": 0.03}, rng)
    given.loc[works & (rng.random(n) < 0.08), ["wage", "log_wage"]] = np.nan
    return truth, given


def came_wages(came):
    works = came.truth["works"] == 1
    for column in ("wage", "log_wage"):
        assert came.kept(column, ~works) == 1.0
        assert came.kept(column, works) == 0.0


CODES = {"hours": {-8.0: "Not applicable", -9.0: "Refused"}, "pay": {-9.0: "Refused"}}


def workers(rng, n=300):
    works = rng.choice([1.0, 2.0], n)
    truth = pd.DataFrame(
        {
            "works": works,
            "hours": pd.Series(rng.normal(38, 6, n).round()).where(works == 1),
            "pay": rng.lognormal(7.5, 0.4, n).round(),
        }
    )
    return truth, lose(truth, {"hours": 0.06, "pay": 0.1}, rng)


def came_workers(came):
    assert "By their labels: hours: " in came.said
    assert came.kept("hours", came.truth["works"] == 2) == 1.0
    assert came.kept("hours", came.truth["works"] == 1) == 0.0
    assert came.table["pay"].notna().all()


def heights(rng, n=300):
    height = rng.normal(170, 9, n).round(1)
    truth = pd.DataFrame(
        {
            "height": height,
            "weight": (height * 0.4 + rng.normal(0, 5, n)).round(2),
            "rent": rng.lognormal(6.8, 0.3, n).round(2),
            "town": rng.choice(["Ulm", "Bonn"], n),
        }
    )
    return truth, lose(truth, {"height": 0.06, "weight": 0.06, "rent": 0.1}, rng)


def came_heights(came):
    assert "Numbers with a decimal comma: height, weight, rent." in came.said
    assert came.table["height"].between(140, 200).all()
    all_filled(came)


def exported(rng, n=300):
    truth = pd.DataFrame({"age": rng.integers(18, 80, n)})
    for question in ("a", "b", "c"):
        truth[question] = pd.Series(rng.choice(["x", "y", "z"], n)).where(rng.random(n) < 0.95)
    return truth, lose(truth, {"age": 0.05}, rng)


def came_exported(came):
    assert "share a name" in came.said
    assert list(came.table) == ["age", "Other", "Other", "Other"]
    assert came.table["age"].notna().all()


def loans(rng, n=900):
    joint = rng.random(n) < 0.12
    income = rng.lognormal(11, 0.4, n).round()
    second = pd.Series((income * rng.uniform(1.2, 2.2, n)).round()).where(joint)
    truth = pd.DataFrame(
        {
            "amount": rng.integers(10, 400, n) * 100,
            "kind": np.where(joint, "joint", "individual"),
            "income": income,
            "income_joint": second,
            "debt_joint": pd.Series(rng.uniform(0, 40, n).round(2)).where(joint),
            "since_late": pd.Series(rng.integers(1, 90, n)).where(rng.random(n) < 0.5),
            **{f"score_{i}": rng.normal(600, 50, n).round() for i in range(8)},
        }
    )
    return truth, lose(truth, {"income": 0.03, "income_joint": 0.05, "score_0": 0.04}, rng)


def came_loans(came):
    joint = came.truth["kind"] == "joint"
    for column in ("income_joint", "debt_joint"):
        assert came.kept(column, ~joint) == 1.0
        assert came.kept(column, joint) < 0.05
    untold = "could not judge 'since_late': misses far more than others, and equally often"
    assert untold in came.said


def as_csv(table, path):
    table.to_csv(path, index=False)


def as_parquet(table, path):
    table.to_parquet(path)


def as_commas(table, path):
    table.to_csv(path, sep=";", decimal=",", index=False)


def as_same_names(table, path):
    table.set_axis(["age", "Other", "Other", "Other"], axis=1).to_csv(path, index=False)


def with_codes(table):
    """Why a cell is missing: it is not asked of those who do not work, others refuse."""
    idle = table["works"] == 2
    hours = table["hours"].mask(idle, -8.0).fillna(-9.0)
    return table.assign(hours=hours, pay=table["pay"].fillna(-9.0))


def as_spss(table, path):
    declared = {name: list(codes) for name, codes in CODES.items()}
    pyreadstat.write_sav(
        with_codes(table), str(path), variable_value_labels=CODES, missing_ranges=declared
    )


def as_stata(table, path):
    letters = {-8.0: "a", -9.0: "b"}
    labels = {n: {letters[c]: text for c, text in own.items()} for n, own in CODES.items()}
    table = with_codes(table)
    for name in CODES:
        table[name] = table[name].astype(object).replace(letters)
    pyreadstat.write_dta(
        table, str(path), missing_user_values={n: list(own) for n, own in labels.items()},
        variable_value_labels=labels,
    )  # fmt: skip


def from_csv(path):
    return pd.read_csv(path)


def from_commas(path):
    return pd.read_csv(path, sep=";", decimal=",")


def from_same_names(path):
    names = path.read_text().splitlines()[0].split(",")
    return pd.read_csv(path).set_axis(names, axis=1)


def from_spss(path):
    return pyreadstat.read_sav(str(path))[0]


def from_stata(path):
    return pyreadstat.read_dta(str(path))[0]


KINDS = {
    "few rows": (animals, came_animals, "csv", as_csv, from_csv),
    "flights": (flights, came_flights, "parquet", as_parquet, pd.read_parquet),
    "passengers": (passengers, came_passengers, "csv", as_csv, from_csv),
    "storms": (storms, came_storms, "csv", as_csv, from_csv),
    "boxes to tick": (boxes, came_boxes, "csv", as_csv, from_csv),
    "houses": (houses, came_houses, "csv", as_csv, from_csv),
    "laboratory": (labs, came_labs, "csv", as_csv, from_csv),
    "wages": (wages, came_wages, "csv", as_csv, from_csv),
    "SPSS": (workers, came_workers, "sav", as_spss, from_spss),
    "Stata": (workers, came_workers, "dta", as_stata, from_stata),
    "decimal commas": (heights, came_heights, "csv", as_commas, from_commas),
    "names that repeat": (exported, came_exported, "csv", as_same_names, from_same_names),
    "loans": (loans, came_loans, "csv", as_csv, from_csv),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("default::diffjoint.errors.DataWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_a_table_of_this_kind_comes_out_right(kind, tmp_path, capsys):
    make, check, ending, write, read = KINDS[kind]
    truth, given = make(np.random.default_rng(0))
    path, out, page = (tmp_path / f"{name}" for name in (f"in.{ending}", f"out.{ending}", "p.html"))
    write(given, path)
    assert run("impute", path, out, "--report", page, *QUICK) == 0
    said = " ".join(["".join(capsys.readouterr()), page.read_text()]).replace("\n", " ")
    table = read(out)
    for column in given if kind not in ("SPSS", "Stata", "names that repeat") else ():
        observed = given[column].notna()
        assert (
            table[column][observed]
            .astype(str)
            .equals(
                from_csv(path)[column][observed].astype(str)
                if ending == "csv" and kind != "decimal commas"
                else given[column][observed].astype(str)
            )
        ), column
    check(Came(table, " ".join(said.split()), truth, given))
