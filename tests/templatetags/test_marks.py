import pytest
from django.template import Context

from sessions_app.domain.following.phrase import read_phrase
from sessions_app.templatetags.marks import marked_json


def drawn(text, words):
    return marked_json(Context({"phrase": read_phrase(words)}), text)


def test_marked_json_keeps_its_colors_inside_and_around_the_marks():
    assert drawn('{"bay": "the blue bag", "n": 7}', "blue bag") == (
        '{<span class="j-k">&quot;bay&quot;</span>: <span class="j-s">&quot;the </span>'
        '<mark><span class="j-s">blue bag</span></mark><span class="j-s">&quot;</span>, '
        '<span class="j-k">&quot;n&quot;</span>: <span class="j-n">7</span>}'
    )


@pytest.mark.parametrize("text", ["blue", '"blue', "<b>blue</b>", '{"blue":1}blue', 'x "a\\"blue" blue'])
def test_marking_changes_no_text(text):
    plain = drawn(text, "blue")
    for tag in ("<mark>", "</mark>", "</span>", *(f'<span class="j-{kind}">' for kind in "ksn")):
        plain = plain.replace(tag, "")
    assert plain == text.replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
