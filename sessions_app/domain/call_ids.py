"""Tool call ids that every provider accepts: legal, and unique in the prompt."""

import re
from collections.abc import Sequence

LONGEST_CALL_ID = 40
LONGEST_SUFFIX = 8
UNNAMED_CALL = "call"
LEGAL_CALL_ID = re.compile(rf"[a-zA-Z0-9_-]{{1,{LONGEST_CALL_ID}}}")
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")


def unique_call_ids(ids: Sequence[str]) -> list[str]:
    """Return an id for each of a prompt's calls, in order; one that is legal and not taken stays as it is.

    A prompt's results follow in the order of its calls, so that the same ids in the same order are theirs.
    """
    unclaimed = {call_id for call_id in ids if LEGAL_CALL_ID.fullmatch(call_id)}
    taken = set(unclaimed)
    numbers: dict[str, int] = {}
    unique = []
    for call_id in ids:
        if call_id in unclaimed:
            unclaimed.remove(call_id)
            unique.append(call_id)
        else:
            unique.append(_free_id(call_id, taken, numbers))
    return unique


def _free_id(call_id: str, taken: set[str], numbers: dict[str, int]) -> str:
    stem = _ILLEGAL.sub("_", call_id)[:LONGEST_CALL_ID] or UNNAMED_CALL
    # Long ids that differ only where the number goes are numbered together, so that none tries the others' numbers.
    candidate, numbered = stem, stem[: LONGEST_CALL_ID - LONGEST_SUFFIX]
    while candidate in taken:
        numbers[numbered] = numbers.get(numbered, 1) + 1
        suffix = f"-{numbers[numbered]}"
        candidate = stem[: LONGEST_CALL_ID - len(suffix)] + suffix
    taken.add(candidate)
    return candidate
