"""Rows, their constraints and filters; the only bridge from rows to values."""

from sessions_app.models.imports import Import, ImportedConversation, ImportOutcome, ImportStatus
from sessions_app.models.invitations import Invitation
from sessions_app.models.lineages import (
    Stretch,
    ancestors_of,
    has_parent_conversation,
    lineage_of,
    lineage_runs,
    lineage_runs_at,
)
from sessions_app.models.memories import (
    ParentTimeline,
    TurnRow,
    parent_timelines,
    settings_changes,
    summary_timelines,
    turn_rows,
)
from sessions_app.models.metadata_entries import MetadataEntry
from sessions_app.models.model_overrides import ModelOverride
from sessions_app.models.profiles import Profile
from sessions_app.models.projects import ApiKey, IdempotentAnswer, Membership, Project, Scope
from sessions_app.models.recordings import SessionRecording
from sessions_app.models.runs import Event, Run, event_values
from sessions_app.models.said import Said, runs_elsewhere, runs_saying, runs_saying_apart
from sessions_app.models.saved_views import DefaultView, SavedView
from sessions_app.models.sessions import Session, SessionTag
from sessions_app.models.settings_versions import InForce, SettingsVersion, VersionOrigin, settings_at
from sessions_app.models.summaries import Summary, SummaryAbsence, SummaryOrigin, SummaryStatus
from sessions_app.models.summarizers import ProjectSummarizer, SummarizerAnswer
from sessions_app.models.transcripts import SessionTranscript

__all__ = [
    "ApiKey",
    "DefaultView",
    "Event",
    "IdempotentAnswer",
    "Import",
    "ImportOutcome",
    "ImportStatus",
    "ImportedConversation",
    "InForce",
    "Invitation",
    "Membership",
    "MetadataEntry",
    "ModelOverride",
    "ParentTimeline",
    "Profile",
    "Project",
    "ProjectSummarizer",
    "Run",
    "Said",
    "SavedView",
    "Scope",
    "Session",
    "SessionRecording",
    "SessionTag",
    "SessionTranscript",
    "SettingsVersion",
    "Stretch",
    "SummarizerAnswer",
    "Summary",
    "SummaryAbsence",
    "SummaryOrigin",
    "SummaryStatus",
    "TurnRow",
    "VersionOrigin",
    "ancestors_of",
    "event_values",
    "has_parent_conversation",
    "lineage_of",
    "lineage_runs",
    "lineage_runs_at",
    "parent_timelines",
    "runs_elsewhere",
    "runs_saying",
    "runs_saying_apart",
    "settings_at",
    "settings_changes",
    "summary_timelines",
    "turn_rows",
]
