"""Who sits where in a game, as the game names its seats, and how it ended for each of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from arena.v1 import competitions_pb2

__all__ = ["Seated", "seat_labels", "seat_players", "words_of_result"]


_WON: Final = "won"
_SHARED: Final = "shared the win"
_DREW: Final = "drew"


@dataclass(frozen=True)
class Seated:
    """A player on its seat.

    Attributes:
        seat: The seat's number, from 1.
        name: What the game calls the seat; "" where that is not known.
        player: The player.
        outcome: How the game ended for it, such as `won`; "" before the end.
        points: What was counted for it, such as supply centres; "" for nothing.
    """

    seat: int
    name: str
    player: str
    outcome: str
    points: str

    @property
    def won(self) -> bool:
        """Whether it won, alone or with others."""
        return self.outcome in (_WON, _SHARED)


def seat_labels(players: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return what tells the seats of a game apart in lists: the players, with their seats where these differ.

    `names` are what the game calls its seats, empty where that is not known.
    """
    if len(players) <= 2 and len(set(players)) == len(players):
        return list(players)
    return [f"{_name_of(seat, names) or f'seat {seat}'}: {player}" for seat, player in enumerate(players, 1)]


def seat_players(
    players: Sequence[competitions_pb2.GamePlayer], names: Sequence[str], *, ended: bool
) -> list[Seated]:
    """Return the players on their seats."""
    winners = sum(player.winner for player in players)
    return [
        Seated(
            seat,
            _name_of(seat, names),
            player.name,
            _outcome(player, winners, len(players)) if ended else "",
            f"{player.points:g}" if player.HasField("points") else "",
        )
        for seat, player in enumerate(players, 1)
    ]


def words_of_result(seated: Sequence[Seated], result: str) -> tuple[str, str]:
    """Return who won, and the result as the game's records write it where that says more."""
    winners = [place for place in seated if place.won]
    if len(winners) == 1:
        name = winners[0].name
        words = f"{winners[0].player} won" + (f" as {name}" if name else "")
        return words, "" if name and result == f"{name} wins" else result
    if winners:
        return f"Won by {', '.join(place.name or place.player for place in winners)} together", result
    drawn = any(place.outcome == _DREW for place in seated)
    return "Drawn" if drawn else "", "" if drawn and result == "draw" else result


def _name_of(seat: int, names: Sequence[str]) -> str:
    return names[seat - 1] if seat <= len(names) else ""


def _outcome(player: competitions_pb2.GamePlayer, winners: int, players: int) -> str:
    if not winners:
        return ""
    if winners == players:
        return _DREW
    if not player.winner:
        return "lost"
    return _WON if winners == 1 else _SHARED
