"""How many of the planted facts are in the summary after each step, from the step that took them on."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.planted_facts.conversations import Conversation, Planted
from benchmarks.planted_facts.rolling import Step, steps_of, texts_after
from benchmarks.planted_facts.scripts import Fact, Kind, Speaker
from sessions_app.domain.in_memory import InMemoryTranscript
from sessions_app.domain.summaries import Summarizer

STEPS = 20
SHOWN = (1, 5, 20)


@dataclass(frozen=True, slots=True)
class Fate:
    """Whether one fact was in the summary after 1, 2 ... steps, with each summarizer."""

    fact: Fact
    language: str
    kept: Mapping[str, Sequence[bool]]


def fates(conversations: Iterable[Conversation], summarizers: Mapping[str, Summarizer]) -> Iterator[Fate]:
    """Summarize each conversation with each summarizer and look for its facts."""
    for conversation in conversations:
        steps = list(steps_of(InMemoryTranscript.of_messages(conversation.messages)))
        texts = {name: list(texts_after(steps, summarize)) for name, summarize in summarizers.items()}
        for planted in conversation.planted:
            first = _step_with(planted, steps)
            if len(steps) < first + STEPS:
                raise ValueError(f"{conversation.name} is too short: {len(steps)} steps")
            kept = {name: [planted.fact.is_in(each) for each in made[first:][:STEPS]] for name, made in texts.items()}
            yield Fate(planted.fact, conversation.language, kept)


def _step_with(planted: Planted, steps: Sequence[Step]) -> int:
    return next(index for index, runs in enumerate(steps) if runs[-1].position >= planted.turn)


def curve(fates: Sequence[Fate], name: str) -> list[float]:
    """Return the share of the facts that are kept after 1, 2 ... steps."""
    return [sum(fate.kept[name][step] for fate in fates) / len(fates) for step in range(STEPS)]


def table(fates: Sequence[Fate], names: Sequence[str]) -> Iterator[str]:
    """Return the lines of a table of all facts and of the sorts that there are."""
    yield f"| facts | | {' | '.join(f'{name}, {step}' for name in names for step in SHOWN)} |"
    yield f"| --- | --- {'| --- ' * len(names) * len(SHOWN)}|"
    for title, chosen in _sorts(fates):
        if chosen:
            shares = [curve(chosen, name)[step - 1] for name in names for step in SHOWN]
            yield f"| {title} | {len(chosen)} | {' | '.join(f'{share * 100:.0f} %' for share in shares)} |"


def _sorts(fates: Sequence[Fate]) -> Iterator[tuple[str, list[Fate]]]:
    yield "all", list(fates)
    for kind in Kind:
        yield kind, [fate for fate in fates if fate.fact.kind is kind]
    for speaker in Speaker:
        yield f"by the {speaker}", [fate for fate in fates if fate.fact.by is speaker]
    yield "in English", [fate for fate in fates if fate.language == "en"]
    yield "in other languages", [fate for fate in fates if fate.language != "en"]
