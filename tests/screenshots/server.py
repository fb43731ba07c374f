"""The product as `make run` starts it, with nothing but its demo project, until its pictures are taken."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.servers import free_port

ROOT = Path(__file__).parents[2]
PATIENCE = 120
# Written once the worker has begun, which is after the web server.
READY = "ready."
PASSWORD = re.compile(r"Password:\s+(\S+)")


@dataclass(frozen=True, slots=True)
class Demo:
    """Where it runs, and the administrator's password."""

    host: str
    password: str


@contextmanager
def demo_server() -> Iterator[Demo]:
    """Start it on a free port with throw-away data, and end it."""
    folder, port = Path(tempfile.mkdtemp(prefix="convoweb-screenshots-")), free_port()
    output = folder / "output"
    with output.open("wb") as handle:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "up"],
            cwd=ROOT,
            env={
                **{name: value for name, value in os.environ.items() if not name.endswith("_URL")},
                "CONVOWEB_DATA_DIR": str(folder / "var"),
                "CONVOWEB_TIME_ZONE": "UTC",
                "CONVOWEB_HTTPS": "0",
                "PORT": str(port),
            },
            stdout=handle,
            stderr=handle,
        )
    try:
        yield Demo(f"127.0.0.1:{port}", _password(output, process))
    finally:
        process.terminate()
        process.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _password(output: Path, process: "subprocess.Popen[bytes]") -> str:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        said = output.read_text(encoding="utf-8")
        if (found := PASSWORD.search(said)) and READY in said:
            return found.group(1)
        time.sleep(0.2)
    raise RuntimeError(output.read_text(encoding="utf-8"))
