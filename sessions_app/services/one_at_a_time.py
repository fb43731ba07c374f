"""Work that a process does one at a time, so that it goes on answering others."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Semaphore

from sessions_app.domain.errors import Busy


@contextmanager
def one_at_a_time(place: Semaphore, refusal: Busy) -> Iterator[None]:
    """Do what is long in the one place there is for it; raises the refusal where that is taken."""
    if not place.acquire(blocking=False):
        raise refusal
    try:
        yield
    finally:
        place.release()
