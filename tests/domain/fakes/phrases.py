"""Words to follow."""

from sessions_app.domain.following.phrase import Phrase, read_phrase


def phrase(words: str) -> Phrase:
    """Return words that are not blank as a phrase."""
    found = read_phrase(words)
    assert found is not None
    return found
