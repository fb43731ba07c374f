"""A real worker and a model endpoint that its environment lists."""

from sessions_app.models import ProjectSummarizer
from tests.factories import make_session
from tests.scripted_endpoint import ScriptedEndpoint, Text
from tests.tasks.conftest import wait_until

KEY = "sk-16180339887498948482045868343656"


def test_a_worker_asks_the_endpoint_and_logs_neither_its_key_nor_what_was_said(workers):
    session = make_session(runs=9, settings={"summarize_at": 0, "max_input_tokens": 4000, "offset": 2})
    chosen = {"name": "openai", "endpoint": "my-own", "model": "gpt-4.1-mini"}
    ProjectSummarizer.objects.create(project=session.project, **chosen)
    with ScriptedEndpoint(otherwise=Text("They counted to seven.")) as endpoint:
        workers.environment |= {
            "CONVOWEB_ENDPOINTS": f"my-own={endpoint.url}",
            "CONVOWEB_ENDPOINT_KEY_MY_OWN": KEY,
            "CONVOWEB_LOG_LEVEL": "DEBUG",
        }
        workers.start()
        wait_until(lambda: session.summaries.filter(status="completed").exists(), workers)
    entry = session.summaries.get()
    assert (entry.text, entry.covers_through, entry.model) == ("They counted to seven.", 7, "gpt-4.1-mini")
    (asked,) = endpoint.asked
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert "    question 7\n" in asked.text
    assert KEY not in workers.logs()
    assert "question 7" not in workers.logs()
