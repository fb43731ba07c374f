"""The page on members says of roles what the product goes by."""

import re
from pathlib import Path

from sessions_app.domain.roles import DUTIES, MemberRole, may
from sessions_app.models import Scope

PAGE = (Path(__file__).parents[2] / "docs" / "members.md").read_text(encoding="utf-8")


def test_its_table_of_roles_is_what_the_product_goes_by():
    rows = re.findall(r"^\| ([^|]+) \|([^|]*)\|([^|]*)\|([^|]*)\|$", PAGE, re.MULTILINE)
    head, _, *given = rows

    assert [cell.strip() for cell in head] == ["may", *MemberRole]
    expected = [
        (duty, *("✓" if may(role, right) else "" for role in MemberRole)) for right in DUTIES for duty in DUTIES[right]
    ]
    assert [tuple(cell.strip() for cell in row) for row in given] == expected


def test_it_says_what_each_scope_allows():
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE) == Scope.values
