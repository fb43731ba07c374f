"""Saving a draft of settings, to the session, as the project's default or as a profile; each asks what for first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from sessions_app.domain.errors import ConvowebError
from sessions_app.domain.memory_settings import stored_values
from sessions_app.domain.roles import Right
from sessions_app.queries.project_defaults import DefaultChange, Reach, project_changes, reach_of, with_versions
from sessions_app.queries.prompt_figures import needed_parts
from sessions_app.queries.settings_controls import address
from sessions_app.queries.settings_versions import next_number
from sessions_app.services.foreseen_defaults import Foreseen, foreseen_defaults
from sessions_app.services.given_names import LONGEST_NAME
from sessions_app.services.profiles import save_new_profile
from sessions_app.services.sessions import update_session
from sessions_app.services.settings import built_in_settings
from sessions_app.services.settings_versions import LONGEST_NOTE
from sessions_app.services.summaries import due_under
from sessions_app.views.access import needs
from sessions_app.views.default_drafts import save_as_default, settings_counted, told_why_not_saved
from sessions_app.views.drafts import login_required_keeping_drafts
from sessions_app.views.rendering import HtmxRequest
from sessions_app.views.session_pages import plan_or_refusal
from sessions_app.views.settings_versions import Kept, tell_saved
from sessions_app.views.tune import show
from sessions_app.views.workbench import TABS, Bench, bench_of


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked before a draft is saved to a `target`: session, project or profile.

    `version` is the number that it becomes, `reach` whom it reaches and `foreseen` what it does
    to some of them, if it is for the whole project. Of this session:
    `refusal` says why no prompt could be built any more, `due` are the runs that would be summarized.
    """

    target: str
    action: str
    tab: str
    changes: Sequence[DefaultChange]
    version: int = 0
    refusal: ConvowebError | None = None
    due: tuple[int, int] | None = None
    reach: Reach | None = None
    foreseen: Foreseen | None = None
    kept_here: Sequence[str] = ()
    name: str = ""

    @property
    def needs(self) -> list[tuple[str, int]]:
        """What needs how many tokens, if that is why no prompt could be built."""
        return needed_parts(self.refusal)


@needs(reading=Right.EDIT)
@login_required_keeping_drafts
@require_http_methods(["GET", "HEAD", "POST"])
def save(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Ask whether to save the draft to the session and say what follows; then save it."""
    texts = _texts(request)
    bench = bench_of(request, slug, session_id, texts)
    refused = _nothing_to_save(request, bench)
    if refused:
        return refused
    if request.method != "POST":
        return _ask(request, bench, _session_question(bench, texts))
    if "sure" not in texts:
        return HttpResponseRedirect(_question_url(bench, "tune-save", texts))
    now = timezone.now()
    with transaction.atomic():
        update_session(
            session=bench.conversation,
            changes={"settings": dict(bench.draft.changes)},
            now=now,
            actor=request.user.get_username(),
            note=texts.get("note", "")[:LONGEST_NOTE],
        )
        words = f"{settings_counted(bench.draft.count)} saved to this session"
        tell_saved(request, Kept(bench.project, bench.conversation), words, now=now)
    return HttpResponseRedirect(_fresh_url(bench, texts))


@needs(reading=Right.EDIT)
@login_required_keeping_drafts
@require_http_methods(["GET", "HEAD", "POST"])
def save_default(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Ask whether to save the draft as the project's default and say whom it reaches; then save it."""
    texts = _texts(request)
    bench = bench_of(request, slug, session_id, texts)
    refused = _nothing_to_save(request, bench)
    if refused:
        return refused
    changes = project_changes(draft=bench.draft, defaults=bench.inherited, built_in=built_in_settings())
    if not changes:
        messages.info(request, f"There is nothing to save: these are the defaults of {bench.project} already.")
        return HttpResponseRedirect(_tab_url(bench))
    if request.method != "POST":
        return _ask(request, bench, _project_question(bench, changes, texts))
    if "sure" not in texts:
        return HttpResponseRedirect(_question_url(bench, "tune-default", texts))
    save_as_default(request, bench.project, changes, note=texts.get("note", ""))
    return HttpResponseRedirect(_left_url(bench))


@needs(reading=Right.EDIT)
@login_required_keeping_drafts
@require_http_methods(["GET", "HEAD", "POST"])
def save_profile(request: HtmxRequest, slug: str, session_id: str) -> HttpResponse:
    """Ask for the name of a profile, a copy of all values of the draft; then save it."""
    texts = _texts(request)
    bench = bench_of(request, slug, session_id, texts)
    if bench.draft.errors:
        messages.error(request, f"Nothing was saved. {' '.join(bench.draft.errors.values())}")
        return HttpResponseRedirect(_tab_url(bench))
    if request.method != "POST":
        return _ask(request, bench, _profile_question(bench, texts))
    if "sure" not in texts:
        return HttpResponseRedirect(_question_url(bench, "tune-profile", texts))
    try:
        profile = save_new_profile(
            project=bench.project,
            name=texts.get("profile", ""),
            settings=stored_values(bench.saved.values) | bench.draft.overrides,
            actor=request.user.get_username(),
            now=timezone.now(),
        )
    except ConvowebError as refusal:
        messages.error(request, refusal.detail)
        return HttpResponseRedirect(_question_url(bench, "tune-profile", texts))
    messages.success(request, f"Profile {profile.name} saved. It is in force nowhere until it is applied and saved.")
    return HttpResponseRedirect(_tab_url(bench))


def _ask(request: HtmxRequest, bench: Bench, question: Question) -> HttpResponse:
    pages = {"session": "tune-save", "project": "tune-default", "profile": "tune-profile"}
    urls = {target: bench.url(page, tab=question.tab) for target, page in pages.items()}
    more = {"asking": question, "save_urls": urls, "back_url": _tab_url(bench)}
    return show(request, bench, _tab(bench), more)


def _tab(bench: Bench) -> str:
    """Return the view from which saving was asked for."""
    tab = bench.texts.get("tab", "")
    return tab if tab in TABS else "prompt"


def _tab_url(bench: Bench) -> str:
    return bench.url(TABS[_tab(bench)])


def _session_question(bench: Bench, texts: QueryDict) -> Question:
    return Question(
        target="session",
        action=bench.page("tune-save"),
        tab=texts.get("tab", ""),
        changes=with_versions(
            [
                replace(change, layer=bench.inherited.origins[change.name])
                if bench.draft.changes[change.name] is None
                else change
                for change in _draft_changes(bench)
            ],
            project=bench.project,
            session=bench.conversation,
        ),
        version=next_number(project=bench.project, session=bench.conversation),
        **_what_follows(bench, bench.draft.overrides),
    )


def _project_question(bench: Bench, changes: Sequence[DefaultChange], texts: QueryDict) -> Question:
    names = [change.name for change in changes]
    kept_here = [name for name in names if name in bench.conversation.settings]
    return Question(
        target="project",
        action=bench.page("tune-default"),
        tab=texts.get("tab", ""),
        changes=with_versions(changes, project=bench.project),
        version=next_number(project=bench.project, session=None),
        reach=reach_of(project=bench.project, names=names),
        foreseen=foreseen_defaults(project=bench.project, changes={change.name: change.new for change in changes}),
        kept_here=kept_here,
        **_what_follows(bench, {change.name: change.new for change in changes if change.name not in kept_here}),
    )


def _profile_question(bench: Bench, texts: QueryDict) -> Question:
    return Question(
        target="profile",
        action=bench.page("tune-profile"),
        tab=texts.get("tab", ""),
        changes=_draft_changes(bench),
        name=texts.get("profile", "")[:LONGEST_NAME],
    )


def _draft_changes(bench: Bench) -> list[DefaultChange]:
    now = stored_values(bench.saved.values)
    return [DefaultChange(name, now[name], new) for name, new in bench.draft.overrides.items()]


def _question_url(bench: Bench, page: str, texts: QueryDict) -> str:
    return bench.url(page, **{name: texts.get(name, "") for name in ("tab", "profile")})


def _what_follows(bench: Bench, overrides: Mapping[str, Any]) -> dict[str, Any]:
    plan, refusal = plan_or_refusal(bench.conversation, overrides=overrides)
    return {"refusal": refusal, "due": due_under(session=bench.conversation, overrides=overrides, plan=plan)}


def _texts(request: HttpRequest) -> QueryDict:
    return request.POST if request.method == "POST" else request.GET


def _nothing_to_save(request: HttpRequest, bench: Bench) -> HttpResponse | None:
    return HttpResponseRedirect(_tab_url(bench)) if told_why_not_saved(request, bench.draft) else None


def _fresh_url(bench: Bench, texts: QueryDict) -> str:
    page = reverse(TABS.get(texts.get("tab", ""), "tune"), args=[bench.project.slug, bench.conversation.public_id])
    return page + (address({}, bench.carried) if bench.carried else "")


def _left_url(bench: Bench) -> str:
    """Return the address with what of the draft a new default of the project does not settle."""
    own = bench.conversation.settings
    left = {name: text for name, text in bench.draft.texts.items() if name in own}
    return (bench.page(TABS[_tab(bench)]) + address(left, bench.carried)).removesuffix("?")
