"""Games that are not Go: moves at the same time, more than two seats, and hidden information."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from academy.knowledge.boards import Board, GraphGeometry
from academy.knowledge.spec import GameSpec
from arena.jobs import Fault, GameJob, GameResult, PlayerSetup
from arena.match.game import play
from referees.api import (
    GameRecord,
    IllegalMoveError,
    Outcome,
    Referee,
    Termination,
    UnreadableMoveError,
)


@dataclass(frozen=True)
class Bids:
    """The cards each seat has played; None stands for one that may not be seen."""

    played: tuple[tuple[int | None, ...], ...]


class Auction(Referee[Bids, int]):
    """Each seat has the cards 1 to 3 and plays one in secret, all at once; the highest sum wins."""

    name = "auction"
    record_extension = "txt"

    def __init__(self, players: int) -> None:
        self.players = players

    @classmethod
    def from_settings(cls, settings: Mapping[str, object]) -> "Auction":
        players = settings["players"]
        assert isinstance(players, int)
        return cls(players)

    def spec(self) -> GameSpec:
        return GameSpec(
            f"auction-{self.players}",
            GraphGeometry(("table",)),
            self.players,
            symmetric=False,
            simultaneous=True,
        )

    def start(self, seed: int) -> Bids:
        return Bids(((),) * self.players)

    def to_move(self, position: Bids) -> tuple[int, ...]:
        return tuple(range(1, self.players + 1)) if len(position.played[0]) < 2 else ()

    def legal_moves(self, position: Bids, seat: int) -> Sequence[int]:
        return [card for card in (1, 2, 3) if card not in position.played[seat - 1]]

    def check(self, position: Bids, seat: int, move: int) -> None:
        if move not in self.legal_moves(position, seat):
            raise IllegalMoveError(f"card {move} is not in the hand")

    def play(self, position: Bids, moves: Mapping[int, int]) -> Bids:
        return Bids(tuple((*cards, moves[seat]) for seat, cards in enumerate(position.played, start=1)))

    def outcome(self, position: Bids) -> Outcome | None:
        if self.to_move(position):
            return None
        points = tuple(float(sum(card or 0 for card in cards)) for cards in position.played)
        winners = tuple(seat for seat, sum_ in enumerate(points, start=1) if sum_ == max(points))
        return Outcome(winners, Termination.SCORE, " ".join(map(str, points)), points)

    def view(self, position: Bids, seat: int) -> Bids:
        return Bids(
            tuple(
                cards if other == seat else (None,) * len(cards)
                for other, cards in enumerate(position.played, start=1)
            )
        )

    def board(self, position: Bids, seat: int) -> Board:
        return Board.from_letters(self.spec().geometry, "x" if sum(map(len, position.played)) else "-")

    def move_text(self, move: int) -> str:
        return f"card {move}"

    def read_move(self, position: Bids, seat: int, text: str) -> int:
        word, _, number = text.partition(" ")
        if word != "card" or not number.isdecimal():
            raise UnreadableMoveError(f"{text!r} names no card")
        return int(number)

    def record(self, game: GameRecord) -> str:
        return "\n".join(f"{move.seat} {move.text}" for move in game.moves)


Player = Callable[[Bids], str | None]


def bidder(*cards: int | str) -> Callable[[Auction, int, int], Player]:
    """A factory of players that play these cards, and fail where they see another's."""

    def factory(referee: Auction, seat: int, seed: int) -> Player:
        left = list(cards)

        def choose(view: Bids) -> str | None:
            for other, played in enumerate(view.played, start=1):
                assert (None in played) == (other != seat and bool(played)), "saw a hidden card"
            card = left.pop(0)
            return None if card == "resign" else f"card {card}"

        return choose

    return factory


low, middle, high = bidder(1, 2), bidder(2, 1), bidder(3, 2)
cheat, quitter = bidder(3, 3), bidder(1, "resign")


@pytest.fixture(autouse=True)
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the referee as a package that nobody here wrote would be."""
    folder = tmp_path / "auction-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: auction\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(f"[arena.referees]\nauction = {__name__}:Auction\n")
    monkeypatch.syspath_prepend(tmp_path)


def contest(*factories: str) -> GameResult:
    players = tuple(
        PlayerSetup(f"{name}{seat}", (f"{__name__}:{name}",), protocol="python")
        for seat, name in enumerate(factories, start=1)
    )
    return play(GameJob("0_0", "auction", {"players": len(players)}, players, seed=1))


def test_all_move_at_once_and_see_nothing_of_the_others() -> None:
    result = contest("low", "high", "middle")
    assert result.outcome is not None
    assert (result.outcome.winners, result.outcome.points) == ((2,), (3.0, 5.0, 3.0))
    assert [(move.seat, move.text, move.legal_moves) for move in result.moves] == [
        *((1, "card 1", 3), (2, "card 3", 3), (3, "card 2", 3)),
        *((1, "card 2", 2), (2, "card 2", 2), (3, "card 1", 2)),
    ]
    assert (result.start_board, [move.board for move in result.moves]) == ("-", ["x"] * 6)
    assert (result.record.splitlines()[0], result.record_extension) == ("1 card 1", "txt")


@pytest.mark.parametrize(
    ("players", "winners", "termination", "summary"),
    [
        (("cheat", "low"), (2,), Termination.FORFEIT, "player 2 wins"),
        (("low", "quitter"), (1,), Termination.RESIGNATION, "player 1 wins"),
        (("low", "cheat", "high"), (1, 3), Termination.FORFEIT, "player 2 lost"),
        (("cheat", "quitter", "high"), (3,), Termination.FORFEIT, "player 3 wins"),
        (("cheat", "cheat"), (), Termination.FORFEIT, "?"),
        (("quitter", "quitter", "quitter"), (), Termination.RESIGNATION, "?"),
    ],
)
def test_players_who_do_not_lose_share_the_win(
    players: tuple[str, ...], winners: tuple[int, ...], termination: Termination, summary: str
) -> None:
    result = contest(*players)
    assert result.outcome is not None
    assert (result.outcome.winners, result.outcome.termination) == (winners, termination)
    assert result.outcome.summary == summary
    assert len(result.moves) == len(players), "moves made together with a losing one do not count"
    for usage, name in zip(result.usage, players, strict=True):
        assert usage.fault is (Fault.ILLEGAL_MOVE if name == "cheat" else Fault.NONE)
