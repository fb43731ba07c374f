"""The addresses of the pages."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from sessions_app.views.accounts import SignIn
from sessions_app.views.projects import home
from sessions_app.views.sessions import connect, sessions

urlpatterns = [
    path("", home, name="home"),
    path("login/", SignIn.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("p/<slug:slug>/connect/", connect, name="connect"),
    path("p/<slug:slug>/sessions/", sessions, name="sessions"),
]
