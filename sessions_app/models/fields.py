"""Column types that behave the same on every database."""

from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper


class BytewiseCharField(models.CharField):  # type: ignore[type-arg]
    """A CharField compared byte by byte; SQLite does so by itself, PostgreSQL with collation C."""

    def db_parameters(self, connection: BaseDatabaseWrapper) -> dict[str, Any]:
        """Return the column's parameters with the collation of this database."""
        parameters = super().db_parameters(connection)
        parameters["collation"] = "C" if connection.vendor == "postgresql" else None
        return parameters
