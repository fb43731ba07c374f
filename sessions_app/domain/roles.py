"""What a member of a project may do: the one table that pages, tests and documentation go by."""

from collections.abc import Mapping, Sequence
from enum import StrEnum


class MemberRole(StrEnum):
    """What somebody is in a project."""

    VIEWER = "viewer"
    EDITOR = "editor"
    OWNER = "owner"


class Right(StrEnum):
    """What a page asks for before it answers."""

    READ = "read"
    EDIT = "edit"
    MANAGE = "manage"


RIGHTS: Mapping[MemberRole, frozenset[Right]] = {
    MemberRole.VIEWER: frozenset({Right.READ}),
    MemberRole.EDITOR: frozenset({Right.READ, Right.EDIT}),
    MemberRole.OWNER: frozenset(Right),
}

IN_SHORT: Mapping[MemberRole, str] = {
    MemberRole.VIEWER: "reads everything and tries settings in drafts",
    MemberRole.EDITOR: "also changes sessions, settings and summaries, and imports",
    MemberRole.OWNER: "also manages members, keys, the summarizer and the project",
}

DUTIES: Mapping[Right, Sequence[str]] = {
    Right.READ: (
        "look at sessions, runs, summaries, imports, settings and members",
        "try settings in drafts: Prompt, Why, Compare, Replay",
        "leave the project",
    ),
    Right.EDIT: (
        "change and fork sessions, import conversations",
        "save settings of sessions and of the project, go back to earlier ones, keep profiles",
        "ask for summaries, stop, edit and roll them back",
    ),
    Right.MANAGE: (
        "invite and remove members, change their roles",
        "create and revoke API keys",
        "choose the summarizer, say what is known of models",
        "rename and delete the project",
    ),
}


def may(role: str, right: Right) -> bool:
    """Tell whether a role has a right; what is no role has none."""
    return role in RIGHTS and right in RIGHTS[MemberRole(role)]


def roles_with(right: Right) -> list[MemberRole]:
    """Return the roles that have a right, the least first."""
    return [role for role in MemberRole if right in RIGHTS[role]]
