"""The offline summarizer: keeps the sentences that say the most, word for word, without a model.

A summary is the first thing the user wanted and then lines of the form "- speaker: sentences", oldest first, with
indented lines that go on. Each rebuilding reads the lines of the predecessor like things said, so that an old fact
stays as long as nothing said later needs its place more.
"""

import heapq
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sessions_app.domain.summaries import SummaryRequest
from sessions_app.domain.summarizers import cues
from sessions_app.domain.summarizers.sentences import SHORT, byte_length, can_share_a_line, pieces_of
from sessions_app.domain.text_cutting import cut_at_sentence
from sessions_app.domain.transcript import Event, EventKind, Role, Run, RunStatus, ToolCall

GOAL = "Goal: "
CONTINUED = "  "
NOTHING_SAID = "Nothing was said in words."
USER, ASSISTANT, TOOL = "User", "Assistant", "Tool"
SPEAKERS = {Role.USER: USER, Role.ASSISTANT: ASSISTANT, Role.SYSTEM: "System"}
WEIGHTS = {USER: 2.0, ASSISTANT: 1.0, TOOL: 0.8}
OTHER_WEIGHT = 1.5
LONGEST_RESULT = 140
LONGEST_JSON = 20_000
# After so many sentences that do not fit, the room that is left is not worth the search.
MOST_MISSES = 20


@dataclass(frozen=True, slots=True)
class Said:
    """One message, tool call or line of the predecessor."""

    speaker: str
    text: str
    is_old: bool = False


@dataclass(frozen=True, slots=True)
class Sentence:
    """A piece of something said: `said` is the place of the whole, `place` its own among all pieces."""

    said: int
    place: int
    speaker: str
    text: str
    score: float
    keys: frozenset[str]


def summarize(request: SummaryRequest) -> str:
    """Return what is kept of the predecessor's text and of the runs, oldest first; never empty."""
    goal, said = _read_previous(request.previous)
    said += [each for run in request.runs for each in _said_in(run)]
    if not request.previous:
        goal = _first_wish(said)
    sentences = _sentences(said, goal)
    heading = _heading(goal, request)
    kept = _choose(sentences, request, spent=request.count_tokens(heading + "\n") if heading else 0)
    best = max(sentences, key=lambda sentence: sentence.score, default=None)
    return "\n".join(filter(None, (heading, *_lines(kept)))) or (best.text if best else goal) or NOTHING_SAID


def _read_previous(text: str) -> tuple[str, list[Said]]:
    """Split a predecessor into its goal and its lines; one that a person or a model wrote has lines of nobody."""
    goal = ""
    said: list[Said] = []
    for line in text.splitlines():
        speaker, separator, words = line.removeprefix("- ").partition(": ")
        if line.startswith(GOAL) and not goal and not said:
            goal = line.removeprefix(GOAL)
        elif line.startswith("- ") and separator and len(speaker) <= len(ASSISTANT):
            said.append(Said(speaker, words, is_old=True))
        elif line.startswith(CONTINUED) and said:
            said[-1] = replace(said[-1], text=f"{said[-1].text}\n{line.strip()}")
        elif line.strip() and line != NOTHING_SAID:
            said.append(Said("", line, is_old=True))
    return goal, said


def _said_in(run: Run) -> Iterator[Said]:
    for event in run.events:
        if event.tool is not None:
            yield Said(TOOL, _call_text(event.tool))
        elif event.kind is not EventKind.REASONING:
            yield Said(_speaker(event), event.text)
    if run.status in (RunStatus.FAILED, RunStatus.CANCELLED):
        yield Said("System", f"Turn {run.position} {run.status}: {run.error or 'no reason given'}")


def _speaker(event: Event) -> str:
    return SPEAKERS[event.role] if event.role else "Note"


def _call_text(call: ToolCall) -> str:
    outcome = f"error: {call.error}" if call.error else call.result
    return f"{call.name}({_gist(call.arguments)}) gave {_gist(outcome or '') or 'no result'}"


def _gist(text: str) -> str:
    """Return the plain values of a JSON object as `name value` pairs, or the beginning of any other text."""
    values = _plain_values(text)
    gist = ", ".join(values) if values else " ".join(text[: 2 * LONGEST_RESULT].split())
    return gist if len(gist) <= LONGEST_RESULT else gist[: LONGEST_RESULT - 1].rstrip() + "…"


def _plain_values(text: str) -> list[str]:
    try:
        value = json.loads(text) if len(text) <= LONGEST_JSON and text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return []
    if not isinstance(value, dict):
        return []
    return [f"{name} {item}" for name, item in value.items() if isinstance(item, str | int | float) and item != ""]


def _first_wish(said: Sequence[Said]) -> str:
    """Return the first thing of some length that the user said."""
    wishes = [piece for each in said if each.speaker == USER for piece in pieces_of(each.text)[:5]]
    return next((wish for wish in wishes if byte_length(wish) >= SHORT), wishes[0] if wishes else "")


def _heading(goal: str, request: SummaryRequest) -> str:
    """Return the line that names the goal, in at most a quarter of the room."""
    room = request.max_tokens // 4
    cut = goal and cut_at_sentence(goal, fits=lambda text: request.count_tokens(GOAL + text) <= room)
    return GOAL + cut if cut else ""


def _sentences(said: Sequence[Said], goal: str) -> list[Sentence]:
    """Return all pieces with their scores; of what is said twice only the newest, and never the goal again."""
    newest: dict[str, Sentence] = {}
    place = 0
    for index, each in enumerate(said):
        for text in [each.text] if each.speaker == TOOL else pieces_of(each.text):
            place += 1
            keys = frozenset(cues.NUMBER.findall(text)) | frozenset(cues.NAME.findall(text))
            newest[text.casefold()] = Sentence(index, place, each.speaker, text, _score(each, text), keys)
    newest.pop(goal.casefold(), None)
    return list(newest.values())


def _score(said: Said, text: str) -> float:
    user = said.speaker == USER
    numbers, names = len(cues.NUMBER.findall(text)), len(cues.NAME.findall(text))
    if said.speaker == TOOL:
        return WEIGHTS[TOOL] + 0.6 * min(2, numbers)
    score = WEIGHTS.get(said.speaker, OTHER_WEIGHT) + 0.6 * min(3, numbers) + 0.3 * min(3, names) - len(text) / 400
    score += 1.0 * bool(cues.DECISION.search(text)) + 0.8 * bool(cues.NEGATION.search(text))
    score += 1.2 * (user and bool(cues.FIRST_PERSON.search(text)))
    score -= 2.0 * bool(cues.COURTESY.search(text))
    score -= (1.0 if user else 2.0) * text.endswith(cues.QUESTION_ENDS)
    score -= 2.0 * (not numbers and byte_length(text) < SHORT)
    return score - 0.3 * (said.is_old and not user)


def _choose(sentences: Iterable[Sentence], request: SummaryRequest, *, spent: int) -> list[Sentence]:
    """Take the best sentences that fit; one whose numbers and names are all known already counts half."""
    queue = [(-sentence.score, -sentence.place, True, sentence) for sentence in sentences]
    heapq.heapify(queue)
    kept: list[Sentence] = []
    known: set[str] = set()
    misses = 0
    while queue and misses < MOST_MISSES:
        score, newness, is_fresh, sentence = heapq.heappop(queue)
        if is_fresh and sentence.keys and sentence.keys <= known:
            heapq.heappush(queue, (score / 2, newness, False, sentence))
            continue
        cost = request.count_tokens(f"- {sentence.speaker}: {sentence.text}\n")
        if -score <= 0 or spent + cost > request.max_tokens:
            misses += 1
            continue
        spent += cost
        known |= sentence.keys
        kept.append(sentence)
    return sorted(kept, key=lambda sentence: sentence.place)


def _lines(kept: Sequence[Sentence]) -> Iterator[str]:
    """Yield the lines; what is kept of one message stays together."""
    before: Sentence | None = None
    line = ""
    for sentence in kept:
        if before is None or sentence.said != before.said:
            yield line
            line = f"- {sentence.speaker}: {sentence.text}" if sentence.speaker else sentence.text
        elif can_share_a_line(before.text, sentence.text):
            line += f" {sentence.text}"
        else:
            yield line
            line = CONTINUED + sentence.text
        before = sentence
    yield line
