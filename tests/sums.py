"""Whether the tokens kept with sessions and runs are what a recount of all that is stored gives."""

from sessions_app.domain.prompt_formats import openai
from sessions_app.domain.tokens import STORED_COUNTER
from sessions_app.domain.transcript import RunStatus
from sessions_app.models import Session, lineage_runs
from tests.domain.recount import count_message


def assert_sums(session):
    """Recount each run of the lineage; positions must be gapless."""
    session = Session.objects.get(pk=session.pk)
    runs = list(lineage_runs(session).with_events().order_by("position"))
    assert [run.position for run in runs] == list(range(1, session.last_position + 1))
    before = 0
    for run in runs:
        assert (run.tokens_before_o200k, run.tokens_o200k) == (before, recounted(run))
        kinds = {event.kind for event in run.events.all()} - {"message", "tool_call"}
        assert run.other_kinds == " ".join(sorted(kinds))
        before += run.tokens_o200k
    assert session.lineage_tokens == before
    assert session.tokens_o200k == sum(run.tokens_o200k for run in runs if run.session_id == session.pk)


def recounted(run):
    """What a run needs when it is sent; while it is open, the sum of its events."""
    if RunStatus(run.status).is_open:
        return sum(event.tokens_o200k for event in run.events.all())
    pieces = openai.render_run(run.to_value(), STORED_COUNTER)
    return sum(count_message(piece.message, "o200k_base") for piece in pieces)
