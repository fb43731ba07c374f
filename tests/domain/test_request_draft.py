import pytest

from sessions_app.domain.base_messages import Base
from sessions_app.domain.request_draft import read_request, request_body

TOOLS = '[{"type": "function", "function": {"name": "search"}}]'


def test_texts_become_the_arguments_of_the_builder():
    draft = read_request(
        {
            "query": [" And now? "],
            "context": ["A fact.\r\nAnd more.", " ", "Another."],
            "tools": [TOOLS],
            "instructions": ["Be brief."],
            "shorten": ["true"],
            "at": ["3"],
            "base": ['[{"role": "user", "content": "Hello"}]'],
            "index": ["-1"],
        }
    )
    assert draft.arguments == {
        "query": "And now?",
        "context": ("A fact.\nAnd more.", "Another."),
        "tools": [{"type": "function", "function": {"name": "search"}}],
        "instructions": "Be brief.",
        "shorten": True,
        "at": 3,
        "base": Base([{"role": "user", "content": "Hello"}], -1),
    }
    assert draft.errors == {}
    assert (draft.count, draft.has_more) == (7, True)


def test_blank_fields_ask_for_nothing():
    draft = read_request({name: [" \r\n"] for name in ("query", "context", "tools", "instructions", "at", "base")})
    assert (draft.texts, draft.arguments, draft.errors, draft.has_more) == ({}, {}, {}, False)
    assert read_request({"shorten": ["no"], "max_runs": ["3"]}).arguments == {}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("tools", '[\n  {"type": }\n]', "This is not JSON, line 2, column 12: Expecting value."),
        ("tools", '{"type": "function"}', "tools is a list of tool definitions in OpenAI's form"),
        ("tools", "[1]", "tools is a list of tool definitions"),
        ("tools", "[NaN]", "NaN is not a number of JSON"),
        ("tools", "[" * 100_000, "it is nested too deeply"),
        ("base", '"hello"', "base is a list of messages in OpenAI's form"),
        ("at", "three", "at is the number of a turn, a whole number from 1 on"),
        ("at", "9" * 5000, "at is the number of a turn"),
        ("at", "2147483648", "at is the number of a turn"),
        ("tools", '[{"a": ' * 300 + "1" + "}]" * 300, "nested 64 levels deep at most"),
        ("base", '[{"a": ' * 300 + "1" + "}]" * 300, "nested 64 levels deep at most"),
        ("index", "1.5", "index is a whole number, which may be negative"),
        ("index", "1", "An index says where among base messages the memory goes"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place_and_what_is_allowed(name, text, said):
    draft = read_request({name: [text]})
    assert said in draft.errors[name]
    assert name not in draft.arguments
    assert draft.text(name) == text


def test_an_index_beside_messages_that_cannot_be_read_is_not_told_twice():
    assert set(read_request({"base": ["["], "index": ["1"]}).errors) == {"base"}


def test_illegal_characters_are_replaced_inside_json_too():
    draft = read_request({"context": ["a\0b"], "tools": ['[{"type": "\\u0000\\ud800"}]']})
    assert draft.context == ("a\N{REPLACEMENT CHARACTER}b",)
    assert draft.arguments["tools"] == [{"type": "\N{REPLACEMENT CHARACTER}" * 2}]


def test_the_arguments_are_written_as_the_body_of_the_call():
    draft = read_request({"context": ["A fact."], "base": ['[{"role": "user", "content": "Hi"}]'], "index": ["0"]})
    assert request_body(draft.arguments) == {
        "context": ["A fact."],
        "base": {"messages": [{"role": "user", "content": "Hi"}], "index": 0},
    }
