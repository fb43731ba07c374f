"""Everything one can go to or do from a page, found by its words: a page of its own, and what ⌘K opens."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.urls import Resolver404, ResolverMatch, resolve, reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from sessions_app.domain.identifiers import is_legal_id
from sessions_app.domain.memory_settings import SETTINGS
from sessions_app.domain.roles import may
from sessions_app.models import Project, Session
from sessions_app.queries.session_search import sessions_to_jump_to
from sessions_app.queries.shortcuts import SHORTCUTS
from sessions_app.views.access import needs_of
from sessions_app.views.projects import page_context, project_for
from sessions_app.views.rendering import HtmxRequest, address_of_page, render_page

LONGEST_WORDS = 200


@dataclass(frozen=True, slots=True)
class Command:
    """Something to go to (`address`) or, with a script alone, to do (`act`)."""

    title: str
    icon: str
    address: str = ""
    act: str = ""
    keys: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Commands:
    """Commands of one kind."""

    title: str
    shown: Sequence[Command]


# Name of the address, what follows it, what it is called, its icon, its keys.
OF_SESSION = (
    ("session", "", "Runs of this session", "messages-square", ""),
    ("tune", "", "Tune this session", "sliders-horizontal", "Tune"),
    ("tune-why", "", "Why: the fate of each run", "info", ""),
    ("tune-compare", "", "Compare the draft with what is saved", "equal-not", ""),
    ("tune-replay", "", "Replay the whole conversation", "history", ""),
    ("then", "", "What did the model see then?", "eye", "What the model saw then"),
    ("facts", "", "Follow a fact over the turns", "text-search", ""),
    ("session-edit", "", "Edit title, user, tags and metadata", "pencil-line", ""),
    ("session-fork", "", "Fork at the newest run", "git-fork", "Fork here"),
    ("summary-ledger", "", "Summaries of this session", "fold-vertical", ""),
    ("session-versions", "", "Versions of the settings of this session", "history", ""),
    ("session-export", "", "Export as OpenAI JSONL", "download", "Export as OpenAI JSONL"),
    ("session-export", "?file_format=markdown", "Export as Markdown", "download", ""),
)
OF_PROJECT = (
    ("sessions", "", "Go to sessions", "messages-square", "Sessions"),
    ("summaries", "", "Go to summaries", "fold-vertical", "Summaries"),
    ("import", "", "Import conversations", "upload", "Import"),
    ("connect", "", "Connect a bot", "plug", ""),
    ("sessions", "?lost=1", "Sessions with lost runs", "triangle-alert", ""),
    ("sessions", "?view=running", "Sessions running now", "play", ""),
    ("project-settings", "", "Settings: the project", "settings", "Settings"),
    ("keys", "", "Settings: API keys", "key-round", ""),
    ("members", "", "Settings: members", "users", ""),
    ("summarizer", "", "Settings: summarizer", "settings", ""),
    ("project-versions", "", "Settings: versions of the defaults", "settings", ""),
    ("profiles", "", "Settings: profiles", "settings", ""),
)
# What only a script can do, so only where one asks.
BY_SCRIPT = (
    Command("Switch color theme", "moon", act="theme"),
    Command("Show or hide the sidebar", "panel-left", act="nav", keys=("[",)),
    Command("Keyboard shortcuts", "keyboard", act="help", keys=("?",)),
)
_KEYS = {shortcut.does: shortcut.keys for shortcut in SHORTCUTS}


@login_required
@require_safe
def commands(request: HtmxRequest, slug: str) -> HttpResponse:
    """Show what can be gone to from the page that asks; swaps get the list alone."""
    project = project_for(request.user, slug)
    words = request.GET.get("q", "").strip()[:LONGEST_WORDS]
    came_from = address_of_page(request.htmx).path if request.htmx else request.GET.get("from", "")
    conversation = _conversation(project, _match(came_from))
    groups = [group for group in _groups(request, project, conversation, words) if group.shown]
    context = page_context(request.user, project, area="") | {
        "words": words,
        "came_from": came_from,
        "groups": groups,
        "count": sum(len(group.shown) for group in groups),
    }
    return render_page(request, "commands/page.html", "list", context)


def _match(path: str) -> ResolverMatch | None:
    try:
        return resolve(path)
    except Resolver404:
        return None


def _conversation(project: Project, match: ResolverMatch | None) -> Session | None:
    named = match.kwargs.get("session_id", "") if match and match.kwargs.get("slug") == project.slug else ""
    if not is_legal_id(named):
        return None
    return Session.objects.filter(project=project, public_id=named).only("public_id", "title").first()


def _groups(request: HtmxRequest, project: Project, conversation: Session | None, words: str) -> Iterator[Commands]:
    if conversation:
        yield Commands("This session", _matching(_addressed(OF_SESSION, project, conversation), words))
    found = sessions_to_jump_to(project=project, words=words)
    sessions = Commands("Sessions", [_to(project, session) for session in found])
    if words:
        yield sessions
    yield Commands("Project", _matching(_addressed(OF_PROJECT, project), words))
    if conversation and words:
        yield Commands("Memory settings of this session", _matching(_settings(project, conversation), words))
    if not words:
        yield sessions
    others = Project.objects.visible_to(request.user).exclude(pk=project.pk)
    yield Commands("Projects", _matching((_to_project(other) for other in others), words))
    yield Commands("Account", _matching([Command("Your account", "user", reverse("account"))], words))
    yield Commands("Page", _matching(BY_SCRIPT, words) if request.htmx else ())
    if words:
        address = f"{reverse('sessions', args=[project.slug])}?{urlencode({'q': words})}"
        yield Commands("Search", [Command(f"Search all conversations for “{words}”", "text-search", address)])


def _addressed(
    table: Sequence[tuple[str, str, str, str, str]], project: Project, conversation: Session | None = None
) -> Iterator[Command]:
    """Yield the table's commands, but for those whose page the user's role may not read."""
    parts = [project.slug, conversation.public_id] if conversation else [project.slug]
    for name, query, title, icon, shortcut in table:
        address = reverse(name, args=parts)
        if may(project.role, needs_of(resolve(address).func).reading):
            yield Command(title, icon, address + query, keys=_KEYS.get(shortcut, ()))


def _settings(project: Project, conversation: Session) -> Iterator[Command]:
    tune = reverse("tune", args=[project.slug, conversation.public_id])
    for setting in SETTINGS:
        yield Command(setting.name, "sliders-horizontal", f"{tune}#f-{setting.name}", note=setting.help)


def _to(project: Project, session: Session) -> Command:
    runs = f"{session.last_position:,} run{'' if session.last_position == 1 else 's'}"
    address = reverse("session", args=[project.slug, session.public_id])
    return Command(str(session), "messages-square", address, note=runs)


def _to_project(other: Project) -> Command:
    return Command(f"Switch to project {other.name}", "inbox", reverse("sessions", args=[other.slug]), note=other.slug)


def _matching(known: Iterator[Command] | Sequence[Command], words: str) -> Sequence[Command]:
    sought = words.casefold().split()
    return [
        command for command in known if all(word in f"{command.title} {command.note}".casefold() for word in sought)
    ]
