"""Files of OpenAI messages: which they are, their rows, and a row's conversation."""

import io
import json
from pathlib import Path

import pytest

from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.file_formats import FILE_FORMATS, detect_format
from sessions_app.domain.file_formats.openai import conversation, recognises, rows

CASES = Path(__file__).parents[2] / "data" / "cases"
MESSAGES = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
ROW = {"id": "a", "messages": MESSAGES}


def read(data, name="file.json"):
    return [(found.place, found.value, found.error) for found in rows(io.BytesIO(data), name)]


def read_text(value, name="file.json", **how):
    return read(json.dumps(value, **how).encode(), name)


def tool(read_row):
    return read_row.runs[0].events[2].tool


def test_json_lines_have_a_conversation_on_each_line():
    data = "\n".join([json.dumps(ROW)] * 2).encode()
    for name in ("file.jsonl", "no-suffix"):
        assert [place for place, *_ in read(data, name)] == [1, 2]


def test_a_broken_first_line_does_not_make_lines_a_single_object():
    found = read(b'{"messages": [\n' + json.dumps(ROW).encode() + b"\n", "no-suffix")
    assert [(place, bool(error)) for place, _, error in found] == [(1, True), (2, False)]


@pytest.mark.parametrize("indent", [None, 2])
def test_json_holds_a_list_of_conversations_one_of_them_or_its_messages(indent):
    assert read_text([ROW, ROW], indent=indent) == [(1, ROW, ""), (2, ROW, "")]
    assert read_text(ROW, indent=indent) == [(1, ROW, "")]
    assert read_text(MESSAGES, indent=indent) == [(1, MESSAGES, "")]


def test_a_broken_message_of_a_bare_list_spoils_the_conversation_and_is_named():
    [(place, _, error)] = read(b'[{"role": "user", "content": "a"}, {"role": tru}]')
    assert place == 1
    assert error.startswith("Message 2: It is not JSON")


@pytest.mark.parametrize("data", [b"PK\x03\x04", b"", b"<script>"])
def test_other_files_are_not_recognized_and_the_known_formats_are_named(data):
    with pytest.raises(InvalidInput, match=r"OpenAI messages \(JSON or JSON Lines\)"):
        detect_format(data, "x.zip")


def test_files_are_recognized_by_their_beginning_or_their_name():
    assert detect_format(b"\xef\xbb\xbf [", "x") is FILE_FORMATS["openai"]
    assert recognises(b"broken", "x.JSONL")


def test_the_fields_of_a_row_are_read():
    row = ROW | {"title": "T", "user_id": "u", "tags": ["x"], "metadata": {"k": 1}, "tools": [], "model": "m"}
    read_row = conversation(row)
    assert (read_row.source_id, read_row.title, read_row.user_id, read_row.tags) == ("a", "T", "u", ("x",))
    assert read_row.metadata == {"k": 1, "openai": {"tools": [], "model": "m"}}
    assert read_row.notes == ()


def test_a_row_without_an_id_is_identified_by_all_it_says():
    first, same, other = ({"messages": MESSAGES}, MESSAGES, {"messages": MESSAGES, "title": "T"})
    assert conversation(first).source_id == conversation(same).source_id != conversation(other).source_id
    assert conversation(first).source_id.startswith("sha256:")


def test_an_id_may_be_a_number_and_a_long_one_is_hashed():
    assert conversation(ROW | {"id": 7}).source_id == "7"
    assert len(conversation(ROW | {"id": "x" * 300}).source_id) == 71


def test_a_long_title_is_cut_kept_whole_and_said():
    read_row = conversation(ROW | {"title": "t" * 501})
    assert len(read_row.title) == 500
    assert read_row.metadata["openai"]["title"] == "t" * 501
    assert "title was cut" in read_row.notes[0]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("text", "must be an object with messages"),
        ({"id": "a"}, "has no messages"),
        ({"messages": []}, "has no messages"),
        (ROW | {"id": True}, "id must be"),
        (ROW | {"id": {}}, "id must be"),
        (ROW | {"title": 3}, "title must be a text"),
        (ROW | {"tags": "x"}, "tags must be"),
        (ROW | {"metadata": []}, "metadata must be an object"),
        ({"messages": [{"role": "user", "content": "a"}, {"content": "b"}]}, "Message 2: it has no role"),
    ],
)
def test_it_refuses_a_bad_row_with_its_reason(row, reason):
    with pytest.raises(InvalidInput, match=reason):
        conversation(row)


def test_it_refuses_what_is_nested_too_deeply():
    deep: object = "x"
    for _ in range(2000):
        deep = [deep]
    with pytest.raises(InvalidInput, match="nested too deeply"):
        conversation(ROW | {"metadata": {"deep": deep}})


def test_case_35_separators_inside_texts_do_not_end_lines():
    data = (CASES / "C35-messages.jsonl").read_bytes()
    found = read(data, "C35-messages.jsonl")
    assert [place for place, *_ in found] == [1, 2, 3]
    call = tool(conversation(found[0][1]))
    given = json.loads(data.split(b"\n")[0])["messages"][3]["content"]
    assert call.result == given
    assert all(separator in given for separator in "\u2028\u2029\u0085\v\f\x1c")


def test_case_35_a_byte_order_mark_and_windows_line_ends_are_fine():
    found = read((CASES / "C35-bom-crlf.jsonl").read_bytes(), "C35-bom-crlf.jsonl")
    assert len(found) == 3
    assert all("messages" in value for _, value, _ in found)


def test_case_37_nul_characters_are_replaced_and_counted():
    [(_, row, _)] = read((CASES / "C37-messages.jsonl").read_bytes(), "C37-messages.jsonl")
    read_row = conversation(row)
    assert read_row.title == "zero \ufffd title"
    assert tool(read_row).result == "head\ufffd\ufffdtail\x01\x1f\x7f"
    # The NUL of the arguments is an escape inside a text that holds JSON; as text it can be stored.
    assert tool(read_row).arguments == '{"path": "a\\u0000b.bin"}'
    assert read_row.notes == ("Characters that cannot be stored, replaced by U+FFFD: 4.",)


def test_lone_surrogates_are_replaced_in_json_as_in_json_lines():
    data = rb'[{"messages": [{"role": "user", "content": "a\ud800b"}]}]'
    [(_, row, _)] = read(data)
    assert conversation(row).runs[0].events[0].text == "a\ufffdb"


def test_case_41_a_longer_row_has_the_same_identity():
    assert conversation(ROW).source_id == conversation({"id": "a", "messages": MESSAGES * 2}).source_id
