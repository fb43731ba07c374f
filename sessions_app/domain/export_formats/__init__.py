"""The formats that conversations are exported in. One more is one file, one line here, one test."""

from collections.abc import Mapping

from sessions_app.domain.conversation_files import ExportFormat
from sessions_app.domain.errors import FieldError, InvalidInput
from sessions_app.domain.export_formats.markdown import MARKDOWN
from sessions_app.domain.export_formats.openai import OPENAI

EXPORT_FORMATS: Mapping[str, ExportFormat] = {format_.name: format_ for format_ in (OPENAI, MARKDOWN)}


def export_format(name: str) -> ExportFormat:
    """Return the format of a name, or raise InvalidInput with those that there are."""
    if name not in EXPORT_FORMATS:
        detail = f"file_format must be one of {', '.join(EXPORT_FORMATS)}."
        raise InvalidInput(detail, errors=[FieldError("/file_format", detail)])
    return EXPORT_FORMATS[name]
