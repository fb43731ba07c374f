"""Create a project."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from sessions_app.domain.errors import ConvowebError
from sessions_app.services.projects import create_project


class Command(BaseCommand):
    """`manage.py create_project SLUG [--name NAME]`."""

    help = "Creates a project, the tenant of sessions and API keys, and prints its slug."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="1 to 60 of a-z 0-9 and -, not beginning with -")
        parser.add_argument("--name", default="", help="what people read (the slug if left out)")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            project = create_project(slug=options["slug"], name=options["name"].strip(), owner=None)
        except ConvowebError as refusal:
            raise CommandError(refusal.detail) from None
        self.stdout.write(project.slug)
