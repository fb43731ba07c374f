"""Finding what a path names, in the project of the key alone: what is another's looks like what does not exist."""

from sessions_app.api.access import ApiRequest
from sessions_app.domain.errors import NotFound
from sessions_app.domain.identifiers import is_legal_id
from sessions_app.models import Event, Import, Run, Session, Summary
from sessions_app.queries.keyset import LARGEST_KEY
from sessions_app.queries.session_listing import with_answer_columns


def find_session(request: ApiRequest, public_id: str) -> Session:
    """Return a session of the key's project."""
    rows = with_answer_columns(Session.objects.filter(project=request.auth.project, public_id=public_id))
    session = rows.first() if is_legal_id(public_id) else None
    if session is None:
        raise NotFound("There is no such session.")
    session.project = request.auth.project
    request.written_session = session.pk
    return session


def find_run(request: ApiRequest, public_id: str) -> Run:
    """Return a run of the key's project with its events."""
    rows = Run.objects.filter(project=request.auth.project, public_id=public_id).select_related("session")
    run = rows.with_events().first() if is_legal_id(public_id) else None
    if run is None:
        raise NotFound("There is no such run.")
    request.written_session = run.session_id
    return run


def find_event(request: ApiRequest, public_id: str) -> Event:
    """Return an event of the key's project."""
    rows = Event.objects.filter(pk=_key_in(public_id, "evt_"), run__project=request.auth.project)
    event = rows.select_related("run__session").first()
    if event is None:
        raise NotFound("There is no such event.")
    request.written_session = event.run.session_id
    return event


def find_summary(request: ApiRequest, public_id: str) -> Summary:
    """Return an entry of a ledger of the key's project."""
    rows = Summary.objects.filter(pk=_key_in(public_id, "sum_"), session__project=request.auth.project)
    rows = rows.select_related("session", "predecessor").defer("predecessor__text", "predecessor__facts")
    entry = rows.first()
    if entry is None:
        raise NotFound("There is no such summary.")
    entry.session.project = request.auth.project
    request.written_session = entry.session_id
    return entry


def find_import(request: ApiRequest, public_id: str) -> Import:
    """Return an import of the key's project."""
    work = Import.objects.filter(pk=_key_in(public_id, "imp_"), project=request.auth.project).first()
    if work is None:
        raise NotFound("There is no such import.")
    return work


def _key_in(public_id: str, prefix: str) -> int:
    digits = public_id.removeprefix(prefix)
    legal = digits.isascii() and digits.isdigit() and len(digits) < 20 and public_id == f"{prefix}{int(digits)}"
    return int(digits) if legal and int(digits) <= LARGEST_KEY else 0
