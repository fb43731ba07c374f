"""Shapes that browsers send about members, keys and accounts."""

from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.contrib.auth.forms import PasswordChangeForm, UserCreationForm
from django.contrib.auth.models import User

from sessions_app.domain.roles import MemberRole
from sessions_app.domain.text_cleaning import clean_text
from sessions_app.models import Scope

LONGEST_NAME = 200


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


class KeyForm(forms.Form):
    """A key that is asked for: which bot it is for, and what it may do."""

    name = NameField("A key")
    scopes = forms.MultipleChoiceField(
        choices=Scope.choices,
        initial=[Scope.READ, Scope.WRITE],
        error_messages={
            "required": "A key needs at least one scope.",
            "invalid_choice": f"The scopes of a key are one or more of {', '.join(Scope.values)}.",
        },
    )


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
