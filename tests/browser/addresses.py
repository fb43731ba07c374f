"""The addresses of all pages, taken from the product's own table, so that a new page is looked at unnamed."""

from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote

from django.test import Client
from django.urls import reverse

from sessions_app.urls import urlpatterns

# What pages show besides when they are asked for it; every page is opened without any, too.
QUERIES = {
    "sessions": ["?q=bag", "?q=nothing-like-it", "?view=nonsense"],
    "facts": ["?words=bag", "?words=nothing+like+it"],
    "session": ["?view=raw", "?find=the", "?find=nothing-like-it", "?run=2&whole=2&usage=1"],
    "session-fork": ["?at=3"],
    "then": ["?at=9&words=bag&last_n=4"],
    "tune": ["?max_runs=many"],
    "tune-compare": ["?max_input_tokens=1500&last_n=4"],
    "tune-why": ["?max_input_tokens=1500&last_n=4"],
}


def addresses(samples: Mapping[str, object], words: str = "") -> Iterator[str]:
    """Yield the address of each entry of the table, its parts taken from `samples`; with `words`, asking for these.

    A part that has no sample is named: who adds a page with a new kind of part adds a sample to the tests that walk.
    """
    for pattern in urlpatterns:
        parts = pattern.pattern.converters
        assert parts.keys() <= samples.keys(), f"{pattern.name}: the tests need {parts.keys() - samples.keys()}"
        address = reverse(pattern.name, kwargs={part: samples[part] for part in parts})
        yield address
        if words:
            yield f"{address}?{'&'.join(f'{name}={quote(words)}' for name in _ASKED)}"
        else:
            yield from (address + query for query in QUERIES.get(str(pattern.name), []))


# What any page may be asked for in its address.
_ASKED = (
    "q",
    "find",
    "words",
    "query",
    "user",
    "tag",
    "metadata",
    "model",
    "parent",
    "open",
    "show",
    "view",
    "next",
    "at",
)


def pages(client: Client, listed: Iterable[str]) -> list[str]:
    """Return those of the addresses that answer with a page, not with a file, another page, or only to forms."""
    found = []
    for address in listed:
        response = client.get(address)
        assert response.status_code < 500, address
        if response.status_code in {200, 422} and response["Content-Type"].startswith("text/html"):
            found.append(address)
    return found
