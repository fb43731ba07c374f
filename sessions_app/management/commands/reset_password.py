"""Gives somebody a new password."""

from typing import Any

from django.core.management import BaseCommand, CommandError, CommandParser

from sessions_app.domain.errors import NotFound
from sessions_app.services import accounts


class Command(BaseCommand):
    """`manage.py reset_password USER`: the new password alone on stdout."""

    help = "Make a new password for a user and print it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username", metavar="USER")

    def handle(self, *_args: Any, username: str, **_options: Any) -> None:
        try:
            self.stdout.write(accounts.reset_password(username=username))
        except NotFound as error:
            raise CommandError(error.detail) from error
