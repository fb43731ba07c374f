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
from sessions_app.domain.errors import FieldError, InvalidInput, NotFound, at
from sessions_app.domain.memory_settings import stored_values
from sessions_app.domain.setting_values import check_settings
from sessions_app.domain.text_cleaning import clean_text
from sessions_app.models import Profile
from sessions_app.queries.keyset import Order, read_count
from sessions_app.services.given_names import LONGEST_NAME
from sessions_app.services.profiles import rename_profile, save_new_profile
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


class ProfilePatch(In):
    """Another name for a profile."""

    name: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]


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


@router.patch("/profiles/{path:name}", auth=WRITE, response=ProfileOut)
@idempotent
def patch_profile(request: ApiRequest, name: str, payload: ProfilePatch) -> Profile:
    """Give a profile another name. Names may have slashes in them."""
    return rename_profile(profile=_profile(request, name), name=payload.name)


@router.delete("/profiles/{path:name}", auth=WRITE, response={204: None})
def delete_profile(request: ApiRequest, name: str) -> Status[None]:
    """Delete a profile; settings to which it was applied stay as they are."""
    _profile(request, name).delete()
    return Status(204, None)


def with_profile(request: ApiRequest, settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the settings of a request, checked, over the values of the profile that they name, if they do."""
    given = dict(settings or {})
    name = given.pop(PROFILE, None)
    values = {} if name is None else _values_of(request, name)
    return values | dict(check_settings(given))


def _profile(request: ApiRequest, name: str) -> Profile:
    found = _found(request, name)
    if found is None:
        raise NotFound("There is no such profile.")
    return found


def _found(request: ApiRequest, name: str) -> Profile | None:
    """Return the profile of a name; what no database holds is nobody's."""
    is_storable = clean_text(name) == name
    return Profile.objects.filter(project=request.auth.project, name=name).first() if is_storable else None


def _values_of(request: ApiRequest, name: Any) -> dict[str, Any]:
    found = _found(request, name) if isinstance(name, str) else None
    if not found:
        detail = "There is no profile of this name; GET /profiles lists them."
        raise InvalidInput(detail, errors=[FieldError(f"/{PROFILE}", detail)])
    return dict(found.settings)
