"""What a request asks for beside the settings, on the tune page."""

import json
import re
from dataclasses import replace
from urllib.parse import urlencode

import pytest
from django.utils.html import escape

from sessions_app.domain.openai_messages import simple_turn
from sessions_app.models import Run
from sessions_app.services.keys import create_api_key
from sessions_app.services.prompts import session_prompt
from sessions_app.services.runs import append_runs
from tests.factories import NOW, make_open_run, make_session

pytestmark = pytest.mark.django_db

PAGE = "/p/p/sessions/s/tune/"
RESULT = {"HX-Request": "true", "HX-Target": "result"}
TOOLS = [{"type": "function", "function": {"name": "search", "parameters": {"properties": {"q": {"type": "string"}}}}}]
BASE = [{"role": "system", "content": "Before."}, {"role": "user", "content": "And after?"}]
LONG = "A fact that goes on. " * 200


def page(client, texts, path=PAGE):
    response = client.get(path, texts)
    assert response.status_code == 200
    return response.content.decode()


def error(shown, name):
    return shown.split(f'id="e-{name}"')[1].split("</p>")[0]


def is_open(shown):
    return re.search(r'<details class="request"[^>]* open>', shown) is not None


@pytest.mark.parametrize(
    ("texts", "body"),
    [
        ({"context": ["A fact.", "Another."]}, {"context": ["A fact.", "Another."]}),
        ({"context": "Line\r\nfeed.", "query": "So?"}, {"context": ["Line\nfeed."], "query": "So?"}),
        ({"tools": json.dumps(TOOLS)}, {"tools": TOOLS}),
        ({"instructions": "Answer in French."}, {"instructions": "Answer in French."}),
        ({"shorten": "true", "max_input_tokens": "60"}, {"shorten": True, "settings": {"max_input_tokens": 60}}),
        ({"at": "5"}, {"at": 5}),
        ({"at": "5", "query": "And if not?"}, {"at": 5, "query": "And if not?"}),
        ({"base": json.dumps(BASE), "index": "1"}, {"base": {"messages": BASE, "index": 1}}),
        ({"base": json.dumps(BASE), "format": "text"}, {"base": {"messages": BASE}, "settings": {"format": "text"}}),
        (
            {"context": "A fact.", "tools": json.dumps(TOOLS), "format": "gemini", "strategy": "task"},
            {"context": ["A fact."], "tools": TOOLS, "settings": {"format": "gemini", "strategy": "task"}},
        ),
    ],
)
def test_the_page_shows_the_prompt_that_the_api_answers_with(client, project, texts, body):
    make_session(project, runs=9, instructions="Be brief.")
    _, key = create_api_key(project=project, name="test", scopes=["read"])
    answer = client.post(
        "/api/v1/sessions/s/prompt",
        json.dumps(body),
        content_type="application/json",
        headers={"Authorization": f"Bearer {key}"},
    ).json()
    posted = client.post(PAGE, texts, headers=RESULT).content.decode()
    for shown in (page(client, texts), posted):
        assert f'title="{answer["fingerprint"]}"' in shown
        assert f'<span class="num duel-n">{answer["tokens"]["total"]}</span>' in shown


def test_what_is_asked_is_folded_while_there_is_none(client, project):
    make_session(project, runs=2)
    assert not is_open(page(client, {"query": "hm"}))
    assert is_open(page(client, {"context": "A fact."}))
    assert not is_open(page(client, {"at": "1"}))
    assert is_open(page(client, {"at": "9"}))


def test_what_was_written_stands_in_its_field_again(client, project):
    make_session(project, runs=2)
    texts = {"context": ["\n<b>One</b>", "Two"], "tools": "[", "at": "1", "index": "x", "shorten": "true"}
    shown = page(client, texts)
    fields = re.findall(r'<textarea[^>]*name="context"[^>]*>\n(.*?)</textarea>', shown, re.DOTALL)
    assert fields == ["\n&lt;b&gt;One&lt;/b&gt;", "Two", ""]
    assert re.search(r'name="tools"[^>]*aria-invalid="true">\n\[</textarea>', shown)
    assert re.search(r'name="at"[^>]* value="1"', shown)
    assert re.search(r'name="shorten"[^>]* checked', shown)


@pytest.mark.parametrize(
    ("texts", "name", "said"),
    [
        ({"tools": '[\n  {"type": }]'}, "tools", "This is not JSON, line 2, column 12: Expecting value."),
        ({"tools": "[{}]"}, "tools", "tools/0/function/name: A tool is a function with a name of 1 to 64"),
        ({"base": '[{"role": "boss"}]'}, "base", "base/messages/0/role: The role is one of system, developer"),
        ({"base": json.dumps(BASE), "format": "gemini"}, "base", "A base goes with the formats openai and text"),
        ({"index": "2"}, "index", "An index says where among base messages"),
        ({"at": "10"}, "at", "at is a turn from 1 to 9; 10 was given."),
        ({"at": "soon"}, "at", "at is the number of a turn"),
    ],
)
def test_what_cannot_be_asked_is_told_at_its_field_and_in_the_place_of_the_prompt(client, project, texts, name, said):
    make_session(project, runs=9)
    shown = page(client, texts)
    assert escape(said) in error(shown, name)
    assert "Draft: no prompt" in shown
    assert "Draft: no prompt" in page(client, texts, PAGE + "why/")


def test_a_session_without_runs_has_no_past(client, project):
    make_session(project)
    assert "there are no runs" in error(page(client, {"at": "1"}), "at")


def test_a_posted_form_is_led_to_an_address_that_carries_what_is_asked(client, project):
    make_session(project, runs=2)
    form = {"query": "So?", "context": ["A fact.", ""], "tools": "", "at": " ", "max_runs": "2", "side": "a"}
    response = client.post(PAGE, form)
    assert response["Location"] == PAGE + "?max_runs=2&query=So%3F&context=A+fact.&side=a"
    assert client.post(PAGE, {"query": ""})["Location"] == PAGE


def test_what_is_too_long_for_an_address_is_shown_at_once_and_the_page_says_so(client, project):
    session = make_session(project, runs=2)
    form = {"query": "So?", "context": LONG, "tools": json.dumps(TOOLS)}
    response = client.post(PAGE, form)
    shown = response.content.decode()
    assert response.status_code == 200
    assert "Too long for an address: context." in shown
    assert (
        session_prompt(session=session, query="So?", context=[LONG.rstrip(" ") + " "], tools=TOOLS).fingerprint in shown
    )
    addresses = re.findall(r'href="([^"]*/tune/[^"]*\?[^"]*)"', shown)
    assert addresses
    assert not any("goes+on" in address for address in addresses)
    assert all("query=So" in address for address in addresses)


def test_swaps_tell_the_browser_only_what_fits_its_address(client, project):
    make_session(project, runs=2)
    response = client.post(PAGE, {"query": "So?", "context": LONG}, headers=RESULT)
    assert response["HX-Replace-Url"] == PAGE + "?query=So%3F"
    assert 'hx-include="#asked [name=context]"' in response.content.decode()
    why = client.post(PAGE + "why/?query=So%3F", {"context": LONG}, headers={"HX-Request": "true"})
    assert re.search(r'<textarea name="context" form="settings">\nA fact that goes on', why.content.decode())


def test_an_index_is_not_carried_without_its_messages(client, project):
    make_session(project, runs=2)
    base = json.dumps([{"role": "user", "content": LONG}])
    response = client.post(PAGE, {"base": base, "index": "0"}, headers=RESULT)
    assert response["HX-Replace-Url"] == PAGE
    assert "Too long for an address: index, base." in response.content.decode()


def test_one_more_field_comes_when_all_blocks_are_filled(client, project):
    make_session(project, runs=2)
    filled = client.post(PAGE, {"context": ["One", "Two"]}, headers=RESULT).content.decode()
    assert 'hx-swap-oob="beforeend:#context-blocks"><textarea class="textarea" id="i-context-3"' in filled
    enough = client.post(PAGE, {"context": ["One", ""]}, headers=RESULT).content.decode()
    assert "beforeend" not in enough


def test_the_past_says_what_it_is_built_from_and_whether_it_is_the_prompt_of_then(client, project):
    session = make_session(project, runs=4)
    assert "The bot reported no fingerprint." in page(client, {"at": "3"})
    Run.objects.filter(position=3).update(prompt_fingerprint=session_prompt(session=session, at=3).fingerprint)
    shown = page(client, {"at": "3"})
    assert "This is the past: turn 3," in shown
    assert "Built from runs 1–2, the input of run 3, with the settings of today" in shown
    assert "Same fingerprint as the bot reported" in shown
    assert "turn 3 of 4" in shown
    assert f'href="{PAGE}?at=2"' in shown
    assert f'href="{PAGE}?at=4"' in shown
    drafted = page(client, {"at": "3", "last_n": "1"})
    assert "with the settings of draft B" in drafted
    assert "Not the prompt of then" in drafted
    assert "with the settings of today" in page(client, {"at": "3", "last_n": "1", "side": "a"})
    assert "your query in place of the input of run 3" in page(client, {"at": "3", "query": "And if not?"})
    assert "no earlier run, the input of run 1" in page(client, {"at": "1"})
    assert "This is the past" not in page(client, {"at": "5"})


def test_why_shows_the_runs_of_then(client, project):
    make_session(project, runs=6)
    shown = page(client, {"at": "4", "last_n": "1"}, PAGE + "why/")
    assert "This is the past: turn 4" in shown
    assert "question 3" in shown
    assert "question 5" not in shown
    assert "last_n 1: only the newest run" in shown


def test_the_settings_of_today_are_told_by_the_banner_alone(client, project):
    make_session(project, runs=4)
    assert page(client, {"at": "2"}).count("is not recorded") == 0


def test_a_warning_about_a_setting_stands_at_its_control_and_of_what_is_saved_above_its_prompt(client, project):
    make_session(project, runs=9)
    texts = {"last_n": "2"}
    shown = page(client, texts)
    said = "last_n 2 is below offset 6"
    assert said in shown.split('id="w-last_n"')[1].split("</p>")[0]
    assert shown.count(said) == 1
    assert 'title="1 warning about settings"' in shown
    saved = make_session(project, "saved", runs=9, settings={"last_n": 2})
    of_a = page(client, {"last_n": "unlimited", "side": "a"}, f"/p/p/sessions/{saved.public_id}/tune/")
    assert said in of_a.split('<ol class="msgs">')[1]


def test_a_refusal_about_a_setting_stands_at_its_control(client, project):
    make_session(project, runs=40)
    shown = page(client, {"on_gap": "error", "max_input_tokens": "100"})
    assert "set on_gap to warn or stopgap" in shown.split('id="w-on_gap"')[1].split("</p>")[0]


def test_what_has_no_effect_is_no_warning_besides(client, project):
    make_session(project, runs=2)
    shown = page(client, {"strategy": "buffer", "offset": "3"})
    # Once at each of offset, summarize_at, summarize_to, max_summary_tokens and on_gap.
    assert shown.count("only summary uses it") == 5
    assert "about settings" not in shown


def test_tool_definitions_stand_beside_the_messages(client, project):
    make_session(project, runs=1)
    shown = page(client, {"tools": json.dumps(TOOLS)})
    assert "<b>1 tool definition</b>" in shown
    assert escape('"search"') in shown.split('class="tool-defs"')[1]


def test_runs_that_are_left_out_in_between_are_named_where_they_are(client, project):
    make_session(project, runs=9)
    shown = page(client, {"strategy": "minimal"})
    assert "<b>7 runs left out here</b>" in shown
    assert "<code>[7 runs not shown]</code>" in shown


def test_a_mark_that_somebody_said_is_no_gap(client, project):
    session = make_session(project)
    turns = [simple_turn("a", "[7 runs not shown]"), simple_turn("b", "c")]
    append_runs(session=session, runs=turns, now=NOW)
    assert "left out here" not in page(client, {"strategy": "buffer"})


def test_the_messages_of_a_base_stand_around_the_memory(client, project):
    make_session(project, runs=1, instructions="Be brief.")
    shown = page(client, {"base": json.dumps(BASE), "index": "1", "query": "So?"}).split('<ol class="msgs">')[1]
    order = [shown.index(text) for text in ("Before.", "Be brief.", "question 1", "And after?", "So?")]
    assert order == sorted(order)


def test_an_open_run_at_a_past_turn_is_shown_as_its_input(client, project):
    session = make_session(project, runs=2)
    make_open_run(session, "And now?")
    assert "<span>input of run 3</span>" in page(client, {"at": "3"})
    assert "<span>open run 3</span>" in page(client, {})


def test_a_stopgap_extract_is_called_what_it_is(client, project):
    session = make_session(project, settings={"max_input_tokens": 300})
    turns = [replace(simple_turn(f"question {n} " + "word " * 12, "answer")) for n in range(40)]
    append_runs(session=session, runs=turns, now=NOW)
    assert '<span class="tag">stopgap extract</span>' in page(client, {})
    assert "stopgap extract: does not fit and is not summarized yet" in page(client, {}, PAGE + "why/")


def test_saving_leads_back_to_what_was_asked(client, project, published):
    make_session(project, runs=2)
    form = {"max_runs": "7", "context": ["A fact.", "Another."], "at": "2", "sure": "1"}
    response = client.post(PAGE + "save/", form)
    assert response["Location"] == PAGE + "?" + urlencode({"at": "2", "context": ["A fact.", "Another."]}, doseq=True)


def test_the_question_before_saving_keeps_what_was_asked(client, project):
    make_session(project, runs=2)
    asking = client.post(PAGE + "default/", {"max_runs": "7", "context": "A fact."})
    assert asking["Location"] == PAGE + "default/?max_runs=7&context=A+fact."
    shown = page(client, {"max_runs": "7", "context": "A fact."}, PAGE + "default/")
    assert '<input type="hidden" name="context" value="A fact.">' in shown


def test_at_a_past_turn_the_request_is_asked_under_b_alone(client, project):
    make_session(project, runs=5)
    texts = {"at": "4", "context": "The bag is blue.", "words": "the bag is blue"}

    compared = page(client, texts, f"{PAGE}compare/")
    of_then = page(client, texts | {"side": "a"})
    of_today = page(client, texts)

    a, b = re.findall(r'<span class="num duel-n">([\d,]+)</span>', compared)
    (sent, _) = re.findall(r'<span class="num duel-n">([\d,]+)</span>', page(client, {"at": "4"}, f"{PAGE}compare/"))
    assert (a, a == b) == (sent, False)
    assert "The bag is blue." not in of_then.split('<ol class="msgs">')[1].split("</ol>")[0]
    assert "<mark>The bag is blue</mark>." in of_today.split('<ol class="msgs">')[1].split("</ol>")[0]
    told = page(client, {"at": "4", "instructions": "The bag is blue.", "words": "the bag is blue"})
    assert "“the bag is blue” is back:" in re.sub(r"\s+", " ", told)


def test_the_count_of_changes_leads_to_what_is_changed(client, project):
    make_session(project, runs=1)
    one = page(client, {"tool_result_max_tokens": "50"})
    two = page(client, {"tool_result_max_tokens": "50", "last_n": "3"})
    assert re.search(r'<a class="chg-go" href="#f-tool_result_max_tokens"[^>]*>.*?1 change</a>', one, re.DOTALL)
    assert re.findall(r'<a href="#f-(\w+)">', two.split('id="m-chg"')[1].split("</span>")[0]) == [
        "last_n",
        "tool_result_max_tokens",
    ]


def test_a_reason_stands_whole_in_every_row_of_why(client, project):
    make_session(project, runs=6, settings={"strategy": "hierarchical"})
    shown = page(client, {}, f"{PAGE}why/")
    rows = re.findall(r'<tr id="why-.*?</tr>', shown, re.DOTALL)
    assert len(rows) == 6
    assert not [row for row in rows if row.count('class="clip"') > 1]
