"""The WSGI entry point."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.core.wsgi import get_wsgi_application

from convoweb import lifeline
from convoweb.stalled_readers import end_stalled_readers

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "convoweb.settings")

lifeline.follow_parent()
_django = get_wsgi_application()


def application(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
    """Answer a request."""
    # With the first one the web server listens, which it does not yet when it loads this module.
    end_stalled_readers()
    return _django(environ, start_response)
