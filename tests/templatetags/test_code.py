import time

import pytest
from django.utils.html import strip_tags

from sessions_app.templatetags.code import json_code


def test_it_colors_keys_texts_and_values():
    assert json_code('{"to": "LIS", "seats": 4, "nonstop": true}') == (
        '{<span class="j-k">&quot;to&quot;</span>: <span class="j-s">&quot;LIS&quot;</span>, '
        '<span class="j-k">&quot;seats&quot;</span>: <span class="j-n">4</span>, '
        '<span class="j-k">&quot;nonstop&quot;</span>: <span class="j-n">true</span>}'
    )


@pytest.mark.parametrize(
    "text", ['"<script>alert(1)</script>"', "<img src=x onerror=alert(1)>", '"a" : "</span>', "&lt;"]
)
def test_it_escapes_whatever_the_text_holds(text):
    unescaped = strip_tags(json_code(text))

    assert "<" not in unescaped
    assert unescaped.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&") == text


@pytest.mark.parametrize("text", ["", "not json at all", '{"open', 'ends in a backslash "\\'])
def test_it_leaves_text_that_is_not_json_as_it_is(text):
    assert strip_tags(json_code(text)).replace("&quot;", '"') == text


@pytest.mark.parametrize("text", ['\\"' * 50_000, '"' + "\\" * 100_000, "1" * 100_000 + "x", '"a" ' + " " * 100_000])
def test_it_takes_linear_time_on_hostile_text(text):
    start = time.perf_counter()
    json_code(text)

    assert time.perf_counter() - start < 2
