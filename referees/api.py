"""What a referee is: the rules of one game behind one small interface.

A referee is bound to its settings when it is made and holds no other state; positions are values.
It speaks no protocol and starts no process. Seats count from 1. A package adds a game with an
entry point in the group `arena.referees` that names its `Referee` class.
"""

import random
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final, Generic, NamedTuple, Self, TypeVar

from academy.knowledge.boards import Board
from academy.knowledge.spec import GameSpec

Position = TypeVar("Position")
Move = TypeVar("Move")

ENTRY_POINT_GROUP: Final = "arena.referees"


class InvalidSettingError(ValueError):
    """A game setting that the referee does not have or accept; `setting` names it."""

    def __init__(self, setting: str, why: str) -> None:
        super().__init__(f"{setting!r}: {why}")
        self.setting = setting


class UnreadableMoveError(ValueError):
    """Text that is no move of this game."""


class UnreadableRecordError(ValueError):
    """A file that holds no records of this game, or none that can be read."""


class IllegalMoveError(ValueError):
    """A move that the rules forbid in this position; the message says which rule."""


class UnknownRefereeError(LookupError):
    """No installed package offers a game of this name."""


class Termination(Enum):
    """Why a game ended."""

    SCORE = "score"
    RESIGNATION = "resignation"
    CLAIM = "claim"
    FORFEIT = "forfeit"
    MOVE_LIMIT = "move limit"
    ADJUDICATION = "adjudication"
    AGREEMENT = "agreement"
    STASIS = "stasis"
    IMPASSE = "impasse"
    FROZEN = "frozen"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Outcome:
    """How a game ended.

    `winners` are the seats that won: one alone won, several drew with each other, none means that
    the result is not known. `points` are each seat's points as the game counts them (Go: area;
    Diplomacy: supply centres), empty where the end was not counted. `summary` is the result as the
    game's records write it (`B+3.5`); `detail` says more where there is more to say. `eliminated` tells
    by seat how many rounds were over when the seat was eliminated, None for one that was not; it is
    empty in games that eliminate nobody. `rounds` are those played (Diplomacy: years), None where a round is
    a move of each seat.
    """

    winners: tuple[int, ...]
    termination: Termination
    summary: str
    points: tuple[float, ...] = ()
    detail: str = ""
    eliminated: tuple[int | None, ...] = ()
    rounds: int | None = None


# A tuple: in a fast game, making these is a good part of the work.
class PlayedMove(NamedTuple):
    """One move of a finished or broken-off game, as the arena recorded it.

    `values` maps a seat to that seat's own expected value (0 to 1) after the move; `seconds` is the
    time the mover took; `comment` is what the player said of the move. `clock_seconds` are left on the
    mover's clock after it, None without a clock; in byo-yomi they are for `clock_stones` more moves.
    """

    seat: int
    move: Any
    text: str
    seconds: float | None = None
    values: Mapping[int, float] = MappingProxyType({})
    comment: str = ""
    clock_seconds: float | None = None
    clock_stones: int = 0


@dataclass(frozen=True)
class GameRecord:
    """All that a record file needs: who played what, when, and how it ended.

    `outcome` is None for a void game, whose reason stands in `final_remarks`. `first` is the first
    position where a player arranged it, else None. `remarks` are lines for the record's heading,
    `final_remarks` for its end. `main_seconds` and `overtime` (as SGF's OT words it) are everybody's clock;
    None and empty without one, or where the players' clocks differ.
    """

    game_name: str
    event: str
    date: str
    players: tuple[str, ...]
    moves: Sequence[PlayedMove]
    outcome: Outcome | None
    seed: int
    remarks: tuple[str, ...] = ()
    final_remarks: tuple[str, ...] = ()
    first: Any = None
    main_seconds: float | None = None
    overtime: str = ""


@dataclass(frozen=True)
class VariantFacts:
    """What a results database may store of a variant besides its id and its seats' names.

    Attributes:
        supplies: The number of supply centres; None in a game without these.
        first_year: The year in which a game begins; None in a game without years.
        first_season: The season in which a game begins, as the game abbreviates it; None likewise.
        settings: The settings in force by the game's own names, defaults included; None for no limit, and
            for a time limit that is the player's own.
        codes: The seats' short names by seat, empty where the seats have none.
    """

    supplies: int | None = None
    first_year: int | None = None
    first_season: str | None = None
    settings: Mapping[str, int | None] = field(default_factory=dict)
    codes: Sequence[str] = ()


class Referee(ABC, Generic[Position, Move]):
    """The rules of one game under given settings.

    Class attributes: `name`, the game's name in control files and of its entry point;
    `record_extension`, of its record files (`sgf`).
    """

    name: ClassVar[str]
    record_extension: ClassVar[str] = "json"

    @classmethod
    @abstractmethod
    def from_settings(cls, settings: Mapping[str, object]) -> Self:
        """Make a referee from the settings of a control file. Raises InvalidSettingError."""

    @abstractmethod
    def spec(self) -> GameSpec:
        """What ACADEMY is told of the game: equal for all settings that share their knowledge."""

    def variant_facts(self) -> VariantFacts:
        """What the results database is told of the variant besides its id and seats."""
        return VariantFacts()

    @classmethod
    def located(cls, settings: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
        """The settings of a control file in that folder, with files that they name as paths from anywhere."""
        files = {
            setting: str(folder / Path(value).expanduser())
            for setting, value in settings.items()
            if isinstance(value, str) and cls.names_file(setting, value)
        }
        return {**settings, **files}

    @classmethod
    def names_file(cls, setting: str, value: str) -> bool:
        """Whether a setting of that value names a file, looked for from the control file's folder."""
        return False

    def longest_game(self) -> int | None:
        """How many plies a game can have at most; None where it can have any number, or it is not known."""
        return None

    @property
    def seats(self) -> int:
        """How many players the game has."""
        return self.spec().players

    def seat_name(self, seat: int) -> str:
        """How people call a seat (`Black`)."""
        return f"player {seat}"

    @abstractmethod
    def start(self, seed: int) -> Position:
        """The first position. All chance of the game comes from `seed`."""

    def arranger(self) -> int | None:
        """The seat that arranges the first position (Go: free handicap); None where none does."""
        return None

    def arrange(self, text: str) -> Position:
        """The first position as the arranger says it, instead of `start`'s. Raises UnreadableMoveError."""
        raise UnreadableMoveError(f"the first position of {self.name!r} is not for players to arrange")

    @abstractmethod
    def to_move(self, position: Position) -> tuple[int, ...]:
        """The seats to move: one, several who move at once, or none when the game is over."""

    @abstractmethod
    def legal_moves(self, position: Position, seat: int) -> Sequence[Move] | None:
        """All legal moves of a seat that is to move, in a fixed order; None where they cannot be listed."""

    def random_move(self, position: Position, seat: int, chance: random.Random) -> Move | None:
        """A legal move by chance; None where the referee has no way to find one."""
        moves = self.legal_moves(position, seat)
        return None if moves is None else chance.choice(moves)

    def stand_in_move(self, position: Position, seat: int) -> Move | None:
        """A legal move for a seat whose player is gone; None where the game does not go on without it.

        Asked only in games of more than two, since in a game of two the other has won. Whether it is None
        is also asked when the seat is not to move.
        """
        return None

    @abstractmethod
    def check(self, position: Position, seat: int, move: Move) -> None:
        """Do nothing for a legal move. Raises IllegalMoveError, which says why."""

    @abstractmethod
    def play(self, position: Position, moves: Mapping[int, Move]) -> Position:
        """The position after one legal move of every seat to move; the given position does not change."""

    @abstractmethod
    def outcome(self, position: Position) -> Outcome | None:
        """How the game ended by its own rules, or None while it goes on."""

    def adjudicate(self, position: Position) -> Outcome | None:
        """A verdict by counting on a position in which play was stopped; None if there is none."""
        return None

    def won_by(self, seat: int, termination: Termination, detail: str = "") -> Outcome:
        """The outcome when a game of two is given to a seat (the other resigned, forfeited, ...)."""
        return Outcome((seat,), termination, f"{self.seat_name(seat)} wins", detail=detail)

    def drawn(self, termination: Termination, detail: str = "") -> Outcome:
        """The outcome of a game that ends as a draw between all seats without being counted."""
        return Outcome(tuple(range(1, self.seats + 1)), termination, "draw", detail=detail)

    def view(self, position: Position, seat: int) -> Position:
        """What a seat may see of a position: all of it, where nothing is hidden.

        In a game of chance a position that holds the seed, or what is still to be drawn, hides that here.
        """
        return position

    @property
    def hides(self) -> bool:
        """Whether seats may see less than the whole of a position: the referee has a `view` of its own."""
        return type(self).view is not Referee.view

    @abstractmethod
    def board(self, position: Position, seat: int) -> Board:
        """The position in ACADEMY's cell states.

        In games of one or two players `x`/`b` are player 1's pieces whoever asks; in games of more
        they are those of `seat`.
        """

    def interaction(self, position: Position) -> bool | None:
        """Whether pieces of different sides can act on each other here; None where the referee can't say."""
        return None

    @abstractmethod
    def move_text(self, move: Move) -> str:
        """A move as text, in the one spelling that opening trees and records use."""

    def opening_move(self, position: Position, seat: int, move: Move) -> str:
        """A move as ACADEMY's opening trees know it: its text, unless the game says otherwise.

        In a game of simultaneous moves each seat's tree has its own moves alone. Where the same move is
        another one in another situation, this says of the situation what matters; so it does where chance
        has a part that the position holds: the dice that were thrown, the card that was drawn (`6-1: 8/7
        13/7`). One line of at most 1,024 characters, with nothing in it that is hidden from the other seats.
        """
        return self.move_text(move)

    @abstractmethod
    def read_move(self, position: Position, seat: int, text: str) -> Move:
        """Read a move, leniently. Raises UnreadableMoveError; legality is `check`'s business."""

    @abstractmethod
    def record(self, game: GameRecord) -> str:
        """The game in its own record format (SGF, PDN, JSON...)."""

    def read_records(self, content: bytes) -> Sequence[tuple[str, Sequence[str]]]:
        """Read the games of a file in the record format: each one's name and moves, as text.

        Games that do not begin with the first position of these settings are refused; the moves need
        not be legal. Raises UnreadableRecordError.
        """
        raise UnreadableRecordError(f"records of {self.name!r} cannot be read")

    @classmethod
    def replay_page(cls, content: bytes, said: Mapping[str, str]) -> str:
        """A record of one game as a page of HTML that plays it again and needs nothing else.

        `said` are texts that belong to the game, by what they are: what players wrote, for one. Raises
        UnreadableRecordError, also where the game has no such page.
        """
        raise UnreadableRecordError(f"games of {cls.name!r} have no page to be looked at")

    def dialogue(self, protocol: str) -> object | None:
        """What a protocol (`gtp`, ...) needs to know of this game, or None if it is not played over it."""
        return None


def referees() -> dict[str, type[Referee[Any, Any]]]:
    """All installed referees by their names."""
    return {point.name: point.load() for point in sorted(entry_points(group=ENTRY_POINT_GROUP))}


def referee(name: str) -> type[Referee[Any, Any]]:
    """The referee class of a game. Raises UnknownRefereeError, which lists those there are."""
    found = {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}
    if name not in found:
        raise UnknownRefereeError(
            f"no referee for the game {name!r}; installed are: {', '.join(sorted(found))}"
        )
    loaded: type[Referee[Any, Any]] = found[name].load()
    return loaded
