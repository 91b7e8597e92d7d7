import numpy as np
import pandas as pd
import pytest

from diffjoint.errors import InputError
from diffjoint.table import (
    NOT_TICKED,
    TICKED,
    code_table,
    coordinates,
    decode,
    encode,
    infer_schema,
    open_table,
)


@pytest.fixture
def coded(survey):
    table = open_table(survey)
    schema = infer_schema(table)
    return schema, code_table(table, schema, "error")


def test_encoding_and_decoding_give_the_values_back(coded):
    schema, values = coded
    there = ~np.isnan(values)
    back = decode(encode(values, schema, 0.5), schema, 0.5)
    np.testing.assert_allclose(back[there], values[there], rtol=1e-5)


def test_encoded_numbers_have_the_asked_standard_deviation(coded):
    schema, values = coded
    encoded = encode(values, schema, 0.5)
    age = encoded[~np.isnan(values[:, 0]), 0]
    assert age.std() == pytest.approx(0.5, rel=1e-5)
    assert age.mean() == pytest.approx(0.0, abs=1e-6)


def test_categories_are_one_hot_and_missing_cells_zero(coded):
    schema, values = coded
    encoded = encode(values, schema, 0.5)
    names = [column.name for column in schema.modelled]
    start = sum(column.width for column in schema.modelled[: names.index("town")])
    block = encoded[:, start : start + 3]
    missing = np.isnan(values[:, names.index("town")])
    assert (block[~missing].sum(axis=1) == 1).all()
    assert (block[missing] == 0).all()


def test_one_hot_coordinates_share_their_cells_flag(coded):
    schema, values = coded
    flags = coordinates(~np.isnan(values), schema)
    assert flags.shape[1] == sum(column.width for column in schema.modelled)
    assert (flags.sum(axis=1) >= 0).all()
    start = sum(column.width for column in schema.modelled[:3])
    assert (flags[:, start] == flags[:, start + 2]).all()


def test_decoded_integers_are_whole_and_in_the_observed_range(coded):
    schema, values = coded
    wild = np.random.default_rng(0).normal(0, 5, (50, sum(c.width for c in schema.modelled)))
    ages = decode(wild.astype(np.float32), schema, 0.5)[:, 0]
    observed = values[~np.isnan(values[:, 0]), 0]
    assert (ages == np.round(ages)).all()
    assert ages.min() >= observed.min()
    assert ages.max() <= observed.max()


def test_a_column_with_one_level_decodes_to_that_level():
    frame = pd.DataFrame({"pool": ["yes", None, "yes"], "size": [1.5, 2.5, 3.25]})
    table = open_table(frame)
    schema = infer_schema(table, checkboxes="fill")
    values = code_table(table, schema, "error")
    assert decode(encode(values, schema, 0.5), schema, 0.5)[:, 0].tolist() == [0.0] * 3


def test_an_empty_cell_of_a_checkbox_has_a_code_of_its_own():
    frame = pd.DataFrame({"pool": ["yes", None, "yes"], "size": [1.5, 2.5, 3.25]})
    table = open_table(frame)
    schema = infer_schema(table)
    values = code_table(table, schema, "error")
    assert schema.n_levels.tolist() == [2, 0]
    assert values[:, 0].tolist() == [TICKED, NOT_TICKED, TICKED]
    assert decode(encode(values, schema, 0.5), schema, 0.5)[:, 0].tolist() == values[:, 0].tolist()


def test_an_unseen_level_is_an_error_or_left_out_of_the_model():
    seen = open_table(pd.DataFrame({"town": ["Ulm", "Bonn"] * 3}))
    schema = infer_schema(seen)
    new = open_table(pd.DataFrame({"town": ["Ulm", "Rom", None]}))
    with pytest.raises(
        InputError, match="'town' holds 'Rom', a level not seen in fit.*set unseen to 'missing'"
    ):
        code_table(new, schema, "error")
    assert np.isnan(code_table(new, schema, "missing")[:, 0]).tolist() == [False, True, True]


def test_levels_match_across_dtypes():
    seen = open_table(pd.DataFrame({"n": [0, 1, 2] * 5}))
    schema = infer_schema(seen)
    later = open_table(pd.DataFrame({"n": [2.0, np.nan, 0.0]}))
    codes = code_table(later, schema, "error")[:, 0]
    assert codes[[0, 2]].tolist() == [2.0, 0.0]


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (pd.Series(["x", "y"]), "'a' was continuous .* in fit; its dtype is now String"),
        (
            pd.Series(pd.to_datetime(["2024", "2025"])),
            "'a' was continuous .* in fit; its dtype is now",
        ),
        (pd.Series([0.5, np.inf]), "'a' must hold finite numbers"),
    ],
)
def test_a_column_that_changed_its_nature_is_refused(now, words):
    schema = infer_schema(open_table(pd.DataFrame({"a": [0.5, 1.5]})))
    with pytest.raises(InputError, match=words):
        code_table(open_table(pd.DataFrame({"a": now})), schema, "error")
