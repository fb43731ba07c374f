"""Sessions as files to download: written to the disk, from one state of the database, and sent from there.

However slowly one is read, a state of the database is kept only while it is written; a thread until it is sent.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from threading import Semaphore, Thread
from typing import BinaryIO, Final, cast

import structlog
from django.conf import settings
from django.db import connection
from django.utils.http import content_disposition_header

from sessions_app.domain.conversation_files import ExportFormat
from sessions_app.domain.errors import ConvowebError, ExportIsBusy, InvalidInput
from sessions_app.models import Project
from sessions_app.queries.exports import export_name, exported, run_count

# Half of the threads that the web server has, so that readers who stand still cannot take all of them.
MOST_AT_ONCE: Final = 4
BLOCK: Final = 64 * 1024
# So many are written within a second or two.
RUNS_BEFORE_SENDING: Final = 2_000
SECONDS_TO_LOOK_AGAIN: Final = 0.1
_PLACES = Semaphore(MOST_AT_ONCE)

log = structlog.get_logger(__name__)


class Download:
    """Sessions as a file, with what an answer says of it; it has one of the few places until it is closed.

    Where it has few runs, the file is whole before anything is sent: the answer says how long it is, and what goes
    wrong is raised here: ExportIsBusy where there is no place or no room on the disk, InvalidInput where it is too
    large. Otherwise a thread goes on writing while is sent what is there, and what goes wrong cuts the answer off.
    """

    def __init__(self, *, session_pks: Sequence[int], project: Project, file_format: ExportFormat) -> None:
        self._is_open = _PLACES.acquire(blocking=False)
        if not self._is_open:
            raise ExportIsBusy(
                f"{MOST_AT_ONCE} exports are being sent, which is as many as the server sends at once. "
                "Try again in a moment."
            )
        self._session_pks, self._file_format = session_pks, file_format
        self._file: BinaryIO | None = None
        self._writer: Thread | None = None
        self._failure: Exception | None = None
        name = export_name(session_pks, project, file_format)
        self.headers = {
            "Content-Type": file_format.content_type,
            "Content-Disposition": content_disposition_header(as_attachment=True, filename=name) or "attachment",
        }
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        with _disk_errors_refused():
            # It has no name, so that it is gone with its last reader, also where the process is killed.
            file = self._file = TemporaryFile(dir=_folder())  # noqa: SIM115 (closed with the answer)
        if run_count(self._session_pks) > RUNS_BEFORE_SENDING:
            self._writer = Thread(target=self._write_apart, args=(file,), name="export", daemon=True)
            self._writer.start()
            return
        self._write(file)
        self.headers["Content-Length"] = str(file.tell())

    def _write(self, file: BinaryIO) -> None:
        with _disk_errors_refused():
            with closing(exported(session_pks=self._session_pks, file_format=self._file_format)) as texts:
                for text in texts:
                    if not self._is_open:
                        return
                    file.write(text.encode())
                    _check_size(file.tell())
            file.flush()

    def _write_apart(self, file: BinaryIO) -> None:
        try:
            self._write(file)
        except Exception as failure:
            # Raised again where the answer is sent, so that what is there does not look whole.
            log.warning("export_broke_off", reason=str(failure), exc_info=not isinstance(failure, ConvowebError))
            self._failure = failure
        finally:
            connection.close()

    def __iter__(self) -> Iterator[bytes]:
        place, file = 0, cast("BinaryIO", self._file)
        while True:
            is_whole = self._writer is None or not self._writer.is_alive()
            block = os.pread(file.fileno(), BLOCK, place)
            if block:
                place += len(block)
                yield block
            elif is_whole:
                break
            else:
                cast("Thread", self._writer).join(SECONDS_TO_LOOK_AGAIN)
        if self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """End the writing, remove the file and give the place back; once more does nothing."""
        if self._is_open:
            self._is_open = False
            if self._writer is not None:
                self._writer.join()
            if self._file is not None:
                self._file.close()
            _PLACES.release()

    def __del__(self) -> None:
        # Of an answer that nobody closed.
        self.close()


@contextmanager
def _disk_errors_refused() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ExportIsBusy(f"The export cannot be written to the server's disk: {error.strerror}.") from error


def _folder() -> Path:
    """Return where imports are kept too: on the disk that the operator gave, and not in a /tmp that may be memory."""
    return Path(settings.FILE_UPLOAD_TEMP_DIR)


def _check_size(size: int) -> None:
    if size > settings.CONVOWEB_MAX_EXPORT:
        raise InvalidInput(
            f"The file would have more than {settings.CONVOWEB_MAX_EXPORT:,} bytes. Export fewer sessions at once, "
            "or ask whoever runs the server for it: the command export_sessions writes files of any size."
        )
