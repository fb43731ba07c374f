import pytest

from sessions_app.domain.causes import Cause
from sessions_app.domain.following.sights import Sight, Why
from sessions_app.domain.following.ways import Trial, layer_with, other_layers, trials
from sessions_app.domain.memory_settings import Layer
from sessions_app.domain.setting_values import resolve_settings
from tests.domain.fakes.transcripts import settings

INHERITED = resolve_settings(
    default_model="gpt-4.1-mini", project={"last_n": 9, "max_input_tokens": 4000}, session={}, request={}
)


def changes(why, run=3, finished=10, needed=None, **overrides):
    found = trials(Sight(why, run), settings(**overrides), finished=finished, needed=needed)
    return [dict(trial.changes) for trial in found]


# Run 3 of 10 is among the newest 8.
@pytest.mark.parametrize(
    ("why", "overrides", "wanted"),
    [
        (Why.CAPPED, {}, [{"max_runs": 8}]),
        (Why.LAST_N, {}, [{"last_n": 8}]),
        (Why.SUMMARIZED_AWAY, {}, [{"offset": 8}, {"strategy": "buffer"}]),
        (Why.RESULT_CUT, {}, [{"tool_result_max_tokens": "unlimited"}]),
        (Why.RESULT_HIDDEN, {}, [{"keep_tool_results": "unlimited"}]),
        (Why.FORMAT, {}, [{"format": "openai"}]),
        (Why.STRATEGY, {"strategy": "tool"}, [{"strategy": "summary"}, {"strategy": "buffer"}]),
        (
            Why.LOST,
            {"max_input_tokens": 50, "on_gap": "warn"},
            [{"max_input_tokens": "unlimited"}, {"on_gap": "stopgap"}],
        ),
        (
            Why.PRUNED,
            {"strategy": "buffer", "max_input_tokens": 50},
            [{"max_input_tokens": "unlimited"}, {"strategy": "summary"}],
        ),
        (Why.PRUNED, {"strategy": "head_tail"}, []),
        (Why.UNFINISHED, {}, []),
        (Why.IN_RUN, {}, []),
    ],
)
def test_what_is_tried_for_each_reason(why, overrides, wanted):
    assert changes(why, **overrides) == wanted


def test_a_budget_is_as_small_as_will_do_but_larger_than_it_was():
    assert changes(Why.LOST, needed=70, max_input_tokens=50)[0] == {"max_input_tokens": 70}
    assert changes(Why.LOST, needed=40, max_input_tokens=50)[0] == {"max_input_tokens": 51}


def test_where_no_run_says_it_nothing_is_tried():
    assert changes(Why.NOT_SAID, run=None) == []


@pytest.mark.parametrize(
    ("layer", "value", "wanted"),
    [
        (Layer.SESSION, 2, [(9, Layer.PROJECT), ("unlimited", Layer.BUILT_IN)]),
        (Layer.SESSION, 9, [("unlimited", Layer.BUILT_IN)]),
        (Layer.PROJECT, 9, [("unlimited", Layer.BUILT_IN)]),
        (Layer.BUILT_IN, "unlimited", []),
    ],
)
def test_the_values_of_the_layers_below_are_tried(layer, value, wanted):
    found = list(other_layers(Cause("last_n", value, layer), INHERITED))
    assert found == [Trial({"last_n": each}, of) for each, of in wanted]


def test_a_model_has_no_built_in_value():
    found = list(other_layers(Cause("model", "other", Layer.SESSION), INHERITED))
    assert found == [Trial({"model": "gpt-4.1-mini"}, Layer.BUILT_IN)]


def test_what_the_project_does_not_set_is_told_as_built_in():
    found = list(other_layers(Cause("max_runs", 3, Layer.SESSION), INHERITED))
    assert found == [Trial({"max_runs": "unlimited"}, Layer.BUILT_IN)]


def test_a_value_that_the_project_or_nobody_set_is_that_of_its_layer():
    own = settings(on_gap="warn", last_n=2)
    assert layer_with({"on_gap": "stopgap"}, own, INHERITED) is Layer.BUILT_IN
    assert layer_with({"on_gap": "stopgap", "last_n": 9}, own, INHERITED) is Layer.PROJECT
    assert layer_with({"last_n": "unlimited"}, own, INHERITED) is Layer.BUILT_IN
    assert layer_with({"last_n": 4}, own, INHERITED) is None
