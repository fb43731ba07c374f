import re

import pytest
from django.template import Context, Template

from sessions_app.domain.plan import TokenParts

# The example of the design: 7,413 of 8,000 tokens, a frame of 3 among them.
TOKENS = TokenParts(
    instructions=186, tools=264, parent_context=486, summary=498, runs=5842, context=96, query=38, overhead=3
)


def render(source, **context):
    return Template("{% load budget %}" + source).render(Context(context))


def segments(drawn):
    found = re.findall(r'<rect x="([\d.]+)%" width="([\d.]+)%" height="100%" fill="url\(#p-([\w]+)\)"', drawn)
    return [(pattern, float(left), float(width)) for left, width, pattern in found]


def test_it_draws_the_parts_in_their_order_with_the_patterns_of_their_fates():
    drawn = segments(render("{% budget_bar tokens 8000 %}", tokens=TOKENS))

    assert [pattern for pattern, _, _ in drawn] == [
        "instructions", "tools", "parent", "summarized", "kept", "context", "query",
    ]  # fmt: skip


def test_it_gives_a_part_its_share_of_the_budget():
    drawn = segments(render("{% budget_bar tokens 1000 %}", tokens=TokenParts(instructions=250, runs=500)))

    assert drawn == [("instructions", 0.0, 25.0), ("kept", 25.0, 50.0)]


@pytest.mark.parametrize(("mini", "least"), [("False", 1.2), ("True", 2.0)])
def test_it_never_draws_a_part_thinner_than_the_least_and_takes_it_from_the_largest(mini, least):
    tokens = TokenParts(instructions=1, runs=9998, query=1)

    drawn = segments(render(f"{{% budget_bar tokens 10000 mini={mini} %}}", tokens=tokens))

    assert drawn == [
        ("instructions", 0.0, least), ("kept", least, 100 - 2 * least), ("query", 100 - least, least),
    ]  # fmt: skip


def test_it_says_the_numbers_to_those_who_do_not_see_the_bar():
    drawn = render("{% budget_bar tokens 8000 %}", tokens=TOKENS)

    assert (
        'aria-label="Token budget: instructions 186, tools 264, parent context 486, summary 498, runs 5,842, '
        'context 96, query 38, free 587, of 8,000"'
    ) in drawn


def test_it_stays_inside_the_bar_when_more_is_needed_than_the_budget():
    drawn = segments(render("{% budget_bar tokens 100 %}", tokens=TokenParts(instructions=300, query=100)))

    assert drawn == [("instructions", 0.0, 75.0), ("query", 75.0, 25.0)]


def test_it_draws_the_reserve_outside_the_bar():
    drawn = render("{% budget_bar tokens 3072 reserve=1024 %}", tokens=TokenParts(runs=100))

    assert 'class="resv-x" width="25%"' in drawn
    assert "1,024 tokens reserved for the answer" in drawn
    assert drawn.index('class="bar"') < drawn.index("resv-x")


def test_it_lists_tokens_and_percent_of_each_part_and_what_is_free():
    drawn = render('{% budget_legend tokens 8000 runs="46 to 57" %}', tokens=TOKENS)
    text = [re.sub(r"<[^>]+>", " ", row).split() for row in drawn.split("<tr>")[1:]]

    assert text[4] == ["Runs", "46", "to", "57", "5,842", "73.0", "%"]
    assert text[-1] == ["Free", "587", "7.3", "%"]
    assert len(text) == 9


def test_it_leaves_out_parts_without_tokens_but_not_what_is_free():
    drawn = render("{% budget_legend tokens 10 %}", tokens=TokenParts(query=10))

    assert drawn.count("<tr>") == 2
    assert "Free" in drawn


def test_it_draws_the_column_in_the_order_of_sending():
    drawn = render("{% prompt_column tokens 8000 %}", tokens=TOKENS)

    assert re.findall(r"#p-(\w+)", drawn) == [
        "instructions", "parent", "summarized", "tools", "kept", "context", "query",
    ]  # fmt: skip


def test_a_bar_without_a_total_draws_nothing_and_does_not_fail():
    assert segments(render("{% bar parts 0 'nothing yet' %}", parts=[("kept", 0)])) == []


def test_a_smaller_budget_is_drawn_on_the_scale_of_the_larger_and_its_end_is_marked():
    drawn = render("{% budget_bar tokens 1000 scale=4000 %}", tokens=TokenParts(runs=800))
    assert segments(drawn) == [("kept", 0.0, 20.0)]
    assert '<rect class="end" x="25.00%"' in drawn
    assert "of 1,000, drawn on the scale of 4,000" in drawn
    assert 'class="end"' not in render("{% budget_bar tokens 4000 scale=4000 %}", tokens=TokenParts(runs=800))
