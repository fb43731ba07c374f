"""The addresses of the pages."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from sessions_app.views.accounts import SignIn
from sessions_app.views.commands import commands
from sessions_app.views.connect import connect
from sessions_app.views.exports import export
from sessions_app.views.facts import facts
from sessions_app.views.followed_sessions import call, follow
from sessions_app.views.forks import fork
from sessions_app.views.imports import cancel as cancel_import
from sessions_app.views.imports import report, upload
from sessions_app.views.invitations import invitation
from sessions_app.views.keys import keys
from sessions_app.views.keys import new as new_key
from sessions_app.views.keys import revoke as revoke_key
from sessions_app.views.members import invitation_new, invitation_revoke, leave, members, remove, role
from sessions_app.views.own_account import account, names, password, sign_out_elsewhere
from sessions_app.views.past_turns import then
from sessions_app.views.profiles import delete, profiles, rename
from sessions_app.views.project_settings import defaults, general, save_defaults
from sessions_app.views.project_settings import delete as delete_project
from sessions_app.views.project_settings import new as new_project
from sessions_app.views.projects import home
from sessions_app.views.saved_views import default as default_view
from sessions_app.views.saved_views import delete as delete_view
from sessions_app.views.saved_views import rename as rename_view
from sessions_app.views.saved_views import save as save_view
from sessions_app.views.selections import export_selection, selection
from sessions_app.views.session_editing import delete as delete_session
from sessions_app.views.session_editing import edit as edit_session
from sessions_app.views.session_pages import session, summary_progress
from sessions_app.views.sessions import sessions
from sessions_app.views.settings_versions import (
    project_versions,
    restore_project,
    restore_session,
    session_versions,
)
from sessions_app.views.summaries import ledger, project_summaries
from sessions_app.views.summarizers import preview, summarizer, trial
from sessions_app.views.summary_actions import cancel, edit, resume, retry, summarize_now, use
from sessions_app.views.tune import compare, replay, tune, why
from sessions_app.views.tune_replay import replay_file
from sessions_app.views.tune_saving import save, save_default, save_profile

urlpatterns = [
    path("", home, name="home"),
    path("account/", account, name="account"),
    path("account/elsewhere/", sign_out_elsewhere, name="account-elsewhere"),
    path("account/names/", names, name="account-names"),
    path("account/password/", password, name="account-password"),
    path("invitations/<str:token>/", invitation, name="invitation"),
    path("login/", SignIn.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("p/<slug:slug>/commands/", commands, name="commands"),
    path("p/<slug:slug>/connect/", connect, name="connect"),
    path("p/<slug:slug>/import/", upload, name="import"),
    path("p/<slug:slug>/import/<int:import_pk>/", report, name="import-report"),
    path("p/<slug:slug>/import/<int:import_pk>/cancel/", cancel_import, name="import-cancel"),
    path("p/<slug:slug>/selection/", selection, name="selection"),
    path("p/<slug:slug>/selection/export/", export_selection, name="selection-export"),
    path("p/<slug:slug>/sessions/", sessions, name="sessions"),
    path("p/<slug:slug>/sessions/<str:session_id>/", session, name="session"),
    path("p/<slug:slug>/sessions/<str:session_id>/delete/", delete_session, name="session-delete"),
    path("p/<slug:slug>/sessions/<str:session_id>/edit/", edit_session, name="session-edit"),
    path("p/<slug:slug>/sessions/<str:session_id>/export/", export, name="session-export"),
    path("p/<slug:slug>/sessions/<str:session_id>/calls/<int:event_pk>/", call, name="session-call"),
    path("p/<slug:slug>/sessions/<str:session_id>/follow/", follow, name="session-follow"),
    path("p/<slug:slug>/sessions/<str:session_id>/facts/", facts, name="facts"),
    path("p/<slug:slug>/sessions/<str:session_id>/fork/", fork, name="session-fork"),
    path("p/<slug:slug>/sessions/<str:session_id>/summary/", summary_progress, name="session-summary"),
    path("p/<slug:slug>/sessions/<str:session_id>/summaries/", ledger, name="summary-ledger"),
    path("p/<slug:slug>/sessions/<str:session_id>/summaries/now/", summarize_now, name="summarize-now"),
    path("p/<slug:slug>/sessions/<str:session_id>/summaries/resume/", resume, name="summary-resume"),
    path("p/<slug:slug>/sessions/<str:session_id>/summaries/<int:number>/cancel/", cancel, name="summary-cancel"),
    path("p/<slug:slug>/sessions/<str:session_id>/summaries/<int:number>/edit/", edit, name="summary-edit"),
    path("p/<slug:slug>/sessions/<str:session_id>/summaries/<int:number>/retry/", retry, name="summary-retry"),
    path("p/<slug:slug>/sessions/<str:session_id>/summaries/<int:number>/use/", use, name="summary-use"),
    path("p/<slug:slug>/sessions/<str:session_id>/then/", then, name="then"),
    path("p/<slug:slug>/sessions/<str:session_id>/tune/", tune, name="tune"),
    path("p/<slug:slug>/sessions/<str:session_id>/tune/compare/", compare, name="tune-compare"),
    path("p/<slug:slug>/sessions/<str:session_id>/tune/default/", save_default, name="tune-default"),
    path("p/<slug:slug>/sessions/<str:session_id>/tune/profile/", save_profile, name="tune-profile"),
    path("p/<slug:slug>/sessions/<str:session_id>/tune/replay/", replay, name="tune-replay"),
    path("p/<slug:slug>/sessions/<str:session_id>/tune/replay.csv", replay_file, {"kind": "csv"}, "tune-replay-csv"),
    path("p/<slug:slug>/sessions/<str:session_id>/tune/replay.json", replay_file, {"kind": "json"}, "tune-replay-json"),
    path("p/<slug:slug>/sessions/<str:session_id>/tune/save/", save, name="tune-save"),
    path("p/<slug:slug>/sessions/<str:session_id>/tune/why/", why, name="tune-why"),
    path("p/<slug:slug>/sessions/<str:session_id>/versions/", session_versions, name="session-versions"),
    path("p/<slug:slug>/sessions/<str:session_id>/versions/restore/", restore_session, name="session-restore"),
    path("p/<slug:slug>/settings/", general, name="project-settings"),
    path("p/<slug:slug>/settings/delete/", delete_project, name="project-delete"),
    path("p/<slug:slug>/settings/keys/", keys, name="keys"),
    path("p/<slug:slug>/settings/keys/new/", new_key, name="key-new"),
    path("p/<slug:slug>/settings/keys/<int:key_pk>/revoke/", revoke_key, name="key-revoke"),
    path("p/<slug:slug>/settings/members/", members, name="members"),
    path("p/<slug:slug>/settings/members/invite/", invitation_new, name="invitation-new"),
    path(
        "p/<slug:slug>/settings/members/invitations/<int:invitation_pk>/revoke/",
        invitation_revoke,
        name="invitation-revoke",
    ),
    path("p/<slug:slug>/settings/members/leave/", leave, name="member-leave"),
    path("p/<slug:slug>/settings/members/<int:member_pk>/remove/", remove, name="member-remove"),
    path("p/<slug:slug>/settings/members/<int:member_pk>/role/", role, name="member-role"),
    path("p/<slug:slug>/settings/defaults/", defaults, name="project-defaults"),
    path("p/<slug:slug>/settings/defaults/save/", save_defaults, name="project-defaults-save"),
    path("p/<slug:slug>/settings/profiles/", profiles, name="profiles"),
    path("p/<slug:slug>/settings/profiles/<int:profile_pk>/delete/", delete, name="profile-delete"),
    path("p/<slug:slug>/settings/profiles/<int:profile_pk>/rename/", rename, name="profile-rename"),
    path("p/<slug:slug>/settings/summarizer/", summarizer, name="summarizer"),
    path("p/<slug:slug>/settings/summarizer/preview/", preview, name="summarizer-preview"),
    path("p/<slug:slug>/settings/summarizer/test/", trial, name="summarizer-trial"),
    path("p/<slug:slug>/settings/versions/", project_versions, name="project-versions"),
    path("p/<slug:slug>/settings/versions/restore/", restore_project, name="project-restore"),
    path("p/<slug:slug>/summaries/", project_summaries, name="summaries"),
    path("p/<slug:slug>/views/", save_view, name="view-save"),
    path("p/<slug:slug>/views/<int:view_pk>/default/", default_view, name="view-default"),
    path("p/<slug:slug>/views/<int:view_pk>/delete/", delete_view, name="view-delete"),
    path("p/<slug:slug>/views/<int:view_pk>/rename/", rename_view, name="view-rename"),
    path("projects/new/", new_project, name="project-new"),
]
