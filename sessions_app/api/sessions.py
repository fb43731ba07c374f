"""Sessions: the endpoints."""

from django.db import transaction
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from ninja import Body, Query, Router
from ninja.responses import Status

from sessions_app.api.access import ADMIN, READ, WRITE, ApiRequest
from sessions_app.api.idempotency import idempotent
from sessions_app.api.lookups import find_session
from sessions_app.api.paging import page_of
from sessions_app.api.session_schemas import (
    MOST_FILTERS,
    ChildrenQuery,
    ForkIn,
    SessionChange,
    SessionIn,
    SessionOut,
    SessionPage,
    SessionPut,
    SessionQuery,
    SessionTree,
    session_node,
    session_out,
)
from sessions_app.domain.errors import Conflict, FieldError, IdTaken, InvalidInput, NotFound
from sessions_app.domain.identifiers import check_id
from sessions_app.domain.text_cleaning import clean_text
from sessions_app.models import Session
from sessions_app.models.connections import one_state
from sessions_app.queries.session_listing import ORDERS, Wanted, listed_sessions
from sessions_app.queries.tree_listing import tree_around
from sessions_app.services.session_deletion import Children, delete_session
from sessions_app.services.sessions import create_session, fork_session, update_session

router = Router(tags=["sessions"])

METADATA_PARAMETER = {
    "name": "metadata.KEY",
    "in": "query",
    "required": False,
    "schema": {"type": "string"},
    "description": "The value under KEY in the metadata; any number of such filters may be given.",
}


@router.post("/sessions", auth=WRITE, response={201: SessionOut})
@idempotent
def create(request: ApiRequest, response: HttpResponse, payload: SessionIn) -> Status[SessionOut]:
    """Create a session."""
    return Status(201, _created(request, response, payload.id, payload))


@router.put("/sessions/{session_id}", auth=WRITE, response={200: SessionOut, 201: SessionOut})
def get_or_create(
    request: ApiRequest,
    response: HttpResponse,
    session_id: str,
    payload: SessionPut = Body(SessionPut()),  # noqa: B008 (how ninja marks a body)
) -> Status[SessionOut]:
    """Create a session with an id of your own, or get it, unchanged, if there is one already."""
    check_id(session_id)
    known = _unchanged(request, session_id, payload)
    if known is not None:
        return Status(200, known)
    try:
        return Status(201, _created(request, response, session_id, payload))
    except IdTaken:
        # Another request was faster.
        faster = _unchanged(request, session_id, payload)
        if faster is None:
            raise
        return Status(200, faster)


@router.get("/sessions", auth=READ, response=SessionPage, openapi_extra={"parameters": [METADATA_PARAMETER]})
def list_sessions(request: ApiRequest, query: Query[SessionQuery]) -> SessionPage:
    """List sessions."""
    wanted = Wanted(
        prefix=query.prefix,
        words=query.q,
        user_id=query.user_id,
        parent_id=query.parent_id,
        roots=query.roots,
        tags=query.tag,
        metadata=_metadata_filters(request),
        since=query.since,
        until=query.until,
        status=query.status,
        model=query.model,
        children=query.has_children,
        lost=query.has_lost_runs,
        cut=query.has_cut_results,
        own_settings=query.has_own_settings,
    )
    rows = listed_sessions(project=request.auth.project, wanted=wanted)
    found, cursor = page_of(rows, ORDERS[query.sort], limit=query.limit, cursor=query.cursor)
    return SessionPage(items=[session_out(session) for session in found], next_cursor=cursor)


@router.get("/sessions/{session_id}", auth=READ, response=SessionOut, url_name="session")
def get_session(request: ApiRequest, session_id: str) -> SessionOut:
    """Get a session."""
    return session_out(find_session(request, session_id))


@router.patch("/sessions/{session_id}", auth=WRITE, response=SessionOut)
@idempotent
def patch_session(request: ApiRequest, session_id: str, payload: SessionChange) -> SessionOut:
    """Change a session by a JSON merge patch."""
    session = find_session(request, session_id)
    # What the answer says of the parent and the summary is read before others may delete these.
    with transaction.atomic():
        changed = update_session(
            session=session,
            changes=payload.given(),
            now=timezone.now(),
            actor=request.auth.name,
            note=payload.note,
        )
        return session_out(changed)


@router.delete("/sessions/{session_id}", auth=ADMIN, response={204: None})
def delete(request: ApiRequest, session_id: str, query: Query[ChildrenQuery]) -> Status[None]:
    """Delete a session. Its children forbid it, go with it, or move to its parent; forks keep what they share."""
    session = find_session(request, session_id)
    delete_session(session=session, now=timezone.now(), children=Children(query.children))
    return Status(204, None)


@router.get("/sessions/{session_id}/tree", auth=READ, response=SessionTree)
@one_state()
def get_tree(request: ApiRequest, session_id: str) -> SessionTree:
    """Get the whole tree around a session, flat, at most 1,000 nodes."""
    nodes, truncated = tree_around(find_session(request, session_id))
    return SessionTree(items=[session_node(node) for node in nodes], truncated=truncated)


@router.post("/sessions/{session_id}/fork", auth=WRITE, response={201: SessionOut})
@idempotent
def fork(request: ApiRequest, response: HttpResponse, session_id: str, payload: ForkIn) -> Status[SessionOut]:
    """Fork a session: share its runs up to a position, and go another way from there."""
    try:
        session = fork_session(
            session=find_session(request, session_id),
            at=payload.at,
            now=timezone.now(),
            public_id=payload.id,
            title=payload.title,
            actor=request.auth.name,
        )
    except InvalidInput as error:
        error.errors = tuple(FieldError("/at", each.detail) for each in error.errors)
        raise
    return Status(201, _announced(request, response, session))


def _created(request: ApiRequest, response: HttpResponse, public_id: str | None, payload: SessionPut) -> SessionOut:
    given = {name: value for name, value in payload.given().items() if value is not None}
    given.pop("id", None)
    parent_id = given.pop("parent_id", None)
    parent = None if parent_id is None else _parent(request, parent_id)
    session = create_session(
        project=request.auth.project,
        now=timezone.now(),
        public_id=public_id,
        parent=parent,
        actor=request.auth.name,
        **given,
    )
    return _announced(request, response, session)


def _parent(request: ApiRequest, parent_id: str) -> Session:
    try:
        return find_session(request, parent_id)
    except NotFound:
        detail = "There is no such parent."
        raise InvalidInput(detail, errors=[FieldError("/parent_id", detail)]) from None


def _announced(request: ApiRequest, response: HttpResponse, session: Session) -> SessionOut:
    request.written_session = session.pk
    response["Location"] = reverse("api:session", args=[session.public_id])
    return session_out(session)


def _unchanged(request: ApiRequest, session_id: str, payload: SessionPut) -> SessionOut | None:
    """Return the session if there is one, unless the request wants it elsewhere in a tree."""
    try:
        session = session_out(find_session(request, session_id))
    except NotFound:
        return None
    given = payload.given()
    for name in ("parent_id", "forked_at"):
        if name in given and given[name] != getattr(session, name):
            detail = f"Session {session.id} exists with another {name}, which never changes."
            raise Conflict(detail, errors=[FieldError(f"/{name}", detail)])
    return session


def _metadata_filters(request: ApiRequest) -> dict[str, str]:
    filters = {
        clean_text(name.removeprefix("metadata.")): clean_text(str(text))
        for name, text in request.GET.items()
        if name.startswith("metadata.")
    }
    if len(filters) > MOST_FILTERS:
        detail = f"At most {MOST_FILTERS} names in the metadata can be asked for."
        raise InvalidInput(detail, errors=[FieldError("/metadata.KEY", detail)])
    return filters
