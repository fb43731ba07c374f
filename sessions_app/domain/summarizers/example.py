"""A short conversation with its summary, to show templates on where there is no other."""

from sessions_app.domain.in_memory import InMemoryTranscript
from sessions_app.domain.transcript import SummaryEntry

EXAMPLE = InMemoryTranscript.of_messages(
    [
        {"role": "user", "content": "My suitcase did not arrive with flight AL 412."},
        {"role": "assistant", "content": "I am sorry. I opened the claim 7731. What is in it?"},
        {"role": "user", "content": "Insulin. I have enough until tomorrow evening."},
        {"role": "assistant", "content": "Then I marked it urgent: it comes tomorrow before noon."},
        {"role": "user", "content": "Send it to my hotel, not to the airport."},
        {"role": "assistant", "content": "It goes to your hotel. You get a message when it is on its way."},
    ]
)
EXAMPLE.summaries = [
    SummaryEntry("example", 1, 1, "The user's suitcase did not arrive with flight AL 412. The claim is 7731.")
]
