"""Models: what is known of them, and what a project says itself."""

from urllib.parse import quote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from genai_prices import Usage, calc_price

from sessions_app.models import ModelOverride
from tests.factories import make_project, make_session

pytestmark = pytest.mark.django_db

BUILT_IN = {"from": "built-in", "tiers": []}
SAID = {"context_window": 20_000, "input_price": "0.350000"}


def at(name):
    return f"/models/{quote(name, safe='')}"


def test_it_shows_encoding_window_and_prices(bot):
    model = bot.get("/models/gpt-4.1-mini").json()

    assert model == {
        "name": "gpt-4.1-mini",
        "encoding": "o200k_base",
        "margin": 1.0,
        "context_window": {"value": 1_047_576, "from": "built-in"},
        "input_price": {"value": "0.4", **BUILT_IN},
        "cached_input_price": {"value": "0.1", **BUILT_IN},
        "output_price": {"value": "1.6", **BUILT_IN},
    }


def test_it_shows_the_tiers_of_a_price(bot):
    (tier,) = bot.get("/models/claude-sonnet-4-5").json()["input_price"]["tiers"]

    dear = calc_price(Usage(input_tokens=1_000_000), "claude-sonnet-4-5", provider_id="anthropic").total_price
    assert (tier["above"], tier["value"]) == (200_000, f"{dear.normalize():f}")


def test_the_list_goes_through_all_names_once_and_in_order(bot):
    bot.put(at("zz/own"), SAID)
    bot.put(at("gpt-4o"), SAID)

    names = [model["name"] for page in bot.pages("/models?limit=200") for model in page["items"]]

    assert len(names) > 1_500
    assert names == sorted(set(names))
    assert {"zz/own", "gpt-4o", "gpt-4.1-mini", "claude-sonnet-4-5"} <= set(names)


def test_pages_are_as_long_as_asked_for_and_what_is_said_stands_where_its_name_does(bot):
    for name in ("gpt-4.1-a", "gpt-4.1-b", "gpt-4.1-mini", "gpt-4.1-z"):
        bot.put(at(name), SAID)

    pages = list(bot.pages("/models?q=GPT-4.1-&limit=2"))

    shown = [(model["name"], model["context_window"]["from"]) for page in pages for model in page["items"]]
    assert all(len(page["items"]) == 2 for page in pages[:-1])
    assert shown == sorted(shown)
    assert {name for name, origin in shown if origin == "project"} == {
        "gpt-4.1-a",
        "gpt-4.1-b",
        "gpt-4.1-mini",
        "gpt-4.1-z",
    }
    assert ("gpt-4.1-nano", "built-in") in shown
    assert all("gpt-4.1-" in name for name, _ in shown)


def test_the_list_costs_the_same_whatever_it_shows(bot):
    def queries(limit):
        with CaptureQueriesContext(connection) as captured:
            assert len(bot.get(f"/models?q=-own&limit={limit}").json()["items"]) == limit
        return len(captured)

    for n in range(20):
        bot.put(at(f"{n}-own"), SAID)
    bot.get("/models")

    assert queries(1) == queries(20)


@pytest.mark.parametrize("query", ["cursor=x", "limit=0", "limit=201", "name=x"])
def test_the_list_refuses_what_it_does_not_know(bot, query):
    assert bot.get(f"/models?{query}").status_code == 422


def test_each_value_of_the_project_wins_by_itself(bot):
    answer = bot.put("/models/gpt-4.1-mini", SAID)

    model = answer.json()
    assert answer.status_code == 200
    assert model["context_window"] == {"value": 20_000, "from": "project"}
    assert model["input_price"] == {"value": "0.35", "tiers": [], "from": "project"}
    assert model["output_price"] == {"value": "1.6", **BUILT_IN}
    assert bot.get("/models/gpt-4.1-mini").json() == model
    assert bot.get("/models?q=gpt-4.1-mini&limit=1").json()["items"] == [model]


def test_a_put_replaces_what_was_said_before(bot):
    bot.put("/models/gpt-4.1-mini", SAID)

    model = bot.put("/models/gpt-4.1-mini", {"output_price": "0"}).json()

    assert (model["context_window"]["value"], model["context_window"]["from"]) == (1_047_576, "built-in")
    assert (model["output_price"]["value"], model["output_price"]["from"]) == ("0", "project")


def test_a_model_that_no_table_knows_is_known_once_something_is_said_of_it(bot):
    assert bot.get(at("house/model:8b")).status_code == 404

    model = bot.put(at("house/model:8b"), {"context_window": 32_768}).json()

    assert (model["name"], model["encoding"], model["margin"]) == ("house/model:8b", "o200k_base", 1.3)
    assert model["context_window"] == {"value": 32_768, "from": "project"}
    assert model["input_price"] == {"value": None, **BUILT_IN}


@pytest.mark.parametrize("name", ["org/model:tag", "a b", "модель", "100%", "what?", "a#b", "x" * 200])
def test_any_name_that_is_accepted_can_be_addressed(bot, name):
    assert bot.put(at(name), SAID).json()["name"] == name
    assert bot.get(at(name)).json()["name"] == name
    assert bot.delete(at(name)).status_code == 204
    assert bot.get(at(name)).status_code == 404


def test_slashes_need_not_be_encoded(bot):
    assert bot.put("/models/org/model:tag", SAID).json()["name"] == "org/model:tag"


@pytest.mark.parametrize("name", ["a//b", " a", "a/", "...", "x" * 201, "a\0b", "a\tb"])
def test_another_name_is_refused_and_leads_nowhere(bot, name):
    refused = bot.put(at(name), SAID)

    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/name")
    assert bot.get(at(name)).status_code == bot.delete(at(name)).status_code == 404


def test_deleting_brings_the_tables_back(bot):
    before = bot.get("/models/gpt-4.1-mini").json()
    bot.put("/models/gpt-4.1-mini", SAID)

    assert bot.delete("/models/gpt-4.1-mini").status_code == 204

    assert bot.get("/models/gpt-4.1-mini").json() == before
    assert bot.delete("/models/gpt-4.1-mini").status_code == 404


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, ""),
        ({"input_price": None}, ""),
        ({"context_window": 0}, "/context_window"),
        ({"context_window": 2**31}, "/context_window"),
        ({"context_window": "5"}, "/context_window"),
        ({"context_window": True}, "/context_window"),
        ({"input_price": 0.4}, "/input_price"),
        ({"input_price": "-1"}, "/input_price"),
        ({"input_price": "NaN"}, "/input_price"),
        ({"input_price": "1e3"}, "/input_price"),
        ({"input_price": "٣"}, "/input_price"),
        ({"cached_input_price": "0.0000001"}, "/cached_input_price"),
        ({"output_price": "1000000"}, "/output_price"),
        ({"encoding": "cl100k_base"}, "/encoding"),
    ],
)
def test_it_names_the_bad_field(bot, body, pointer):
    answer = bot.put("/models/gpt-4.1-mini", body)

    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)
    assert not ModelOverride.objects.exists()


@pytest.mark.parametrize("price", ["0", "0.000001", "999999.999999", "0.1", "123.456"])
def test_a_price_comes_back_as_it_was_given(bot, price):
    bot.put("/models/gpt-4.1-mini", {"input_price": price})

    assert bot.get("/models/gpt-4.1-mini").json()["input_price"]["value"] == price


def test_a_window_holds_for_the_next_prompt(bot, project):
    make_session(project, "s", runs=3)

    def budget():
        return bot.post("/sessions/s/prompt", {"settings": {"model": "house/model"}}).json()["tokens"]["budget"]

    bot.put("/models/house/model", {"context_window": 9_000})
    assert budget() == 9_000 - 1_024
    bot.put("/models/house/model", {"context_window": 8_000})
    assert budget() == 8_000 - 1_024

    bot.delete("/models/house/model")
    refused = bot.post("/sessions/s/prompt", {"settings": {"model": "house/model"}})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "/settings/max_input_tokens")


def test_what_a_project_says_is_its_own(bot, make_bot):
    bot.put("/models/gpt-4.1-mini", SAID)
    bot.put("/models/house", SAID)

    stranger = make_bot(make_project("other"))

    assert stranger.get("/models/gpt-4.1-mini").json()["context_window"]["from"] == "built-in"
    assert stranger.get("/models?q=house").json()["items"] == []
    assert stranger.get("/models/house").status_code == stranger.delete("/models/house").status_code == 404


def test_reading_needs_read_and_saying_needs_admin(project, make_bot):
    reader, writer = make_bot(project, "read"), make_bot(project, "write")

    assert [reader.get(path).status_code for path in ("/models", "/models/gpt-4o")] == [200, 200]
    assert reader.put("/models/gpt-4o", SAID).status_code == writer.put("/models/gpt-4o", SAID).status_code == 403
    assert writer.delete("/models/gpt-4o").status_code == writer.get("/models").status_code == 403
