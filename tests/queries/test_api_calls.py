import json
import os
import subprocess
import sys

import pytest

from sessions_app.queries.api_calls import prompt_call
from sessions_app.services.keys import create_api_key
from sessions_app.services.prompts import session_prompt
from tests.factories import make_project, make_session

SETTINGS = {"strategy": "buffer", "autoprune": False, "max_runs": 3, "summarize_at": 0.5}
QUERY = """It's "mine" $HOME `id` \\ 'é'"""


@pytest.fixture
def asked(transactional_db, live_server):
    project = make_project()
    session = make_session(project, "thread:42", runs=5, instructions="Be brief.")
    _, key = create_api_key(project=project, name="test", scopes=["read"])
    url = f"{live_server.url}/api/v1/sessions/thread%3A42/prompt"
    call = prompt_call(url=url, settings=SETTINGS, query=QUERY)
    return call, os.environ | {"CONVOWEB_KEY": key}, session_prompt(session=session, overrides=SETTINGS, query=QUERY)


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
    assert "-d '{}'" in prompt_call(url="http://localhost/", settings={}, query="").curl
