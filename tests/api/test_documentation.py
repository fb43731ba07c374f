"""The guide to the API says what is so: everything on its page is run."""

import json
import re
import textwrap
from pathlib import Path

import pytest

from sessions_app.models import Run
from sessions_app.services.keys import create_api_key
from tests.factories import make_project

GUIDE = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
FENCED = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
BLOCKS = [(kind, textwrap.dedent(text)) for _, kind, text in FENCED.findall(GUIDE)]


def check_within(expected, found):
    """Everything that the page shows of an answer is in it."""
    if isinstance(expected, dict):
        for name, value in expected.items():
            check_within(value, found[name])
    elif isinstance(expected, list):
        assert len(expected) == len(found)
        for item, other in zip(expected, found, strict=True):
            check_within(item, other)
    else:
        assert expected == found


@pytest.mark.django_db
def test_every_exchange_goes_as_it_is_shown(bot):
    exchanges = [text for kind, text in BLOCKS if kind == "http"]
    assert len(exchanges) == 33
    for text in exchanges:
        asked, answered = text.split("\n\n", 1)
        line, _, body = asked.partition("\n")
        method, path = line.split()
        status, _, expected = answered.partition("\n")

        answer = bot.call(method, path, json.loads(body) if body else None)

        assert answer.status_code == int(status), (line, answer.content)
        check_within(json.loads(expected), answer.json())


@pytest.mark.django_db(transaction=True)
def test_the_bot_replies(live_server):
    (program,) = [text for kind, text in BLOCKS if kind == "python"]
    asked = []

    def ask_model(model, messages):
        asked.append(messages)
        return f"answer {len(asked)}"

    _, key = create_api_key(project=make_project(), name="bot", scopes=["read", "write"])
    names = {"KEY": key, "SERVER": live_server.url, "ask_model": ask_model}
    exec(program, names)

    assert [names["reply"]("thread-1", question) for question in ("One?", "Two?")] == ["answer 1", "answer 2"]
    assert [message["content"] for message in asked[1]] == ["Answer in one sentence.", "One?", "answer 1", "Two?"]
    assert all(run.prompt_fingerprint.startswith("sha256:") for run in Run.objects.all())
