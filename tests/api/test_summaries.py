"""The ledger of summaries over HTTP."""

import pytest

from sessions_app.models import Session, Summary
from tests.factories import append_turns, make_project, make_session
from tests.services.summarizing import AT_ONCE, advance_all


@pytest.fixture
def session(project):
    """A session of 6 runs whose ledger has three entries, through the runs 3, 4 and 5."""
    session = make_session(project, "s", runs=4, settings=AT_ONCE | {"offset": 1})
    advance_all(session)
    for _ in range(2):
        append_turns(session)
        advance_all(session)
    return session


def ledger(bot, query=""):
    return bot.get(f"/sessions/s/summaries{query}").json()


def test_it_lists_the_ledger_newest_first(bot, session):
    page = ledger(bot)
    assert [(entry["number"], entry["covers_from"], entry["covers_through"]) for entry in page["items"]] == [
        (3, 5, 5),
        (2, 4, 4),
        (1, 1, 3),
    ]
    newest, middle, _ = page["items"]
    assert newest["predecessor_id"] == middle["id"]
    assert newest["session_id"] == "s"
    assert (newest["status"], newest["origin"], newest["in_use"]) == ("completed", "summarizer", True)
    assert newest["text"] == session.summary.text
    assert (newest["summarizer"], newest["attempts"], newest["error"]) == ("extractive", 1, "")
    assert newest["duration_ms"] < 10_000
    assert page["next_cursor"] is None
    assert bot.get(f"/summaries/{newest['id']}").json() == newest


def test_it_pages_the_ledger(bot, session):
    numbers = [entry["number"] for page in bot.pages("/sessions/s/summaries?limit=2") for entry in page["items"]]
    assert numbers == [3, 2, 1]
    assert bot.get("/sessions/s/summaries?cursor=nonsense").status_code == 422


def test_it_asks_for_a_summary(bot, project):
    make_session(project, "s", runs=10, settings={"offset": 3})
    answer = bot.post("/sessions/s/summaries")
    assert answer.status_code == 202
    entry = answer.json()
    assert (entry["status"], entry["covers_through"], entry["actor"], entry["text"]) == ("pending", 7, "bot", "")
    again = bot.post("/sessions/s/summaries")
    assert (again.status_code, again.json()["id"]) == (202, entry["id"])
    advance_all(Session.objects.get())
    assert bot.get(f"/summaries/{entry['id']}").json()["status"] == "completed"
    refused = bot.post("/sessions/s/summaries")
    assert refused.status_code == 409
    assert refused.json()["detail"] == (
        "Nothing to summarize: the newest 3 of 10 finished runs stay out (offset), 7 are in the summary."
    )


@pytest.mark.django_db(transaction=True)
def test_it_waits_for_the_summary_as_long_as_it_is_told(project, bot, monkeypatch):
    session = make_session(project, "s", runs=10, settings={"offset": 3})
    slept = []
    monkeypatch.setattr("sessions_app.services.ledgers.time.sleep", lambda seconds: slept.append(advance_all(session)))
    answer = bot.post("/sessions/s/summaries?wait=30")
    assert (answer.status_code, answer.json()["status"]) == (202, "completed")
    assert len(slept) == 1


@pytest.mark.parametrize("wait", ["31", "-1", "soon", "NaN"])
def test_it_waits_at_most_30_seconds(bot, session, wait):
    assert bot.post(f"/sessions/s/summaries?wait={wait}").status_code == 422


def test_it_cancels_and_retries(bot, project):
    make_session(project, "s", runs=10, settings={"offset": 3})
    entry = bot.post("/sessions/s/summaries").json()
    cancelled = bot.post(f"/summaries/{entry['id']}/cancel")
    assert (cancelled.status_code, cancelled.json()["status"]) == (200, "cancelled")
    assert bot.post(f"/summaries/{entry['id']}/cancel").status_code == 409
    again = bot.post(f"/summaries/{entry['id']}/retry")
    assert (again.status_code, again.json()["number"], again.json()["status"]) == (202, 2, "pending")
    assert bot.post(f"/summaries/{entry['id']}/retry").status_code == 409


def test_it_edits_the_entry_in_use(bot, session):
    newest = ledger(bot)["items"][0]
    answer = bot.put(f"/summaries/{newest['id']}/text", {"text": "She wears a knee brace."})
    assert answer.status_code == 200
    edited = answer.json()
    assert (edited["number"], edited["origin"], edited["text"]) == (4, "edited", "She wears a knee brace.")
    assert bot.get("/sessions/s").json()["summary"]["id"] == edited["id"]
    late = bot.put(f"/summaries/{newest['id']}/text", {"text": "Late."})
    assert (late.status_code, late.json()["detail"]) == (
        409,
        "Summary #3 is not the one in use; only that can be edited.",
    )
    empty = bot.put(f"/summaries/{edited['id']}/text", {"text": " "})
    assert (empty.status_code, empty.json()["errors"][0]["pointer"]) == (422, "/text")


def test_it_rolls_back_and_resumes(bot, session):
    newest, _, oldest = ledger(bot)["items"]
    answer = bot.post("/sessions/s/summaries/rollback", {"to": oldest["id"]})
    assert answer.status_code == 200
    state = answer.json()
    assert (state["summary_id"], state["covers_through"], state["rests_by"]) == (oldest["id"], 3, "bot")
    assert state["rests_since"]
    assert [entry["in_use"] for entry in ledger(bot)["items"]] == [False, False, True]
    assert ledger(bot)["items"][0]["retired_at"]
    resumed = bot.post("/sessions/s/summaries/resume")
    assert (resumed.status_code, resumed.json()["rests_since"]) == (200, None)
    assert bot.post("/sessions/s/summaries/resume").status_code == 409
    assert newest["id"] != oldest["id"]


def test_a_rollback_names_an_entry_of_the_session(bot, project, session):
    other = make_session(project, "other", runs=4, settings=AT_ONCE | {"offset": 1})
    advance_all(other)
    for to in (other.summary.public_id, "sum_0", "sum_99999999999999999999", "evt_1", "sum_\u0661"):
        answer = bot.post("/sessions/s/summaries/rollback", {"to": to})
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/to"), to


def test_what_is_anothers_looks_like_what_does_not_exist(project, session, make_bot):
    stranger = make_bot(make_project("q"))
    summary = session.summary.public_id
    for method, path, body in [
        ("GET", "/sessions/s/summaries", None),
        ("POST", "/sessions/s/summaries", None),
        ("GET", f"/summaries/{summary}", None),
        ("POST", f"/summaries/{summary}/retry", None),
        ("POST", f"/summaries/{summary}/cancel", None),
        ("PUT", f"/summaries/{summary}/text", {"text": "Mine."}),
        ("POST", "/sessions/s/summaries/rollback", {"to": summary}),
        ("POST", "/sessions/s/summaries/resume", None),
    ]:
        assert stranger.call(method, path, body).status_code == 404, path
    assert Summary.objects.count() == 3


def test_reading_needs_read_and_changing_needs_write(project, session, make_bot):
    reader, writer = make_bot(project, "read"), make_bot(project, "write")
    summary = session.summary.public_id
    assert reader.get("/sessions/s/summaries").status_code == 200
    assert writer.get("/sessions/s/summaries").status_code == 403
    for path in ("/sessions/s/summaries", f"/summaries/{summary}/retry", "/sessions/s/summaries/resume"):
        assert reader.post(path).status_code == 403, path


def test_an_idempotent_request_is_answered_once_and_does_not_wait(bot, project):
    make_session(project, "s", runs=10, settings={"offset": 3})
    headers = {"Idempotency-Key": "k"}
    first = bot.post("/sessions/s/summaries?wait=5", headers=headers)
    again = bot.post("/sessions/s/summaries?wait=5", headers=headers)
    assert (first.status_code, first.json()["status"]) == (202, "pending")
    assert again.json() == first.json()
    assert again.headers["Idempotent-Replayed"] == "true"
    assert Summary.objects.count() == 1
