"""The values in the metadata of sessions, so that sessions with one of them are found without being read."""

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any

from django.db import models

from sessions_app.models.projects import Project
from sessions_app.models.sessions import Session

LONGEST_DIGEST = 32
_LARGEST_NUMBER = 2**63


class MetadataEntry(models.Model):
    """A text, number or flag under a name in a session's metadata; the digest of both, since a text may be long."""

    # The constraint's index begins with it.
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=LONGEST_DIGEST)

    class Meta:
        verbose_name_plural = "metadata entries"
        constraints = [
            models.UniqueConstraint(fields=["project", "digest", "session"], name="metadata_entry_once_in_session")
        ]

    def __str__(self) -> str:
        return self.digest


def index_metadata(sessions: Iterable[Session]) -> None:
    """Write the entries of sessions that are stored, anew if they have any."""
    listed = list(sessions)
    MetadataEntry.objects.filter(session__in=listed).delete()
    MetadataEntry.objects.bulk_create(
        MetadataEntry(project_id=session.project_id, session=session, digest=digest)
        for session in listed
        for digest in digests_of(session.metadata)
    )


def digests_of(metadata: dict[str, Any]) -> list[str]:
    """Return the digests of all texts, numbers and flags that stand in metadata under a name."""
    plain = ((name, value) for name, value in metadata.items() if isinstance(value, str | int | float))
    return list(dict.fromkeys(_digest(name, value) for name, value in plain))


def digests_written(name: str, text: str) -> Sequence[str]:
    """Return the digests of what is written like `text`: a text, or else also a number or a flag."""
    return [_digest(name, value) for value in _readings(text)]


def _digest(name: str, value: str | float | bool) -> str:  # noqa: FBT001 (a value like the others)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return blake2b(json.dumps([name, value]).encode(), digest_size=LONGEST_DIGEST // 2).hexdigest()


def _readings(text: str) -> Iterator[str | float | bool]:
    yield text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(value, int | float) and abs(value) < _LARGEST_NUMBER:
        yield value
