"""Files and folders with conversations in them, which nobody else on the machine may read.

What is made here is its owner's alone. What was there before keeps the rights of its group, which an operator may have
wanted, and loses those of everybody else.
"""

import os
import stat
from pathlib import Path


def folder(path: Path) -> Path:
    """Make a folder unless it is there, and return it."""
    try:
        path.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        _close_to_others(path)
    return path


def database(path: Path) -> Path:
    """Make the empty file of an SQLite database unless it is there, and return it.

    SQLite gives the rights of this file to those that it puts beside it.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        for beside in ("", "-wal", "-shm"):
            _close_to_others(path.with_name(path.name + beside))
    return path


def _close_to_others(path: Path) -> None:
    try:
        state = path.stat()
    except FileNotFoundError:
        return
    if state.st_uid == os.geteuid() and state.st_mode & stat.S_IRWXO:
        path.chmod(stat.S_IMODE(state.st_mode) & ~stat.S_IRWXO)
