"""The laws of referees, and the trial of one referee by them."""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from referees.api import Referee
from referees.drawing import Layout

AnyReferee = Referee[Any, Any]
Chooser = Callable[[Any, int, random.Random], Any]

LAWS: Final = {
    "settings": "an unknown setting is refused with InvalidSettingError",
    "spec": "the game's description is the same each time and agrees with the referee; a map's edges are "
    "listed once each, and its symmetries take nodes that touch to nodes that touch",
    "seeds": "the same seed gives the same first position",
    "turns": "seats to move exist and are in order; there are none when, and only when, there is an outcome",
    "legal moves": "listed moves are legal, differ from each other, and there is at least one",
    "foreign moves": "moves not listed, out of turn, after the end or of nonsense are refused",
    "texts": "a move's text is one line, differs from other legal moves' texts, and reads back as the move; "
    "openings know it by one line of 1,024 characters at most",
    "boards": "boards have the described geometry and one state for each cell",
    "drawings": "a picture has a mark for each cell of its layout, which is the same for all positions; "
    "its cells and arrows lie within it, its areas are of its cells; or the game has no picture at all",
    "reversal": "in a symmetric game exchanging the players twice keeps every board, and once the first one; "
    "where the second player can begin (after a pass, or by chance) reversed games have the reversed boards",
    "values": "playing a move does not change the position it is played in",
    "outcomes": "winners are seats, each once and in their order, and points, where there are any, one "
    "finite number for each seat; a summary is one line",
    "replay": "the same moves from the same seed give the same positions and the same outcome",
    "symmetry": "a game's image under a described symmetry is a game, and has the images of its boards",
    "records": "a record can be written of a finished, an interrupted and a void game, the same each time",
}


class NonConformingRefereeError(AssertionError):
    """A referee broke a law: `law` names it; `game_seed` and `ply` say where, if it was in a game."""

    def __init__(self, law: str, what: str, game_seed: int | None = None, ply: int | None = None) -> None:
        where = "" if game_seed is None else f" (game seed {game_seed}, ply {ply})"
        super().__init__(f"{law}: {what}{where}. The law: {LAWS[law]}.")
        self.law = law
        self.game_seed = game_seed
        self.ply = ply


class UnlistedMovesError(ValueError):
    """A game does not list its legal moves, and `choose` is missing."""


class Trial:
    """One referee on trial: its own description, the checks made so far, and where they are."""

    def __init__(self, referee: AnyReferee, choose: Chooser | None) -> None:
        self.referee = referee
        self.choose = choose
        self.checks: Counter[str] = Counter()
        self.game_seed: int | None = None
        self.ply: int | None = None
        with self.law("spec"):
            self.spec = referee.spec()
            self.seats = range(1, referee.seats + 1)
        # The layout of the first picture; None where the game has none.
        self.layout: Layout | None = None
        self.drawn = False
        # Moves that have been legal for a seat at some time, by their texts.
        self.met: dict[int, dict[str, Any]] = {seat: {} for seat in self.seats}

    @contextmanager
    def law(self, name: str) -> Iterator[Callable[[str], NonConformingRefereeError]]:
        """The context of one check of a law: it gives the maker of the error for a breach.

        What the referee raises without need is a breach of the law that was being checked.
        """
        self.checks[name] += 1

        def breach(what: str) -> NonConformingRefereeError:
            return NonConformingRefereeError(name, what, self.game_seed, self.ply)

        try:
            yield breach
        except (NonConformingRefereeError, UnlistedMovesError):
            raise
        except Exception as error:
            raise breach(f"{type(error).__name__}: {error}") from error

    def sight(self, position: Any) -> object:
        """All that can be seen of a position, to compare it with another's."""
        seats = tuple(self.referee.to_move(position))
        listed = [self.referee.legal_moves(position, seat) for seat in seats]
        return (
            seats,
            self.referee.outcome(position),
            self.referee.interaction(position),
            [self.referee.board(position, seat) for seat in self.seats],
            [moves and [self.referee.move_text(move) for move in moves] for moves in listed],
        )

    def described(self, moves: Mapping[int, Any]) -> str:
        """Moves by seat, in words."""
        return ", ".join(f"seat {seat}'s {self.referee.move_text(move)!r}" for seat, move in moves.items())
