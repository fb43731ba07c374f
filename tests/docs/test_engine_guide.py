"""The guide to the engine says what is so: its code is run without Django and prints what the page shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "engine.md").read_text()
WITHOUT_DJANGO = "import sys\nsys.modules.update(dict.fromkeys(['django', 'ninja', 'celery']))\n"


def test_its_code_runs_without_django_and_prints_what_is_shown():
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    code = "".join(text for kind, text in blocks if kind == "python")
    shown = "".join(text for kind, text in blocks if kind == "text")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_DJANGO + code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout == shown
