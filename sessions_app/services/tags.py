"""Tags on many sessions at once; a change of tags is no activity, so no session moves in the list for it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count

from sessions_app.domain.session_fields import MOST_TAGS, check_session_fields
from sessions_app.domain.text_cleaning import clean_text
from sessions_app.models import Project, Session, SessionTag

AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Tagged:
    """What became of sessions that a tag was added to or taken from: `full` have as many tags as they may."""

    changed: int = 0
    unchanged: int = 0
    full: int = 0


def add_tag(*, project: Project, session_pks: Sequence[int], name: str) -> Tagged:
    """Give a tag to sessions of a project; those that are gone by now are in none of the counts."""
    tag = checked_tag(name)
    total = Tagged()
    for keys in _chunks(session_pks):
        with transaction.atomic():
            stored = _locked(project, keys)
            having = set(SessionTag.objects.filter(session__in=stored, name=tag).values_list("session", flat=True))
            full = _full(stored) - having
            new = [pk for pk in stored if pk not in having and pk not in full]
            SessionTag.objects.bulk_create(SessionTag(session_id=pk, name=tag) for pk in new)
        total = Tagged(total.changed + len(new), total.unchanged + len(having), total.full + len(full))
    return total


def remove_tag(*, project: Project, session_pks: Sequence[int], name: str) -> Tagged:
    """Take a tag from sessions of a project; what no tag can be called is the tag of none."""
    tag, total = clean_text(name), Tagged()
    for keys in _chunks(session_pks):
        with transaction.atomic():
            stored = _locked(project, keys)
            taken, _ = SessionTag.objects.filter(session__in=stored, name=tag).delete()
        total = Tagged(total.changed + taken, total.unchanged + len(stored) - taken)
    return total


def checked_tag(name: str) -> str:
    """Return a tag as it is stored, or raise InvalidInput."""
    return str(check_session_fields({"tags": [name.strip()]})["tags"][0])


def _locked(project: Project, keys: Sequence[int]) -> list[int]:
    """Lock sessions, which nobody can then delete, in the order of everybody who locks several."""
    rows = Session.objects.filter(project=project, pk__in=keys).order_by("pk")
    return list(rows.select_for_update(no_key=True).values_list("pk", flat=True))


def _full(keys: Sequence[int]) -> set[int]:
    counted = SessionTag.objects.filter(session__in=keys).order_by().values("session").annotate(count=Count("pk"))
    return set(counted.filter(count__gte=MOST_TAGS).values_list("session", flat=True))


def _chunks(keys: Sequence[int]) -> Iterator[Sequence[int]]:
    return (keys[start : start + AT_ONCE] for start in range(0, len(keys), AT_ONCE))
