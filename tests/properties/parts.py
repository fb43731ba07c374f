"""A part of the whole property run, in a process of its own."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import django

from tests.properties.tally import Tally

PART = 4_000


def run_part(seed: str, prompts: int) -> Tally:
    """Run a part in a process of its own, with a database that nothing stays in."""
    with tempfile.TemporaryDirectory() as folder, _database(folder):
        # They need the vocabularies, which the settings unpack, and the models.
        from tests.properties.rows import forks_from_rows  # noqa: PLC0415
        from tests.properties.runner import run  # noqa: PLC0415

        return run(seed, prompts, forks_from_rows)


@contextmanager
def _database(folder: str) -> Iterator[None]:
    os.environ |= {"DJANGO_SETTINGS_MODULE": "convoweb.settings", "CONVOWEB_DATA_DIR": folder}
    os.environ.pop("DATABASE_URL", None)
    django.setup()
    from django.core.management import call_command  # noqa: PLC0415
    from django.db import connection, transaction  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
    connection.close()
