"""Rows of files on their way in: read and weighed before the transaction, then stored or refused with the reason."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

import structlog
from django.db import InterfaceError, OperationalError

from sessions_app.domain.conversation_files import Conversation, FileFormat
from sessions_app.domain.errors import HistoryChanged, InvalidInput
from sessions_app.domain.json_streams import Found
from sessions_app.domain.run_fields import check_new_run
from sessions_app.domain.session_fields import LONGEST
from sessions_app.domain.text_cleaning import clean_text
from sessions_app.models import ImportOutcome, Project
from sessions_app.services.conversation_imports import Imported, import_conversation, known_session
from sessions_app.services.tree_imports import import_tree

log = structlog.get_logger(__name__)

SKIPPED = (ImportOutcome.CHANGED, ImportOutcome.INVALID)


@dataclass(frozen=True, slots=True)
class PreparedRow:
    """A row of a file read and weighed, ready to be stored in a short transaction; or the reason why it cannot be."""

    place: int
    conversation: Conversation | None
    title: str
    error: str = ""


def prepare_row(*, file_format: FileFormat, found: Found) -> PreparedRow:
    """Read the conversation of a row; touches no database."""
    title = _title_of(found)
    if found.error:
        return PreparedRow(found.place, None, title, found.error)
    try:
        conversation = file_format.conversation(found.value)
        weighed = _weighed(conversation)
    except InvalidInput as error:
        return PreparedRow(found.place, None, title, error.detail)
    except Exception as error:
        log.exception("row_not_read", place=found.place)
        return PreparedRow(found.place, None, title, _unexpected(error))
    return PreparedRow(found.place, weighed, title)


def import_row(*, project: Project, file_format: FileFormat, row: PreparedRow, now: datetime) -> Imported:
    """Store a prepared row, or say why nothing of it was stored."""
    if row.conversation is None:
        return Imported(ImportOutcome.INVALID, row.title, row.error)
    try:
        bring_in = import_tree if row.conversation.paths else import_conversation
        return bring_in(project=project, source=file_format.name, conversation=row.conversation, now=now)
    except HistoryChanged as error:
        known = known_session(project, file_format.name, row.conversation)
        return Imported(ImportOutcome.CHANGED, row.title, error.detail, known)
    except InvalidInput as error:
        return Imported(ImportOutcome.INVALID, row.title, error.detail)
    except (OperationalError, InterfaceError):
        raise  # The database is away or busy, which says nothing about the row.
    except Exception as error:
        log.exception("row_not_imported", place=row.place)
        return Imported(ImportOutcome.INVALID, row.title, _unexpected(error))


def _weighed(conversation: Conversation) -> Conversation:
    """Return a conversation with its runs checked; one that several paths share is checked once."""
    if not conversation.paths:
        return replace(conversation, runs=tuple(map(check_new_run, conversation.runs)))
    given = {id(run): run for path in conversation.paths for run in path.runs}
    checked = {key: check_new_run(run) for key, run in given.items()}
    paths = tuple(replace(path, runs=tuple(checked[id(run)] for run in path.runs)) for path in conversation.paths)
    return replace(conversation, runs=paths[0].runs, paths=paths)


def _unexpected(error: Exception) -> str:
    """Say that one row has met an error of ours, so that it costs a line of the report and not the file."""
    return f"It cannot be imported, which is our mistake and logged: {type(error).__name__}."


def _title_of(found: Found) -> str:
    """Return what a row calls itself, for the report."""
    row = found.value if isinstance(found.value, Mapping) else {}
    names = (row.get(field) for field in ("title", "name", "id", "uuid"))
    text = next((str(name) for name in names if isinstance(name, str | int) and str(name).strip()), "")
    return clean_text(text)[: LONGEST["title"]]
