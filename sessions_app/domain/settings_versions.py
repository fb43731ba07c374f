"""Which versions of the settings a past turn was made with, as far as that is known."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VersionsOfTurn:
    """The version of the project's settings and of the session's that were in force when a turn's run was made.

    0: none had been saved yet, so nothing was set; None: it is not known, so that what is saved today takes its place.
    """

    project: int | None
    session: int | None

    @property
    def unknown(self) -> str:
        """Whose settings of then are not known, in words; empty if all are."""
        owners = [("the project", self.project), ("the session", self.session)]
        return " and ".join(owner for owner, number in owners if number is None)
