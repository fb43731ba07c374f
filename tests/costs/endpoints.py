"""What each endpoint of the API is asked for where its costs are counted; the names are those of its own document.

Parts in braces come from the samples of the world that is asked. What writes is undone after it was counted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Called:
    """One request: the query of its address and its body, if it has any.

    `sums` says why finding the rows may take longer where there is more: what is summed up, and why that may be.
    """

    query: str = ""
    body: Mapping[str, Any] | None = None
    sums: str = ""
    leeway: int = 0


PLAIN = [Called()]
SESSION = "/sessions/{session_id}"
LISTS = (
    "",
    "sort=created_at",
    "sort=id",
    "cursor={changed}",
    "sort=id&cursor={named}",
    "roots=true",
    "user_id=u-3",
    "tag=t-3",
    "model=m-3",
    "has_children=true",
    "has_own_settings=true",
    "has_lost_runs=true",
    "since=2026-05-04T12:00:00Z",
    "q=order",
    "q=answer",
)
EVERY_SESSION = "tells every session of the project that its summaries may be due"
EVERY_BELOW = "tells the sessions below it in its tree that it goes on"
EVERY_RUN = "sums up every run of the session, which is what it is asked for"
TURN = {"input": "And now?", "output": "It arrives tomorrow."}

ENDPOINTS: Mapping[str, Sequence[Called]] = {
    "GET /sessions": [
        *(Called(query) for query in LISTS),
        Called("status=failed", sums="goes through the runs that failed, of which there are few"),
        Called("parent_id=talk", sums="sorts what stands right below one session"),
        Called("prefix=s-7", sums="sorts what begins so; with sort=id nothing is sorted"),
    ],
    "POST /sessions": [Called(body={"id": "new", "tags": ["t-1"]}), Called(body={"id": "new", "parent_id": "talk"})],
    f"GET {SESSION}": PLAIN,
    f"PUT {SESSION}": [Called(body={})],
    f"PATCH {SESSION}": [Called(body={"title": "Another"}, sums=EVERY_BELOW), Called(body={"settings": {"last_n": 9}})],
    f"GET {SESSION}/tree": PLAIN,
    f"POST {SESSION}/fork": [Called(body={"at": "{near}"})],
    f"GET {SESSION}/usage": [Called("limit=20", sums=EVERY_RUN), Called("limit=20&cursor={runs}")],
    f"GET {SESSION}/settings/versions": PLAIN,
    f"POST {SESSION}/settings/restore": [Called(body={"to": 1})],
    "GET /project/settings/versions": PLAIN,
    "POST /project/settings/restore": [Called(body={"to": 0}, sums=EVERY_SESSION)],
    "GET /profiles": PLAIN,
    "POST /profiles": [Called(body={"name": "Long", "settings": {"last_n": 9}})],
    f"GET {SESSION}/runs": [Called(), Called("limit=20&cursor={runs}")],
    f"POST {SESSION}/runs": [Called(body=TURN)],
    f"POST {SESSION}/runs/batch": [Called(body={"runs": [TURN, TURN]})],
    "GET /runs/{run_id}": PLAIN,
    "PATCH /runs/{run_id}": [Called(body={"output": "It arrives tomorrow."})],
    "POST /runs/{run_id}/events": [Called(body={"role": "assistant", "content": "It arrives"})],
    "PATCH /events/{event_id}": [Called(body={"result": "Nothing."})],
    f"GET {SESSION}/prompt": [Called(), Called("at={near}"), Called("strategy=summary&format=anthropic")],
    f"POST {SESSION}/prompt": [Called(body={"query": "And now?"})],
    f"POST {SESSION}/prompt/compare": [
        Called(body={"b": {"last_n": 5}}),
        Called(body={"b": {"last_n": 5}, "at": "{near}"}),
    ],
    f"GET {SESSION}/summaries": PLAIN,
    f"POST {SESSION}/summaries": PLAIN,
    "GET /summaries/{summary_id}": PLAIN,
    "PUT /summaries/{summary_id}/text": [Called(body={"text": "They asked for order 7731."}, sums=EVERY_BELOW)],
    "GET /project": PLAIN,
    "PATCH /project": [Called(body={"name": "Another"}), Called(body={"settings": {"last_n": 9}}, sums=EVERY_SESSION)],
    "GET /imports/{import_id}": [Called(sums="counts the outcomes of one import")],
    "GET /models": PLAIN,
    "GET /models/{name}": PLAIN,
    "PUT /models/{name}": [Called(body={"context_window": 9000}, sums=EVERY_SESSION)],
    "GET /health/live": PLAIN,
    "GET /health/ready": PLAIN,
}

ONE_ENTRY = "changes one entry of a ledger, as the edit of its text does, which is counted"
NOT_COUNTED: Mapping[str, str] = {
    f"DELETE {SESSION}": "takes with it what there is",
    f"GET {SESSION}/export": "a file with all runs; tests/queries/test_exports.py counts how it is read",
    f"GET {SESSION}/facts": "follows words through every turn",
    f"POST {SESSION}/replay": "decides every turn",
    f"POST {SESSION}/summaries/resume": ONE_ENTRY,
    f"POST {SESSION}/summaries/rollback": "goes through the entries that it takes out of use",
    "POST /imports": "reads a file",
    "POST /summaries/{summary_id}/retry": ONE_ENTRY,
    "POST /summaries/{summary_id}/cancel": ONE_ENTRY,
    "PATCH /profiles/{name}": "changes one of at most a hundred",
    "DELETE /profiles/{name}": "removes one of at most a hundred",
    "DELETE /models/{name}": "does what PUT does, which is counted",
}
