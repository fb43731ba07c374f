"""Commands on pages and in documents can be pasted as they stand."""

import re
from pathlib import Path

import pytest
from django.core.management import get_commands

from sessions_app.domain.plan import Fate
from sessions_app.templatetags.fates import FATES

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    ROOT / "README.md",
    *(ROOT / "docs").glob("*.md"),
    *(ROOT / "templates").rglob("*.html"),
]
COMMAND = re.compile(r"(\S*) ?manage\.py (?:\\\n *)?(\w+)")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_each_command_names_its_interpreter_and_exists(path):
    for before, name in COMMAND.findall(path.read_text()):
        assert before.lstrip("`$(").endswith(".venv/bin/python"), f"manage.py {name}"
        assert name in get_commands()


def test_keys_are_asked_for_under_one_name():
    readme = (ROOT / "README.md").read_text()
    assert "export CONVOWEB_KEY=$(.venv/bin/python manage.py create_api_key" in readme
    assert set(re.findall(r"Bearer \$(\w+)", readme)) == {"CONVOWEB_KEY"}


def test_each_fate_is_explained_in_the_words_of_the_pages():
    fates = (ROOT / "docs" / "fates.md").read_text()
    for fate in Fate:
        assert f"| `{fate}` | {FATES[fate].word} |" in fates
