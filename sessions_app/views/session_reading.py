"""How the address of a session page is read: what of the runs is shown, and how."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.http import QueryDict
from django.urls import reverse
from django.utils.http import urlencode

from sessions_app.domain.search_words import QUERY_READ, Sought, read_query
from sessions_app.models import Session
from sessions_app.queries.bands import WINDOW, Span
from sessions_app.queries.run_stream import StreamAsked
from sessions_app.queries.session_finding import Found, find_in_session
from sessions_app.queries.session_pages import Chip


@dataclass(frozen=True, slots=True)
class Reading:
    """What an address asks for: texts as they were written (`raw`), a run, a span of runs, a run whole, words.

    `page` is the address without what it asks for, `here` the run that it leads to, `marked` the runs that it begins,
    if the address asks for several, `found` which runs hold the words.
    """

    page: str
    raw: bool = False
    here: int | None = None
    span: Span | None = None
    marked: Span | None = None
    whole: int | None = None
    words: str = ""
    sought: Sought | None = None
    found: Found | None = None
    chip: Chip | None = None

    @property
    def keep(self) -> str:
        """What the addresses of all links on the page end with."""
        return "&view=raw" if self.raw else ""

    @property
    def finding(self) -> str:
        """What the addresses of links that stay with the words begin with."""
        return urlencode({"find": self.words})

    @property
    def without_words(self) -> str:
        """The address of the same place where no words are looked for."""
        return self._address(raw=self.raw, run=self.here)

    @property
    def newest(self) -> str:
        """The address of the newest runs."""
        return self._address(raw=self.raw)

    @property
    def other_view(self) -> str:
        """The address of the same place with texts laid out, or as they were written."""
        words = {"find": self.words, "at": self.here} if self.found else {"run": self.here}
        return self._address(raw=not self.raw, **words)

    @property
    def show(self) -> str:
        """The key of the filter over the runs that is set; none is where words are looked for."""
        if self.found:
            return "none"
        return self.chip.key if self.chip else ""

    @property
    def follows(self) -> bool:
        """Whether the newest runs are on the page, so that it can go on as new ones come."""
        return self.found is None and (self.chip is None or not self.chip.key)

    def _address(self, *, raw: bool, **asked: str | int | None) -> str:
        query = {name: value for name, value in asked.items() if value is not None} | ({"view": "raw"} if raw else {})
        place = f"#run-{self.here}" if {"run", "at"} & query.keys() else ""
        return f"{self.page}?{urlencode(query)}{place}" if query else self.page


def plain_reading(query: QueryDict, conversation: Session) -> Reading:
    """Return how texts are shown, whatever else an address asks for."""
    page = reverse("session", args=[conversation.project.slug, conversation.public_id])
    return Reading(page, raw=query.get("view") == "raw")


def read_address(query: QueryDict, conversation: Session, chips: Sequence[Chip]) -> Reading:
    """Return what an address of a session page asks for; what makes no sense in it is ignored."""
    last = conversation.last_position
    words = query.get("find", "").strip()[:QUERY_READ]
    sought = read_query(words) if words else None
    at = position_of(query.get("at"), last)
    found = find_in_session(sought, session=conversation, at=at) if sought else None
    here = found.position if found else position_of(query.get("run"), last)
    span = span_of(query, last)
    # A link to several runs lands on the first, however many they are.
    marked = span.oldest(WINDOW) if span and span.first == here else None
    return replace(
        plain_reading(query, conversation),
        here=here,
        span=marked or span or (around(here, last) if here else None),
        marked=marked,
        whole=position_of(query.get("whole"), last),
        words=words,
        sought=sought,
        found=found,
        chip=next((chip for chip in chips if chip.key == query.get("show", "")), chips[0] if chips else None),
    )


def asked_of(reading: Reading, *, part: bool) -> StreamAsked:
    """Return what of the stream an address asks for; `part`: only its span takes the place of a line on the page."""
    chip, found, span = reading.chip, reading.found, reading.span
    if found and not part:
        seen = [found.position] if found.position else []
        return StreamAsked(spans=found.spans or [Span(0, 0)], full=found.shown, whole=seen)
    return StreamAsked(
        only=chip.fates if chip else None,
        opened=span.newest(WINDOW) if span else None,
        within=span if part else None,
        whole=[reading.whole] if reading.whole else [],
    )


def span_of(query: QueryDict, last_position: int) -> Span | None:
    """Return the span of positions that an address asks for; what is no span is ignored."""
    first, last = position_of(query.get("from"), last_position), position_of(query.get("to"), last_position)
    return Span(first, last) if first and last and first <= last else None


def around(position: int, last_position: int) -> Span:
    """Return the runs of a window that a run stands in the middle of."""
    first = max(1, position - WINDOW // 2)
    return Span(first, min(last_position, first + WINDOW - 1))


def position_of(text: str | None, last_position: int) -> int | None:
    """Return the position that a field of an address gives, the newest for all that is behind it."""
    number = number_of(text)
    return None if number is None else min(number, last_position)


def number_of(text: str | None) -> int | None:
    """Return the whole number that a field of an address or a form gives, or None."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= 10 else None
