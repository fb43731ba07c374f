import pytest

from sessions_app.domain.causes import Cause
from sessions_app.domain.following.blame import TighterSetting, blamed, tighter_summaries
from sessions_app.domain.following.sights import Place, Why
from sessions_app.domain.memory_settings import Layer
from sessions_app.domain.setting_values import resolve_settings
from tests.domain.fakes.transcripts import settings


@pytest.mark.parametrize(
    ("why", "overrides", "name", "value"),
    [
        (Why.CAPPED, {"max_runs": 3}, "max_runs", 3),
        (Why.LAST_N, {"last_n": 3}, "last_n", 3),
        (Why.LOST, {"max_input_tokens": 90}, "max_input_tokens", 90),
        (Why.PRUNED, {"max_input_tokens": 90, "strategy": "buffer"}, "max_input_tokens", 90),
        (Why.PRUNED, {"max_input_tokens": 2_000_000}, "model", "gpt-4.1-mini"),
        (Why.STRATEGY, {"strategy": "tool"}, "strategy", "tool"),
        (Why.STRATEGY, {"strategy": "conversation", "max_history": 4}, "max_history", 4),
        (Why.RESULT_CUT, {"tool_result_max_tokens": 5}, "tool_result_max_tokens", 5),
        (Why.RESULT_HIDDEN, {"keep_tool_results": 0}, "keep_tool_results", 0),
        (Why.FORMAT, {"format": "text"}, "format", "text"),
    ],
)
def test_a_setting_is_to_blame(why, overrides, name, value):
    assert blamed(why, settings(**overrides)) == Cause(name, value, Layer.SESSION)


def test_no_setting_is_to_blame_for_what_is_there_or_what_a_summary_dropped():
    free = {why for why in Why if why.place in (Place.WORDS, Place.SUMMARY, Place.NOT_SAID)}
    for why in free | {Why.SUMMARIZED_AWAY, Why.UNFINISHED, Why.NO_PROMPT}:
        assert blamed(why, settings()) is None


def test_what_a_session_has_for_its_summaries_is_named_only_where_the_project_leaves_them_more():
    built_in, project = inherited(), inherited(max_summary_tokens=1_000, summarize_at=1)
    own = settings(max_summary_tokens=80, summarize_at=0.9)
    assert list(tighter_summaries(own, built_in)) == [TighterSetting("max_summary_tokens", 80, 512, Layer.BUILT_IN)]
    assert list(tighter_summaries(own, project)) == [
        TighterSetting("max_summary_tokens", 80, 1_000, Layer.PROJECT),
        TighterSetting("summarize_at", 0.9, 1, Layer.PROJECT),
    ]
    assert list(tighter_summaries(settings(), project)) == []


def inherited(**project):
    return resolve_settings(default_model="gpt-4.1-mini", project=project, session={}, request={})
