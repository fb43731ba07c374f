"""Column types that behave the same on every database."""

from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.sql.compiler import SQLCompiler


class BytewiseCharField(models.CharField):
    """A CharField compared byte by byte; SQLite does so by itself, PostgreSQL with collation C."""

    def db_parameters(self, connection: BaseDatabaseWrapper) -> dict[str, Any]:
        """Return the column's parameters with the collation of this database."""
        parameters = super().db_parameters(connection)
        parameters["collation"] = "C" if connection.vendor == "postgresql" else None
        return parameters


class Constant(models.Value):
    """A number, a plain word such as a member of an enum, or no word, written into the statement instead of beside it.

    SQLite plans a statement before it knows its parameters, so it uses an index over "status is pending or running"
    only for a condition that says so itself.
    """

    def __init__(self, constant: str | int) -> None:
        if isinstance(constant, int):
            super().__init__(constant, output_field=models.IntegerField())
        elif not constant or constant.isidentifier():
            super().__init__(str(constant), output_field=models.CharField())
        else:
            raise ValueError(f"{constant!r} is not a plain word")

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, tuple[()]]:  # noqa: ARG002
        """Return the number, or the word in quotes, without parameters."""
        return (str(self.value) if isinstance(self.value, int) else f"'{self.value}'"), ()
