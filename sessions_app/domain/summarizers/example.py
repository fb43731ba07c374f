"""A short conversation with its summary, to show templates on where there is no other."""

from functools import cache

from sessions_app.domain.in_memory import InMemoryTranscript
from sessions_app.domain.transcript import SummaryEntry

MESSAGES = (
    {"role": "user", "content": "My suitcase did not arrive with flight AL 412."},
    {"role": "assistant", "content": "I am sorry. I opened the claim 7731. What is in it?"},
    {"role": "user", "content": "Insulin. I have enough until tomorrow evening."},
    {"role": "assistant", "content": "Then I marked it urgent: it comes tomorrow before noon."},
    {"role": "user", "content": "Send it to my hotel, not to the airport."},
    {"role": "assistant", "content": "It goes to your hotel. You get a message when it is on its way."},
)
SUMMARY = "The user's suitcase did not arrive with flight AL 412. The claim is 7731."


# Not made before it is shown, since its tokens are counted, which needs a vocabulary of some 45 MiB.
@cache
def example() -> InMemoryTranscript:
    """Return the conversation; its summary covers the first of its runs."""
    made = InMemoryTranscript.of_messages(list(MESSAGES))
    made.summaries = [SummaryEntry("example", 1, 1, SUMMARY)]
    return made
