"""Sessions as files to download: written to the disk first, from one state of the database, then sent from there.

However slowly it is read, a file that is being sent keeps no state of the database; it holds a thread for as long.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from threading import Semaphore
from typing import BinaryIO, Final

from django.conf import settings
from django.utils.http import content_disposition_header

from sessions_app.domain.conversation_files import ExportFormat
from sessions_app.domain.errors import ExportIsBusy, InvalidInput
from sessions_app.models import Project
from sessions_app.queries.exports import export_name, exported

# Half of the threads that the web server has, so that readers who stand still cannot take all of them.
MOST_AT_ONCE: Final = 4
BLOCK: Final = 64 * 1024
_PLACES = Semaphore(MOST_AT_ONCE)


class Download:
    """Sessions as a file, with what an answer says of it; it has one of the few places until it is closed.

    Raises ExportIsBusy where there is no place, or no room on the disk, and InvalidInput where the file is too large.
    """

    def __init__(self, *, session_pks: Sequence[int], project: Project, file_format: ExportFormat) -> None:
        self._is_open = _PLACES.acquire(blocking=False)
        if not self._is_open:
            raise ExportIsBusy(
                f"{MOST_AT_ONCE} exports are being sent, which is as many as the server sends at once. "
                "Try again in a moment."
            )
        try:
            # It has no name, so that it is gone with its last reader, also where the process is killed.
            self._file: BinaryIO = TemporaryFile(dir=_folder())  # noqa: SIM115 (closed with the answer)
            size = _write(self._file, exported(session_pks=session_pks, file_format=file_format))
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise ExportIsBusy(f"The export cannot be written to the server's disk: {error.strerror}.") from error
            raise
        name = export_name(session_pks, project, file_format)
        self.headers = {
            "Content-Type": file_format.content_type,
            "Content-Disposition": content_disposition_header(as_attachment=True, filename=name) or "attachment",
            "Content-Length": str(size),
        }

    def __iter__(self) -> Iterator[bytes]:
        return iter(lambda: self._file.read(BLOCK), b"")

    def close(self) -> None:
        """Remove the file and give the place back; once more does nothing."""
        if self._is_open:
            self._is_open = False
            if hasattr(self, "_file"):
                self._file.close()
            _PLACES.release()

    def __del__(self) -> None:
        # Of an answer that nobody closed.
        self.close()


def _folder() -> Path:
    """Return where imports are kept too: on the disk that the operator gave, and not in a /tmp that may be memory."""
    return Path(settings.FILE_UPLOAD_TEMP_DIR)


def _write(file: BinaryIO, texts: Iterator[str]) -> int:
    """Write a file from its beginning and go back there; return how many bytes it has."""
    size = 0
    for text in texts:
        size += file.write(text.encode())
        if size > settings.CONVOWEB_MAX_EXPORT:
            raise InvalidInput(
                f"The file would have more than {settings.CONVOWEB_MAX_EXPORT:,} bytes. Export fewer sessions at once, "
                "or ask whoever runs the server for it: the command export_sessions writes files of any size."
            )
    file.seek(0)
    return size
