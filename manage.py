"""Entry point for management commands."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line


def main() -> None:
    """Run the management command named on the command line."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "convoweb.settings")
    try:
        execute_from_command_line(sys.argv)
    except KeyboardInterrupt:
        sys.exit(130)
    except ImproperlyConfigured as error:
        sys.exit(f"{error}")


# The web server starts its own processes by importing this file again, so nothing may run at import.
if __name__ == "__main__":
    main()
