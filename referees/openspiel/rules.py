"""OpenSpiel's games of two players, of perfect information and without chance, as a referee."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any, ClassVar, Final, Self

from academy.knowledge.boards import Board
from academy.knowledge.spec import GameSpec
from referees.api import (
    GameRecord,
    IllegalMoveError,
    InvalidSettingError,
    MissingSettingError,
    Outcome,
    RecordedGame,
    Referee,
    Termination,
    UnreadableMoveError,
)
from referees.dialogues import GtpGame
from referees.openspiel import record
from referees.openspiel.boards import reader
from referees.openspiel.game_string import game_string_of, load


@dataclass(frozen=True, slots=True)
class SpielMove:
    """A move: OpenSpiel's number for it, and its text in the position it is played in."""

    action: int
    text: str


@dataclass(frozen=True)
class SpielPosition:
    """A position of a game: the numbers of the moves that led to it.

    `state` is the library's own state after them. Do not change it: clone it to
    play on.
    """

    game: str
    history: tuple[int, ...]
    state: Any = field(compare=False, repr=False)

    @cached_property
    def moves(self) -> tuple[SpielMove, ...]:
        """All legal moves, in OpenSpiel's order; none when the game is over.

        A text that names two of them is followed by OpenSpiel's number: `a1 [17]`.
        """
        if self.state.is_terminal():
            return ()
        player = self.state.current_player()
        texts = {
            action: self.state.action_to_string(player, action).strip()
            for action in self.state.legal_actions()
        }
        uses = Counter(texts.values())
        return tuple(
            SpielMove(action, text if uses[text] == 1 else f"{text} [{action}]")
            for action, text in texts.items()
        )

    def after(self, move: SpielMove) -> "SpielPosition":
        """The position after a legal move."""
        state = self.state.clone()
        state.apply_action(move.action)
        return SpielPosition(self.game, (*self.history, move.action), state)


class SpielDialogue(GtpGame[SpielPosition, SpielMove]):
    """The messages to an engine of one game."""

    def __init__(self, game: str) -> None:
        self._game = game

    def setup(self) -> Sequence[str]:
        """The game, and its first position."""
        return f"game {self._game}", "clear_board"

    def colour(self, seat: int) -> str:
        """`b` for OpenSpiel's player 0, who is Black in its chess too and does not move first there."""
        return "-bw"[seat]

    def vertex(self, move: SpielMove) -> str:
        """The action string."""
        return move.text


_SHOWN: Final = 12


class OpenSpiel(Referee[SpielPosition, SpielMove]):
    """One game of OpenSpiel; its setting `game` is the library's game string."""

    name: ClassVar[str] = "openspiel"

    def __init__(self, game: Any) -> None:
        """Take a game as `game_string.load` gives it."""
        self.game = game
        self._reader = reader(game)
        self._string = str(game)

    @classmethod
    def from_settings(cls, settings: Mapping[str, object]) -> Self:
        """Load the game. Raises InvalidSettingError."""
        for setting in settings:
            if setting != "game":
                near = "; did you mean 'game'?" if get_close_matches(setting, ("game",)) else ""
                raise InvalidSettingError(setting, f"OpenSpiel's games have the one setting 'game'{near}")
        if "game" not in settings:
            example = "breakthrough(rows=6,columns=6)"
            raise MissingSettingError("game", example, f"a game string, such as {example!r}")
        text = settings["game"]
        if not isinstance(text, str) or not text.strip():
            raise InvalidSettingError(
                "game", "a game string is needed, such as 'breakthrough(rows=6,columns=6)'"
            )
        return cls(load(text.strip()))

    @classmethod
    def settings_of(cls, game_id: str) -> Mapping[str, object] | None:
        """The game string, where the id is not hashed."""
        text = game_string_of(game_id)
        return None if text is None else {"game": text}

    def spec(self) -> GameSpec:
        """The game, and its board where ACADEMY can know it as one."""
        return self._reader.spec

    def start(self, seed: int) -> SpielPosition:
        """The first position; there is no chance in these games."""
        return SpielPosition(self._string, (), self.game.new_initial_state())

    def to_move(self, position: SpielPosition) -> tuple[int, ...]:
        """The seat to move; some games let one move several times in a row."""
        return () if position.state.is_terminal() else (position.state.current_player() + 1,)

    def legal_moves(self, position: SpielPosition, seat: int) -> Sequence[SpielMove]:
        """All of them, in OpenSpiel's order."""
        return position.moves if seat in self.to_move(position) else ()

    def check(self, position: SpielPosition, seat: int, move: SpielMove) -> None:
        """Look the move up among the legal ones."""
        to_move = self.to_move(position)
        if not to_move:
            raise IllegalMoveError(f"{move.text!r}: the game is over")
        if seat not in to_move:
            raise IllegalMoveError(f"{move.text!r}: it is {self.seat_name(to_move[0])}'s turn")
        if move not in position.moves:
            raise IllegalMoveError(f"{move.text!r} is not legal here; {_some(position)}")

    def play(self, position: SpielPosition, moves: Mapping[int, SpielMove]) -> SpielPosition:
        """The position after the move, which is checked first."""
        ((seat, move),) = moves.items()
        self.check(position, seat, move)
        return position.after(move)

    def outcome(self, position: SpielPosition) -> Outcome | None:
        """By the returns: who gets most has won. Returns that are more than won or lost are points."""
        if not position.state.is_terminal():
            return None
        returns = tuple(position.state.returns())
        best = max(returns)
        winners = tuple(seat for seat, gained in enumerate(returns, start=1) if gained == best)
        points = () if {abs(gained) for gained in returns} <= {0.0, 1.0} else returns
        summary = f"{self.seat_name(winners[0])} wins" if len(winners) == 1 else "draw"
        return Outcome(winners, Termination.SCORE, summary, points)

    def board(self, position: SpielPosition, seat: int) -> Board:
        """The cells, or one that is always empty in games whose board ACADEMY cannot know."""
        return self._reader.read(position.state)

    def move_text(self, move: SpielMove) -> str:
        """OpenSpiel's action string."""
        return move.text

    def read_move(self, position: SpielPosition, seat: int, text: str) -> SpielMove:
        """Read an action string; case, blanks, and the `+` and `#` after moves of chess do not matter.

        Raises UnreadableMoveError where no legal move is meant, or several.
        """
        for plain in (str, _without_blanks, _bare):
            matching = [move for move in position.moves if plain(move.text) == plain(text)]
            if len(matching) == 1:
                return matching[0]
        raise UnreadableMoveError(f"{text[:80]!r} is not the text of a legal move; {_some(position)}")

    def record(self, game: GameRecord) -> str:
        """The game as JSON."""
        return record.write(self._string, game)

    def read_records(self, content: bytes) -> Sequence[RecordedGame]:
        """Read such records; they must be of this game."""
        return record.read(content, self._string)

    def dialogue(self, protocol: str) -> SpielDialogue | None:
        """The words for GTP."""
        return SpielDialogue(self._string) if protocol == "gtp" else None


def _without_blanks(text: str) -> str:
    return "".join(text.split()).casefold()


def _bare(text: str) -> str:
    return _without_blanks(text).rstrip("+#!?")


def _some(position: SpielPosition) -> str:
    texts = [move.text for move in position.moves]
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return f"legal are {', '.join(texts[:_SHOWN])}{more}" if texts else "the game is over"
