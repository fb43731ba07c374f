"""The calls that the tune page shows to be copied, run as they stand there."""

import json
import os
import re
import shutil
import subprocess
import sys
from html import unescape
from urllib.parse import urlsplit

import pytest

from sessions_app.domain.memory_settings import stored_values
from sessions_app.services.keys import create_api_key
from sessions_app.services.profiles import save_new_profile
from sessions_app.services.prompts import effective_settings
from sessions_app.services.sessions import update_session
from tests.factories import NOW, make_session

pytestmark = pytest.mark.django_db(transaction=True)

ID = "a~b+c@d:e=1.-_"
TOOLS = [{"type": "function", "function": {"name": "search", "parameters": {"properties": {"q": {"type": "string"}}}}}]
BASE = [{"role": "user", "content": 'Before $HOME, `id` and "quotes" — it\'s 100 %\\n!'}]
NASTY = "What's $(date) `id` \\ \"x\" 'y' %20 😀 \u2028 end?\nNext line"
ASKED: dict[str, dict[str, str | list[str]]] = {
    "nothing": {},
    "a draft": {"strategy": "buffer", "max_runs": "3", "autoprune": "true", "max_input_tokens": "unlimited"},
    "texts": {"query": NASTY, "context": ["One fact's text.", NASTY], "instructions": NASTY},
    "tools": {"tools": json.dumps(TOOLS), "format": "anthropic", "shorten": "true"},
    "base": {"base": json.dumps(BASE), "index": "-1", "format": "openai"},
    "a past turn": {"at": "5", "last_n": "2"},
    "a past turn as it was": {"at": "7", "side": "a"},
    "text": {"format": "text"},
    "a profile": {"a": "profile", "side": "a", "last_n": "9"},
    "a profile at a past turn": {"a": "profile", "side": "a", "at": "6"},
}


@pytest.fixture
def session(project):
    session = make_session(project, ID, runs=9, instructions="Be brief.", settings={"offset": 3})
    update_session(session=session, changes={"settings": {"strategy": "buffer", "last_n": 6}}, now=NOW)
    return session


@pytest.fixture
def shown(client, session, live_server, request):
    """Return the page as the address of the server that answers gives it."""
    texts = {**ASKED[request.param]}
    if "a" in texts:
        values = stored_values(effective_settings(session=session, overrides={"max_runs": 2}).values)
        profile = save_new_profile(project=session.project, name="Two", settings=values, actor="", now=NOW)
        texts["a"] = f"profile:{profile.pk}"
    host = urlsplit(live_server.url).netloc
    answer = client.get(f"/p/p/sessions/{session.public_id}/tune/", texts, headers={"host": host})
    assert answer.status_code == 200
    return answer.content.decode()


def text(shown, name):
    return unescape(re.search(rf'<pre id="{name}"[^>]*>(.*?)</pre>', shown, re.DOTALL).group(1))


def run(command, project, **options):
    _, key = create_api_key(project=project, name="bot", scopes=["read"])
    done = subprocess.run(
        command,
        check=False,
        env={**os.environ, "CONVOWEB_KEY": key},
        capture_output=True,
        text=True,
        timeout=60,
        **options,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_same(answer, shown):
    """What answers is the prompt on the page: by its fingerprint, and by what is sent, where that is shown as JSON."""
    assert re.search(r'<code class="finger" title="([^"]+)"', shown).group(1) == answer["fingerprint"]
    sent = json.loads(text(shown, "as-json"))
    assert {name: answer[name] for name in sent.keys() - {"tools"}} == {
        name: value for name, value in sent.items() if name != "tools"
    }
    assert "messages" in sent or "text" in sent


@pytest.mark.skipif(shutil.which("curl") is None, reason="NOT RUN: curl is missing; apt-get install curl")
@pytest.mark.parametrize("shown", ASKED, indirect=True)
def test_the_command_answers_with_the_prompt_of_the_page(shown, project):
    check_same(run(["sh", "-c", text(shown, "as-curl")], project), shown)


@pytest.mark.parametrize("shown", ASKED, indirect=True)
def test_the_program_answers_with_the_prompt_of_the_page(shown, project):
    check_same(run([sys.executable, "-I", "-c", text(shown, "as-python")], project), shown)


@pytest.mark.parametrize("shown", ["texts"], indirect=True)
def test_the_texts_can_be_selected_without_a_script(shown):
    for name in ("as-json", "as-curl", "as-python"):
        assert "hidden" not in re.search(rf'<pre id="{name}"[^>]*>', shown).group(0)
    assert 'popovertarget="copy-p"' in shown
    assert "CONVOWEB_KEY" in text(shown, "as-curl")


@pytest.mark.skipif(shutil.which("curl") is None, reason="NOT RUN: curl is missing; apt-get install curl")
def test_the_page_of_a_past_turn_shows_them_too(client, session, project, live_server):
    host = urlsplit(live_server.url).netloc
    shown = client.get(f"/p/p/sessions/{session.public_id}/then/?at=5", headers={"host": host}).content.decode()
    answer = run(["sh", "-c", text(shown, "as-curl")], project)
    assert answer["at"]["turn"] == 5
    assert json.loads(text(shown, "as-json")) == {"messages": answer["messages"]}
