"""Words that are followed from page to page: where a prompt has them."""

from dataclasses import dataclass

from sessions_app.domain.causes import Cause
from sessions_app.domain.following.blame import blamed
from sessions_app.domain.following.built import says, sight_in
from sessions_app.domain.following.phrase import Phrase
from sessions_app.domain.following.sights import Hit, Interval, Place, asked_anew, intervals_of
from sessions_app.domain.following.telling import told
from sessions_app.domain.plan import Part, Prompt
from sessions_app.models import Session, runs_saying
from sessions_app.views.sides import Side


@dataclass(frozen=True, slots=True)
class SeenWords:
    """Where the prompt of a turn has the words, what is told of it, and the setting to blame if it has them not."""

    interval: Interval
    words: str
    cause: Cause | None

    @property
    def is_there(self) -> bool:
        """Whether the model sees them."""
        return self.interval.place in (Place.WORDS, Place.SUMMARY)

    @property
    def is_asked(self) -> bool:
        """Whether only the question says them."""
        return self.interval.place is Place.QUESTION


def seen_words(*, session: Session, phrase: Phrase, turn: int, prompt: Prompt) -> SeenWords:
    """Return where a prompt for a turn, which may be the one behind the last, has the words."""
    return _seen(runs_saying(session, phrase).hits, phrase, turn, prompt)


def seen_in_sides(
    *, session: Session, phrase: Phrase, turn: int, sides: tuple[Side, Side]
) -> tuple[SeenWords | None, SeenWords | None]:
    """Return the same of two prompts, None of one that was not built."""
    said = runs_saying(session, phrase).hits
    a, b = (None if side.sent is None else _seen(said, phrase, turn, side.sent) for side in sides)
    return a, b


def _seen(said: tuple[Hit, ...], phrase: Phrase, turn: int, prompt: Prompt) -> SeenWords:
    hit = next((hit for hit in reversed(said) if hit.position < turn), None)
    sight = sight_in(prompt, phrase, hit)
    is_asked = any(segment.part is Part.QUERY and says(segment, phrase) for segment in prompt.segments)
    (interval,) = intervals_of([asked_anew(sight) if is_asked else sight], first=turn)
    (words,) = told([interval], said[0].position if said else None)
    return SeenWords(interval, words, blamed(sight.why, prompt.settings))
