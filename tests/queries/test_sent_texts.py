import pytest

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.domain.plan import Part
from sessions_app.queries.sent_texts import MOST_PIECES, sent_texts
from sessions_app.services.prompts import session_prompt
from sessions_app.services.runs import append_runs
from tests.factories import NOW, make_session

pytestmark = pytest.mark.django_db


def as_text(session, **asked):
    prompt = session_prompt(session=session, overrides={"format": "text", "strategy": "buffer"}, **asked)
    assert prompt.text is not None
    return prompt, prompt.text


def pieces(session, **asked):
    prompt, text = as_text(session, **asked)
    return sent_texts(text, prompt.segments, has_extract=False), text


def test_the_string_is_cut_behind_each_part_with_its_labels():
    session = make_session(runs=2, instructions="Be brief.")
    tools = [{"type": "function", "function": {"name": "search"}}]
    found, _ = pieces(session, query="So?", context=["A fact."], tools=tools)
    assert [(piece.part, piece.position, piece.text) for piece in found] == [
        (Part.INSTRUCTIONS, None, "Be brief."),
        (Part.RUNS, 1, "User: question 1\n\nAssistant: answer 1"),
        (Part.RUNS, 2, "User: question 2\n\nAssistant: answer 2"),
        (Part.CONTEXT, None, "User: [context]\nA fact."),
        (Part.QUERY, None, "User: So?"),
        (Part.OVERHEAD, None, "Assistant:"),
    ]


def test_nothing_of_the_string_is_left_out_whatever_was_said():
    session = make_session()
    said = ["", "U", "User: ", "Assistant:", "\n\n", "question", "User: question\n\nAssistant: answer"]
    append_runs(session=session, runs=[simple_turn(text, text) for text in said], now=NOW)
    found, text = pieces(session)
    assert "".join("".join(piece.text for piece in found).split()) == "".join(text.split())


def test_of_very_many_pieces_the_rest_is_one():
    session = make_session(runs=MOST_PIECES + 2)
    found, _ = pieces(session)
    assert len(found) == MOST_PIECES + 1
    assert found[-1].text.startswith(f"User: question {MOST_PIECES + 1}")
    assert found[-1].text.endswith("Assistant:")


def test_a_string_that_was_cut_ends_where_it_was():
    session = make_session(runs=2)
    prompt, text = as_text(session)
    found = sent_texts(text[:30], prompt.segments, has_extract=False)
    assert found[0].text == text[:30]


def test_long_pieces_are_folded():
    session = make_session(instructions="i" * 950)
    append_runs(session=session, runs=[simple_turn("q" * 2000, "a")], now=NOW)
    (instructions, run, _), _ = pieces(session)
    assert (len(instructions.start), instructions.start + instructions.rest) == (600, instructions.text)
    assert (len(run.start), run.start + run.rest) == (1500, run.text)


def test_a_piece_of_which_little_would_be_hidden_is_not_folded():
    session = make_session(instructions="i" * 700)
    (instructions, *_), _ = pieces(session)
    assert (instructions.start, instructions.rest) == (instructions.text, "")


def test_an_extract_is_a_piece_of_its_own():
    session = make_session(runs=40, settings={"max_input_tokens": 300, "format": "text"})
    prompt = session_prompt(session=session)
    assert prompt.extract is not None
    assert prompt.text is not None
    first, last = prompt.extract
    found = sent_texts(prompt.text, prompt.segments, has_extract=True)
    (extract,) = [piece for piece in found if piece.part is Part.SUMMARY]
    assert extract.is_stopgap
    assert extract.text.startswith(f"User: Extract of runs {first}-{last}, not summarized yet: ")
