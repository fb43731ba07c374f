"""Which runs say words, and which texts have to be read to know."""

import pytest

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.models import runs_saying, said
from sessions_app.services.runs import append_runs
from tests.domain.fakes.phrases import phrase
from tests.factories import NOW, append_turns, make_session

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.fixture
def read(monkeypatch):
    """Collect the texts that are read."""
    texts, usual = [], said._parts

    def reading(phrase, kind, role, given):
        texts.append(given[0])
        return usual(phrase, kind, role, given)

    monkeypatch.setattr(said, "_parts", reading)
    return texts


def say(text, words):
    session = make_session(runs=5)
    append_runs(session=session, runs=[simple_turn(text, "OK")], now=NOW)
    append_turns(session, 5)
    session.refresh_from_db()
    return runs_saying(session, phrase(words))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("予約番号は七三一です。", "予約番号は"),
        ("がんばる東京", "がんばる東京"),
        ("I am so happy 🎉 now", "🎉"),
        ("Ich wohne in ZÜRICH.", "zürich"),
        ("Рейс 4417 отменён", "отменён"),
        ("It costs 96 EUR", "96"),
    ],
)
def test_the_database_finds_the_texts_that_may_say_it(text, words, read):
    found = say(text, words)
    assert found.positions == [6]
    assert found.searched_from == 1
    if words != "отменён":
        assert read == [text]


def test_of_what_the_database_cannot_compare_fewer_runs_are_read_and_that_is_told(read, monkeypatch):
    monkeypatch.setattr(said, "RUNS_READ_WHOLE", 8)
    found = say("Щи да каша", "ЩИ")
    assert (found.positions, found.searched_from) == ([6], 4)
    assert len(read) == 16
