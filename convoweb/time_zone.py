"""The time zone of the machine, where nobody has set another."""

from pathlib import Path

LINK = Path("/etc/localtime")


def of_machine(link: Path = LINK) -> str:
    """Return the name of the zone that the machine's clock is set to, and UTC where that cannot be told."""
    _, found, name = str(link.resolve()).partition("/zoneinfo/")
    return name if found else "UTC"
