"""The Compare tab: the saved settings beside the draft, and in what their prompts differ."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from sessions_app.queries.comparison_views import compared_settings, comparison_view
from sessions_app.queries.why_rows import CHANGED
from sessions_app.views.workbench import Bench

EVERYTHING = "all"


def compare_tab(bench: Bench, context: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the tab shows of both sides; without a draft there is nothing to compare."""
    carried = context["carried"]
    a, b = context["sides"]
    everything = bool(carried["show"])
    settings = compared_settings(bench.a, bench.saved, bench.draft)
    return {
        "shown": b,
        "settings": settings if everything else [each for each in settings if each.differs],
        "everything": everything,
        "changed_url": bench.url("tune-why", only=CHANGED),
        "show_url": {"differences": bench.url("tune-compare"), "all": bench.url("tune-compare", show=EVERYTHING)},
        "comparison": comparison_view(
            session=bench.conversation, a=a.sent, b=b.sent, now=timezone.now(), one_by_one=everything
        ),
    }
