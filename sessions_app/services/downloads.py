"""Files that are written while they are sent: each holds a thread for as long as its reader takes."""

from collections.abc import Iterator, Sequence
from threading import Semaphore
from typing import Final

from django.utils.http import content_disposition_header

from sessions_app.domain.conversation_files import ExportFormat
from sessions_app.domain.errors import ExportIsBusy
from sessions_app.models import Project
from sessions_app.queries.exports import export_name, exported

# Half of the threads that the web server has, so that readers who stand still cannot take all of them.
MOST_AT_ONCE: Final = 4
_PLACES = Semaphore(MOST_AT_ONCE)


def file_headers(*, session_pks: Sequence[int], project: Project, file_format: ExportFormat) -> dict[str, str]:
    """Return what an answer that is such a file says of itself."""
    name = export_name(session_pks, project, file_format)
    return {
        "Content-Type": file_format.content_type,
        "Content-Disposition": content_disposition_header(as_attachment=True, filename=name) or "attachment",
    }


class Download:
    """The text of sessions as a file; it has one of the few places from the beginning until it is closed.

    Raises ExportIsBusy where there is none.
    """

    def __init__(self, *, session_pks: Sequence[int], file_format: ExportFormat) -> None:
        self._is_open = _PLACES.acquire(blocking=False)
        if not self._is_open:
            raise ExportIsBusy(
                f"{MOST_AT_ONCE} exports are being sent, which is as many as the server sends at once. "
                "Try again in a moment."
            )
        self._texts = exported(session_pks=session_pks, file_format=file_format)

    def __iter__(self) -> Iterator[str]:
        return self._texts

    def close(self) -> None:
        """Give the place back; once more does nothing."""
        if self._is_open:
            self._is_open = False
            self._texts.close()
            _PLACES.release()

    def __del__(self) -> None:
        # Of an answer that nobody closed.
        self.close()
