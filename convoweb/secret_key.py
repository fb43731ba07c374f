"""The signing key of an installation, made once and kept beside its data."""

import os
import secrets
import tempfile
from pathlib import Path


def load_or_create(path: Path) -> str:
    """Return the key in the file at `path`, made with mode 600 if it is not there yet."""
    if not path.exists():
        _create(path)
    return path.read_text(encoding="ascii").strip()


def _create(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".secret-key-")
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(64))
        # A link, unlike a rename, never replaces the key that a process starting at the same time has made.
        os.link(name, path)
    except FileExistsError:
        pass
    finally:
        Path(name).unlink()
