"""Where words were, and what brings them back, as rows of a page with the addresses that they lead to."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from urllib.parse import urlencode

from django.urls import reverse

from sessions_app.domain.causes import Cause
from sessions_app.domain.following.followed import Following
from sessions_app.domain.following.sights import Interval, Place
from sessions_app.domain.following.telling import told
from sessions_app.domain.following.ways import Way, WayKind
from sessions_app.domain.memory_settings import Layer
from sessions_app.domain.settings_draft import value_as_text
from sessions_app.models import Session

INTERVALS_SHOWN = 40


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """Turns that were alike, what is told of them, and the setting to blame; `is_next`: the prompt to come.

    `is_chosen`: the ways are those at one of the turns.
    """

    interval: Interval
    words: str
    cause: Cause | None
    is_next: bool = False
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class ChangedSetting:
    """A setting with the value that brings the words back, in stored form."""

    name: str
    value: object


@dataclass(frozen=True, slots=True)
class WayRow:
    """A way and where it leads; `compare_url` shows the turn with and without it, `changes` are of settings."""

    kind: WayKind
    url: str
    compare_url: str
    changes: Sequence[ChangedSetting]
    place: Place | None
    layer: Layer | None
    number: int | None
    run: int | None
    is_extract: bool
    reach: int | None
    price: "WayPrice | None"


@dataclass(frozen=True, slots=True)
class WayPrice:
    """What the prompt needs without a way and with it, and what sending each costs; None where that is not known."""

    before: int | None
    after: int
    cost_before: Decimal | None
    cost_after: Decimal | None


def interval_rows(following: Following, turn: int | None) -> list[IntervalRow]:
    """Return the newest intervals, then the prompt to come; the ways are those at a turn, None: at the latter."""
    intervals, hits = following.intervals, following.hits
    upcoming = [following.next_interval] if following.next_interval else []
    words = told([*intervals, *upcoming], hits[0].position if hits else None)
    rows = [
        IntervalRow(
            interval,
            text,
            following.causes.get(interval.first),
            is_chosen=turn is not None and interval.first <= turn <= interval.last,
        )
        for interval, text in zip(intervals, words, strict=False)
    ]
    last = [
        IntervalRow(each, words[-1], following.next_cause, is_next=True, is_chosen=turn is None) for each in upcoming
    ]
    return [*rows[-INTERVALS_SHOWN:], *last]


def way_rows(
    session: Session, ways: Sequence[Way], turn: int | None, words: str, *, may_edit: bool, now: datetime
) -> list[WayRow]:
    """Return the ways with their addresses, those of settings at the turn; others only for who may edit.

    Costs are those of the prices `now`.
    """
    return [_row(session, way, turn, words, now) for way in ways if may_edit or way.changes is not None]


def _price(way: Way, now: datetime) -> WayPrice | None:
    if way.sent is None:
        return None
    before = way.sent_without
    return WayPrice(
        before=before.tokens if before else None,
        after=way.sent.tokens,
        cost_before=before.cost(now=now) if before else None,
        cost_after=way.sent.cost(now=now),
    )


def _row(session: Session, way: Way, turn: int | None, words: str, now: datetime) -> WayRow:
    changes = way.changes or {}
    query = dict(_query(changes, turn, words))
    return WayRow(
        kind=way.kind,
        url=_url(session, way, query),
        compare_url=_address(session, "tune-compare", query) if changes else "",
        changes=[ChangedSetting(name, value) for name, value in changes.items()],
        place=way.place,
        layer=way.layer,
        number=way.number,
        run=way.run,
        is_extract=way.is_extract,
        reach=way.reach,
        price=_price(way, now),
    )


_PAGES: Mapping[WayKind, str] = {
    WayKind.TODAY: "tune-compare",
    WayKind.LAYER: "tune",
    WayKind.SETTINGS: "tune",
    WayKind.USE_SUMMARY: "summary-ledger",
    WayKind.SUMMARIZE: "summary-ledger",
    WayKind.FORK: "session-fork",
}


def _url(session: Session, way: Way, query: dict[str, str]) -> str:
    if way.kind is WayKind.EDIT_SUMMARY:
        return reverse("summary-edit", args=[session.project.slug, session.public_id, way.number])
    return _address(session, _PAGES[way.kind], _asked(way, query))


def _asked(way: Way, query: dict[str, str]) -> dict[str, str]:
    if way.kind is WayKind.FORK:
        return {"at": str(way.run)}
    return query if way.number is None else {"entry": str(way.number)}


def _query(changes: Mapping[str, object], turn: int | None, words: str) -> Iterator[tuple[str, str]]:
    yield from ((name, value_as_text(value)) for name, value in changes.items())
    if turn is not None:
        yield "at", str(turn)
    yield "words", words


def _address(session: Session, page: str, query: Mapping[str, str]) -> str:
    address = reverse(page, args=[session.project.slug, session.public_id])
    return f"{address}?{urlencode(query)}" if query else address
