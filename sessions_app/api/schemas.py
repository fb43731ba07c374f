"""What requests may hold and answers do: the shapes that several nouns share."""

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any

from ninja import Schema
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

from sessions_app.domain.identifiers import ID_PATTERN, ID_RULE, is_legal_id
from sessions_app.domain.memory_settings import LARGEST_INTEGER

_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)")


class In(Schema):
    """A request body; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())


class Out(Schema):
    """An answer."""

    model_config = ConfigDict(from_attributes=True, protected_namespaces=())


def _legal_id(text: str) -> str:
    if not is_legal_id(text):
        raise PydanticCustomError("id", ID_RULE)
    return text


def _rfc_3339(value: Any) -> Any:
    if not isinstance(value, str) or _TIME.fullmatch(value) is None:
        raise PydanticCustomError("time", "A time is a text as in RFC 3339, such as 2026-05-04T12:00:00Z")
    return value


def _in_utc(time: datetime) -> datetime:
    try:
        if time.tzinfo is not None:
            return time.astimezone(UTC)
    except OverflowError:
        pass
    raise PydanticCustomError("time", "A time has an offset from UTC and lies between the years 1 and 9999")


def _whole(value: Any) -> Any:
    """Take 3.0 for 3, which JSON does not tell apart."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


PublicId = Annotated[
    str,
    AfterValidator(_legal_id),
    WithJsonSchema({"type": "string", "pattern": ID_PATTERN, "maxLength": 200, "description": ID_RULE}),
]
Time = Annotated[
    datetime,
    BeforeValidator(_rfc_3339),
    AfterValidator(_in_utc),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
Count = Annotated[int, Field(strict=True, ge=0, le=LARGEST_INTEGER), BeforeValidator(_whole)]
Position = Annotated[int, Field(strict=True, ge=1, le=LARGEST_INTEGER), BeforeValidator(_whole)]
Index = Annotated[int, Field(strict=True, ge=-LARGEST_INTEGER, le=LARGEST_INTEGER), BeforeValidator(_whole)]
Whole = Annotated[int, Field(ge=0, le=LARGEST_INTEGER)]
JsonObject = Annotated[dict[str, Any], WithJsonSchema({"type": "object", "additionalProperties": True})]


class ProblemField(Out):
    """A bad field: its JSON pointer and what is allowed."""

    pointer: str
    detail: str


class Problem(Out):
    """An error (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[ProblemField]


class PageQuery(In):
    """Where a page of a list starts and how long it is."""

    limit: int = Field(default=50, ge=1, le=200)
    cursor: str = Field(default="", description="`next_cursor` of the page before.")


def money(amount: Decimal) -> str:
    """Return an amount as a decimal text, without an exponent or closing zeros."""
    return f"{amount.normalize():f}"
