"""The file formats that conversations come in. One more is one file, one line here, one test."""

from collections.abc import Mapping

from sessions_app.domain.conversation_files import FileFormat
from sessions_app.domain.errors import InvalidInput
from sessions_app.domain.file_formats.chatgpt import CHATGPT
from sessions_app.domain.file_formats.chuk import CHUK
from sessions_app.domain.file_formats.claude_ai import CLAUDE_AI
from sessions_app.domain.file_formats.griptape import GRIPTAPE
from sessions_app.domain.file_formats.openai import OPENAI

FILE_FORMATS: Mapping[str, FileFormat] = {
    format_.name: format_ for format_ in (GRIPTAPE, CHUK, CHATGPT, CLAUDE_AI, OPENAI)
}


def detect_format(head: bytes, file_name: str) -> FileFormat:
    """Return the format of a file by its first bytes and its name, or raise InvalidInput."""
    for format_ in FILE_FORMATS.values():
        if format_.recognises(head, file_name):
            return format_
    known = ", ".join(f"{format_.label} ({format_.files})" for format_ in FILE_FORMATS.values())
    raise InvalidInput(f"The format of this file is not recognized; known are: {known}.")
