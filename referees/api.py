"""What a referee is: the rules of one game behind one small interface.

A referee is bound to its settings when it is made and holds no other state; positions are values.
It speaks no protocol and starts no process. Seats count from 1. A package adds a game with an
entry point in the group `arena.referees` that names its `Referee` class.
"""

import math
import random
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final, Generic, NamedTuple, Self, TypeVar

from academy.knowledge.boards import Board
from academy.knowledge.spec import GameSpec
from referees.drawing import Drawing, draw_board
from referees.installed import list_entry_points
from referees.paths import path_from

Position = TypeVar("Position")
Move = TypeVar("Move")

__all__ = [
    "ENTRY_POINT_GROUP",
    "GameRecord",
    "IllegalMoveError",
    "InvalidSettingError",
    "MissingSettingError",
    "Outcome",
    "PlayedMove",
    "RecordedGame",
    "Referee",
    "Termination",
    "UnknownRefereeError",
    "UnreadableMoveError",
    "UnreadableRecordError",
    "UnreadableViewError",
    "VariantFacts",
    "referee",
]

ENTRY_POINT_GROUP: Final = "arena.referees"


class InvalidSettingError(ValueError):
    """A game setting that the referee does not have or accept; `setting` names it."""

    def __init__(self, setting: str, why: str) -> None:
        super().__init__(f"{setting!r}: {why}")
        self.setting = setting


class MissingSettingError(InvalidSettingError):
    """A game setting that the referee needs is not given.

    `example` is a value that the referee accepts; `allowed` describes all of them.
    """

    def __init__(self, setting: str, example: int | str, allowed: str) -> None:
        """Name the setting, with an example and what is allowed, such as "a size from 2 to 25"."""
        super().__init__(setting, f"is missing: give {allowed}")
        self.example = example
        self.allowed = allowed


class UnreadableMoveError(ValueError):
    """Text that is not a move of this game."""


class UnreadableRecordError(ValueError):
    """A file that holds no records of this game, or none that can be read."""


class IllegalMoveError(ValueError):
    """A move that the rules forbid in this position; the message says which rule."""


class UnreadableViewError(ValueError):
    """Text that is not a view of a position of this game."""


class UnknownRefereeError(LookupError):
    """No installed package offers a game of this name, or its referee cannot be loaded or lacks a method."""


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

    Attributes:
        winners: The seats that won, in their order: one alone won, several drew with each other, none means
            that the result is not known.
        termination: Why the game ended.
        summary: The result as the game's records write it (`B+3.5`).
        points: Each seat's points as the game counts them (Go: area; Diplomacy: supply centres), empty where
            the end was not counted.
        detail: What there is to say besides.
        eliminated: By seat, the number of rounds that were over when the seat was eliminated, None for a seat
            that was not; empty in games that eliminate no seat.
        rounds: The rounds played (Diplomacy: years); None where a round is a move of each seat.
    """

    winners: tuple[int, ...]
    termination: Termination
    summary: str
    points: tuple[float, ...] = ()
    detail: str = ""
    eliminated: tuple[int | None, ...] = ()
    rounds: int | None = None

    def contradiction(self, seats: int) -> str:
        """Say what cannot be in a game of that number of seats.

        Args:
            seats: The number of seats.

        Returns:
            The first contradiction, empty for an outcome that can be.
        """
        if list(self.winners) != sorted(set(self.winners) & set(range(1, seats + 1))):
            return f"the winners {self.winners} are not seats from 1 to {seats}, each once, in their order"
        if self.points and len(self.points) != seats:
            return f"points {self.points} for {seats} seats"
        if not all(map(math.isfinite, self.points)):
            return f"points {self.points} are not all finite"
        return ""


# A tuple: in a fast game, making these is a good part of the work.
class PlayedMove(NamedTuple):
    """One move of a game, as the arena recorded it.

    Attributes:
        seat: The seat that moved, from 1.
        move: The referee's own value of the move.
        text: The move as `Referee.move_text` spells it.
        seconds: The time that the mover took; None where it is not known.
        values: Seats' own expected values after the move, from 0 to 1, by seat.
        comment: What the player wrote about the move.
        clock_seconds: The seconds on the mover's clock after the move, None without a clock.
        clock_stones: In byo-yomi, the number of moves that `clock_seconds` are for.
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

    Attributes:
        game_name: The name of this game.
        event: The competition's name.
        date: The day on which the game began, as YYYY-MM-DD.
        players: The players' names by seat.
        moves: All moves in the order in which they were made.
        outcome: How the game ended; None for a void game, whose reason stands in `final_remarks`.
        seed: The number from which the game's chance came.
        remarks: Lines for the record's heading.
        final_remarks: Lines for its end.
        first: The first position where a player arranged it, else None.
        main_seconds: The main time of everybody's clock; None without one, or where clocks differ.
        overtime: What follows the main time, as SGF's OT words it; empty likewise.
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


class RecordedGame(NamedTuple):
    """What was read of one game in a record file; the moves need not be legal.

    Attributes:
        name: The game's name, empty where it has none.
        moves: All moves as text, in the order in which they were made.
        players: The players' names by seat; empty where the record does not say.
        winners: The seats that won, as in `Outcome`; empty where the record does not say.
        elo: The players' ratings by seat, None for one that is not known; empty where none is.
        seed: The number from which the game's chance came.
        fault: Why this game cannot be used, such as a board of another size; empty for one that can.
        doubt: Why it may have ended otherwise under these settings, such as another komi; empty for no
            reason. It teaches nothing then, and its moves can still be an opening.
    """

    name: str
    moves: Sequence[str]
    players: Sequence[str] = ()
    winners: tuple[int, ...] = ()
    elo: Sequence[float | None] = ()
    seed: int = 0
    fault: str = ""
    doubt: str = ""


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
        """Make a referee from the settings of a control file.

        Args:
            settings: The settings by name, as TOML gives them.

        Returns:
            The referee, bound to these settings.

        Raises:
            InvalidSettingError: The game has no such setting, or does not accept its value.
        """

    @classmethod
    def settings_of(cls, game_id: str) -> Mapping[str, object] | None:
        """The settings of one variant of a game by its id, so that lines of its openings can be replayed.

        Args:
            game_id: ACADEMY's name of a game, from anywhere: it may be no game of this referee.

        Returns:
            Settings for `from_settings`, whose `spec` may be another game's: callers compare it. None where
            the id does not tell them.
        """
        return None

    @abstractmethod
    def spec(self) -> GameSpec:
        """Describe the game to ACADEMY.

        Returns:
            The description: equal for all settings that share their knowledge.
        """

    def variant_facts(self) -> VariantFacts:
        """Return what a results database stores of the variant, besides its id and its seats."""
        return VariantFacts()

    @classmethod
    def located(cls, settings: Mapping[str, Any], folder: Path) -> Mapping[str, Any]:
        """Make the files that settings name findable from any folder.

        Args:
            settings: The settings of a control file, by name.
            folder: The control file's folder, an absolute path.

        Returns:
            The settings, with the paths of files as absolute paths.

        Raises:
            InvalidSettingError: for a path in the home of a user whom this machine does not have.
        """
        located = dict(settings)
        for setting, value in settings.items():
            if isinstance(value, str) and cls.names_file(setting, value):
                try:
                    located[setting] = str(path_from(folder, value))
                except ValueError as error:
                    raise InvalidSettingError(setting, str(error)) from None
        return located

    @classmethod
    def names_file(cls, setting: str, value: str) -> bool:
        """Return whether a setting names a file, looked for from the control file's folder.

        Args:
            setting: The setting's name.
            value: Its value in the control file.
        """
        return False

    def longest_game(self) -> int | None:
        """Return the greatest number of plies of a game; None without a limit, or if it is not known."""
        return None

    @property
    def seats(self) -> int:
        """The number of players."""
        return self.spec().players

    def seat_name(self, seat: int) -> str:
        """Return the name that people give a seat (`Black`).

        Args:
            seat: A seat of the game, from 1.

        Returns:
            The name (`Black`).
        """
        return f"player {seat}"

    @abstractmethod
    def start(self, seed: int) -> Position:
        """Return the first position.

        Args:
            seed: An integer from 0 to 2^63 - 1, from which all chance of the game comes.

        Returns:
            The position before the first move.
        """

    def arranger(self) -> int | None:
        """Return the seat that arranges the first position (Go: free handicap); None where none does."""
        return None

    def arrange(self, text: str) -> Position:
        """Read the first position as the arranger gives it, instead of `start`'s.

        Args:
            text: The arrangement, as the arranger's protocol gives it.

        Returns:
            The first position.

        Raises:
            UnreadableMoveError: The text is not an arrangement, or the game has no arranger.
        """
        raise UnreadableMoveError(f"the first position of {self.name!r} is not for players to arrange")

    @abstractmethod
    def to_move(self, position: Position) -> tuple[int, ...]:
        """Return the seats to move.

        Args:
            position: A position of the game.

        Returns:
            One seat, several in rising order who move at once, or none when the game is over.
        """

    @abstractmethod
    def legal_moves(self, position: Position, seat: int) -> Sequence[Move] | None:
        """All legal moves of a seat.

        Args:
            position: A position of the game.
            seat: A seat that is to move there.

        Returns:
            The moves in a fixed order, at least one; None where they cannot be listed.
        """

    def random_move(self, position: Position, seat: int, chance: random.Random) -> Move | None:
        """Choose a legal move by chance.

        Args:
            position: A position of the game.
            seat: A seat that is to move there.
            chance: The source of chance.

        Returns:
            The move; None where the referee has no way to find one.
        """
        moves = self.legal_moves(position, seat)
        return None if moves is None else chance.choice(moves)

    def stand_in_move(self, position: Position, seat: int) -> Move | None:
        """A legal move for a seat whose player is gone.

        The arena calls this only in games of more than two: in a game of two the other player has won.
        It calls it also when the seat is not to move, to learn whether the game can go on.

        Args:
            position: A position of the game.
            seat: The seat without a player.

        Returns:
            The move; None where the game does not go on without the player.
        """
        return None

    @abstractmethod
    def check(self, position: Position, seat: int, move: Move) -> None:
        """Do nothing for a legal move.

        Args:
            position: A position of the game.
            seat: The seat that moves.
            move: A move of this game, legal or not.

        Raises:
            IllegalMoveError: The rules forbid the move; the message says why.
        """

    @abstractmethod
    def play(self, position: Position, moves: Mapping[int, Move]) -> Position:
        """Play one turn.

        Args:
            position: A position of the game, which does not change.
            moves: One legal move for every seat to move, by seat.

        Returns:
            The position after the moves.
        """

    @abstractmethod
    def outcome(self, position: Position) -> Outcome | None:
        """Return how the game ended by its own rules; None while it goes on.

        Args:
            position: A position of the game.
        """

    def adjudicate(self, position: Position) -> Outcome | None:
        """Count a position in which play was stopped.

        Args:
            position: The position that was reached.

        Returns:
            The verdict; None where the game has none.
        """
        return None

    def won_by(self, seat: int, termination: Termination, detail: str = "") -> Outcome:
        """Return the outcome when a game is given to a seat: the other resigned, forfeited, and the like.

        Args:
            seat: The seat that wins.
            termination: Why the game ended.
            detail: What there is to say besides.

        Returns:
            The outcome.
        """
        return Outcome((seat,), termination, f"{self.seat_name(seat)} wins", detail=detail)

    def drawn(self, termination: Termination, detail: str = "") -> Outcome:
        """Return the outcome of a game that ends as a draw between all seats without being counted.

        Args:
            termination: Why the game ended.
            detail: What there is to say besides.

        Returns:
            The outcome.
        """
        return Outcome(tuple(range(1, self.seats + 1)), termination, "draw", detail=detail)

    def view(self, position: Position, seat: int) -> Position:
        """What a seat may see of a position: all of it, where nothing is hidden.

        A position of a game of chance that holds the seed, or what is still to be drawn, hides that here.

        Args:
            position: A position of the game.
            seat: A seat of the game, from 1.

        Returns:
            A position in which what is hidden from the seat cannot be found.
        """
        return position

    def view_text(self, view: Position) -> str | None:
        """What a seat may see of a position as text, for players elsewhere that need more than `board`.

        Args:
            view: What `view` has returned for the seat.

        Returns:
            The text, which `read_view` reads; None where the letters of `board` and the moves are enough.
        """
        return None

    def read_view(self, text: str) -> Position:
        """Read what `view_text` wrote.

        Args:
            text: The text, from another machine.

        Returns:
            The view.

        Raises:
            UnreadableViewError: The text is not a view of a position of this game.
        """
        raise UnreadableViewError(f"the game {self.name!r} does not write views as text")

    @property
    def hides(self) -> bool:
        """Whether seats may see less than the whole of a position: the referee has its own `view`."""
        return type(self).view is not Referee.view

    @abstractmethod
    def board(self, position: Position, seat: int) -> Board:
        """The position in ACADEMY's cell states.

        Args:
            position: A position of the game, or a view of one.
            seat: A seat of the game, from 1.

        Returns:
            A board of the geometry of `spec`, with one state for each cell. `x` and `b` are the pieces of
            player 1 in games of one or two players; in games of more they are the pieces of `seat`.
        """

    def drawing(self, position: Position) -> Drawing | None:
        """The position as a picture, for people.

        By default it is the `board` of the first seat in squares, hexagons or a graph. A game whose pieces
        ACADEMY does not tell apart, or whose cells have shapes of their own, draws itself.

        Args:
            position: A position of the game, or a view of one.

        Returns:
            The picture, with a mark for each cell of its layout, which is the same for all positions; None
            for a game without a board.
        """
        return draw_board(self.board(position, 1), self.spec().cell_names)

    def interaction(self, position: Position) -> bool | None:
        """Return whether pieces of different sides can act on each other; None if the referee cannot say.

        Args:
            position: A position of the game.
        """
        return None

    @abstractmethod
    def move_text(self, move: Move) -> str:
        """Return a move as text, in the one spelling that opening trees and records use.

        Args:
            move: A move of this game.
        """

    def opening_move(self, position: Position, seat: int, move: Move) -> str:
        """A move as ACADEMY's opening trees know it: its text, unless the game says otherwise.

        In a game of simultaneous moves each seat's tree holds that seat's moves alone. Where the same move
        means something else in another situation, the text names what matters of the situation. It does so
        too where chance has a part that the position holds: the dice that were thrown, the card that was
        drawn (`6-1: 8/7 13/7`).

        Args:
            position: The position before the move.
            seat: The seat that moves.
            move: A legal move.

        Returns:
            One line of at most 1,024 characters, without anything that is hidden from the other seats.
        """
        return self.move_text(move)

    @abstractmethod
    def read_move(self, position: Position, seat: int, text: str) -> Move:
        """Read a move, leniently: `check` says whether it is legal.

        Args:
            position: The position in which it is made.
            seat: The seat that moves.
            text: What the player wrote.

        Returns:
            The move.

        Raises:
            UnreadableMoveError: The text is not a move of this game.
        """

    @abstractmethod
    def record(self, game: GameRecord) -> str:
        """Write the game in its own record format (SGF, PDN, JSON).

        Args:
            game: The players, the moves and the outcome.

        Returns:
            The text of a file with the extension `record_extension`.
        """

    def read_records(self, content: bytes) -> Sequence[RecordedGame]:
        """Read the games of a file in the record format.

        Args:
            content: The file's bytes.

        Returns:
            The games in their order. One that is not of these settings has a `fault`, or a `doubt`.

        Raises:
            UnreadableRecordError: The file holds no such records.
        """
        raise UnreadableRecordError(f"records of {self.name!r} cannot be read")

    def dialogue(self, protocol: str) -> object | None:
        """What a protocol needs to know of this game.

        Args:
            protocol: The protocol's name: `gtp`, `lines`, `lines:NAME`, `policy`, or one of a plug-in.

        Returns:
            What the protocol asks for (see `referees.dialogues`); None where the game is not played over it.
        """
        return None


def referee(name: str) -> type[Referee[Any, Any]]:
    """Return the referee class of a game.

    Args:
        name: The game's name, as in control files.

    Returns:
        The referee's class.

    Raises:
        UnknownRefereeError: No installed package offers the game, and the message lists those there are; or
            the package that does cannot be loaded, names something else, or its referee lacks a method.
    """
    points = {point.name: point for point in list_entry_points(ENTRY_POINT_GROUP)}
    if name not in points:
        raise UnknownRefereeError(
            f"no referee for the game {name!r}; installed are: {', '.join(sorted(points))}"
        )
    try:
        loaded: type[Referee[Any, Any]] = points[name].load()
    except Exception as error:  # Other people's code, which may do anything while it is imported.
        package = points[name].dist
        raise UnknownRefereeError(
            f"the game {name!r} of the package {package.name if package else '?'!r} cannot be loaded: "
            f"{type(error).__name__}: {error}"
        ) from error
    if not (isinstance(loaded, type) and issubclass(loaded, Referee)):
        raise UnknownRefereeError(
            f"the game {name!r}: its entry point {points[name].value!r} names no referee, which is a class "
            "derived from referees.api.Referee"
        )
    # A referee that lacks a method cannot be made, whatever its settings.
    if missing := sorted(getattr(loaded, "__abstractmethods__", ())):
        raise UnknownRefereeError(
            f"the game {name!r}: {loaded.__module__}.{loaded.__qualname__} lacks {', '.join(missing)}; "
            "a referee has all methods of docs/reference/referee.md without a default"
        )
    return loaded
