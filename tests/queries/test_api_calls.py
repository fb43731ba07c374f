import json
import os
import subprocess
import sys

import pytest

from sessions_app.domain.request_draft import read_request
from sessions_app.queries.api_calls import prompt_call, sent_json
from sessions_app.services.keys import create_api_key
from sessions_app.services.prompts import session_prompt
from tests.factories import make_project, make_session

SETTINGS = {"strategy": "buffer", "autoprune": False, "max_runs": 3, "summarize_at": 0.5}
QUERY = """It's "mine" $HOME `id` \\ 'é'"""
ASKED = {
    "query": [QUERY],
    "context": ["A fact.", "'Another' one.\n\nAnd more."],
    "tools": ['[{"type": "function", "function": {"name": "search", "strict": true, "description": null}}]'],
    "instructions": ["Answer in French."],
    "shorten": ["true"],
    "at": ["4"],
    "base": ['[{"role": "user", "content": "Before."}, {"role": "assistant", "content": "Yes."}]'],
    "index": ["-1"],
}


@pytest.fixture
def asked(transactional_db, live_server):
    project = make_project()
    session = make_session(project, "thread:42", runs=5, instructions="Be brief.")
    _, key = create_api_key(project=project, name="test", scopes=["read"])
    url = f"{live_server.url}/api/v1/sessions/thread%3A42/prompt"
    draft = read_request(ASKED)
    assert not draft.errors
    call = prompt_call(url=url, settings=SETTINGS, asked=draft)
    prompt = session_prompt(session=session, overrides=SETTINGS, **draft.arguments)
    return call, os.environ | {"CONVOWEB_KEY": key}, prompt


def test_the_pasted_curl_call_answers_with_the_prompt_of_the_page(asked):
    call, environment, prompt = asked
    if subprocess.run(["which", "curl"], capture_output=True, check=False).returncode:
        pytest.skip("NOT RUN: curl is not installed")
    answer = subprocess.run(["bash", "-c", call.curl], env=environment, capture_output=True, check=True)
    assert json.loads(answer.stdout)["fingerprint"] == prompt.fingerprint


def test_the_pasted_python_call_answers_with_the_prompt_of_the_page(asked):
    call, environment, prompt = asked
    answer = subprocess.run([sys.executable, "-c", call.python], env=environment, capture_output=True, check=True)
    assert json.loads(answer.stdout)["fingerprint"] == prompt.fingerprint
    assert json.loads(answer.stdout)["messages"] == json.loads(json.dumps(prompt.messages))


def test_a_call_without_changes_has_an_empty_body():
    assert "-d '{}'" in prompt_call(url="http://localhost/", settings={}, asked=read_request({})).curl


@pytest.mark.django_db
def test_what_is_sent_is_written_with_its_tools_and_nothing_that_is_too_long_for_a_page():
    session = make_session(runs=1, instructions="Be brief.")
    draft = read_request({"tools": ASKED["tools"]})
    prompt = session_prompt(session=session, overrides={"format": "anthropic"}, **draft.arguments)
    assert json.loads(sent_json(prompt, draft)) == {
        "system": "Be brief.",
        "messages": json.loads(json.dumps(prompt.messages)),
        "tools": draft.arguments["tools"],
    }
    long = session_prompt(session=session, query="word " * 20_000)
    assert sent_json(long, draft) == ""
