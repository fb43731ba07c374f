"""Profiles: named copies of settings, to be asked for by name."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from django.db.models import F
from django.utils import timezone
from ninja import Query, Router, Status
from pydantic import Field

from sessions_app.api.access import READ, WRITE, ApiRequest
from sessions_app.api.idempotency import idempotent
from sessions_app.api.paging import page_of
from sessions_app.api.schemas import In, JsonObject, Out, PageQuery
from sessions_app.api.setting_schemas import SparseSettings
from sessions_app.domain.errors import FieldError, InvalidInput, at
from sessions_app.domain.memory_settings import stored_values
from sessions_app.domain.setting_values import check_settings
from sessions_app.models import Profile
from sessions_app.queries.keyset import Order, read_count
from sessions_app.services.given_names import LONGEST_NAME
from sessions_app.services.profiles import save_new_profile
from sessions_app.services.settings import project_settings

router = Router(tags=["settings"])
PROFILE = "profile"
OLDEST_FIRST = Order("profile", F("pk"), read_count)


class ProfileIn(In):
    """A new profile."""

    name: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
    settings: SparseSettings = Field(
        default={}, description="What it has otherwise than the project's defaults of now; it copies all values."
    )


class ProfileOut(Out):
    """A named copy of all values; it is in force nowhere."""

    name: str
    settings: JsonObject
    actor: str = Field(description="The user or the API key that saved it.")
    saved_at: datetime


class ProfilePage(Out):
    """A page of profiles, oldest first."""

    items: list[ProfileOut]
    next_cursor: str | None


@router.get("/profiles", auth=READ, response=ProfilePage)
def list_profiles(request: ApiRequest, query: Query[PageQuery]) -> ProfilePage:
    """List the project's profiles, oldest first."""
    rows = Profile.objects.filter(project=request.auth.project).annotate(order_key=F("pk"))
    found, cursor = page_of(rows, OLDEST_FIRST, limit=query.limit, cursor=query.cursor)
    return ProfilePage(items=[ProfileOut.model_validate(row) for row in found], next_cursor=cursor)


@router.post("/profiles", auth=WRITE, response={201: ProfileOut})
@idempotent
def create_profile(request: ApiRequest, payload: ProfileIn) -> Status[Profile]:
    """Save a profile under a name that the project has not given yet."""
    project = request.auth.project
    with at("/settings"):
        settings = check_settings(payload.settings)
    now = stored_values(project_settings(project=project).values)
    saved = save_new_profile(
        project=project,
        name=payload.name,
        settings={**now, **{name: value for name, value in settings.items() if value is not None}},
        actor=request.auth.name,
        now=timezone.now(),
    )
    return Status(201, saved)


def with_profile(request: ApiRequest, settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the settings of a request, checked, over the values of the profile that they name, if they do."""
    given = dict(settings or {})
    name = given.pop(PROFILE, None)
    values = {} if name is None else _values_of(request, name)
    return values | dict(check_settings(given))


def _values_of(request: ApiRequest, name: Any) -> dict[str, Any]:
    found = isinstance(name, str) and Profile.objects.filter(project=request.auth.project, name=name).first()
    if not found:
        detail = "There is no profile of this name; GET /profiles lists them."
        raise InvalidInput(detail, errors=[FieldError(f"/{PROFILE}", detail)])
    return dict(found.settings)
