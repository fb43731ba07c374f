"""The list of a project's sessions."""

from collections.abc import Sequence
from urllib.parse import parse_qs

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.utils.functional import SimpleLazyObject
from django.utils.http import urlencode
from django.views.decorators.http import require_safe
from django_htmx.http import push_url, replace_url, trigger_client_event

from sessions_app.domain.errors import InvalidInput, NotFound
from sessions_app.domain.identifiers import check_id, is_legal_id
from sessions_app.forms import ALL, SessionFilterForm
from sessions_app.models import Project
from sessions_app.queries.session_filters import SessionFilter
from sessions_app.queries.sessions import SessionPage, session_page, session_tree, sidebar
from sessions_app.views.projects import page_context, project_for
from sessions_app.views.rendering import HtmxRequest, address_of_page, render_page

ROWS_AT_ONCE = 25
LIST = "sessions/list.html"


@login_required
@require_safe
def sessions(request: HtmxRequest, slug: str) -> HttpResponse:
    """Show the list; swaps get its rows, the rows of the next page, or one tree with other children open."""
    project = project_for(request.user, slug)
    if request.htmx and "toggle" in request.GET:
        return _toggled_tree(request, project)
    if not request.htmx and not request.GET:
        chosen = project.saved_views.filter(defaults__user=request.user.pk).first()
        if chosen:
            return HttpResponseRedirect(f"{request.path}?{chosen.query_string}")
    form = SessionFilterForm(request.GET)
    wanted = form.wanted() if form.is_valid() else SessionFilter()
    context = page_context(request.user, project, area="sessions") | {
        "form": form,
        "wanted": wanted,
        "open_ids": _ids(request.GET.get("open", "")),
        "sidebar": SimpleLazyObject(lambda: sidebar(project=project)),
        "saved": (saved := list(project.saved_views.with_default_of(request.user))),
        "saved_here": next((view for view in saved if view.query == form.given()), None),
    }
    try:
        context |= {"page": (page := _page(project, form, request)), "query": form.query()}
    except InvalidInput as refusal:
        refusals = [error for errors in form.errors.values() for error in errors] or [refusal.detail]
        return render_page(request, LIST, "swap", context | {"refusals": refusals}, status=422)
    if not (page.total.value or wanted.narrows):
        return render_page(
            request, "sessions/empty.html", "swap", context | {"base_url": request.build_absolute_uri("/api/v1")}
        )
    response = render_page(request, LIST, "next_rows" if "after" in request.GET else "swap", context)
    return _announced(request, response, form, page) if request.htmx else response


def _page(project: Project, form: SessionFilterForm, request: HtmxRequest) -> SessionPage:
    if not form.is_valid():
        raise InvalidInput("The address asks for something that this list does not have.")
    return session_page(
        project=project,
        wanted=form.wanted(),
        default_model=settings.CONVOWEB_MODEL,
        limit=ROWS_AT_ONCE,
        after=request.GET.get("after"),
        open_ids=_ids(request.GET.get("open", "")),
    )


def _toggled_tree(request: HtmxRequest, project: Project) -> HttpResponse:
    """Answer with one tree in which a session was opened or closed; the page's address remembers what is open."""
    address = address_of_page(request.htmx)
    query = {name: values[-1] for name, values in parse_qs(address.query).items()}
    open_ids = sorted(set(_ids(query.pop("open", ""))) ^ set(_ids(request.GET["toggle"])))
    try:
        tree = session_tree(
            project=project,
            root_id=check_id(request.GET.get("tree", ""), pointer="/tree"),
            default_model=settings.CONVOWEB_MODEL,
            open_ids=open_ids,
        )
    except (InvalidInput, NotFound) as missing:
        raise Http404 from missing
    form = SessionFilterForm(query)
    context = {"project": project, "tree": tree, "open_ids": open_ids, "query": form.query()}
    response = render_page(request, LIST, "tree", context | {"wanted": form.wanted() if form.is_valid() else None})
    return replace_url(response, _address(request.path, form.given() | {"open": ",".join(open_ids)}))


def _announced(
    request: HtmxRequest, response: HttpResponse, form: SessionFilterForm, page: SessionPage
) -> HttpResponse:
    address = _address(request.path, form.given())
    if "after" not in request.GET and address != address_of_page(request.htmx).geturl():
        push_url(response, address)
    return trigger_client_event(response, "announce", {"value": page.caption})


def _address(path: str, query: dict[str, str]) -> str:
    return f"{path}?{urlencode({name: value for name, value in query.items() if value}) or ALL}"


def _ids(text: str) -> Sequence[str]:
    return [public_id for public_id in text.split(",") if is_legal_id(public_id)]
