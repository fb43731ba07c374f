"""The settings page of a project's summarizer: choosing it, trying its endpoint, seeing what its templates make."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_http_methods

from sessions_app.domain.errors import ConvowebError
from sessions_app.domain.roles import Right
from sessions_app.domain.summarizers.templates import BUILT_IN_REQUEST, template_version
from sessions_app.forms import SummarizerForm
from sessions_app.models import Project, ProjectSummarizer
from sessions_app.models.connections import one_state
from sessions_app.queries.project_summarizers import samples, suggestions
from sessions_app.services.model_summaries import model_of
from sessions_app.services.project_summarizers import listed_endpoints, save_project_summarizer, summarizer_of
from sessions_app.services.summarizer_previews import Sample, preview_introduction, preview_request, sample_of
from sessions_app.services.summarizer_trials import Trial, try_endpoint
from sessions_app.views.access import needs
from sessions_app.views.projects import page_context, project_for
from sessions_app.views.rendering import HtmxRequest, render_page

PAGE = "projects/summarizer.html"
SWAPS = frozenset({"facts", "trial", "templates", "asked", "stands"})
TRIED = frozenset({"endpoint", "model", "timeout_seconds", "input_price", "output_price"})
SAVED = "Saved. New summaries are made with it; those that exist stay as they are."
INTRODUCED = "Next prompts introduce them as you wrote."


@needs(writing=Right.MANAGE)
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def summarizer(request: HtmxRequest, slug: str) -> HttpResponse:
    """Show what is chosen, or save what is sent."""
    project = project_for(request.user, slug)
    form = _form(request, project)
    if request.method == "POST" and form.is_valid():
        before = summarizer_of(project).summary_template
        saved = save_project_summarizer(project=project, changes=form.cleaned_data, by=request.user, now=timezone.now())
        messages.success(request, SAVED if saved.summary_template == before else f"{SAVED} {INTRODUCED}")
        return redirect("summarizer", slug)
    return _show(request, project, form, {}, status=422 if request.method == "POST" else 200)


@needs(writing=Right.READ)
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def preview(request: HtmxRequest, slug: str) -> HttpResponse:
    """Show what the templates that are sent would make; nothing is saved."""
    project = project_for(request.user, slug)
    if request.method != "POST":
        return redirect("summarizer", slug)
    return _show(request, project, _form(request, project), {})


@needs(writing=Right.MANAGE)
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def trial(request: HtmxRequest, slug: str) -> HttpResponse:
    """Ask the endpoint that is sent for a word; nothing is saved."""
    project = project_for(request.user, slug)
    if request.method != "POST":
        return redirect("summarizer", slug)
    form = _form(request, project)
    return _show(request, project, form, {"trial": _tried(project, form)})


def _form(request: HttpRequest, project: Project) -> SummarizerForm:
    stored = summarizer_of(project)
    initial = {name: getattr(stored, name) for name in SummarizerForm.base_fields}
    initial["request_template"] = stored.request_template or BUILT_IN_REQUEST
    endpoints = [endpoint.name for endpoint in listed_endpoints()]
    return SummarizerForm(request.POST if request.method == "POST" else None, endpoints=endpoints, initial=initial)


def _draft(project: Project, form: SummarizerForm) -> ProjectSummarizer:
    """Return what is stored with those of the sent values that are in order; not to be saved."""
    draft = summarizer_of(project)
    if form.is_bound:
        form.is_valid()
        for name, value in form.cleaned_data.items():
            setattr(draft, name, value)
    return draft


def _tried(project: Project, form: SummarizerForm) -> Trial:
    draft = _draft(project, form)
    wrong = [str(error) for name, errors in form.errors.items() if name in TRIED for error in errors]
    if wrong or not (draft.endpoint and draft.model):
        return Trial(0, error=" ".join(wrong) or "Choose an endpoint and name a model first.")
    return try_endpoint(chosen=draft, now=timezone.now())


def _show(
    request: HtmxRequest, project: Project, form: SummarizerForm, more: Mapping[str, Any], *, status: int = 200
) -> HttpResponse:
    draft = _draft(project, form)
    with one_state():
        session, to_choose = samples(project=project, public_id=_texts(request).get("sample"))
        sample = sample_of(project=project, session=session)
    context = {
        **page_context(request.user, project, area="settings"),
        "form": form,
        "draft": draft,
        "endpoints": listed_endpoints(),
        "unlisted": "" if draft.endpoint in form.endpoints else draft.endpoint,
        **_known(project, draft.model),
        "suggested": suggestions(project=project, words=draft.model),
        "sample": sample,
        "samples": to_choose,
        **_previews(form, draft, sample),
        **more,
    }
    target = request.htmx.target or ""
    response = render_page(request, PAGE, target if target in SWAPS else "templates", context, status=status)
    add_never_cache_headers(response)
    return response


def _known(project: Project, name: str) -> dict[str, Any]:
    """Return what holds where the choice says nothing of a model's window and prices."""
    model = model_of(ProjectSummarizer(project=project, model=name))
    return {"known": model, "prices": model.prices(now=timezone.now())}


def _previews(form: SummarizerForm, draft: ProjectSummarizer, sample: Sample) -> dict[str, Any]:
    """Return what the templates make of the sample, as far as they are in order."""
    found: dict[str, Any] = {}
    if "request_template" not in form.errors and sample.runs:
        try:
            found["asked"] = preview_request(sample=sample, chosen=draft)
            found["template"] = template_version(draft.request_template or BUILT_IN_REQUEST)
        except ConvowebError as refusal:
            found["refusal"] = refusal.detail
    if "summary_template" not in form.errors:
        found["stands"] = preview_introduction(sample=sample, template=draft.summary_template)
    return found


def _texts(request: HttpRequest) -> Any:
    return request.POST if request.method == "POST" else request.GET
