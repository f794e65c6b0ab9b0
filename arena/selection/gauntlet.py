"""Some competitors meet all the others."""

from collections.abc import Sequence

from arena.selection.lettered import LetteredSelector, letters
from arena.selection.matchups import Group


class Gauntlet(LetteredSelector):
    """Every challenger plays `rounds` games (None: no end) against every opponent, in both seats by turns.

    Matchups are called by letters, challengers first: with one challenger `AvB`, `AvC`...
    """

    def __init__(
        self, challengers: Sequence[str], opponents: Sequence[str], rounds: int | None, seed: int = 0
    ) -> None:
        self._challengers = tuple(challengers)
        self._opponents = tuple(opponents)
        self._rounds = rounds
        groups = {
            f"{letters(i)}v{letters(j)}": Group((challenger, opponent), rounds)
            for i, challenger in enumerate(challengers)
            for j, opponent in enumerate(opponents, start=len(challengers))
        }
        lists = {"competition.challengers": challengers, "competition.opponents": opponents}
        super().__init__(lists, groups, seed)

    @property
    def description(self) -> str:
        """The kind, its rounds, and who meets whom."""
        rounds = "unlimited" if self._rounds is None else str(self._rounds)
        return (
            f"gauntlet rounds={rounds} challengers={','.join(self._challengers)} "
            f"opponents={','.join(self._opponents)}"
        )
