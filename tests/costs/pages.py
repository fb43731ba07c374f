"""What each page is asked for where its costs are counted; the names are those of the product's own table of addresses.

Parts in braces come from the samples of the world that is asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: the query of its address, whether it is a swap, and what is posted, if anything is.

    `sums` says why finding the rows may take longer where there is more: what is gone through, and why a page may.
    `leeway`: so many rows more or less come, since the same number stands under other ancestors or in other bars.
    """

    query: str = ""
    swap: bool = False
    form: Mapping[str, Any] | None = None
    sums: str = ""
    leeway: int = 0


def swap(query: str, **more: Any) -> Asked:
    """Return what a fragment of a page is asked for."""
    return Asked(query, swap=True, **more)


def each(*queries: str, **more: Any) -> list[Asked]:
    """Return a page asked for in several ways."""
    return [Asked(query, **more) for query in queries]


WHOLE = [Asked()]
ROWS_AT_ONCE = 25
BARS = 4
FILTERS = (
    "sort=created",
    "sort=runs",
    "sort=title",
    "sort=unseen",
    "roots=1",
    "user=u-3",
    "tag=t-3",
    "model=m-3",
    "metadata.n=0",
    "children=1",
    "own=1",
    "view=running",
    "view=forks",
    "lost=1",
    "unseen=1",
    "since=2026-05-04T12:00",
    "q=answer",
    "q=order",
    "open=talk",
)
EVERY_FAILURE = "goes through the runs that failed, of which there are few"
EVERY_CHILD = "sorts or counts what stands right below one session"
EVERY_ENTRY = "looks for the entries that are being made, among those of all ledgers"
EVERY_OWN = "goes through the sessions with settings of their own"
EVERY_RUN = "sums up every run of the session, and only where somebody asks for it"
EVERY_CONVERSATION = "counts the outcomes of one import"
TRIED = {"summarizer": "extractive", "sample": "talk"}

PAGES: Mapping[str, Sequence[Asked]] = {
    "home": WHOLE,
    "account": WHOLE,
    "invitation": WHOLE,
    "commands": [*each("", "q=order", "q=answer&from=/p/{slug}/sessions/talk/"), swap("q=s-9")],
    "connect": [Asked(), swap("since=2000000000&key=x")],
    "import": WHOLE,
    "import-report": [
        *each("", "show=errors", sums=EVERY_CONVERSATION),
        swap("after=500", sums=EVERY_CONVERSATION),
    ],
    "selection": [Asked(form={"session": "{picked}", "do": do, "tag": "new"}) for do in ("tag", "delete")],
    "sessions": [
        *each("", *FILTERS, leeway=ROWS_AT_ONCE),
        Asked("status=failed", sums=EVERY_FAILURE, leeway=ROWS_AT_ONCE),
        Asked("parent=talk", sums=EVERY_CHILD, leeway=ROWS_AT_ONCE),
        swap("tag=t-3", leeway=ROWS_AT_ONCE),
        swap("after={trees}"),
        swap("tree=s-0&toggle=s-0"),
        swap("tree=talk&toggle=talk"),
    ],
    "session": [
        *each("", "run={near}", "view=raw", "show=lost", "jump={near}", leeway=BARS),
        *each("find=answer", "find=answer&at={near}", leeway=BARS),
        Asked("usage=1", sums=EVERY_RUN, leeway=BARS),
        swap("usage=1", sums=EVERY_RUN),
        swap("strip=1", leeway=BARS),
        swap("from={near}&to={near}"),
        swap("whole={near}&from={near}&to={near}"),
    ],
    "session-call": [Asked(), swap("")],
    "session-delete": [Asked(sums=EVERY_CHILD, leeway=BARS)],
    "session-edit": each("", leeway=BARS),
    "session-follow": [Asked(), swap("seen=x&first={near}&last={near}")],
    "session-fork": each("at={near}", leeway=BARS),
    "session-summary": [Asked(), swap("")],
    "session-versions": [Asked(), Asked("restore=1"), swap("before={versions}")],
    "facts": WHOLE,
    "summary-ledger": [*each("", "before={number}", "entry={number}&facts=1"), swap(""), swap("poll=next")],
    "summary-edit": WHOLE,
    "summary-use": WHOLE,
    "summaries": [
        *each("", "show=failing", "show=resting", "show=working", "show=used", sums=EVERY_ENTRY),
        swap("show=failing&after={failing}", sums=EVERY_ENTRY),
    ],
    "then": [
        *each("at={near}", "at={near}&last_n=4", "at={near}&words=answer"),
        swap("at={near}&from={near}&to={near}"),
    ],
    "tune": [
        *each("", "query=And+now%3F&max_input_tokens=900", "at={near}"),
        *each("strategy=summary&format=anthropic&on_gap=warn", "strategy=hierarchical"),
        swap("max_input_tokens=900"),
        swap("from={near}&to={near}"),
    ],
    "tune-compare": each("last_n=5", "max_input_tokens=700&show=all", "at={near}&last_n=5"),
    "tune-default": each("last_n=5", sums=EVERY_OWN),
    "tune-profile": each("last_n=5"),
    "tune-replay": each("", "last_n=5"),
    "tune-save": each("last_n=5"),
    "tune-why": [*each("last_n=5", "only=pruned", leeway=BARS), swap("from={near}&to={near}")],
    "project-settings": WHOLE,
    "project-defaults": each("", "last_n=5"),
    "project-defaults-save": each("last_n=5", sums=EVERY_OWN),
    "project-delete": WHOLE,
    "project-new": WHOLE,
    "project-versions": [Asked(), Asked("restore=1"), swap("before={versions}")],
    "keys": WHOLE,
    "key-new": WHOLE,
    "key-revoke": WHOLE,
    "members": WHOLE,
    "invitation-new": [Asked(form={"role": "viewer"})],
    "member-remove": WHOLE,
    "member-leave": WHOLE,
    "profiles": each("", "session=talk"),
    "summarizer": each("", "sample=talk"),
    "summarizer-preview": [Asked(form=TRIED)],
}

ANSWERING = "does what a form asks, and answers with another page"
NOT_COUNTED: Mapping[str, str] = {
    "login": "asks for nobody's sessions",
    "selection-export": "a file with all that is picked; tests/queries/test_exports.py counts how it is read",
    "session-export": "a file with all runs; tests/queries/test_exports.py counts how it is read",
    "tune-replay-csv": "a file with a line for each turn",
    "tune-replay-json": "a file with an entry for each turn",
    **dict.fromkeys(
        (
            "account-elsewhere",
            "account-names",
            "account-password",
            "import-cancel",
            "invitation-revoke",
            "logout",
            "member-role",
            "profile-delete",
            "profile-rename",
            "project-restore",
            "view-default",
            "session-restore",
            "summarize-now",
            "summarizer-trial",
            "summary-cancel",
            "summary-resume",
            "summary-retry",
            "view-delete",
            "view-rename",
            "view-save",
        ),
        ANSWERING,
    ),
}
