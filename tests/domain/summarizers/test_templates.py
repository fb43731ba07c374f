"""Templates: two places that are filled, and clear words about everything else in braces."""

import hashlib

import pytest

from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.summarizers.templates import (
    BUILT_IN_REQUEST,
    LONGEST_TEMPLATE,
    REQUEST_PLACES,
    check_template,
    fill_template,
    template_version,
)


def check(text, places=REQUEST_PLACES):
    return check_template(text, places=places, pointer="/request_template")


def refusal(text, places=REQUEST_PLACES):
    with pytest.raises(InvalidInput) as caught:
        check(text, places)
    assert {error.pointer for error in caught.value.errors} == {"/request_template"}
    assert caught.value.detail == caught.value.errors[0].detail
    return [error.detail for error in caught.value.errors]


@pytest.mark.parametrize(
    "text",
    [
        BUILT_IN_REQUEST,
        "{summary}{runs}",
        'Answer as {"name": {}} does. {summary} and {runs}; { and } alone, { two words }, {%.',
    ],
)
def test_it_accepts_each_place_once_and_other_braces_as_they_are(text):
    assert check(text) == text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{summary}", "{runs} is missing."),
        ("{runs}", "{summary} is missing."),
        ("{summary}\n{runs}\n{x}", "Line 3: {x} is unknown; this template knows {summary} and {runs}."),
        ("{summary}{runs}{0}", "Line 1: {0} is unknown; this template knows {summary} and {runs}."),
        ("{summary}{runs}{user.name}", "Line 1: {user.name} is unknown; this template knows {summary} and {runs}."),
        ("{summary}\n{{runs}}", "Line 2: write {runs}, with single braces and no spaces."),
        ("{summary}\n{ runs }", "Line 2: write {runs}, with single braces and no spaces."),
        ("{summary}\n{runs", "Line 2: the brace before runs is not closed; write {runs}."),
        ("{summary}{runs}{runs}", "{runs} stands there 2 times; once is enough."),
        ("x" * (LONGEST_TEMPLATE + 1), "A template has at most 20,000 characters; this one has 20,001."),
    ],
)
def test_it_refuses_with_what_is_wrong_and_where(text, problem):
    assert problem in refusal(text)


def test_each_template_knows_only_its_own_places():
    assert refusal("{summary} {runs}", ["summary"]) == ["Line 1: {runs} is unknown; this template knows {summary}."]


def test_what_is_filled_in_is_never_looked_at_again():
    values = {"summary": r"{runs} \1 {{x}} %s {% if %} ${y}", "runs": "{summary} <b> \\g<0>"}
    filled = fill_template("<{summary}|{runs}|{other}>", values)
    assert filled == r"<{runs} \1 {{x}} %s {% if %} ${y}|{summary} <b> \g<0>|{other}>"


def test_its_version_is_the_beginning_of_the_hash_of_its_text():
    assert template_version("{summary} ä {runs}") == hashlib.sha256("{summary} ä {runs}".encode()).hexdigest()[:12]
