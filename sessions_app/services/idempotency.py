"""Answers kept for repeated requests, in the transaction of the work they answer."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction

from sessions_app.domain.errors import Conflict
from sessions_app.models import ApiKey, IdempotentAnswer

KEPT_FOR = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Request:
    """What makes a request the same one: its key, the hash of its method and path, its Idempotency-Key, its body's."""

    api_key: ApiKey
    scope: str
    key: str
    body_hash: str

    @classmethod
    def of(cls, *, api_key: ApiKey, scope: str, key: str, body: bytes) -> "Request":
        """Return the request with the hashes of its scope, which may be of any length, and of its raw body."""
        return cls(api_key, _hashed(scope.encode()), key, _hashed(body))


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered: status, headers and body."""

    status: int
    body: str
    headers: Mapping[str, str] = field(default_factory=dict)


def claim(*, request: Request, now: datetime) -> Answer | None:
    """Take the place of a request's answer, or return the answer it had; call it inside the work's transaction.

    A parallel repeat waits here until the first one has committed, or has taken its place back by rolling back.
    """
    known = IdempotentAnswer.objects.filter(api_key=request.api_key, scope=request.scope, key=request.key)
    known.filter(created_at__lte=now - KEPT_FOR).delete()
    try:
        with transaction.atomic():
            known.create(
                api_key=request.api_key,
                scope=request.scope,
                key=request.key,
                body_hash=request.body_hash,
                status=0,
                created_at=now,
            )
    except IntegrityError:
        row = known.first()
        # It went with its session in this very moment, so that its place is free again.
        return claim(request=request, now=now) if row is None else _stored_answer(row, request)
    return None


def keep(*, request: Request, answer: Answer, session_pk: int | None) -> None:
    """Fill the place that `claim` took; the answer goes when the session it is about is deleted."""
    IdempotentAnswer.objects.filter(api_key=request.api_key, scope=request.scope, key=request.key).update(
        status=answer.status, body=answer.body, headers=dict(answer.headers), session=session_pk
    )


def forget_old_answers(*, now: datetime) -> int:
    """Delete the answers that are kept no longer; return how many there were."""
    return IdempotentAnswer.objects.filter(created_at__lte=now - KEPT_FOR).delete()[0]


def _stored_answer(row: IdempotentAnswer, request: Request) -> Answer:
    if row.body_hash != request.body_hash:
        raise Conflict("This Idempotency-Key was used with another body.")
    return Answer(row.status, row.body, row.headers)


def _hashed(given: bytes) -> str:
    return hashlib.sha256(given).hexdigest()
