"""What a member's role lets them do, asked in front of every page of a project.

A page that says nothing may be read by everybody who belongs to the project and written to by those who may edit; one
with other rules says so by `needs`. So no page that somebody adds is open by oversight.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.views.defaults import page_not_found, permission_denied

from sessions_app.domain.errors import NotAllowed, NotFound
from sessions_app.domain.roles import Right, may, roles_with
from sessions_app.models import Project

READING = frozenset({"GET", "HEAD", "OPTIONS"})

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


@dataclass(frozen=True, slots=True)
class Needs:
    """The rights that a page asks for: to be read, and to be written to."""

    reading: Right = Right.READ
    writing: Right = Right.EDIT

    def of(self, method: str | None) -> Right:
        """Return the right that a request with this method needs."""
        return self.reading if method in READING else self.writing


def needs(*, reading: Right = Right.READ, writing: Right = Right.EDIT) -> Callable[[View], View]:
    """Say of a view which rights it asks for."""

    def mark(view: View) -> View:
        view.needs = Needs(reading, writing)  # type: ignore[attr-defined]
        return view

    return mark


def needs_of(view: Callable[..., Any]) -> Needs:
    """Return the rights that a view asks for."""
    found = getattr(view, "needs", None)
    return found if isinstance(found, Needs) else Needs()


class ProjectAccess:
    """Refuses, before the view, what the role of a member does not allow; whoever has not signed in is led to that."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Hand the request on."""
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], _args: Sequence[Any], named: Mapping[str, Any]
    ) -> None:
        """Check the role in the project of the address; a page that is only read looks by itself who belongs to it."""
        right = needs_of(view).of(request.method)
        if "slug" in named and right is not Right.READ and request.user.is_authenticated:
            check_right(request.user, named["slug"], right)

    def process_exception(self, request: HttpRequest, problem: Exception) -> HttpResponseBase | None:
        """Answer that nothing is there, or not allowed, if that has become so while the page was at work."""
        if isinstance(problem, NotFound | ObjectDoesNotExist):
            return page_not_found(request, problem)
        return permission_denied(request, problem) if isinstance(problem, NotAllowed) else None


def check_right(user: AbstractBaseUser | AnonymousUser, slug: str, right: Right) -> None:
    """Raise where a user's role lacks a right; a project that is not theirs does not exist for them."""
    project = Project.objects.with_role_of(user).filter(slug=slug).first()
    if project is None:
        raise Http404
    if not may(project.role, right):
        role, others = _a(project.role), _either(roles_with(right))
        raise PermissionDenied(f"You are {role} of {project}. This takes {others}; an owner can make you one.")


def _a(word: str) -> str:
    return f"an {word}" if word[:1] in "aeiou" else f"a {word}"


def _either(words: Sequence[str]) -> str:
    return " or ".join(_a(word) for word in words)
