"""Export sessions of a project into a file."""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, TextIO

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from sessions_app.domain.export_formats import EXPORT_FORMATS
from sessions_app.domain.export_formats.openai import OPENAI
from sessions_app.models import Project, Session
from sessions_app.queries.exports import exported


class Command(BaseCommand):
    """Export sessions with the runs of their whole lineages, all of a project or those that are named."""

    help = "Export the sessions of a project, all or those named, into a file or to standard output."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="default: standard output")
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--session", action="append", metavar="ID", help="can be given several times; default: all")
        parser.add_argument("--file-format", "--format", choices=sorted(EXPORT_FORMATS), default=OPENAI.name)

    def handle(self, *_args: Any, **options: Any) -> None:
        pks = _sessions(options["project"], options["session"])
        file_format = EXPORT_FORMATS[options["file_format"]]
        with _written(options["file"]) if options["file"] else nullcontext(self.stdout) as out:
            for pk in tqdm(pks, unit=" sessions", disable=None, file=sys.stderr):
                out.writelines(exported(session_pks=[pk], file_format=file_format))
        self.stderr.write(f"{len(pks)} session{'' if len(pks) == 1 else 's'} exported as {file_format.name}")


def _sessions(slug: str, ids: Sequence[str] | None) -> list[int]:
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        known = ", ".join(Project.objects.values_list("slug", flat=True)[:20]) or "none yet"
        raise CommandError(f"There is no project {slug!r}. Known: {known}.")
    sessions = Session.objects.filter(project=project)
    if ids is None:
        return list(sessions.order_by("pk").values_list("pk", flat=True))
    found = dict(sessions.filter(public_id__in=ids).values_list("public_id", "pk"))
    missing = [public_id for public_id in ids if public_id not in found]
    if missing:
        raise CommandError(f"There is no session {', '.join(map(repr, missing[:20]))} in the project {slug}.")
    return [found[public_id] for public_id in dict.fromkeys(ids)]


@contextmanager
def _written(path: Path) -> Iterator[TextIO]:
    """Open a file that only its owner can read and that stands under its name as soon as it is whole."""
    beginning = path.with_name(f"{path.name}.part")
    try:
        descriptor = os.open(beginning, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            yield file
        beginning.replace(path)
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.") from None
    finally:
        beginning.unlink(missing_ok=True)
