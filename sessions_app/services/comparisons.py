"""What other settings would change in a session's prompt."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sessions_app.domain.comparison import Difference, difference
from sessions_app.domain.errors import settings_at
from sessions_app.domain.plan import Prompt
from sessions_app.models import Session
from sessions_app.services.prompts import as_stored, session_prompt


@dataclass(frozen=True, slots=True)
class Comparison:
    """A session's prompt under two settings, and in what they differ."""

    a: Prompt
    b: Prompt
    difference: Difference


def compare_prompts(
    *,
    session: Session,
    a: Mapping[str, Any],
    b: Mapping[str, Any],
    now: datetime,
    query: str | None = None,
    at: int | None = None,
) -> Comparison:
    """Build the session's prompt twice, from one state, each time with sparse settings over those that are saved.

    A refusal's pointers say which of the two settings it is about.
    """
    with as_stored(session) as stored:
        with settings_at("/a"):
            one = session_prompt(session=stored, overrides=a, query=query, at=at, as_saved=True)
        with settings_at("/b"):
            other = session_prompt(session=stored, overrides=b, query=query, at=at, as_saved=True)
    return Comparison(one, other, difference(one, other, now=now))
