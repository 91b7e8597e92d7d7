"""Text that is a number: one table of texts, held by all that read numbers from text."""

import pandas as pd
import pytest

from diffjoint import read_decisions
from diffjoint._numbers import is_number_text, number_of, whole_number_of
from diffjoint.cli.parsing import parse_bounds, parse_rate, parse_value
from diffjoint.engines import find_dataset
from diffjoint.errors import InputError

WHOLE = ["0", "7", "-7", "+7", "1200"]
FRACTIONS = ["-7.0", "1.", ".5", "-.5", "0.25", "1e3", "2.5E-7", "9" * 5_000]
NOT_NUMBERS = ["", " ", "+", "-", ".", "e5", ".e5", "1e", "1e+", "--7", "1.2.3", "0x1f", "1j"]
NOT_NUMBERS += ["007", "-01", "00", "1_000", "1_0e-2", "1,000", "1 000", " 7", "7 ", "7\n", "7 km"]
NOT_NUMBERS += ["nan", "NaN", "inf", "-inf", "Infinity", "true", "\u0663", "\uff17"]
OPTIONS_STRIP = {" 7", "7 ", "7\n"}
"""Spaces around the value of an option are no part of it."""


@pytest.mark.parametrize("text", WHOLE + FRACTIONS)
def test_text_that_is_a_number(text):
    assert is_number_text(text)
    assert number_of(text) == float(text)
    assert whole_number_of(text) == (int(text) if text in WHOLE else None)


@pytest.mark.parametrize("text", NOT_NUMBERS)
def test_text_that_is_no_number_even_where_python_would_read_one(text):
    assert not is_number_text(text)
    assert number_of(text) is None
    assert whole_number_of(text) is None


@pytest.mark.parametrize("text", WHOLE + FRACTIONS)
def test_options_take_numbers(text):
    assert parse_value(text) == parse_rate(text) == number_of(text)
    assert type(parse_value(text)) is type(number_of(text))
    assert parse_bounds([f"age={text}:"]) == {"age": (number_of(text), None)}


@pytest.mark.parametrize("text", sorted({*NOT_NUMBERS} - OPTIONS_STRIP - {"true"}))
def test_options_take_no_other_text_for_a_number(text):
    assert parse_value(text) == text
    with pytest.raises(InputError, match="--loss-rate takes a rate"):
        parse_rate(text)


@pytest.mark.parametrize("text", sorted(OPTIONS_STRIP))
def test_options_may_have_spaces_around_a_number(text):
    assert parse_value(text) == parse_rate(text) == 7


@pytest.mark.parametrize("text", ["0", "+1", "1.0", " 1 "])
def test_a_decision_names_its_row_by_a_whole_number(text):
    assert decided_in_row(text)["known_lost"]["a"].sum() == 1


@pytest.mark.parametrize("text", ["01", "0_1", "1e0", "\uff11"])
def test_a_decision_names_its_row_by_nothing_else(text):
    with pytest.raises(InputError, match="decisions names row"):
        decided_in_row(text)


def decided_in_row(text):
    listed = pd.DataFrame({"row": [text], "column": ["a"], "decision": ["lost"]})
    return read_decisions(listed, pd.DataFrame({"a": [None, None, 1.5]}))


@pytest.mark.parametrize(
    ("text", "value"),
    [("7", 7), ("-7", -7), ("01", 1), ("-012", -12), ("00", 0), ("9" * 18, 10**18 - 1)],
)
def test_folders_hold_whole_numbers_which_may_be_padded(tmp_path, text, value):
    assert month_in(tmp_path, text) == value


@pytest.mark.parametrize("text", ["2.5", "1_000", "\uff17", "9" * 19, "0x1", "01-02"])
def test_folders_hold_other_text_as_it_is(tmp_path, text):
    assert month_in(tmp_path, text) == text


def month_in(tmp_path, text):
    folder = tmp_path / f"month={text}"
    folder.mkdir()
    pd.DataFrame({"a": [1]}).to_parquet(folder / "1.parquet")
    (((_, month),),) = find_dataset(tmp_path).partitions
    return month
