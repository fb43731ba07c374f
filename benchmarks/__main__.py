"""Print the table: `python -m benchmarks`, on a database that is made for it and thrown away."""

import logging
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import django
from django.core.management import call_command

from benchmarks.timing import HEADER, Row


def prepare(folder: str) -> None:
    """Set Django up on an empty database in the folder."""
    os.environ |= {"CONVOWEB_DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "convoweb.settings"}
    for name in ("DATABASE_URL", "CELERY_BROKER_URL", "CACHE_URL"):
        os.environ.pop(name, None)
    django.setup()
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    logging.disable(logging.WARNING)


def rows() -> Iterator[Row]:
    """Measure everything, in the order in which the session grows."""
    # Only now, since models need the setup.
    measures: Any = import_module("benchmarks.measures")
    yield from measures.rows()


def main() -> int:
    """Return 1 if a ratio is more than it may be."""
    folder = tempfile.mkdtemp(prefix="convoweb-bench-")
    missed = 0
    try:
        prepare(folder)
        print(f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores\n")
        print(HEADER)
        for row in rows():
            print(row, flush=True)
            missed += not row.holds
    finally:
        shutil.rmtree(folder)
    return min(missed, 1)


if __name__ == "__main__":
    sys.exit(main())
