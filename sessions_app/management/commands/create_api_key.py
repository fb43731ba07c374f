"""Create an API key."""

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from sessions_app.domain.errors import InvalidInput
from sessions_app.models import Project, Scope
from sessions_app.services.keys import create_api_key

MOST_DAYS = 36_500


class Command(BaseCommand):
    """`manage.py create_api_key --project SLUG --name NAME --scopes read,write,admin [--expires 90]`."""

    help = "Creates a bot's API key and prints it, alone, on standard output; it is shown this once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--name", required=True, help="which bot it is for")
        parser.add_argument("--scopes", required=True, help=f"some of {','.join(Scope.values)}, with commas")
        parser.add_argument("--expires", metavar="DAYS", type=int, help="after so many days it is refused; else never")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']}.")
        name = options["name"].strip()
        if not 0 < len(name) <= 200:
            raise CommandError("A name has 1 to 200 characters.")
        days = options["expires"]
        if days is not None and not 0 < days <= MOST_DAYS:
            raise CommandError(f"A key expires after 1 to {MOST_DAYS:,} days.")
        try:
            _, text = create_api_key(
                project=project,
                name=name,
                scopes=[scope.strip() for scope in options["scopes"].split(",")],
                expires_at=None if days is None else timezone.now() + timedelta(days=days),
            )
        except InvalidInput as error:
            raise CommandError(error.detail) from None
        self.stdout.write(text)
