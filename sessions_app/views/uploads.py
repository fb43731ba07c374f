"""How large an uploaded file may be: a larger one is read past and never stored."""

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest


def is_too_large(request: HttpRequest) -> bool:
    """Tell whether a request is larger than CONVOWEB_MAX_UPLOAD allows; its files are then missing."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    return not length.isdigit() or int(length) > settings.CONVOWEB_MAX_UPLOAD


class LimitedUpload(FileUploadHandler):
    """Skips the files of a request that is too large; stands before the handlers that store."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Skip a file of a request that is too large."""
        super().new_file(*args, **kwargs)
        if self.request is not None and is_too_large(self.request):
            raise SkipFile("The request is too large.")

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:  # noqa: ARG002 (Django's signature)
        """Hand the bytes on."""
        return raw_data

    def file_complete(self, file_size: int) -> None:
        """Leave the file to the other handlers."""
