"""The decision for a prompt that is chuk's own: what its strategy takes, truncated its way where the budget binds."""

from collections.abc import Iterator, Sequence

from sessions_app.domain.deciding import Asked, Decision, Situation, Terms, common_warnings, not_pruned
from sessions_app.domain.fates import FateRanges, History, open_fates
from sessions_app.domain.handed_down import HandedDown, HeadRoom, hand_down
from sessions_app.domain.pieces import Piece, tokens_of
from sessions_app.domain.plan import Fate, FateRange, Part, PromptWarning, WarningCode
from sessions_app.domain.seeds.dictionaries import SeedDictionary, seed_piece
from sessions_app.domain.seeds.events import SeedEvents
from sessions_app.domain.seeds.rules import seed_dictionaries, takes_parent, truncated
from sessions_app.domain.selection import Choice
from sessions_app.domain.strategies import STRATEGIES
from sessions_app.domain.transcript import TranscriptReader


def decide_as_seed(situation: Situation) -> Decision:
    """Take what the strategy takes, in its order; the open run's events are the newest, unless a query is given."""
    reader, terms, asked = situation.reader, situation.terms, situation.asked
    history = History(reader.finished_through, terms.values)
    open_run = asked.tail.open_run if asked.tail.query is None else None
    events = SeedEvents(reader, history.window, open_run)
    handed = _handed(reader, terms, asked, events)
    room = terms.budget.tokens - asked.fixed.tokens + tokens_of(asked.fixed.head) - tokens_of(handed.pieces)
    wanted = seed_dictionaries(events, terms.values)
    pieces = {id(each): seed_piece(each.message, Part.RUNS, each.position, terms.counter) for each in wanted}

    def pieces_of(dictionaries: Sequence[SeedDictionary]) -> list[Piece]:
        return [pieces[id(each)] for each in dictionaries]

    sent = truncated(wanted, fits=lambda chosen: tokens_of(pieces_of(chosen)) <= room)
    if len(sent) < len(wanted) and not terms.values.autoprune:
        raise not_pruned(situation, handed, runs=tokens_of(pieces_of(wanted)))
    runs = pieces_of(sent)
    choice = Choice(kept=(), tokens=tokens_of(runs), cut=None)
    fates = _fates(terms, history, wanted, sent)
    if asked.turn is None:
        fates += _open_fates(terms, asked, history, wanted, sent)
    warnings = (*common_warnings(situation), *handed.warnings, *_truncation_warnings(terms, wanted, sent))
    return Decision(asked, history, handed, choice, runs, fates, warnings)


def _handed(reader: TranscriptReader, terms: Terms, asked: Asked, events: SeedEvents) -> HandedDown:
    taken = takes_parent(terms.values) and not events.is_empty
    parents = reader.parent_contexts(1) if taken else []
    room = (terms.budget.tokens - asked.fixed.tokens) // 2
    head_room = HeadRoom(terms.renderer, terms.counter.remembering(), asked.head, room)
    return hand_down(head_room, summary=None, parents=parents, settings=terms.values)


def _fates(
    terms: Terms, history: History, wanted: Sequence[SeedDictionary], sent: Sequence[SeedDictionary]
) -> tuple[FateRange, ...]:
    skipped = f"{terms.values.strategy}: only {STRATEGIES[terms.values.strategy].ABOUT}"
    ranges = FateRanges()
    for last, fate, reason in history.excluded():
        ranges.reach(last, fate, reason)
    for position in sorted({each.position for each in wanted if each.position <= history.finished}):
        ranges.reach(position - 1, Fate.SKIPPED, skipped)
        ranges.reach(position, *_fate(terms, sent, position))
    ranges.reach(history.finished, Fate.SKIPPED, skipped)
    return tuple(ranges.ranges)


def _fate(terms: Terms, sent: Sequence[SeedDictionary], position: int) -> tuple[Fate, str]:
    """Return the fate of a run that is wanted, and why."""
    taken = _words(sent, position)
    return (Fate.KEPT, taken) if taken else (Fate.PRUNED, f"{terms.budget.limit}: truncated")


def _truncation_warnings(
    terms: Terms, wanted: Sequence[SeedDictionary], sent: Sequence[SeedDictionary]
) -> Iterator[PromptWarning]:
    """Warn of a newest run, maybe the open one, of which truncation leaves nothing."""
    newest = max((each.position for each in wanted), default=0)
    if newest and not _words(sent, newest):
        yield PromptWarning(
            WarningCode.NEWEST_RUN_DROPPED,
            f"Of run {newest}, the newest that is wanted, truncation leaves nothing ({terms.budget.limit}). "
            f"A way out: {terms.budget.way_out}.",
        )


def _words(dictionaries: Sequence[SeedDictionary], position: int) -> str:
    return ", ".join(dict.fromkeys(each.what for each in dictionaries if each.position == position))


def _open_fates(
    terms: Terms, asked: Asked, history: History, wanted: Sequence[SeedDictionary], sent: Sequence[SeedDictionary]
) -> tuple[FateRange, ...]:
    open_run = asked.tail.open_run
    if open_run is None or asked.tail.query is not None:
        return open_fates(history.finished, open_run, is_sent=False, left_out=terms.renderer.left_out)
    (*unfinished, last) = open_fates(history.finished, open_run, is_sent=True, left_out=terms.renderer.left_out)
    fate, reason = Fate.SKIPPED, "the strategy takes nothing of it"
    if _words(wanted, open_run.position):
        fate, reason = _fate(terms, sent, open_run.position)
    return (*unfinished, FateRange(last.first, last.last, fate, reason))
