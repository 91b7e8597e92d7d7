import pytest

from diffjoint.table import is_number_text

NUMBERS = ["0", "7", "-7", "+7", "-7.0", "1200", "1.", ".5", "-.5", "0.25", "1e3", "2.5E-7"]
NOT_NUMBERS = ["", " ", "+", "-", ".", "e5", ".e5", "1e", "1e+", "--7", "1.2.3", "0x1f", "1j"]
NOT_NUMBERS += ["007", "-01", "00", "1_000", "1,000", "1 000", " 7", "7 ", "7\n", "7 km"]
NOT_NUMBERS += ["nan", "NaN", "inf", "-inf", "Infinity", "true", "\u0663", "\uff17"]


@pytest.mark.parametrize("text", NUMBERS)
def test_text_that_is_a_number(text):
    assert is_number_text(text)
    float(text)


@pytest.mark.parametrize("text", NOT_NUMBERS)
def test_text_that_is_no_number_even_where_python_would_read_one(text):
    assert not is_number_text(text)
