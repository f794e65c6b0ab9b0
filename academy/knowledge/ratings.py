"""The players of a game with their latest Elo, as the arena told it with each contest."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator

from academy.knowledge.contests import Contestant
from academy.knowledge.signatures import ELO_SCALE

Rating = tuple[str, int]


class Ratings:
    """A player's latest Elo by name, in hundredths. What a contest costs does not grow with the players."""

    def __init__(self, known: Iterable[Rating] = ()) -> None:
        self._by_player = dict(known)
        # In order, so that a quantile is not sought among all players with each contest.
        self._ranked = sorted(self._by_player.values())
        self._changed: set[str] = set()

    def __len__(self) -> int:
        return len(self._by_player)

    def __iter__(self) -> Iterator[Rating]:
        return iter(self._by_player.items())

    def __contains__(self, player: str) -> bool:
        return player in self._by_player

    def __getitem__(self, player: str) -> int:
        return self._by_player[player]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ratings) and self._by_player == other._by_player

    __hash__ = None  # type: ignore[assignment]

    def in_upper_quartile(self, player: str) -> bool:
        """Whether a player's Elo reaches the upper quartile of all, `statistics.quantiles(elos, n=4)[2]`.

        Of two players that would lie above both: the best always reaches it. `player` must be known.
        """
        ranked = self._ranked
        elo = self._by_player[player]
        if elo == ranked[-1]:
            return True
        # The same figure, times 4, from what is in order already: `quantiles` would copy and sort all.
        place = min(max(3 * (len(ranked) + 1) // 4, 1), len(ranked) - 1)
        share = 3 * (len(ranked) + 1) - 4 * place
        return 4 * elo >= ranked[place - 1] * (4 - share) + ranked[place] * share

    def take(self, contestants: Iterable[Contestant]) -> None:
        """Take in the Elos of a contest's players; of one in several seats the last seat's counts."""
        self.follow({player.name: round(player.elo * ELO_SCALE) for player in contestants}.items())

    def follow(self, ratings: Iterable[Rating]) -> None:
        """Take ratings as they are now."""
        for player, hundredths in ratings:
            before = self._by_player.get(player)
            if before == hundredths:
                continue
            if before is not None:
                del self._ranked[bisect_left(self._ranked, before)]
            insort(self._ranked, hundredths)
            self._by_player[player] = hundredths
            self._changed.add(player)

    def take_changes(self) -> frozenset[str]:
        """Players who are new or have another Elo since the last call."""
        changed, self._changed = frozenset(self._changed), set()
        return changed
