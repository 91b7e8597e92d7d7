import numpy as np
import pandas as pd
import pytest

from diffjoint.table import (
    code_table,
    dummy_levels,
    from_dummies,
    infer_schema,
    open_table,
    to_dummies,
)


@pytest.fixture
def coded():
    table = pd.DataFrame(
        {"age": [20, 40, 60, None] * 10, "town": ["Ulm", "Bonn", "Ulm", None] * 10}
    )
    schema = infer_schema(open_table(table), {"age": "integer"})
    return code_table(open_table(table), schema, "error"), schema


def test_a_number_is_standardised_and_a_category_loses_its_most_frequent_level(coded):
    values, schema = coded
    levels = dummy_levels(values, schema)
    assert [own.tolist() for own in levels] == [[], [1.0, 0.0]]
    expected = [[-(1.5**0.5), 0.0], [0.0, 1.0], [1.5**0.5, 0.0], [np.nan, np.nan]]
    np.testing.assert_allclose(to_dummies(values, schema, levels)[:4], expected)


def test_observed_cells_come_back(coded):
    values, schema = coded
    levels = dummy_levels(values, schema)
    there = ~np.isnan(values)
    back = from_dummies(np.nan_to_num(to_dummies(values, schema, levels)), schema, levels)
    np.testing.assert_array_equal(back[there], values[there])


def test_what_an_imputer_gives_becomes_values_that_the_columns_can_hold(coded):
    values, schema = coded
    levels = dummy_levels(values, schema)
    given = np.array([[9.0, 0.4], [-9.0, 0.6], [0.03, -3.0]])
    expected = [[60.0, 1.0], [20.0, 0.0], [40.0, 1.0]]
    assert from_dummies(given, schema, levels).tolist() == expected
