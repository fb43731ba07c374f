from decimal import Decimal

import pytest

from sessions_app.templatetags.comparisons import exact_money, figure_change, figure_value


@pytest.mark.parametrize(
    ("dollars", "text"),
    [
        ("0.00297", "$0.00297"),
        ("0.0002112", "$0.000211"),
        ("0.0000288", "$0.0000288"),
        ("0.00001", "$0.0000100"),
        ("0.00000160", "less than $0.00001"),
        ("0.5", "$0.500"),
        ("12.345", "$12.35"),
        ("1234.5", "$1,234.50"),
        ("0", "$0"),
        (None, "–"),
    ],
)
def test_it_writes_three_digits_of_an_amount_or_cents(dollars, text):
    assert exact_money(None if dollars is None else Decimal(dollars)) == text


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (39, "+39"),
        (-1042, "\N{MINUS SIGN}1,042"),
        (0, "0"),
        (None, "–"),
        (Decimal("0.00021"), "+$0.000210"),
        (Decimal("-0.0000016"), "less than $0.00001 less"),
        (Decimal("0.0000016"), "less than $0.00001 more"),
    ],
)
def test_it_signs_a_difference(change, text):
    assert figure_change(change) == text


def test_a_figure_is_a_number_or_an_amount():
    assert [figure_value(each) for each in (7413, Decimal("0.25"), None)] == ["7,413", "$0.250", "–"]
