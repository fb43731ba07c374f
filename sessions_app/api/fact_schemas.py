"""Followed facts as bots get them."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from sessions_app.api.schemas import Out, money
from sessions_app.domain.causes import Cause
from sessions_app.domain.following.phrase import LONGEST
from sessions_app.domain.following.sights import Interval, Part, Place, Why
from sessions_app.domain.following.telling import told
from sessions_app.domain.following.ways import Sent, Way, WayKind
from sessions_app.domain.memory_settings import LARGEST_INTEGER, Layer
from sessions_app.services.ways_back import FollowedFact


class FactsQuery(Schema):
    """What is followed."""

    words: str = Field(
        default="",
        description=f"Needed, as they were said. Case and spaces do not count; {LONGEST} characters do.",
    )
    at: Annotated[int, Field(ge=1, le=LARGEST_INTEGER)] | None = Field(
        default=None,
        description="The turn to bring the words back at; the one behind the last: the prompt to come. Else the first "
        "without them.",
    )


class HitOut(Out):
    """A run that says the words."""

    position: int
    parts: list[Part] = Field(description="What of the run says them.")


class BlamedOut(Out):
    """The setting that kept the words out, and the layer that it came from."""

    name: str
    value: Any
    layer: Layer


class SightOut(Out):
    """Where a prompt had the words, and why, or why not."""

    place: Place
    why: Why
    detail: str
    runs: list[int] = Field(description="The runs that had said them.")
    summaries: list[int] = Field(description="The numbers of the summaries in the prompts.")
    setting: BlamedOut | None


class IntervalOut(SightOut):
    """The neighbouring turns first..last, whose prompts had the words in one place for one reason."""

    first: int
    last: int


class WayOut(Out):
    """What brings the words back; settings were tried by building the prompt with them."""

    kind: WayKind
    settings: dict[str, Any] | None = Field(description="To be saved, or to be given with the next prompt.")
    place: Place | None = Field(description="Where the prompt then has the words.")
    layer: Layer | None = Field(description="The layer that has this value already.")
    extract: bool = Field(description="Whether it is in a stopgap extract, only until a summary covers the runs.")
    reach: int | None = Field(description="The last turn up to which every prompt then has it, if sums tell.")
    summary: int | None = Field(description="The number of the summary to be edited or to be used.")
    run: int | None = Field(description="The run to fork at, or to be summarized.")
    tokens: int | None = Field(description="What the prompt that has them needs; null where it was not built.")
    tokens_without: int | None = Field(description="What that turn's prompt needs without these settings.")
    input_cost: str | None = Field(description="What sending it costs in USD; null where a price is not known.")
    input_cost_without: str | None = Field(description="The same without these settings.")


class ElsewhereOut(Out):
    """A run that says the words in another session of the tree."""

    session_id: str
    run_id: str
    position: int
    is_above: bool = Field(description="A session above says it where this one does not see it: behind a fork's start.")


class FollowedOut(Out):
    """Words over the turns of a session."""

    words: str
    hits: list[HitOut] = Field(description="The newest 500 runs that say them, oldest first.")
    first: int = Field(description="The first turn that was looked at: 1, unless the session is very long.")
    last: int
    intervals: list[IntervalOut]
    next: SightOut | None = Field(description="The prompt to come; null while a run is open, whose turn is the last.")
    guessed: int = Field(description="So many turns were not built, since those on both sides are alike.")
    ways_at: int | None = Field(description="The turn that the ways are for; null: the prompt to come.")
    ways: list[WayOut]
    elsewhere: list[ElsewhereOut] = Field(
        description="The newest 5 runs of the tree that say it and are not in this history."
    )


def followed_out(found: FollowedFact, *, now: datetime) -> FollowedOut:
    """Return what was found as an answer, with costs at the prices of now."""
    following = found.following
    intervals, hits = following.intervals, following.hits
    upcoming = [following.next_interval] if following.next_interval else []
    words = told([*intervals, *upcoming], hits[0].position if hits else None)
    return FollowedOut(
        words=following.phrase.words,
        hits=[HitOut(position=hit.position, parts=sorted(hit.parts)) for hit in hits],
        first=following.first,
        last=following.last,
        intervals=[
            IntervalOut(first=each.first, last=each.last, **_sight(each, text, following.causes.get(each.first)))
            for each, text in zip(intervals, words, strict=False)
        ],
        next=SightOut(**_sight(upcoming[0], words[-1], following.next_cause)) if upcoming else None,
        guessed=following.guessed,
        ways_at=found.turn,
        ways=[_way(way, now) for way in found.ways],
        elsewhere=[
            ElsewhereOut(
                session_id=each.session.public_id,
                run_id=each.run.public_id,
                position=each.run.position,
                is_above=each.is_above,
            )
            for each in found.elsewhere
        ],
    )


def _sight(interval: Interval, detail: str, cause: Cause | None) -> dict[str, Any]:
    blamed = None if cause is None else BlamedOut(name=cause.setting, value=cause.value, layer=cause.layer)
    return {
        "place": interval.place,
        "why": interval.why,
        "detail": detail,
        "runs": list(interval.runs),
        "summaries": list(interval.summaries),
        "setting": blamed,
    }


def _cost(sent: Sent | None, now: datetime) -> str | None:
    cost = sent.cost(now=now) if sent else None
    return None if cost is None else money(cost)


def _way(way: Way, now: datetime) -> WayOut:
    settings = None if way.changes is None else dict(way.changes)
    return WayOut(
        kind=way.kind,
        settings=settings,
        place=way.place,
        layer=way.layer,
        extract=way.is_extract,
        reach=way.reach,
        summary=way.number,
        run=way.run,
        tokens=way.sent.tokens if way.sent else None,
        tokens_without=way.sent_without.tokens if way.sent_without else None,
        input_cost=_cost(way.sent, now),
        input_cost_without=_cost(way.sent_without, now),
    )
