"""Shapes that browsers send."""

from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.utils.http import urlencode

from sessions_app.queries.imports import Shown
from sessions_app.queries.sessions import SessionFilter, SessionSort, SessionView


class SignInForm(AuthenticationForm):
    """User name and password, and whether to stay signed in after the browser closes."""

    error_messages = AuthenticationForm.error_messages | {"invalid_login": "User name and password do not match."}
    remember = forms.BooleanField(required=False, initial=True)


def _day_field(name: str) -> forms.DateField:
    return forms.DateField(
        required=False,
        input_formats=["%Y-%m-%d"],
        error_messages={"invalid": f"{name} must be a day written like 2026-11-23."},
    )


def _choice_field(name: str, choices: type[StrEnum], usual: StrEnum) -> forms.TypedChoiceField:
    return forms.TypedChoiceField(
        required=False,
        choices=[(choice, choice) for choice in choices],
        coerce=choices,
        empty_value=usual,
        error_messages={"invalid_choice": f"{name} must be one of {', '.join(choices)}."},
    )


class SessionFilterForm(forms.Form):
    """The filters and the order of the list of sessions, as they stand in its address."""

    q = forms.CharField(required=False, max_length=200)
    user = forms.CharField(required=False, max_length=200)
    tag = forms.CharField(required=False, max_length=100, strip=False)
    parent = forms.CharField(required=False, max_length=200)
    since = _day_field("since")
    until = _day_field("until")
    roots = forms.BooleanField(required=False)
    view = _choice_field("view", SessionView, SessionView.ALL)
    sort = _choice_field("sort", SessionSort, SessionSort.ACTIVITY)

    def given(self) -> dict[str, str]:
        """Return what is not as it is anyway, as it stands in an address."""
        wanted = {name: self.data.get(name, "") for name in self.fields}
        usual = {"view": SessionView.ALL, "sort": SessionSort.ACTIVITY}
        return {name: value for name, value in wanted.items() if value and value != usual.get(name)}

    def query(self) -> str:
        """Return the query string of the list as it is filtered now."""
        return urlencode(self.given())

    def wanted(self) -> SessionFilter:
        """Return what is asked for; `until` includes its day, in UTC."""
        given: dict[str, Any] = self.cleaned_data
        return SessionFilter(
            words=given["q"],
            user_id=given["user"],
            tag=given["tag"],
            parent_id=given["parent"],
            view=given["view"],
            since=_start_of(given["since"]),
            until=_start_of(given["until"], days_later=1),
            roots_only=given["roots"],
            sort=given["sort"],
        )


class ArrivalForm(forms.Form):
    """From when on runs are waited for, in seconds since 1970."""

    since = forms.IntegerField(required=False, min_value=0, max_value=2**31 - 1)

    def given(self) -> datetime | None:
        """Return that time, if there is a legal one."""
        seconds = self.cleaned_data.get("since") if self.is_valid() else None
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


class ImportForm(forms.Form):
    """A file of conversations."""

    file = forms.FileField(
        max_length=1000,
        error_messages={"required": "Choose a file to import.", "empty": "This file is empty."},
    )


class ReportForm(forms.Form):
    """Which part of an import's report is asked for."""

    show = _choice_field("show", Shown, Shown.ALL)
    after = forms.IntegerField(required=False, min_value=0, max_value=2**31 - 1)


def _start_of(day: date | None, *, days_later: int = 0) -> datetime | None:
    if day is None or day == date.max:
        return None
    return datetime.combine(day + timedelta(days=days_later), time(tzinfo=UTC))
