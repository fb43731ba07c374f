"""Brings an installation up to date and, on the very first start, makes its administrator and a demo project."""

import hashlib
import shlex
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import BaseCommand, call_command
from django.db import transaction
from django.utils import timezone

from sessions_app.services import accounts
from sessions_app.services.demo import FIRST_CONVERSATION, load_demo

ADMINISTRATOR = "admin"


class Command(BaseCommand):
    """`manage.py setup`: may be run again and again."""

    help = "Migrate, collect static files and, on the very first start, make an administrator and a demo project."

    def handle(self, *_args: Any, **_options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        _collect_static_files()
        password = self._first_start()
        if password:
            self._show_password(password)

    @transaction.atomic
    def _first_start(self) -> str | None:
        made = accounts.make_first_administrator(username=ADMINISTRATOR)
        if made is None:
            return None
        administrator, password = made
        load_demo(owner=administrator, now=timezone.now())
        return password

    def _show_password(self, password: str) -> None:
        self.stdout.write(
            f"\n  Administrator: {ADMINISTRATOR}"
            f"\n  Password:      {password}"
            f"\n  It is shown only now. To make a new one: {_command('reset_password', ADMINISTRATOR)}"
            f"\n\n  Begin with the first conversation of the demo project: {FIRST_CONVERSATION}."
            "\n  In others the bot forgot something; docs/guide.md goes with you from the complaint to the cure.\n\n"
        )
        self.stdout.flush()


def _command(*words: str) -> str:
    """Return a command of ours as it can be pasted where this one was started."""
    here = Path.cwd()
    # Not resolved: the interpreter of a virtual environment is a link, and only under its own name finds our packages.
    paths = [Path(sys.executable), settings.BASE_DIR / "manage.py"]
    return shlex.join([*(str(path.relative_to(here) if path.is_relative_to(here) else path) for path in paths), *words])


def _collect_static_files() -> None:
    """Collect them unless they are the same as the last time, for hashing and compressing them takes seconds."""
    mark = Path(settings.STATIC_ROOT) / ".collected"
    state = _static_files_state()
    if not mark.exists() or mark.read_text(encoding="ascii") != state:
        call_command("collectstatic", interactive=False, verbosity=0)
        mark.write_text(state, encoding="ascii")


def _static_files_state() -> str:
    sources = [
        (path, storage.path(path)) for finder in get_finders() for path, storage in finder.list(ignore_patterns=[])
    ]
    lines = [f"{path} {Path(full).stat().st_size} {Path(full).stat().st_mtime_ns}" for path, full in sources]
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()
