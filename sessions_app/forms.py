"""Shapes that browsers send."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone
from django.utils.http import urlencode

from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.file_formats import FILE_FORMATS
from sessions_app.domain.language_models import NAME_RULE, is_legal_name
from sessions_app.domain.memory_settings import LARGEST_INTEGER
from sessions_app.domain.summaries import SummarizerName
from sessions_app.domain.summarizers.templates import BUILT_IN_REQUEST, REQUEST_PLACES, SUMMARY, check_template
from sessions_app.domain.text_cleaning import clean_text
from sessions_app.domain.transcript import RunStatus
from sessions_app.queries.imports import Shown
from sessions_app.queries.session_filters import SessionFilter, SessionSort, SessionView

METADATA = "metadata."
_BUTTONS = {"user": ("user",), "tag": ("tag",), "since": ("since", "until"), "until": ("since", "until")}
# What is asked for where nothing is left out; without it the list opens with the view that somebody has chosen.
ALL = f"view={SessionView.ALL}"
MOST_METADATA = 10
FIRST_MINUTE, LAST_MINUTE = time(), time(23, 59)


@dataclass(frozen=True, slots=True)
class SetFilter:
    """A filter that is set: its name and value in the address, what it is called, the query string without it."""

    name: str
    value: str
    label: str
    rest: str

    @property
    def is_metadata(self) -> bool:
        """Whether it is about a name in the metadata, for which there is no field."""
        return self.name.startswith(METADATA)

    @property
    def has_button(self) -> bool:
        """Whether a button of the toolbar shows it, which it is then removed at."""
        return self.name in _BUTTONS


class SignInForm(AuthenticationForm):
    """User name and password, and whether to stay signed in after the browser closes."""

    error_messages = AuthenticationForm.error_messages | {"invalid_login": "User name and password do not match."}
    remember = forms.BooleanField(required=False, initial=True)


_VIEWS: Mapping[str, str] = {SessionView.RUNNING: "running now", SessionView.FORKS: "forks"}


class MinuteField(forms.Field):
    """A minute by the clock of whoever asks, or a day, which stands for its first minute or for its last."""

    def __init__(self, name: str, *, of_day: time) -> None:
        super().__init__(required=False)
        self._of_day = of_day
        self._rule = f"{name} must be a day, or a day and a time, written like 2026-11-23 or 2026-11-23T14:20."

    def to_python(self, value: Any) -> datetime | None:
        """Read the minute."""
        text = (value or "").strip()
        try:
            if "T" in text:
                return datetime.strptime(text, "%Y-%m-%dT%H:%M")  # noqa: DTZ007 (the clock is known where it is used)
            return datetime.combine(datetime.strptime(text, "%Y-%m-%d"), self._of_day) if text else None  # noqa: DTZ007
        except ValueError as unreadable:
            raise forms.ValidationError(self._rule) from unreadable


def _choice_field(name: str, choices: type[StrEnum], usual: StrEnum | None) -> forms.TypedChoiceField:
    return forms.TypedChoiceField(
        required=False,
        choices=[(choice, choice) for choice in choices],
        coerce=choices,
        empty_value=usual,
        error_messages={"invalid_choice": f"{name} must be one of {', '.join(choices)}."},
    )


class AnyTextField(forms.CharField):
    """A text of which nothing is refused."""

    def to_python(self, value: Any) -> str:
        """Read the text without what no database holds."""
        return clean_text(super().to_python(value) or "")


class SessionFilterForm(forms.Form):
    """The filters and the order of the list of sessions, as they stand in its address."""

    q = AnyTextField(required=False)
    user = forms.CharField(required=False, max_length=200)
    tag = forms.CharField(required=False, max_length=100, strip=False)
    parent = forms.CharField(required=False, max_length=200)
    status = _choice_field("status", RunStatus, None)
    model = forms.CharField(required=False, max_length=200)
    children = forms.BooleanField(required=False)
    lost = forms.BooleanField(required=False)
    unseen = forms.BooleanField(required=False)
    cut = forms.BooleanField(required=False)
    own = forms.BooleanField(required=False)
    key = AnyTextField(required=False)
    value = AnyTextField(required=False)
    since = MinuteField("since", of_day=FIRST_MINUTE)
    until = MinuteField("until", of_day=LAST_MINUTE)
    roots = forms.BooleanField(required=False)
    view = _choice_field("view", SessionView, SessionView.ALL)
    sort = _choice_field("sort", SessionSort, SessionSort.ACTIVITY)

    def given(self) -> dict[str, str]:
        """Return what is not as it is anyway, as it stands in an address."""
        names = (name for name in self.fields if name not in ("key", "value"))
        usual = {"view": SessionView.ALL, "sort": SessionSort.ACTIVITY}
        wanted = {name: self.data.get(name, "") for name in names} | self._metadata()
        return {name: value for name, value in wanted.items() if value and value != usual.get(name)}

    def _metadata(self) -> dict[str, str]:
        """Return the values that names in the metadata shall have; one more comes from the fields of its own."""
        asked = {name: self.data[name] for name in self.data if name.startswith(METADATA) and name != METADATA}
        if self.data.get("key"):
            asked[METADATA + self.data["key"]] = self.data.get("value", "")
        return {clean_text(name): clean_text(value) for name, value in asked.items() if value}

    def query(self) -> str:
        """Return the query string of the list as it is filtered now."""
        return urlencode(self.given())

    def set_filters(self) -> list[SetFilter]:
        """Return the filters in effect, each with the query string without it."""
        given = self.given()
        labels = {
            "q": f"“{given.get('q')}”",
            "user": f"user {given.get('user')}",
            "since": f"active since {given.get('since')}",
            "until": f"active until {given.get('until')}",
            "tag": f"tag {given.get('tag')}",
            "parent": f"children of {given.get('parent')}",
            "view": _VIEWS.get(given.get("view", ""), ""),
            "status": f"newest run {given.get('status')}",
            "model": f"model {given.get('model')}",
            "children": "has children",
            "lost": "has lost runs",
            "unseen": "has runs not sent",
            "cut": "tool results cut",
            "own": "own settings",
        }
        labels |= {name: f"{name.removeprefix(METADATA)} = {value}" for name, value in self._metadata().items()}
        return [
            SetFilter(name, given[name], label, self._without(*_BUTTONS.get(name, (name,))))
            for name, label in labels.items()
            if name in given
        ]

    def active(self) -> str:
        """Return the time of the last activity that is asked for, in words."""
        since, until = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        first, last = _day_and_time(since, FIRST_MINUTE), _day_and_time(until, LAST_MINUTE)
        if first == last and "," not in first:
            return first
        return " ".join(f"{word} {written}" for word, written in (("since", first), ("until", last)) if written)

    def times_to_choose(self) -> list[tuple[str, str]]:
        """Return times that are often asked for, each with the query string of the list at it."""
        today = timezone.localdate()
        yesterday, week = today - timedelta(days=1), today - timedelta(days=6)
        times = {"Today": (today, today), "Yesterday": (yesterday, yesterday), "Last 7 days": (week, today)}
        rest = {name: value for name, value in self.given().items() if name not in ("since", "until")}
        return [
            (label, urlencode(rest | {"since": str(since), "until": str(until)}))
            for label, (since, until) in times.items()
        ]

    def removals(self) -> dict[str, str]:
        """Return, for each filter in effect, the query string without it."""
        return {each.name: each.rest for each in self.set_filters()}

    def sorts(self) -> dict[str, str]:
        """Return, for each order, the query string of the list in it."""
        given = {name: value for name, value in self.given().items() if name != "sort"}
        return {
            order: urlencode(given if order is SessionSort.ACTIVITY else given | {"sort": order}) or ALL
            for order in SessionSort
        }

    def _without(self, *names: str) -> str:
        return urlencode({name: value for name, value in self.given().items() if name not in names}) or ALL

    def clean(self) -> dict[str, Any]:
        """Check that no more names of the metadata are asked for than anybody needs."""
        given: dict[str, Any] = super().clean() or {}
        if len(self._metadata()) > MOST_METADATA:
            self.add_error(None, f"At most {MOST_METADATA} names in the metadata can be asked for.")
        return given

    def wanted(self) -> SessionFilter:
        """Return what is asked for; `until` includes its minute."""
        given: dict[str, Any] = self.cleaned_data
        return SessionFilter(
            words=given["q"],
            user_id=given["user"],
            tag=given["tag"],
            parent_id=given["parent"],
            metadata={name.removeprefix(METADATA): value for name, value in self._metadata().items()},
            status=given["status"],
            model=given["model"],
            children=given["children"],
            lost=given["lost"],
            unseen=given["unseen"],
            cut=given["cut"],
            own_settings=given["own"],
            view=given["view"],
            since=_moment(given["since"]),
            until=_moment(given["until"], later=timedelta(minutes=1)),
            roots_only=given["roots"],
            sort=given["sort"],
        )


class ArrivalForm(forms.Form):
    """From when on runs are waited for, in seconds since 1970, and the id of the key that the bot has."""

    since = forms.IntegerField(required=False, min_value=0, max_value=2**31 - 1)
    key = forms.CharField(required=False, max_length=32)

    def since_given(self) -> datetime | None:
        """Return that time, if there is a legal one."""
        seconds = self.cleaned_data.get("since") if self.is_valid() else None
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)

    def key_given(self) -> str:
        """Return that id, maybe empty."""
        return self.cleaned_data.get("key", "") if self.is_valid() else ""


class FilesInput(forms.FileInput):
    """A control that takes several files."""

    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One file or several; a refusal of one of several begins with its name."""

    widget = FilesInput

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:
        """Check each file."""
        files = data or [None]
        return [self._checked(file, initial, len(files)) for file in files]

    def _checked(self, file: Any, initial: Any, count: int) -> UploadedFile:
        try:
            return super().clean(file, initial)
        except forms.ValidationError as refusal:
            detail = refusal.messages[0]
            raise forms.ValidationError(f"{file.name}: {detail}" if count > 1 else detail) from None


class ImportForm(forms.Form):
    """Files of conversations, and maybe the format that all of them are said to have."""

    file = FilesField(
        max_length=1000,
        error_messages={"required": "Choose a file to import.", "empty": "This file is empty."},
    )
    file_format = forms.ChoiceField(
        required=False,
        choices=[("", "Detect"), *((name, format_.label) for name, format_ in FILE_FORMATS.items())],
        error_messages={"invalid_choice": f"The format must be one of {', '.join(FILE_FORMATS)}."},
    )


class ReportForm(forms.Form):
    """Which part of an import's report is asked for."""

    show = _choice_field("show", Shown, Shown.ALL)
    after = forms.IntegerField(required=False, min_value=0, max_value=2**31 - 1)


class WholeNumberField(forms.IntegerField):
    """A whole number as people and pages write it, thousands parted by commas or not."""

    def __init__(self, name: str, *, most: int, required: bool = True) -> None:
        rule = f"{name} must be a whole number from 1 to {most:,}."
        errors = {"invalid": rule, "min_value": rule, "max_value": rule, "required": rule}
        super().__init__(required=required, min_value=1, max_value=most, error_messages=errors)

    def to_python(self, value: Any) -> int | None:
        """Read the number without its commas."""
        return super().to_python(value.replace(",", "") if isinstance(value, str) else value)


def _price_field(name: str) -> forms.DecimalField:
    rule = f"{name} must be a number of USD from 0 to 999,999 with at most 6 decimals."
    errors = dict.fromkeys(
        ("invalid", "min_value", "max_digits", "max_decimal_places", "max_whole_digits", "max_value"), rule
    )
    return forms.DecimalField(required=False, min_value=0, max_digits=12, decimal_places=6, error_messages=errors)


class SummarizerForm(forms.Form):
    """A project's choice of summarizer; `endpoints` are the operator's. A template that is built in comes out empty."""

    name = forms.ChoiceField(
        choices=[(name.value, name.value) for name in SummarizerName],
        error_messages={"invalid_choice": f"summarizer must be one of {', '.join(SummarizerName)}."},
    )
    endpoint = forms.CharField(required=False, max_length=100)
    model = forms.CharField(required=False, max_length=200)
    timeout_seconds = WholeNumberField("timeout", most=600)
    context_window = WholeNumberField("context window", most=LARGEST_INTEGER, required=False)
    input_price = _price_field("input price")
    output_price = _price_field("output price")
    request_template = forms.CharField(required=False)
    summary_template = forms.CharField(required=False)

    def __init__(self, data: Mapping[str, Any] | None = None, *, endpoints: Sequence[str], **fields: Any) -> None:
        super().__init__(data, **fields)
        self.endpoints = endpoints

    def clean_request_template(self) -> str:
        """Check the template that makes requests."""
        text = _checked_template(self.cleaned_data["request_template"], REQUEST_PLACES)
        return "" if text == BUILT_IN_REQUEST else text

    def clean_summary_template(self) -> str:
        """Check the template that introduces summaries."""
        return _checked_template(self.cleaned_data["summary_template"], (SUMMARY,))

    def clean(self) -> dict[str, Any]:
        """Check that a summarizer that asks a model names one of the operator's endpoints and a model."""
        given: dict[str, Any] = self.cleaned_data
        if given.get("name") == SummarizerName.OPENAI:
            if given.get("endpoint") not in self.endpoints:
                listed = ", ".join(self.endpoints)
                rule = f"must be one of {listed}" if listed else "cannot be chosen: none is set up"
                self.add_error("endpoint", f"endpoint {rule}.")
            if not given.get("model"):
                self.add_error("model", "model must be named for this summarizer.")
        if given.get("model") and not is_legal_name(given["model"]):
            self.add_error("model", NAME_RULE)
        return given


def _checked_template(text: str, places: Sequence[str]) -> str:
    """Return a template as it is stored, its lines ending as everywhere; empty: the built-in one."""
    text = clean_text(text.replace("\r\n", "\n").strip())
    try:
        return check_template(text, places=places, pointer="") if text else ""
    except InvalidInput as refusal:
        raise forms.ValidationError([error.detail for error in refusal.errors]) from refusal


def _moment(minute: datetime | None, *, later: timedelta = timedelta()) -> datetime | None:
    """Return a minute by the clock of whoever asks; the first and the last day there is bound nothing."""
    if minute is None or minute.date() in (date.min, date.max):
        return None
    return timezone.make_aware(minute + later)


def _day_and_time(minute: datetime | None, usual: time) -> str:
    """Write a minute of the filter, and only its day if it is the one that the day stands for anyway."""
    if minute is None:
        return ""
    return f"{minute.day} {minute:%b}" if minute.time() == usual else f"{minute.day} {minute:%b}, {minute:%H:%M}"
