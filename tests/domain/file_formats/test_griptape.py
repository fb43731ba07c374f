"""Griptape's memories: which files they are, and a memory's conversation."""

import io
import json
from pathlib import Path

import pytest

from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.file_formats import detect_format
from sessions_app.domain.file_formats.griptape import GRIPTAPE, conversation
from sessions_app.domain.transcript import RunStatus

SHARED = Path(__file__).parents[4] / "shared"
SAMPLE = SHARED / "formats" / "griptape" / "griptape_small.json"
CASES = Path(__file__).parents[2] / "data" / "cases"


def text(value, kind="TextArtifact", **more):
    return {"type": kind, "value": value, **more}


def memory(*runs, **more):
    return {"runs": list(runs), **more}


def run(question="Hello", answer="Hi", **more):
    return {"type": "Run", "id": "r1", "input": text(question), "output": text(answer), **more}


def read(value):
    [found] = GRIPTAPE.rows(io.BytesIO(json.dumps(value).encode()), "x")
    assert not found.error
    return conversation(found.value)


def said(run):
    return [(str(event.role), event.text) for event in run.events]


@pytest.mark.skipif(not SAMPLE.exists(), reason=f"NOT RUN: {SAMPLE.name} does not lie in ../shared/formats")
def test_a_record_of_a_driver_is_read_run_by_run():
    data = SAMPLE.read_bytes()
    assert detect_format(data, "memory").name == "griptape"
    read_memory = read(json.loads(data))
    assert [said(run) for run in read_memory.runs] == [
        [("user", "Height of Everest?"), ("assistant", "8849 m.")],
        [("user", "Longest river?"), ("assistant", "The Nile.")],
    ]
    assert read_memory.runs[1].metadata == {"griptape": {"id": "g2", "meta": {"topic": "rivers"}}}
    assert (read_memory.notes, read_memory.given_id) == ((), "")


def test_c33_artifacts_of_all_kinds_become_what_they_say():
    read_memory = read(json.loads((CASES / "C33-memory.json").read_text()))
    one, failed, listed, flag, picture = read_memory.runs
    assert said(one) == [("user", "I like rowing."), ("assistant", "A good sport.")]
    assert (said(failed), failed.status) == ([("user", "I like archery too.")], RunStatus.FAILED)
    assert failed.error == "provider refused the key"
    assert failed.metadata["griptape"]["meta"] == {"attempt": 1}
    assert said(listed) == [
        ("user", "Which sports\n\ndo I like?"),
        ("assistant", '{"sports": ["rowing", "archery"]}'),
    ]
    assert said(flag) == [("user", ""), ("assistant", "true")]
    assert said(picture) == [("user", "Show a picture"), ("assistant", "")]
    address = "data:image/png;base64,iVBORw0KGgo="
    assert picture.events[1].content == ({"type": "image_url", "image_url": {"url": address}},)
    assert read_memory.metadata == {"griptape": {"metadata": {"owner": "demo"}}}


def test_c33_a_memory_in_the_other_shape_is_recognized_too():
    data = (CASES / "C33-memory-object.json").read_bytes()
    assert detect_format(data, "x").name == "griptape"
    assert len(read(json.loads(data)).runs) == 1


def test_what_has_no_text_is_marked_and_said():
    sound = text("UklGRg==", "AudioArtifact", format="wav")
    read_memory = read(memory({"id": "a", "input": text([text("Listen"), sound], "ListArtifact"), "output": None}))
    assert said(read_memory.runs[0]) == [("user", "Listen\n\n[AudioArtifact not imported]")]
    assert read_memory.notes == ("Artifacts of which only a marked place was kept: 1 (AudioArtifact).",)


def test_the_summary_of_a_file_is_kept_beside_and_said():
    read_memory = read(memory(run(), type="SummaryConversationMemory", summary="So far", summary_index=1))
    assert read_memory.metadata["griptape"]["summary"] == "So far"
    assert "The summary of the file is kept in the metadata" in read_memory.notes[0]


def test_a_memory_that_grew_is_the_same_and_one_with_another_first_input_is_not():
    first = read(memory(run()))
    assert read(memory(run(), run("More", id="r2"))).source_id == first.source_id
    assert read(memory(run("Other"))).source_id != first.source_id
    unnamed = {"input": text("Hello"), "output": text("Hi")}
    assert read(memory(unnamed)).source_id != read(memory(unnamed, unnamed)).source_id


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (5, "It must be a memory: an object with runs."),
        ({}, "It has no runs: a list of them is needed, maybe an empty one."),
        ({"runs": {}}, "Its runs must be a list."),
        ({"runs": []}, "It has no runs."),
        (memory(run(), 7), "Run 2 must be an object with an input and an output."),
        (memory(run(output="Hi")), "The output of run 1 must be an artifact: an object with a type and a value."),
        (memory(run(input={"type": [], "value": ""})), "The input of run 1 must be an artifact"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(row, reason):
    with pytest.raises(InvalidInput) as refusal:
        conversation(row)
    assert refusal.value.detail.startswith(reason)


def test_hostile_memories_are_read_or_refused():
    nested = text("deep")
    for _ in range(5000):
        nested = text([nested], "ListArtifact")
    with pytest.raises(InvalidInput, match="nested too deeply"):
        conversation(memory({"input": nested}))
    read_memory = read(memory(run("a\0b \ud800"), run(meta={"n": 10**290})))
    assert said(read_memory.runs[0])[0] == ("user", "a\ufffdb \ufffd")
    assert read_memory.notes == ("Characters that cannot be stored, replaced by U+FFFD: 2.",)
