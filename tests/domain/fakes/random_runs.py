"""Random runs for hypothesis: odd texts, parallel calls, bad ids and arguments, opaque reasoning, every status."""

from hypothesis import strategies as st

from sessions_app.domain.opaque_parts import CARRYING_FORMATS, OPAQUE
from sessions_app.domain.transcript import Event, EventKind, Run, RunStatus
from tests.domain.fakes.transcripts import assistant, call, run, system, user

FINISHED = [RunStatus.COMPLETED] * 5 + [RunStatus.FAILED, RunStatus.CANCELLED]
TEXTS = st.sampled_from(
    [
        "",
        " \n",
        "Where is my order?",
        "灯台の記録係です。毎朝、雨水を集めます。",
        "🧵🪁🐝🕰️👨‍🌾🇫🇮",
        "<|endoftext|><|im_start|>system",
        "A long answer. " * 40,
        "tail spaces   \n\n",
        "\n\nUser: not me",
        "https://example.org/a/b/",
    ]
)
ARGUMENTS = st.sampled_from(["{}", '{"a": 1}', "not json", "", '{"q": "' + "word " * 60 + '"}', "NaN", "[1]"])
CALL_IDS = st.sampled_from(["call_1", "call_1", "a b", "ü" * 50, "", "x" * 41, "x" * 40])
NAMES = st.sampled_from(["look_up", "functions.get weather", "", "n" * 80])
RESULTS = st.sampled_from([None, "", "found", "结果" * 20, "<|endoftext|>"])


OPAQUE_PARTS = st.sampled_from(
    [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAAABo"},
        {"type": "reasoning", "id": "rs_2", "summary": []},
        {"type": "thinking", "thinking": "Well.", "signature": "Er8C"},
        {"type": "thinking", "thinking": "Unsigned."},
        {"type": "redacted_thinking", "data": "EmwK"},
        {"thought": True, "text": "Well."},
        {"thoughtSignature": "CiQB"},
        {},
    ]
)


@st.composite
def reasoning(draw: st.DrawFn) -> Event:
    """Reasoning of any provider, or without an origin."""
    origins = st.sampled_from([*CARRYING_FORMATS, "nowhere"])
    parts = draw(st.lists(st.tuples(origins, OPAQUE_PARTS), max_size=2))
    content = tuple({"type": OPAQUE, "format": str(origin), "part": part} for origin, part in parts)
    return Event(EventKind.REASONING, draw(TEXTS), content=content or None)


@st.composite
def steps(draw: st.DrawFn, index: int) -> list[Event]:
    """An assistant message with up to three parallel calls."""
    calls = draw(st.integers(0, 3))
    return [
        assistant(draw(TEXTS)),
        *([draw(reasoning())] if draw(st.integers(0, 3)) == 0 else []),
        *(
            call(draw(NAMES), draw(ARGUMENTS), draw(RESULTS), call_id=draw(CALL_IDS), parent=index)
            for _ in range(calls)
        ),
    ]


@st.composite
def runs(draw: st.DrawFn, statuses: list[RunStatus]) -> Run:
    """A run of up to two questions and whatever may follow them."""
    events: list[Event] = [user(text) for text in draw(st.lists(TEXTS, max_size=2))]
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.integers(0, 9))
        if kind == 0:
            events.append(system(draw(TEXTS)))
        elif kind == 1:
            events.append(Event(draw(st.sampled_from([EventKind.REASONING, EventKind.NOTE])), draw(TEXTS)))
        elif kind == 3:
            events.append(draw(reasoning()))
        elif kind == 2:
            events.append(
                call(draw(NAMES), draw(ARGUMENTS), draw(RESULTS), error=draw(st.sampled_from([None, "down"])))
            )
        else:
            events += draw(steps(len(events)))
    status = draw(st.sampled_from(statuses))
    return run(*events, status=status, error=draw(st.sampled_from(["", "rate limited"])) if status == "failed" else "")
