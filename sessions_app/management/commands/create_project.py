"""Create a project."""

import re
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import IntegrityError, transaction

from sessions_app.models import Project

SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


class Command(BaseCommand):
    """`manage.py create_project SLUG [--name NAME]`."""

    help = "Creates a project, the tenant of sessions and API keys, and prints its slug."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="1 to 60 of a-z 0-9 and -, not beginning with -")
        parser.add_argument("--name", default="", help="what people read (the slug if left out)")

    def handle(self, *_args: Any, **options: Any) -> None:
        slug, name = options["slug"], options["name"].strip()
        if not SLUG.fullmatch(slug):
            raise CommandError(f"A slug is 1 to 60 of a-z 0-9 and -, not beginning with -; this is {slug!r}.")
        if len(name) > 200:
            raise CommandError("A name has at most 200 characters.")
        try:
            with transaction.atomic():
                Project.objects.create(slug=slug, name=name or slug)
        except IntegrityError:
            raise CommandError(f"There is a project {slug} already.") from None
        self.stdout.write(slug)
