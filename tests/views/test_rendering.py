import copy
from typing import cast

import pytest
from django.test import RequestFactory
from django_htmx.middleware import HtmxDetails

from sessions_app.views.rendering import HtmxRequest, render_page

PAGE = "<h1>Page</h1>{% load partials %}{% partialdef rows inline %}<p>{{ word }}</p>{% endpartialdef %}"


@pytest.fixture
def template(tmp_path, settings):
    (tmp_path / "page.html").write_text(PAGE)
    templates = copy.deepcopy(settings.TEMPLATES)
    templates[0]["DIRS"] = [tmp_path]
    settings.TEMPLATES = templates
    return "page.html"


def answer(template, **headers):
    request = cast("HtmxRequest", RequestFactory().get("/", headers=headers))
    request.htmx = HtmxDetails(request)
    return render_page(request, template, "rows", {"word": "<b>"}, status=422)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"HX-Request": "true", "HX-Boosted": "true"},
        {"HX-Request": "true", "HX-History-Restore-Request": "true"},
    ],
)
def test_it_answers_with_the_full_page(template, headers):
    assert answer(template, **headers).content == b"<h1>Page</h1><p>&lt;b&gt;</p>"


def test_it_answers_a_swap_with_the_partial_alone(template):
    assert answer(template, **{"HX-Request": "true"}).content == b"<p>&lt;b&gt;</p>"


def test_it_passes_the_status_on_and_tells_caches_that_the_two_differ(template):
    response = answer(template)

    assert response.status_code == 422
    assert "HX-Request" in response["Vary"]
