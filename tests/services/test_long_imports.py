"""A long conversation comes in at once and is summarized by a model with a small window, batch by batch."""

import json

import pytest
import tiktoken
from django.contrib.auth import get_user_model
from django.core.files.base import ContentFile

from sessions_app import tasks
from sessions_app.models import Session
from sessions_app.services.import_files import start_import
from tests.factories import NOW
from tests.scripted_endpoint import Text
from tests.services.summarizing import choose_model, given_runs

pytestmark = pytest.mark.django_db

WINDOW = 4_096
RUNS = 5_000
# One that is larger than the window.
LARGE = 2_500
OFFSET = 6


@pytest.fixture
def work(model_project, settings, tmp_path):
    """The upload of one conversation."""
    settings.DATA_DIR = tmp_path
    choose_model(model_project, context_window=WINDOW)
    model_project.settings = {"summarize_at": 0, "offset": OFFSET}
    model_project.save()
    messages = [message for run in range(1, RUNS + 1) for message in turn(run)]
    row = json.dumps({"id": "long", "messages": messages}).encode()
    user = get_user_model().objects.create_user("reader")
    return start_import(project=model_project, user=user, file=ContentFile(row, "long.jsonl"), now=NOW)


def turn(run):
    answer = "The tide comes in at noon, and the ferry leaves then. " * (600 if run == LARGE else 1)
    return [{"role": "user", "content": f"Question {run}?"}, {"role": "assistant", "content": answer}]


def needed(asked):
    """Tokens that a request needs in the window, and at most its answer: 3 a message, 3 a prompt, roles, texts."""
    encode = tiktoken.get_encoding("o200k_base").encode
    texts = [text for message in asked.body["messages"] for text in (message["role"], message["content"])]
    most = asked.body.get("max_completion_tokens") or asked.body["max_tokens"]
    return 3 + 3 * len(asked.body["messages"]) + sum(len(encode(text)) for text in texts) + most


def test_5000_imported_runs_are_summarized_within_a_window_of_4096_tokens(work, endpoint):
    # A little longer than the 512 tokens that a summary may have.
    endpoint.otherwise = Text("The tide was asked for, and the ferry. " * 60)
    tasks.run_import(work.pk)
    session = Session.objects.get(last_position=RUNS)
    tasks.summarize(session.pk)

    requests = endpoint.asked
    assert max(needed(asked) for asked in requests) <= WINDOW
    given = [each for asked in requests for each in given_runs(asked)]
    whole = [int(run) for run, part, _ in given if not part]
    assert whole == [run for run in range(1, RUNS - OFFSET + 1) if run != LARGE]
    parts = [int(part) for _, part, _ in given if part]
    assert len(parts) > 1
    assert parts == list(range(1, len(parts) + 1))
    session.refresh_from_db()
    entries = list(session.summaries.order_by("number"))
    assert {entry.status for entry in entries} == {"completed"}
    assert session.summary.covers_through == RUNS - OFFSET
    assert session.summary_wanted_at is None
    # Batches, neither run by run nor more calls than the window needs by far.
    assert len(requests) < RUNS / 20
    print(
        f"{len(requests)} requests, at most {max(needed(asked) for asked in requests)} tokens, {len(entries)} entries"
    )
