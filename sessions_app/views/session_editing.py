"""Changing what a session is called and filed under, and deleting it: both ask in a dialog on its page."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from sessions_app.domain.errors import ConvowebError, FieldError, InvalidInput, SessionHasChildren
from sessions_app.domain.roles import Right
from sessions_app.domain.session_fields import patch_between
from sessions_app.domain.strict_json import TOO_DEEP, is_shallow, strict_json
from sessions_app.models import Session
from sessions_app.queries.session_removal import Removal, removal_of
from sessions_app.services.session_deletion import Children, delete_session
from sessions_app.services.sessions import update_session
from sessions_app.views.access import needs
from sessions_app.views.projects import project_for
from sessions_app.views.rendering import HtmxRequest
from sessions_app.views.session_pages import session_of, show_session
from sessions_app.views.workbench import seen_values

_FIELDS = ("title", "user_id", "tags", "metadata")


@dataclass(frozen=True, slots=True)
class Editing:
    """What stands in the fields of the dialog, as texts: tags one a line, metadata as JSON; and what is wrong there.

    `seen` is what stood there at first, so that what a bot changes meanwhile is not changed back.
    """

    title: str
    user_id: str
    tags: str
    metadata: str
    wrong: Mapping[str, str] = field(default_factory=dict)
    seen: str = ""


@dataclass(frozen=True, slots=True)
class Deleting:
    """What deleting would take, and what is wrong with the answer that was given."""

    removal: Removal
    wrong: str = ""


@needs(reading=Right.EDIT)
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Ask for title, user, tags and metadata; store what was changed of them."""
    project = project_for(request.user, slug)
    conversation = session_of(project, session_id)
    if request.method != "POST":
        return show_session(request, project, conversation, {"editing": _opened(conversation)})
    try:
        changes = _changes(conversation, request.POST)
        if changes:
            actor = request.user.get_username()
            update_session(session=conversation, changes=changes, now=timezone.now(), actor=actor)
    except InvalidInput as refusal:
        editing = _given(request.POST, refusal)
        return show_session(request, project, conversation, {"editing": editing}, status=422)
    messages.success(request, "Saved." if changes else "Nothing was changed.")
    return redirect("session", slug, session_id)


@needs(reading=Right.EDIT)
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Say what would go and ask what shall become of the children; then delete, and show what stands above."""
    project = project_for(request.user, slug)
    conversation = session_of(project, session_id)
    if request.method != "POST":
        return show_session(request, project, conversation, {"deleting": Deleting(removal_of(conversation))})
    above = conversation.parent
    try:
        delete_session(session=conversation, now=timezone.now(), children=_chosen(request.POST))
    except SessionHasChildren:
        deleting = Deleting(removal_of(conversation), "Say what shall become of the conversations below it.")
        return show_session(request, project, conversation, {"deleting": deleting}, status=409)
    except ConvowebError as refusal:
        messages.error(request, refusal.detail)
        return redirect("sessions", slug)
    messages.success(request, f"{conversation} was deleted.")
    return redirect("sessions", slug) if above is None else redirect("session", slug, above.public_id)


def _opened(conversation: Session) -> Editing:
    stored = _stored(conversation)
    return replace(stored, seen=json.dumps({name: getattr(stored, name) for name in _FIELDS}))


def _stored(conversation: Session) -> Editing:
    return Editing(
        title=conversation.title,
        user_id=conversation.user_id,
        tags="\n".join(tag.name for tag in conversation.tags.all()),
        metadata=json.dumps(conversation.metadata, ensure_ascii=False, indent=2) if conversation.metadata else "",
    )


def _given(form: QueryDict, refusal: InvalidInput) -> Editing:
    texts = {name: form.get(name, "") for name in _FIELDS}
    wrong = {error.pointer.split("/")[1]: error.detail for error in reversed(refusal.errors)}
    return Editing(**texts, wrong=wrong, seen=form.get("seen", ""))


def _changes(conversation: Session, form: QueryDict) -> dict[str, Any]:
    """Return what differs from what was seen, or else from what is stored, of the fields that were sent."""
    seen = seen_values(form.get("seen", ""))
    known: dict[str, Any] = {name: text for name in _FIELDS if isinstance(text := seen.get(name), str)}
    stored = replace(_stored(conversation), **known)
    changes: dict[str, Any] = {}
    for name, before in (("title", stored.title), ("user_id", stored.user_id)):
        text = form.get(name, before).strip()
        if text != before.strip():
            changes[name] = text
    tags = form.get("tags", stored.tags).replace("\r\n", "\n").strip()
    if tags != stored.tags.strip():
        changes["tags"] = [line.strip() for line in tags.split("\n") if line.strip()]
    patch = patch_between(_metadata(stored.metadata), _metadata(form.get("metadata", stored.metadata)))
    if patch:
        changes["metadata"] = patch
    return changes


def _metadata(text: str) -> dict[str, Any]:
    try:
        metadata = strict_json(text) if text.strip() else {}
    except (ValueError, RecursionError) as fault:
        raise _refused(f"Metadata must be an object of JSON, such as {{}}: {fault}.") from None
    if not isinstance(metadata, dict):
        raise _refused('Metadata must be an object of JSON, such as {"channel": "web"}.')
    if not is_shallow(metadata):
        raise _refused(TOO_DEEP)
    return metadata


def _refused(detail: str) -> InvalidInput:
    return InvalidInput(detail, errors=[FieldError("/metadata", detail)])


def _chosen(form: QueryDict) -> Children:
    answer = form.get("children", "")
    return Children(answer) if answer in set(Children) else Children.REFUSE
