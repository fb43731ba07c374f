"""The OpenAPI document: what it says, and what holds for every operation in it."""

import re
from functools import cache

import pytest

from convoweb.api import api
from sessions_app.domain.language_models import ModelFacts
from sessions_app.domain.memory_settings import SETTINGS
from sessions_app.models import Import, Summary
from sessions_app.services.model_overrides import set_model_override
from tests.factories import NOW, make_open_run, make_project, make_session

pytestmark = pytest.mark.django_db
BODIES = {
    "runs_append": {"input": "a"},
    "runs_append_batch": {"runs": [{"input": "a"}]},
    "run_events_add": {"role": "assistant", "content": "a"},
    "sessions_fork": {"at": 0},
    "profiles_patch_profile": {"name": "a"},
    "prompts_compare": {"b": {}},
    "summaries_roll_back": {"to": "sum_0"},
    "settings_versions_restore_session": {"to": 0},
}


@cache
def document():
    return api.get_openapi_schema(path_prefix="")


def operations():
    return [
        (method.upper(), path, operation)
        for path, methods in document()["paths"].items()
        for method, operation in methods.items()
    ]


def named(operation_list):
    return [pytest.param(*each, id=f"{each[0]} {each[1]}") for each in operation_list]


@pytest.mark.parametrize(("method", "path", "operation"), named(operations()))
def test_each_operation_is_called_by_what_it_does(method, path, operation):
    assert operation["description"].startswith(operation["summary"] + ".")
    assert len(operation["summary"].split()) >= 2


NEEDING_KEY = [each for each in operations() if "security" in each[2]]
# A PUT in another project is about an id, or a name, of that project itself.
NAMING_THINGS = [each for each in NEEDING_KEY if "{" in each[1] and each[0] != "PUT"]


def test_it_is_served_with_its_pages(anyone):
    assert anyone.get("/openapi.json").json()["info"]["title"] == "convoweb"
    page = anyone.get("/docs").content.decode()
    assert not re.findall(r"""(?:src|href)=["'](?:https?:)?//""", page)
    assert not re.findall(r"<script>[^<]", page)


def test_only_what_exists_is_in_it():
    assert {path for _, path, _ in operations()} == {
        "/sessions",
        "/sessions/{session_id}",
        "/sessions/{session_id}/settings/versions",
        "/sessions/{session_id}/settings/restore",
        "/sessions/{session_id}/export",
        "/sessions/{session_id}/tree",
        "/sessions/{session_id}/usage",
        "/sessions/{session_id}/fork",
        "/sessions/{session_id}/runs",
        "/sessions/{session_id}/runs/batch",
        "/sessions/{session_id}/prompt",
        "/sessions/{session_id}/prompt/compare",
        "/sessions/{session_id}/replay",
        "/sessions/{session_id}/facts",
        "/sessions/{session_id}/summaries",
        "/sessions/{session_id}/summaries/rollback",
        "/sessions/{session_id}/summaries/resume",
        "/summaries/{summary_id}",
        "/summaries/{summary_id}/retry",
        "/summaries/{summary_id}/cancel",
        "/summaries/{summary_id}/text",
        "/runs/{run_id}",
        "/runs/{run_id}/events",
        "/events/{event_id}",
        "/imports",
        "/imports/{import_id}",
        "/project",
        "/profiles",
        "/profiles/{name}",
        "/project/settings/versions",
        "/project/settings/restore",
        "/models",
        "/models/{name}",
        "/health/live",
        "/health/ready",
    }


def test_its_settings_are_those_of_the_domain():
    settings = document()["components"]["schemas"]["PromptIn"]["properties"]["settings"]["anyOf"][0]

    assert list(settings["properties"]) == [*(setting.name for setting in SETTINGS), "profile"]
    assert settings["additionalProperties"] is False
    assert settings["properties"]["max_runs"]["anyOf"] == [
        {"maximum": 2147483647, "minimum": 1, "type": "integer"},
        {"const": "unlimited", "type": "string"},
        {"type": "null"},
    ]


def test_every_operation_has_a_word_on_what_it_does():
    assert all(operation["description"] for _, _, operation in operations())


@pytest.mark.parametrize(("method", "path", "operation"), named(operations()))
def test_only_health_answers_without_a_key(anyone, method, path, operation):
    answer = anyone.call(method, re.sub(r"{\w+}", "x", path), None if method == "GET" else {})

    assert answer.status_code == (200 if path.startswith("/health/") else 401)


@pytest.mark.parametrize(("method", "path", "operation"), named(NAMING_THINGS))
def test_nothing_of_another_project_can_be_reached(make_bot, method, path, operation):
    mine = make_session(make_project("mine"), "mine")
    run = make_open_run(mine)
    facts = ModelFacts(context_window=9_000)
    set_model_override(project=mine.project, name="mine/model", facts=facts, now=NOW)
    summary = Summary.objects.create(session=mine, number=1, covers_through=1, created_at=NOW)
    work = Import.objects.create(project=mine.project, file_name="x", size=1, created_at=NOW)
    ids = {
        "session_id": "mine",
        "run_id": run.public_id,
        "event_id": run.events.get().public_id,
        "summary_id": summary.public_id,
        "import_id": work.public_id,
        "name": "mine/model",
    }
    before = make_bot(mine.project).get("/sessions/mine").content
    body = BODIES.get(operation["operationId"], {})

    stranger = make_bot(make_project("other"))
    theirs = stranger.call(method, path.format(**ids), None if method == "GET" else body)
    nothing = stranger.call(
        method,
        path.format(
            session_id="none", run_id="none", event_id="evt_0", summary_id="sum_0", import_id="imp_0", name="none"
        ),
        None if method == "GET" else body,
    )

    assert (theirs.status_code, theirs.content) == (404, nothing.content)
    assert make_bot(mine.project).get("/sessions/mine").content == before


def test_a_put_in_another_project_makes_a_session_of_its_own(make_bot):
    mine = make_session(make_project("mine"), "same", title="Mine")

    answer = make_bot(make_project("other")).put("/sessions/same", {"title": "Theirs"})

    assert (answer.status_code, answer.json()["title"]) == (201, "Theirs")
    mine.refresh_from_db()
    assert mine.title == "Mine"


@pytest.mark.parametrize("field", ["parent_id", "filter"])
def test_lists_and_parents_stay_in_the_project(make_bot, field):
    make_session(make_project("mine"), "mine")
    stranger = make_bot(make_project("other"))

    if field == "parent_id":
        assert stranger.post("/sessions", {"parent_id": "mine"}).status_code == 422
    else:
        assert stranger.get("/sessions").json()["items"] == []
        assert stranger.get("/sessions?parent_id=mine").json()["items"] == []
