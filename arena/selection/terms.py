"""The terms of a competition: what may not change once it has games. They are stored with every game."""

from collections.abc import Mapping

from arena.selection.selector import ChangedCompetition


def check_terms(stored: Mapping[str, object], now: Mapping[str, object], where: str = "competition") -> None:
    """Raise ChangedCompetition if a game was played on other terms than those of the control file.

    `where` is the table that they stand in.
    """
    for name in {**stored, **now}:
        before, after = stored.get(name, "its default"), now.get(name, "its default")
        if before != after:
            raise ChangedCompetition(
                f"{where}.{name}: the games so far were played with {before}, the control file now has "
                f"{after}; put it back, or give the changed competition a control file of its own"
            )
