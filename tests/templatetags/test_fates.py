import pytest
from django.template import Context, Template

from sessions_app.domain.plan import Fate, Part
from sessions_app.templatetags.fates import fate_word, part_word, pattern


def render(source, **context):
    return Template("{% load fates %}" + source).render(Context(context))


def test_it_has_the_words_of_the_design_for_every_fate():
    assert {fate: fate_word(fate) for fate in Fate} == {
        "kept": "In the prompt",
        "summarized": "In the summary",
        "capped": "Not sent: capped",
        "skipped": "Not sent: skipped",
        "pruned": "Not sent: pruned",
        "lost": "Lost",
    }


def test_it_has_a_word_for_every_part_that_a_bar_shows():
    assert [part_word(part) for part in Part if part is not Part.OVERHEAD] == [
        "Instructions", "Tools", "Parent context", "Summary", "Runs", "Context", "Query",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (Part.RUNS, "kept"), (Part.SUMMARY, "summarized"), (Part.PARENT_CONTEXT, "parent"),
        (Fate.LOST, "lost"), ("free", "free"),
    ],
)  # fmt: skip
def test_it_shares_patterns_between_parts_and_fates(name, expected):
    assert pattern(name) == expected


def test_it_draws_a_fate_with_color_icon_and_word():
    drawn = render("{% fate fate %}", fate=Fate.LOST)

    assert 'data-fate="lost"' in drawn
    assert "#triangle-alert" in drawn
    assert drawn.endswith("Lost</span>")


def test_it_escapes_a_label_that_replaces_the_word():
    drawn = render("{% fate 'capped' label %}", label="7 <b>capped</b>")

    assert drawn.endswith("7 &lt;b&gt;capped&lt;/b&gt;</span>")


def test_it_draws_a_swatch_that_is_not_read_out():
    assert render("{% swatch 'summary' %}") == '<span class="sw" data-fate="summarized" aria-hidden="true"></span>'
