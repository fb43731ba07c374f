"""The Replay tab: what would have happened over the whole conversation under the saved settings and the draft."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, HttpResponseRedirect, QueryDict, StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from sessions_app.domain.errors import ConvowebError, InvalidInput, InvalidSettings, ReplayIsBusy
from sessions_app.domain.memory_settings import stored_values
from sessions_app.domain.replays.replayed import Replay
from sessions_app.models.connections import one_state
from sessions_app.queries.replay_files import as_csv, as_json
from sessions_app.queries.replay_views import PAGE, ReplayedSide, bin_size, bins_of, not_shown, side_at, turn_rows
from sessions_app.services.prompts import effective_settings
from sessions_app.services.replays import LIVE, replay_milliseconds, replay_session
from sessions_app.views.rendering import HtmxRequest
from sessions_app.views.session_reading import number_of
from sessions_app.views.sides import Side
from sessions_app.views.workbench import THEN, Bench, bench_of

LONGEST = 20_000
"""Milliseconds of computing that a page takes for one setting at most; other requests are slower meanwhile."""
TABLE = "table"
GO = "go"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be replayed: overrides by the letter of the setting, why others are not, about how long it takes."""

    overrides: Mapping[str, Mapping[str, Any]]
    refusals: Mapping[str, ConvowebError]
    milliseconds: float

    @property
    def is_long(self) -> bool:
        """Whether a person has to ask for it."""
        return self.milliseconds > LIVE

    @property
    def seconds(self) -> int:
        """About how long it takes, in whole seconds, at least one."""
        return max(1, round(self.milliseconds / 1000))


def replay_asked(texts: QueryDict, last: int) -> dict[str, str]:
    """Return what the address asks for: a turn, or the table from a row on; and that a long replay may begin."""
    turn, first = number_of(texts.get("turn")), number_of(texts.get("first"))
    is_table = texts.get("as") == TABLE
    return {
        "as": TABLE if is_table else "",
        "first": str(_page_of(first, last)) if is_table and first and last else "",
        "turn": str(min(turn, last)) if turn and last and not is_table else "",
        GO: "1" if texts.get(GO) else "",
    }


def replay_tab(bench: Bench, context: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the tab shows: a replay, or why there is none yet."""
    a, b = context["sides"]
    wanted = _wanted(bench)
    found: dict[str, Any] = {"shown": b, "wanted": wanted, "go_url": _url(bench, context, **{GO: "1"})}
    found["leaves_out"] = any(name != "at" for name in bench.asked.texts)
    replayed = _replayed(bench, wanted, context["carried"][GO])
    if replayed is None:
        return found | {"waits": not context["carried"][GO], "is_busy": bool(context["carried"][GO])}
    done = [_side(side, bench, wanted, replayed[side.key]) for side in (a, b) if side.key in replayed]
    return found | _shown(bench, context, done) | {"done": done, "not_shown": not_shown(done)}


@login_required
@require_safe
@one_state()
def replay_file(request: HtmxRequest, slug: str, session_id: str, kind: str) -> HttpResponse | StreamingHttpResponse:
    """Answer with the replay as a file; where there is none, the tab says why."""
    bench = bench_of(request, slug, session_id, request.GET)
    wanted = _wanted(bench)
    replayed = _replayed(bench, wanted, GO)
    if not replayed:
        return HttpResponseRedirect(bench.url("tune-replay", **{GO: "1"}))
    name = f'attachment; filename="replay-{bench.conversation.pk}.{kind}"'
    replays = list(replayed.items())
    if kind == "csv":
        lines = StreamingHttpResponse(as_csv(replays), content_type="text/csv; charset=utf-8")
        lines["Content-Disposition"] = name
        return lines
    return HttpResponse(as_json(replays), content_type="application/json", headers={"Content-Disposition": name})


def _wanted(bench: Bench) -> Wanted:
    """Decide what can be replayed; without a draft that is A alone: the saved settings, or those of a past turn."""
    before, saved = stored_values(bench.a.values), stored_values(bench.saved.values)
    asked: dict[str, Mapping[str, Any]] = {"a": {name: value for name, value in before.items() if value != saved[name]}}
    refusals: dict[str, ConvowebError] = {}
    if bench.draft.errors:
        refusals["b"] = InvalidSettings(" ".join(bench.draft.errors.values()))
    elif bench.overrides:
        asked["b"] = bench.draft.overrides
    total = 0.0
    for key, overrides in list(asked.items()):
        try:
            needed = replay_milliseconds(session=bench.conversation, overrides=overrides)
            if needed > LONGEST:
                raise _too_long(bench.conversation.last_position, needed)
        except ConvowebError as refusal:
            refusals[key] = refusal
            del asked[key]
        else:
            total += needed
    return Wanted(asked, refusals, total)


def _too_long(turns: int, needed: float) -> InvalidInput:
    return InvalidInput(
        f"To replay {turns:,} turns under these settings takes about {needed / 1000:,.0f} seconds of computing, and "
        f"a page may take {LONGEST // 1000}. The strategies buffer, summary and tool are replayed from stored sums, in "
        "the format openai with a model of the encoding o200k_base and tool results whole; the API replays the others."
    )


def _replayed(bench: Bench, wanted: Wanted, go: str) -> Mapping[str, Replay] | None:
    """Replay what is wanted; None where somebody has to ask for it first, or another long one is being computed."""
    if not wanted.overrides:
        return {}
    if wanted.is_long and not go:
        return None
    try:
        return _compute(bench, wanted)
    except ReplayIsBusy:
        return None


def _compute(bench: Bench, wanted: Wanted) -> Mapping[str, Replay]:
    named = {f"/{key}": overrides for key, overrides in wanted.overrides.items()}
    replays = replay_session(session=bench.conversation, settings=named, now=timezone.now())
    return dict(zip(wanted.overrides, replays, strict=True))


def _side(side: Side, bench: Bench, wanted: Wanted, replay: Replay) -> ReplayedSide:
    settings = effective_settings(session=bench.conversation, overrides=wanted.overrides[side.key])
    budget = side.prompt.budget if side.prompt else None
    return ReplayedSide(side.key, _label(side, bench), settings.values, budget, replay)


def _label(side: Side, bench: Bench) -> str:
    """Name a side; what is replayed under the settings of then is not what was then."""
    return f"Settings of turn {bench.past_turn:,}" if side.label == THEN and bench.past_turn else side.label


def _shown(bench: Bench, context: Mapping[str, Any], done: Sequence[ReplayedSide]) -> dict[str, Any]:
    """Return the charts or the table, and the turn that is asked for."""
    turns, carried = bench.conversation.last_position, context["carried"]
    found: dict[str, Any] = {"turns": turns, "as_url": _as_urls(bench, context), "file_url": _file_urls(bench)}
    if not done or not turns:
        return found
    asked = min(int(carried["turn"] or bench.past_turn or turns), turns)
    found |= {"why_then_url": bench.url("tune-why", at=str(asked)), "turn_shown": asked}
    if carried["as"]:
        first = int(carried["first"] or (_page_of(bench.past_turn, turns) if bench.past_turn else 1))
        return found | {
            "rows": turn_rows(session=bench.conversation, sides=done, first=first),
            "last_row": min(first + PAGE - 1, turns),
            "saw_url": _beginning(bench.url("tune", at=""), "at"),
            "pages": _page_urls(bench, context, first, turns),
        }
    return found | {
        "bins": {side.key: bins_of(side, turns) for side in done},
        "bin_size": bin_size(turns),
        "column_shown": (asked - 1) // bin_size(turns),
        "turn_figures": [side_at(side, asked) for side in done],
        "turn_urls": _turn_urls(bench, context, asked, turns),
    }


def _page_of(turn: int, turns: int) -> int:
    """Return the turn with which the page of the table begins that has a turn."""
    return (min(turn, turns) - 1) // PAGE * PAGE + 1


def _beginning(url: str, name: str) -> str:
    """Return an address with a query, to which only the value of the last field has to be added."""
    return f"{url}{'' if url.endswith('?') else '&'}{name}="


def _as_urls(bench: Bench, context: Mapping[str, Any]) -> dict[str, str]:
    table = _url(bench, context, **{"as": TABLE})
    row = f"#turn-{bench.past_turn}" if bench.past_turn and not bench.left_out else ""
    return {"chart": _url(bench, context, **{"as": "", "first": ""}), "table": table + row}


def _file_urls(bench: Bench) -> dict[str, str]:
    return {kind: bench.url(f"tune-replay-{kind}") for kind in ("csv", "json")}


def _page_urls(bench: Bench, context: Mapping[str, Any], first: int, turns: int) -> dict[str, str]:
    starts = {"first": 1, "before": first - PAGE, "after": first + PAGE, "last": (turns - 1) // PAGE * PAGE + 1}
    return {
        name: _url(bench, context, first=str(start))
        for name, start in starts.items()
        if 1 <= start <= turns and start != first
    }


def _turn_urls(bench: Bench, context: Mapping[str, Any], turn: int, turns: int) -> dict[str, str]:
    steps = {"before": turn - 1, "after": turn + 1}
    urls = {name: _url(bench, context, turn=str(at)) for name, at in steps.items() if 1 <= at <= turns}
    return urls | {
        "saw": bench.url("tune", at=str(turn)),
        "compare": bench.url("tune-compare", at=str(turn)),
        "each": _beginning(_url(bench, context, turn=""), "turn"),
        "any": bench.page("tune-replay") + (f"?{GO}=1" if context["carried"][GO] else ""),
    }


def _url(bench: Bench, context: Mapping[str, Any], **besides: str) -> str:
    return bench.url("tune-replay", **{**context["carried"], **besides})
