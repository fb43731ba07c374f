import pytest

from sessions_app.domain.setting_values import resolve_settings
from sessions_app.domain.settings_draft import read_draft


def layers(*, project=None, session=None):
    def resolved(own):
        return resolve_settings(default_model="gpt-4.1-mini", project=project or {}, session=own, request={})

    return {"saved": resolved(session or {}), "inherited": resolved({})}


def test_values_that_are_saved_already_are_no_change():
    draft = read_draft(
        {"offset": "6", "max_runs": "unlimited", "autoprune": "true", "summarize_to": "0.40"}, **layers()
    )
    assert draft.changes == {}
    assert draft.count == 0


def test_it_reads_changes_in_stored_form_and_writes_them_as_texts():
    draft = read_draft({"max_runs": "50", "autoprune": "false", "summarize_at": "0", "strategy": "buffer"}, **layers())
    assert draft.changes == {"strategy": "buffer", "autoprune": False, "max_runs": 50, "summarize_at": 0.0}
    assert draft.texts == {"strategy": "buffer", "autoprune": "false", "max_runs": "50", "summarize_at": "0.0"}


def test_what_is_no_setting_is_ignored():
    assert read_draft({"query": "max_runs", "page": "2"}, **layers()).count == 0


@pytest.mark.parametrize(
    ("name", "text", "allowed"),
    [
        ("max_runs", "0", "a whole number from 1"),
        ("max_runs", "ten", "or unlimited"),
        ("offset", "unlimited", "a whole number from 0"),
        ("summarize_at", "1.5", "a number from 0 to 1"),
        ("summarize_at", "nan", "a number from 0 to 1"),
        ("strategy", "newest", "one of buffer, summary"),
        ("autoprune", "perhaps", "true or false"),
        ("last_n", "99999999999999999999", "a whole number from 0"),
        ("model", "", "a name of 1 to 200 characters"),
    ],
)
def test_it_says_what_is_allowed_and_keeps_what_was_typed(name, text, allowed):
    draft = read_draft({name: text}, **layers())
    assert allowed in draft.errors[name]
    assert draft.texts == {name: text}
    assert draft.overrides == {}


def test_the_value_that_would_be_inherited_takes_the_sessions_own_away():
    both = layers(project={"max_runs": 20}, session={"max_runs": 10})
    draft = read_draft({"max_runs": "20"}, **both)
    assert draft.changes == {"max_runs": None}
    assert draft.overrides == {"max_runs": 20}
    assert draft.texts == {"max_runs": "20"}


def test_leaving_a_value_as_it_was_seen_is_no_change_though_it_has_been_saved_differently_since():
    both = layers(session={"max_runs": 30, "offset": 2})
    draft = read_draft({"max_runs": "20", "offset": "3"}, seen={"max_runs": 20, "offset": 2}, **both)
    assert draft.changes == {"offset": 3}
