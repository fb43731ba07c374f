"""Import files of conversations into a project."""

import sys
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from tqdm import tqdm

from sessions_app.domain.conversation_files import FileFormat
from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.file_formats import FILE_FORMATS, detect_format
from sessions_app.models import ImportOutcome, Project
from sessions_app.services.conversation_imports import Imported
from sessions_app.services.imports import SKIPPED, import_row, prepare_row
from sessions_app.services.wishes import many_wishes

_HEAD = 64 * 1024


class Command(BaseCommand):
    """Import files of conversations; importing one again changes nothing, and adds what is new of those that grew."""

    help = "Import files of conversations into a project. Exit status 1: something was skipped."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--file-format", choices=sorted(FILE_FORMATS), help="default: detected for each file")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = _project(options["project"])
        files = [(path, _format_of(path, options["file_format"])) for path in options["files"]]
        tally: Counter[str] = Counter()
        with many_wishes():
            for path, file_format in files:
                self._import_file(path, file_format, project, tally)
        self.stdout.write(_result_line(tally))
        if any(tally[outcome] for outcome in SKIPPED):
            sys.exit(1)

    def _import_file(self, path: Path, file_format: FileFormat, project: Project, tally: Counter[str]) -> None:
        size = path.stat().st_size
        bar = tqdm(total=size, desc=_printable(path.name), unit="B", unit_scale=True, disable=None)
        with path.open("rb") as stream, bar:
            for found in file_format.rows(stream, path.name):
                row = prepare_row(file_format=file_format, found=found)
                imported = import_row(project=project, file_format=file_format, row=row, now=timezone.now())
                tally.update({imported.outcome: 1, "runs": imported.new_runs, "calls": imported.new_calls})
                bar.update(stream.tell() - bar.n)
                if imported.outcome in SKIPPED:
                    bar.clear()
                    self.stderr.write(_skipped_line(path, row.place, imported))


def _project(slug: str) -> Project:
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        known = ", ".join(Project.objects.values_list("slug", flat=True)[:20]) or "none yet"
        raise CommandError(f"There is no project {slug!r}. Known: {known}. create_project makes one.")
    return project


def _format_of(path: Path, name: str | None) -> FileFormat:
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD)
        return FILE_FORMATS[name] if name else detect_format(head, path.name)
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from None
    except InvalidInput as error:
        raise CommandError(f"{path}: {error.detail}") from None


def _skipped_line(path: Path, place: int, imported: Imported) -> str:
    outcome = ImportOutcome(imported.outcome).label.lower()
    title = f" {imported.title}" if imported.title else ""
    return _printable(f"{path.name}:{place}:{title} {outcome}: {imported.detail}")


def _result_line(tally: Counter[str]) -> str:
    outcomes = ", ".join(f"{tally[outcome]} {outcome}" for outcome in ImportOutcome)
    return f"{outcomes}: {tally['runs']} runs, {tally['calls']} tool calls"


def _printable(text: str) -> str:
    """Return a text that cannot steer a terminal."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
