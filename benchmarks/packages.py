"""The real packages, timed in an environment of their own."""

import json
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ORACLE = ROOT / ".venv-oracle" / "bin" / "python"
PEERS = Path(__file__).parent / "peers"


def timed(script: str, **asked: Any) -> dict[str, Any]:
    """Return what a package's script measured; raises CalledProcessError if it fails."""
    if not ORACLE.exists():
        raise FileNotFoundError(f"{ORACLE} is missing; `make bench` makes it")
    command = [str(ORACLE), str(PEERS / script)]
    done = subprocess.run(command, input=json.dumps(asked), capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer
