"""Create an API key."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from sessions_app.domain.errors import InvalidInput
from sessions_app.models import Project, Scope
from sessions_app.services.keys import create_api_key


class Command(BaseCommand):
    """`manage.py create_api_key --project SLUG --name NAME --scopes read,write,admin`."""

    help = "Creates a bot's API key and prints it, alone, on standard output; it is shown this once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--name", required=True, help="which bot it is for")
        parser.add_argument("--scopes", required=True, help=f"some of {','.join(Scope.values)}, with commas")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']}.")
        name = options["name"].strip()
        if not 0 < len(name) <= 200:
            raise CommandError("A name has 1 to 200 characters.")
        try:
            _, text = create_api_key(
                project=project, name=name, scopes=[scope.strip() for scope in options["scopes"].split(",")]
            )
        except InvalidInput as error:
            raise CommandError(error.detail) from None
        self.stdout.write(text)
