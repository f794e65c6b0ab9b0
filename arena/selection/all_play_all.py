"""Every competitor meets every other one, in all seats by turns."""

from collections.abc import Sequence
from itertools import combinations

from arena.selection.lettered import LetteredSelector, letters
from arena.selection.matchups import Group


class AllPlayAll(LetteredSelector):
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
