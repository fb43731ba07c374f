"""Sentences lose what says nothing, and no word that bears a fact, a condition or a sense."""

# ruff: noqa: RUF001 (full-width marks are what people write)

import pytest

from sessions_app.domain.summarizers.condensing import condensed


@pytest.mark.parametrize(
    ("sentence", "kept"),
    [
        ("Oh, by the way, my sister Ilse is allergic to nuts.", "my sister Ilse is allergic to nuts."),
        ("I should mention that we need two rooms.", "we need two rooms."),
        ("My number is KX-90417, in case you need it.", "My number is KX-90417."),
        ("The view was lovely, but I paid 40 euros.", "I paid 40 euros."),
        ("I paid 40 euros, because the queue was long.", "I paid 40 euros."),
        ("Could you move it to Friday, please?", "Could you move it to Friday?"),
        ("Übrigens, wir kommen zu dritt.", "wir kommen zu dritt."),
    ],
)
def test_lead_ins_courtesy_and_clauses_without_a_fact_go(sentence, kept):
    assert condensed(sentence) == kept


@pytest.mark.parametrize(
    "sentence",
    [
        "No, we do not want an overnight stop.",
        "It is lovely there, but only if it does not rain on 3 May.",
        "I'll need your user ID, the origin, and the destination.",
        "Our budget ends at 2,350 euros, not a cent more.",
        "My daughter Wiebke has asthma, so no rooms with carpets.",
        "我对花生过敏，请记住。",
        "Okay.",
        "But no.",
        "",
    ],
)
def test_what_bears_a_fact_or_a_condition_stays_whole(sentence):
    assert condensed(sentence) == sentence


def test_what_is_condensed_once_is_not_changed_again():
    once = condensed("Oh, and just so you know, I can only lift 8 kilos, because of the operation last year.")
    assert once == "I can only lift 8 kilos."
    assert condensed(once) == once
