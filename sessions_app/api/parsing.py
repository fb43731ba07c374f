"""Reading requests strictly: JSON as the standard has it, UTF-8, no unknown parameters."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from inspect import unwrap
from typing import Any, TypeVar

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.datastructures import MultiValueDict
from ninja.errors import HttpError
from ninja.parser import Parser
from ninja.renderers import JSONRenderer
from pydantic import BaseModel, ValidationError

from sessions_app.domain.errors import FieldError, InvalidInput, pointer_to
from sessions_app.domain.strict_json import DEEPEST, strict_json
from sessions_app.domain.text_cleaning import clean_text, count_illegal

JSON_TYPES = frozenset({"", "application/json", "application/merge-patch+json"})
REPLACED_HEADER = "Convoweb-Replaced-Characters"

Model = TypeVar("Model", bound=BaseModel)
Door = Callable[..., HttpResponseBase]


class UnreadableBody(HttpError):
    """The body is not what it should be before its fields are looked at: 400 for its text, 415 for its type."""


class StrictParser(Parser):
    """Reads bodies and query strings; characters that cannot be stored become U+FFFD and are counted."""

    def parse_body(self, request: HttpRequest) -> Any:
        """Return the JSON value of a body."""
        if request.content_type not in JSON_TYPES:
            raise UnreadableBody(415, "Send JSON, with the content type application/json.")
        value = _loads(request.body)
        reader = _Cleaner()
        cleaned = reader.clean(value)
        request.replaced_characters = reader.replaced  # type: ignore[attr-defined]
        return cleaned

    def parse_querydict(
        self, data: "MultiValueDict[str, Any]", list_fields: list[str], request: HttpRequest
    ) -> dict[str, Any]:
        """Return the parameters, those of lists with all their values."""
        found = super().parse_querydict(data, list_fields, request)
        return {name: _Cleaner().clean(value) for name, value in found.items()}


class _Cleaner:
    """Cleans the texts of a JSON value and counts what it replaced."""

    def __init__(self) -> None:
        self.replaced = 0

    def clean(self, value: Any, level: int = 0) -> Any:
        if level > DEEPEST:
            raise InvalidInput(f"JSON may be nested {DEEPEST} levels deep at most.")
        if isinstance(value, str):
            return self._clean_text(value)
        if isinstance(value, Mapping):
            return {self._clean_text(name): self.clean(item, level + 1) for name, item in value.items()}
        if isinstance(value, list):
            return [self.clean(item, level + 1) for item in value]
        return value

    def _clean_text(self, text: str) -> str:
        self.replaced += count_illegal(text)
        return clean_text(text)


def _loads(body: bytes) -> Any:
    try:
        return strict_json(body.decode())
    except UnicodeDecodeError:
        raise UnreadableBody(400, "The body is not UTF-8.") from None
    except RecursionError:
        raise InvalidInput(f"JSON may be nested {DEEPEST} levels deep at most.") from None
    except ValueError as error:
        raise UnreadableBody(400, f"The body is not JSON: {error}.") from None


class JsonRenderer(JSONRenderer):
    """Writes answers as UTF-8 and as strict JSON."""

    json_dumps_params = {"ensure_ascii": False, "allow_nan": False, "separators": (",", ":")}


def refuse_unknown_parameters(run: Door) -> Door:
    """Decorate an operation so that a mistyped query parameter is refused instead of ignored."""
    operation = unwrap(run).__self__
    known = {name for model in operation.models for name in _query_names(model)}
    families = tuple(each["name"].removesuffix("KEY") for each in (operation.openapi_extra or {}).get("parameters", ()))

    @wraps(run)
    def strict(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        unknown = [name for name in request.GET if name not in known and not (families and name.startswith(families))]
        if unknown:
            listed = ", ".join(sorted(known)) or "none"
            errors = [
                FieldError(pointer_to([name]), f"It is not a parameter here; known are: {listed}.") for name in unknown
            ]
            return operation.api.on_exception(request, InvalidInput("Unknown query parameters.", errors=errors))
        return run(request, **kwargs)

    return strict


def _query_names(model: Any) -> list[str]:
    return list(model.__ninja_flatten_map__) if model.__ninja_param_source__ == "query" else []


def read(model: type[Model], value: Any) -> Model:
    """Return a JSON value as a model, or raise InvalidInput with the pointer of each bad field."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise invalid(error.errors(include_url=False, include_context=False)) from None


def invalid(errors: Sequence[Mapping[str, Any]], *, prefixes: Mapping[str, int] | None = None) -> InvalidInput:
    """Return pydantic's errors as ours; `prefixes` says how many steps to leave out of places that begin so."""
    fields = []
    for error in errors:
        place = tuple(error["loc"])
        skipped = prefixes.get(str(place[0]), 1) if prefixes and place else 0
        fields.append(FieldError(pointer_to(place[skipped:]), f"{error['msg']}.".replace("..", ".")))
    return InvalidInput("The request has fields that are not accepted.", errors=fields)
