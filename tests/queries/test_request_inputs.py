import pytest

from sessions_app.domain.errors import FieldError, InvalidInput
from sessions_app.domain.request_draft import read_request
from sessions_app.queries.request_inputs import LONGEST_ADDRESS, carried, field_errors

LONG = "x" * LONGEST_ADDRESS


def test_short_texts_are_carried_all():
    short = carried(read_request({"query": ["So?"], "context": ["A", "B"], "at": ["3"]}))
    assert (short.texts, short.left_out) == ({"query": ("So?",), "at": ("3",), "context": ("A", "B")}, [])


@pytest.mark.parametrize("text", [LONG, "\N{GRINNING FACE}" * (LONGEST_ADDRESS // 10)])
def test_what_is_too_long_once_written_into_an_address_is_left_out_alone(text):
    short = carried(read_request({"context": [text], "tools": ["[]"], "query": ["So?"]}))
    assert (list(short.texts), short.left_out) == (["query", "tools"], ["context"])


def test_together_they_stay_short():
    half = "x" * (LONGEST_ADDRESS // 2)
    short = carried(read_request({"context": [half], "instructions": [half], "at": ["1"]}))
    assert short.left_out == ["context"]


def test_an_index_goes_with_its_messages():
    short = carried(read_request({"base": [f'[{{"role": "user", "content": "{LONG}"}}]'], "index": ["0"]}))
    assert (short.texts, short.left_out) == ({}, ["index", "base"])


def test_errors_are_told_by_field_with_the_place_inside():
    refusal = InvalidInput(
        "No.",
        errors=[FieldError("/tools/0/function/name", "A name."), FieldError("/at", "A turn."), FieldError("", "All.")],
    )
    asked = read_request({"at": ["x"], "tools": ["[{}]"]})
    assert field_errors(asked, [None, refusal]) == {
        "tools": "tools/0/function/name: A name.",
        "at": asked.errors["at"],
        "": "All.",
    }


def test_errors_of_settings_are_told_by_setting():
    refusal = InvalidInput("No.", errors=[FieldError("/settings/on_gap", "Runs are lost.")])
    assert field_errors(read_request({}), [refusal]) == {"on_gap": "Runs are lost."}
