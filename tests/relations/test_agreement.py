"""Filled-in cells agree with each other, and with what was observed in their row."""

import numpy as np
import pandas as pd
import pytest

from diffjoint import SelectiveImputer, load
from diffjoint.relations import Band, Equation, Lookup, Relations, make_agree
from diffjoint.table import Column, Kind

QUICK = {"n_boosters": 1, "random_state": 0}
PORTS = {"C": "Cherbourg", "Q": "Queenstown", "S": "Southampton"}


def levels(name, n):
    return Column(name, Kind.CATEGORICAL, levels=tuple(range(n)))


def agreed(relations, columns, values, filled, scores=None):
    values, filled = np.array(values, float), np.array(filled, bool)
    return make_agree(relations, columns, values, filled, ~filled, lambda j, rows: scores[rows])


def test_a_level_that_cannot_stand_beside_its_row_gives_way_to_the_likeliest_that_can():
    code, town = levels("code", 4), levels("town", 2)
    relations = Relations(lookups=(Lookup(0, 1, np.array([0.0, 0.0, 1.0, 1.0])),))
    scores = np.array([[0.1, 0.2, 0.6, 0.1]])
    for values, filled, expected in [
        ([[2, 0]], [[True, False]], [[1, 0]]),
        ([[2, 0]], [[False, True]], [[2, 1]]),
        ([[3, 0]], [[True, True]], [[3, 1]]),
        ([[2, 0]], [[False, False]], [[2, 0]]),
    ]:
        assert agreed(relations, [code, town], values, filled, scores).tolist() == expected


def test_a_part_that_is_too_large_for_its_whole_gives_way():
    columns = [Column(name, Kind.INTEGER, low=0, high=50, step=1.0) for name in ("all", "a", "b")]
    relations = Relations((Equation((0, 1, 2), (1.0, 1.0)),), orders=np.array([[1, 0], [2, 0]]))
    found = agreed(relations, columns, [[10, 14, 3], [0, 30, 40]], [[0, 1, 1], [1, 0, 0]])
    assert found.tolist() == [[10, 10, 0], [70, 30, 40]]
    without_orders = Relations(relations.equations)
    found = agreed(without_orders, columns, [[10, 14, 3]], [[0, 1, 1]])
    assert found.tolist() == [[10, 7, 3]]


def test_a_guess_leaves_room_for_the_other_missing_cells_of_its_sum():
    """Living area is that of the ground floor: none above, whatever each was expected to be."""
    columns = [Column(name, Kind.INTEGER, low=0, high=2_000, step=1.0) for name in "xabc"]
    relations = Relations((Equation((0, 1, 2, 3), (1.0, 1.0, 1.0)),))
    filled = [[0, 0, 1, 1], [0, 1, 1, 0]]
    found = agreed(relations, columns, [[934, 934, 37, 1], [900, 700, 500, 100]], filled)
    assert found.tolist() == [[934, 934, 0, 0], [900, 700, 100, 100]]


def test_an_age_group_goes_by_the_age_and_keeps_it_within():
    band = Band(0, 1, np.array([0.0, 20.0]), np.array([19.0, 80.0]))
    columns = [Column("age", Kind.INTEGER, high=80, step=1.0), levels("group", 2)]
    relations = Relations(bands=(band,))
    filled = [[True, False], [False, True], [True, True]]
    found = agreed(relations, columns, [[40, 0], [40, 0], [12, 1]], filled)
    assert found.tolist() == [[19, 0], [40, 1], [12, 0]]


def test_prices_keep_their_cents():
    columns = [Column(name, Kind.CONTINUOUS, high=100) for name in ("all", "a", "b")]
    relations = Relations((Equation((0, 1, 2), (1.0, 1.0)),), units=np.full(3, 0.01))
    found = agreed(relations, columns, [[10.0, 3.33333, 6.1]], [[0, 1, 1]])
    np.testing.assert_array_equal(found, [[10.0, 3.33, 6.67]])


def passengers(n=400, seed=0):
    rng = np.random.default_rng(seed)
    port = rng.choice(["C", "Q", "S"], n, p=[0.2, 0.1, 0.7])
    ticket, meals = rng.integers(5, 90, n), rng.integers(0, 30, n)
    table = pd.DataFrame(
        {
            "embarked": port,
            "embark_town": [PORTS[one] for one in port],
            "ticket": ticket,
            "meals": meals,
            "paid": ticket + meals,
            "born": pd.Timestamp("1880-01-01") + pd.to_timedelta(rng.integers(0, 9000, n), "D"),
            "age": rng.normal(30, 9, n).round(1),
        }
    )
    table["fee"] = rng.choice([0, 4.9, 9.9], n)
    table["in_all"] = (table["paid"] + table["fee"]).round(2)
    table["adults"], table["children"] = rng.integers(1, 5, n), rng.integers(0, 5, n)
    table["people"] = table["adults"] + table["children"] + 1
    table["died"] = table["born"] + pd.to_timedelta(rng.integers(0, 20_000, n), "D")
    return table


@pytest.mark.slow
def test_completed_rows_agree_with_themselves_and_do_so_after_saving(tmp_path):
    truth = passengers()
    table = truth.mask(np.random.default_rng(1).random(truth.shape) < 0.3)
    imputer = SelectiveImputer([], **QUICK).fit(table)
    completed = imputer.transform(table)
    assert completed.notna().all(axis=None)
    assert (completed["embarked"].map(PORTS) == completed["embark_town"]).all()
    assert (completed["ticket"] + completed["meals"] == completed["paid"]).all()
    np.testing.assert_allclose(completed["paid"] + completed["fee"], completed["in_all"])
    assert (completed["adults"] + completed["children"] + 1 == completed["people"]).all()
    assert (completed["born"] <= completed["died"]).all()
    observed = table.notna()
    assert completed.where(observed).equals(table.where(observed))
    known = table["embarked"].notna() | table["embark_town"].notna()
    assert (completed["embarked"] == truth["embarked"])[known].all()
    shuffled = table.sample(frac=1, random_state=3)
    assert imputer.transform(shuffled)[:50].equals(completed.loc[shuffled.index[:50]])
    imputer.save(tmp_path / "model")
    assert load(tmp_path / "model").transform(table).equals(completed)
