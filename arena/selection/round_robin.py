"""Round robins, where everybody meets everybody, and gauntlets, where challengers meet opponents."""

from collections.abc import Sequence
from itertools import combinations

from arena.selection.matchups import Group, LetteredSelector, letters


class RoundRobin(LetteredSelector):
    """Every line-up of as many competitors as a game has seats plays `rounds` games (None: no end).

    Line-ups are called by letters, `AvB`, in the order of the competitors; from game to game everybody
    moves on by one seat.
    """

    def __init__(self, competitors: Sequence[str], rounds: int | None, seed: int = 0, seats: int = 2) -> None:
        self._rounds = rounds
        groups = {
            "v".join(map(letters, places)): Group(tuple(competitors[place] for place in places), rounds)
            for places in combinations(range(len(competitors)), seats)
        }
        super().__init__({"competition.competitors": competitors}, groups, seed)

    @property
    def description(self) -> str:
        """The kind, its rounds and its competitors."""
        rounds = "unlimited" if self._rounds is None else str(self._rounds)
        return f"all-play-all rounds={rounds} competitors={','.join(self._competitors.values())}"


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
