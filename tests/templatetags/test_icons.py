import re
from pathlib import Path

from django.conf import settings
from django.template import Context, Template

SPRITE = Path(settings.BASE_DIR) / "static" / "icons.svg"


def test_it_points_at_a_symbol_of_the_sprite():
    drawn = Template('{% load icons %}{% icon "loader-circle" "spin" %}').render(Context())

    assert re.fullmatch(
        r'<svg class="i spin" aria-hidden="true"><use href="/static/icons(\.\w+)?\.svg#loader-circle"/></svg>', drawn
    )


def test_every_icon_that_a_template_names_is_in_the_sprite():
    symbols = set(re.findall(r'<symbol id="([\w-]+)"', SPRITE.read_text()))
    templates = [*(Path(settings.BASE_DIR) / "templates").rglob("*.html")]
    named = {name for template in templates for name in re.findall(r'{%\s*icon "([\w-]+)"', template.read_text())}

    assert named
    assert named - symbols == set()
