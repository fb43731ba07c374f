"""The map of the domain for a newcomer, which its docstring is."""

import re
from pathlib import Path

from sessions_app import domain

FOLDER = Path(domain.__file__).parent


def test_what_the_map_names_is_there():
    named = re.findall(r"`([a-z_*/]+(?:\.py|/))`", domain.__doc__ or "")
    assert len(named) > 15
    assert [name for name in named if not any(FOLDER.glob(name))] == []


def test_the_map_leads_along_the_way_of_a_prompt():
    steps = re.findall(r"^\d\. `([a-z_]+\.py)`", domain.__doc__ or "", re.MULTILINE)
    assert steps[0] == "setting_values.py"
    assert steps.index("deciding.py") < steps.index("selection.py") < steps.index("fates.py")
