"""The terms of a competition: what may not change once it has games. They are stored with every game."""

from collections.abc import Mapping

from arena.control.changed_settings import changed
from arena.selection.selector import CompetitionChangedError


def check_terms(
    stored: Mapping[str, object],
    now: Mapping[str, object],
    where: str = "competition",
    unset: str = "its default",
) -> None:
    """Raise CompetitionChangedError if a game was played on other terms than those of the control file.

    `where` is the table that they stand in, `unset` what is said of a value that is not given.
    """
    for name in {**stored, **now}:
        before, after = stored.get(name, unset), now.get(name, unset)
        if before != after:
            raise CompetitionChangedError(changed(f"{where}.{name}", before, after))
