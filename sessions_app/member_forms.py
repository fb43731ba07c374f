"""Shapes that browsers send about members, keys and accounts."""

from typing import Any

from django import forms
from django.contrib.auth.forms import UserCreationForm

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
