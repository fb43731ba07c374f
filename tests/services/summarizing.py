"""What tests of summarizing share: a summarizer by a script, and stepping until there is nothing to do."""

import json
from datetime import timedelta
from pathlib import Path

from sessions_app.domain.plan import Fate
from sessions_app.domain.summaries import Summarized
from sessions_app.services.prompts import session_prompt
from sessions_app.services.summaries import Outcome, advance
from tests.factories import NOW

CASES = Path(__file__).parent.parent / "data" / "cases"
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
