"""What tests of summarizing share: a summarizer by a script, and stepping until there is nothing to do."""

import json
import re
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from sessions_app.domain.plan import Fate
from sessions_app.domain.summaries import Summarized
from sessions_app.models import ProjectSummarizer
from sessions_app.services.prompts import session_prompt
from sessions_app.services.summaries import Outcome, advance
from tests.factories import NOW

CASES = Path(__file__).parent.parent / "data" / "cases"
KEY = "sk-27182818284590452353602874713527"
AT_ONCE = {"summarize_at": 0, "max_input_tokens": 4000}


class Scripted:
    """A summarizer that records what it was given and answers by a script: a text, an error, or by itself.

    What else stands in the script is called first: what happens meanwhile.
    """

    def __init__(self, *script):
        self.script = list(script)
        self.calls = []

    def __call__(self, request):
        self.calls.append((request.previous, [run.position for run in request.runs]))
        answer = self.script.pop(0) if self.script else None
        if callable(answer):
            answer = answer()
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            return answer
        before = request.previous.removeprefix("S[").removesuffix("]")
        return "S[" + ",".join(filter(None, [before, *(str(run.position) for run in request.runs)])) + "]"


def by_request(answer):
    """Make a summarizer, as it stands in the table of them, of a function from the request to a text."""
    return lambda *, request, **_: Summarized(answer(request))


def advance_all(session, now=NOW):
    """Step until there is nothing to do, a second apart; return the outcomes."""
    outcomes = []
    for second in range(1, 100):
        outcomes.append(advance(session_pk=session.pk, now=now + timedelta(seconds=second)))
        if outcomes[-1] is not Outcome.ADVANCED:
            break
    session.refresh_from_db()
    return outcomes


def sent(session, **overrides):
    """What the prompt holds: its summary's text and the positions of the runs word for word."""
    prompt = session_prompt(session=session, overrides=overrides)
    kept = [p for fates in prompt.fates if fates.fate is Fate.KEPT for p in range(fates.first, fates.last + 1)]
    text = json.dumps(prompt.messages)
    assert [n for n in range(1, session.last_position + 1) if f'"question {n}"' in text] == kept
    return kept


def choose_model(project, **columns):
    """Let the project use the endpoint; its own price is one dollar a million tokens that are read, two written."""
    chosen = {"name": "openai", "endpoint": "local", "model": "gpt-4.1-mini", "timeout_seconds": 2}
    chosen |= {"input_price": Decimal(1), "output_price": Decimal(2)} | columns
    ProjectSummarizer.objects.update_or_create(project=project, defaults=chosen)


def given_runs(asked):
    """The runs and parts of runs that a request gives, by their headings."""
    return re.findall(r"^## Run (\d+)(?:, part (\d+) of (\d+))?$", asked.text, re.MULTILINE)


def pause_from(session, moment):
    """The seconds from a moment until a session's next attempt, which begin when the one before has ended."""
    return round((session.next_attempt_at - moment).total_seconds())


def newest_entry(session):
    return session.summaries.order_by("number").last()
