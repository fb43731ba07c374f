"""The WSGI entry point."""

import os

from django.core.wsgi import get_wsgi_application

from convoweb import lifeline

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "convoweb.settings")

lifeline.follow_parent()
application = get_wsgi_application()
