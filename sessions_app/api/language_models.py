"""Language models: what is known of them, and what the project says of one itself."""

from django.db.models import F
from django.utils import timezone
from ninja import Query, Router
from ninja.responses import Status

from sessions_app.api.access import ADMIN, READ, ApiRequest
from sessions_app.api.language_model_schemas import ModelOut, ModelOverrideIn, ModelPage, ModelQuery, model_out
from sessions_app.api.paging import cursor_of
from sessions_app.domain.errors import NotFound
from sessions_app.domain.language_models import is_legal_name
from sessions_app.queries.keyset import Cursor, Order, read_text
from sessions_app.queries.language_models import known_model, known_models
from sessions_app.services.model_overrides import remove_model_override, set_model_override

router = Router(tags=["models"])

_BY_NAME = Order("name", F("name"), read_text)


@router.get("/models", auth=READ, response=ModelPage, by_alias=True)
def list_models(request: ApiRequest, query: Query[ModelQuery]) -> ModelPage:
    """List the models of the built-in tables, and those of which the project says something, by name."""
    cursor = cursor_of(query.cursor, _BY_NAME)
    found = known_models(
        project=request.auth.project, words=query.q, after=cursor.key if cursor else "", count=query.limit + 1
    )
    shown, now = found[: query.limit], timezone.now()
    rest = Cursor(_BY_NAME.name, shown[-1].name, 0, 0).to_text() if len(found) > query.limit else None
    return ModelPage(items=[model_out(model, now) for model in shown], next_cursor=rest)


@router.get("/models/{path:name}", auth=READ, response=ModelOut, by_alias=True)
def get_model(request: ApiRequest, name: str) -> ModelOut:
    """Get what is known of a model. Its name may have slashes in it."""
    return _model_out(request, _known(name))


@router.put("/models/{path:name}", auth=ADMIN, response=ModelOut, by_alias=True)
def put_model(request: ApiRequest, name: str, payload: ModelOverrideIn) -> ModelOut:
    """Say of a model, known or not, what wins over the built-in tables in this project."""
    set_model_override(project=request.auth.project, name=name, facts=payload.facts(), now=timezone.now())
    return _model_out(request, name)


@router.delete("/models/{path:name}", auth=ADMIN, response={204: None})
def delete_model(request: ApiRequest, name: str) -> Status[None]:
    """Take back what the project says of a model."""
    remove_model_override(project=request.auth.project, name=_known(name), now=timezone.now())
    return Status(204, None)


def _known(name: str) -> str:
    """Return a name that can be asked for."""
    if not is_legal_name(name):
        raise NotFound("No model with this name is known.")
    return name


def _model_out(request: ApiRequest, name: str) -> ModelOut:
    return model_out(known_model(project=request.auth.project, name=name), timezone.now())
