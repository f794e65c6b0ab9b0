"""Who meets whom in a round of a Swiss tournament."""

from collections.abc import Callable, Sequence
from typing import Final

# Pairings without any rematch can take long to find, and need not exist.
_MAX_TRIES: Final = 20_000

Met = Callable[[str, str], bool]


def pair(ranking: Sequence[str], scores: Callable[[str], float], met: Met) -> list[tuple[str, str]]:
    """Pair an even number of players, given the best first, without rematches where that is possible.

    Among players of one score the upper half meets the lower half, as in chess; those who find nobody
    there meet the next best. Where there must be rematches, as many of the best as possible have none.
    """
    search = _Search(met)
    found = search.pairs(tuple(ranking), scores)
    return found if found is not None else _with_rematches(ranking, scores, met)


class _Search:
    """Looks for a pairing without rematches, going back where it must."""

    def __init__(self, met: Met) -> None:
        self._met = met
        self._tries = 0

    def pairs(self, players: tuple[str, ...], scores: Callable[[str], float]) -> list[tuple[str, str]] | None:
        """Depth-first without recursion: hundreds of players would be too deep for it."""
        found: list[tuple[str, str]] = []
        open_choices: list[tuple[tuple[str, ...], list[str]]] = [(players, self._choices(players, scores))]
        while open_choices:
            left, choices = open_choices[-1]
            if not left:
                return found
            if not choices:
                open_choices.pop()
                if found:
                    found.pop()
                continue
            self._tries += 1
            if self._tries > _MAX_TRIES:
                return None
            opponent = choices.pop(0)
            found.append((left[0], opponent))
            rest = tuple(player for player in left[1:] if player != opponent)
            open_choices.append((rest, self._choices(rest, scores)))
        return None

    def _choices(self, players: tuple[str, ...], scores: Callable[[str], float]) -> list[str]:
        if not players:
            return []
        return [other for other in preferred(players, scores) if not self._met(players[0], other)]


def preferred(players: Sequence[str], scores: Callable[[str], float]) -> list[str]:
    """The opponents of the first of the players, the most fitting first."""
    first, *others = players
    alike = [other for other in others if scores(other) == scores(first)]
    half = len(alike) // 2
    return alike[half:] + alike[:half][::-1] + others[len(alike) :]


def _with_rematches(
    ranking: Sequence[str], scores: Callable[[str], float], met: Met
) -> list[tuple[str, str]]:
    left, found = list(ranking), []
    while left:
        choices = preferred(left, scores)
        opponent = next((other for other in choices if not met(left[0], other)), choices[0])
        found.append((left[0], opponent))
        left = [player for player in left[1:] if player != opponent]
    return found
