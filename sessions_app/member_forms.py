"""Shapes that browsers send about members, keys and accounts."""

from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from typing import Any

from django import forms
from django.contrib.auth.forms import PasswordChangeForm, UserCreationForm
from django.contrib.auth.models import User
from django.utils import timezone

from sessions_app.domain.roles import MemberRole
from sessions_app.domain.text_cleaning import clean_text
from sessions_app.models import Scope

LONGEST_NAME = 200
LAST_YEAR = 9000


class NameField(forms.CharField):
    """A name as people read it: one line, from 1 to 200 characters."""

    def __init__(self, whose: str) -> None:
        rule = f"{whose} has a name of 1 to {LONGEST_NAME} characters."
        super().__init__(max_length=LONGEST_NAME, error_messages=dict.fromkeys(("required", "max_length"), rule))

    def to_python(self, value: Any) -> str:
        """Read it without what no database holds, its spaces in one."""
        return " ".join(clean_text(super().to_python(value) or "").split())


class BotKeyForm(forms.Form):
    """A key that is asked for where a bot is connected: what it may do goes without asking."""

    name = NameField("A key")


class Expiry(StrEnum):
    """When a new key is refused from: never, after some days, or behind a day that is named."""

    NEVER = "never"
    DAYS_30 = "30"
    DAYS_90 = "90"
    YEAR = "365"
    DAY = "day"


class KeyForm(forms.Form):
    """A key that is asked for: which bot it is for, what it may do, and until when."""

    name = NameField("A key")
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices,
        initial=[Scope.READ, Scope.WRITE],
        error_messages={
            "required": "A key needs at least one scope.",
            "invalid_choice": f"The scopes of a key are one or more of {', '.join(Scope.values)}.",
        },
    )
    expires = forms.TypedChoiceField(
        required=False,
        choices=[(each.value, each.value) for each in Expiry],
        coerce=Expiry,
        empty_value=Expiry.NEVER,
        initial=Expiry.NEVER,
        error_messages={"invalid_choice": f"expires must be one of {', '.join(Expiry)}."},
    )
    last_day = forms.DateField(
        required=False, error_messages={"invalid": "The last day of a key is written like 2026-11-23."}
    )

    def __init__(self, data: Mapping[str, Any] | None = None, *, today: date) -> None:
        super().__init__(data)
        self.today = today

    def clean(self) -> dict[str, Any]:
        """Check that a key that ends on a day names one to come."""
        given: dict[str, Any] = self.cleaned_data
        if given.get("expires") == Expiry.DAY and "last_day" in given:
            last_day = given["last_day"]
            if last_day is None or last_day < self.today or last_day.year > LAST_YEAR:
                self.add_error("last_day", f"The last day of a key is one from today to the end of {LAST_YEAR}.")
        return given

    def expires_at(self, now: datetime) -> datetime | None:
        """Return from when on the key that is asked for is refused; None: never."""
        wanted = self.cleaned_data["expires"]
        if wanted == Expiry.NEVER:
            return None
        if wanted == Expiry.DAY:
            return timezone.make_aware(datetime.combine(self.cleaned_data["last_day"], time.max))
        return now + timedelta(days=int(wanted))


class RoleForm(forms.Form):
    """A role that somebody gets."""

    role = forms.TypedChoiceField(
        choices=[(role.value, role.value) for role in MemberRole],
        coerce=MemberRole,
        initial=MemberRole.EDITOR,
        error_messages=dict.fromkeys(
            ("required", "invalid_choice"), f"A role is one of {', '.join(role.value for role in MemberRole)}."
        ),
    )


class NewAccountForm(UserCreationForm):
    """A user name that is free, and a password twice, judged like any other password."""


class PersonForm(forms.ModelForm):
    """What somebody is called besides their user name."""

    class Meta:
        model = User
        fields = ["first_name", "last_name"]


class OwnPasswordForm(forms.Form):
    """The password one has; `is_right` judges it, as signing in does."""

    password = forms.CharField(
        strip=False, max_length=4096, error_messages={"required": "Enter your password to do this."}
    )

    def __init__(self, data: Mapping[str, Any] | None = None, *, is_right: Callable[[str], bool]) -> None:
        super().__init__(data)
        self.is_right = is_right

    def clean_password(self) -> str:
        """Check it."""
        password: str = self.cleaned_data["password"]
        if not self.is_right(password):
            raise forms.ValidationError("This is not your password.")
        return password


class NewPasswordForm(PasswordChangeForm):
    """The password one has, and a new one twice."""

    def __init__(self, user: User, data: Mapping[str, Any] | None = None, *, is_right: Callable[[str], bool]) -> None:
        super().__init__(user, data)
        self.is_right = is_right

    def clean_old_password(self) -> str:
        """Check the password that one has."""
        password: str = self.cleaned_data["old_password"]
        if not self.is_right(password):
            raise forms.ValidationError("This is not your password.")
        return password


class ProjectForm(forms.Form):
    """What a project is called, and the word that stands for it in addresses."""

    name = NameField("A project")
    slug = forms.CharField(max_length=60, error_messages={"required": "A project has a slug."})
