"""manage.py settings_reference: the documentation of the memory settings, written from their one definition."""

from collections.abc import Iterator
from typing import Any

from django.core.management import BaseCommand

from sessions_app.domain.memory_settings import SETTINGS, Setting, SettingGroup, Strategy, built_in_value
from sessions_app.domain.setting_values import allowed
from sessions_app.domain.strategies import STRATEGIES

HEAD = """# Memory settings

<!-- Written by `make docs` from the settings' definition; a test compares. -->

Settings lie in layers: the built-in values, the project's, the conversation's, and those of one request. The last layer
that names a setting wins; `null` inherits again. No limit is the word `unlimited`, in JSON, forms and query strings.
"""

STRATEGIES_HEAD = """## Strategies

| strategy | sends |
| --- | --- |"""

STRATEGIES_FOOT = """
What does not fit the budget is dropped from the oldest run on, except that `head_tail` keeps the newest run first of
all, then the first ones. Where runs between two sent ones are left out, a mark such as `[48 runs not shown]` stands at
the end of the earlier one; `[answer not shown]` stands for the answer of a run of which only the input is sent."""


class Command(BaseCommand):
    """Prints docs/settings.md."""

    help = "Print the reference of the memory settings as Markdown."

    def handle(self, *_args: Any, **_options: Any) -> None:
        self.stdout.write("\n".join(reference()))


def reference() -> Iterator[str]:
    """Yield the lines of the reference."""
    yield HEAD
    for group in SettingGroup:
        yield f"## {group.value}\n"
        yield "| setting | built-in | allowed | meaning |"
        yield "| --- | --- | --- | --- |"
        yield from (_row(setting) for setting in SETTINGS if setting.group is group)
        yield ""
    yield STRATEGIES_HEAD
    yield from (f"| `{strategy}` | {rule.ABOUT} |" for strategy, rule in STRATEGIES.items())
    yield STRATEGIES_FOOT


def _row(setting: Setting) -> str:
    default = "from `CONVOWEB_MODEL`" if setting.name == "model" else f"`{_written(built_in_value(setting.name))}`"
    return f"| `{setting.name}` | {default} | {allowed(setting)} | {setting.help}{_where(setting)} |"


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _where(setting: Setting) -> str:
    if setting.strategies is None:
        return ""
    if len(setting.strategies) > len(Strategy) / 2:
        return f" Not with the strategy {' or '.join(sorted(set(Strategy) - setting.strategies))}."
    return f" Only with the strategy {' or '.join(sorted(setting.strategies))}."
