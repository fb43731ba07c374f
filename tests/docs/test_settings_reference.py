"""The settings reference is what the definition says."""

from pathlib import Path

from django.core.management import call_command

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


def test_the_settings_reference_is_up_to_date(capsys):
    call_command("settings_reference")
    assert PAGE.read_text() == capsys.readouterr().out, "run make docs"
