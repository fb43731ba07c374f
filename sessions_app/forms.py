"""Shapes that browsers send."""

from django import forms
from django.contrib.auth.forms import AuthenticationForm


class SignInForm(AuthenticationForm):
    """User name and password, and whether to stay signed in after the browser closes."""

    remember = forms.BooleanField(required=False, initial=True)
