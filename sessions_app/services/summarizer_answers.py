"""Answers that were paid for, kept so that the same request to the same endpoint need not be paid for again."""

import hashlib
import json
from datetime import datetime, timedelta

from django.db import transaction

from sessions_app.domain.summarizers.openai import ModelRequest
from sessions_app.models import Session, SummarizerAnswer

KEPT_FOR = timedelta(days=30)


def hash_of(*, url: str, request: ModelRequest) -> str:
    """Return the hash of all that an answer depends on: who is asked, which model, and the whole text."""
    parts = [url, request.model, request.max_tokens, request.text]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def kept_answer(*, session: Session, request_hash: str) -> str | None:
    """Return the answer to a request, whichever session of the project it was for."""
    known = SummarizerAnswer.objects.filter(project=session.project_id, request_hash=request_hash)
    return known.values_list("text", flat=True).first()


def keep_answer(*, session: Session, request_hash: str, text: str, now: datetime) -> None:
    """Keep an answer, as long as its session is there and for a month at most; the first to one request stays."""
    answer = SummarizerAnswer(
        project_id=session.project_id, session=session, request_hash=request_hash, text=text, created_at=now
    )
    with transaction.atomic():
        # Locked, since it may be deleted in this very moment.
        if Session.objects.select_for_update().filter(pk=session.pk).first() is not None:
            SummarizerAnswer.objects.bulk_create([answer], ignore_conflicts=True)


def forget_old_answers(*, now: datetime) -> int:
    """Delete the answers that are kept no longer; return how many there were."""
    return SummarizerAnswer.objects.filter(created_at__lte=now - KEPT_FOR).delete()[0]
