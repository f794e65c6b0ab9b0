"""What GTP engines of games have in common: the position, moves of either colour, ACADEMY, values.

All rules are the referee's.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeVar, cast

from clients.academy import Academy, Seat
from clients.bots.gtp import ContestAccess, GtpError, GtpProgram
from clients.bots.scholar import AdvisedPlayer
from clients.bots.thinking import Candidate, Thinker
from referees.api import IllegalMoveError, InvalidSettingError, Referee, UnreadableMoveError
from referees.dialogues import GtpGame

Rules = TypeVar("Rules", bound=Referee[Any, Any])
Position = TypeVar("Position")
Move = TypeVar("Move")
Number = TypeVar("Number", int, float)

_WORDS: Final = {"black": "b", "white": "w"}


class BoardEngine(GtpProgram, Generic[Rules, Position, Move]):
    """An engine of any game that is played over GTP.

    A game's engine gives the referee class and, where it can, how its rules bend to GTP, which lets a
    colour move twice in a row and go on after the end.
    """

    def __init__(
        self,
        name: str,
        game: type[Rules],
        settings: dict[str, object],
        thinker: Thinker[Rules, Position, Move],
        academy: Academy | None,
        contest_id: str,
    ) -> None:
        super().__init__()
        self.name = name
        self._game = game
        self._settings = settings
        self._thinker = thinker
        self._academy = academy
        self._contest_id = contest_id
        self._begin()

    def accept_contests(self, join: Callable[[ContestAccess], Academy]) -> None:
        """Have the command `academy-contest`, with which the arena tells of contest after contest.

        `join` connects to ACADEMY as the arena says. It may raise OSError and ValueError.
        """
        self._join = join
        self._commands["academy-contest"] = self._change_contest

    def _change_contest(self, arguments: Sequence[str]) -> str:
        """Propose what the contest before taught; then belong to the one that the arguments name, if any."""
        access = ContestAccess.read(arguments) if arguments else None
        self._finish()
        self._scholars.clear()
        if self._academy is not None:
            self._academy.close()
        self._academy, self._contest_id = None, ""
        if access is not None:
            try:
                self._academy, self._contest_id = self._join(access), access.contest_id
            except (OSError, ValueError) as error:
                raise GtpError(f"ACADEMY cannot be reached as said: {error}") from None
        return ""

    def _begin(self) -> None:
        """The first position under the settings; the scholars of both colours are new."""
        self._referee = self._game.from_settings(self._settings)
        self._position: Position = self._referee.start(0)
        self._moves: list[str] = []
        # The position before each move, and the seat that made it.
        self._before: list[tuple[Position, int]] = []
        self._scholars: dict[int, AdvisedPlayer[Position, Move]] = {}
        self._expected_values: tuple[float, ...] = ()

    def _change(self, **settings: object) -> None:
        """Begin anew under other settings."""
        changed = {**self._settings, **settings}
        try:
            self._game.from_settings(changed)
        except InvalidSettingError as error:
            raise GtpError("unacceptable size" if error.setting == "board_size" else str(error)) from None
        self._settings = changed
        self._begin()

    def _number(self, arguments: Sequence[str], kind: Callable[[str], Number]) -> Number:
        try:
            return kind(arguments[0])
        except (IndexError, ValueError):
            raise GtpError(f"a number is needed, not {' '.join(arguments)!r}") from None

    def _with_mover(self, seat: int) -> Position:
        """The position as it is when this seat moves."""
        if seat not in self._referee.to_move(self._position):
            raise GtpError("illegal move")
        return self._position

    def _decide(self, position: Position, seat: int) -> Candidate[Move]:
        """The move to make."""
        own_moves = [mover for _, mover in self._before].count(seat)
        return self._scholar(seat).choose(position, self._moves, own_moves)

    def gtp_clear_board(self, arguments: Sequence[str]) -> str:
        """Begin a new game."""
        self._finish()
        self._begin()
        return ""

    def gtp_play(self, arguments: Sequence[str]) -> str:
        """Take in a move of either colour."""
        seat = self._seat(arguments)
        position = self._with_mover(seat)
        try:
            move = self._referee.read_move(position, seat, " ".join(arguments[1:]))
            self._make(position, seat, move)
        except UnreadableMoveError:
            raise GtpError("invalid color or coordinate") from None
        except IllegalMoveError:
            raise GtpError("illegal move") from None
        return ""

    def _make(self, position: Position, seat: int, move: Move) -> None:
        after = self._referee.play(position, {seat: move})
        self._before.append((self._position, seat))
        self._position = after
        self._moves.append(self._referee.move_text(move))

    def gtp_undo(self, arguments: Sequence[str]) -> str:
        """Take back the last move."""
        if not self._moves:
            raise GtpError("cannot undo")
        self._position, _ = self._before.pop()
        self._moves.pop()
        self._expected_values = ()
        return ""

    def gtp_genmove(self, arguments: Sequence[str]) -> str:
        """Choose a move and make it."""
        seat = self._seat(arguments)
        if self._is_over():
            return "resign"
        position = self._with_mover(seat)
        scholar = self._scholar(seat)
        # Not every move is the scholar's.
        scholar.value_before = None
        chosen, before = self._decide(position, seat), scholar.value_before
        self._expected_values = (chosen.value,) if before is None else (before, chosen.value)
        self._make(position, seat, chosen.move)
        return self._moves[-1]

    def gtp_academy__expected_value(self, arguments: Sequence[str]) -> str:
        """The bot's own expected values before its last move and after it."""
        if not self._expected_values:
            raise GtpError("no move generated yet")
        return " ".join(f"{value:.6f}" for value in self._expected_values)

    def gtp_quit(self, arguments: Sequence[str]) -> str:
        """Propose what was learnt, and end."""
        self._finish()
        return ""

    def _is_over(self) -> bool:
        return not self._referee.to_move(self._position)

    def _seat(self, arguments: Sequence[str]) -> int:
        words = cast("GtpGame[Any, Any] | None", self._referee.dialogue("gtp"))
        said = arguments[0].lower() if arguments else ""
        for seat in range(1, self._referee.seats + 1):
            if words is not None and words.colour(seat) == _WORDS.get(said, said):
                return seat
        raise GtpError("invalid color or coordinate")

    def _scholar(self, number: int) -> AdvisedPlayer[Position, Move]:
        if number not in self._scholars:
            spec = self._referee.spec()
            seat = Seat(spec.game_id, spec.geometry, number, self._contest_id)
            self._scholars[number] = AdvisedPlayer(self._thinker, self._referee, self._academy, seat)
        return self._scholars[number]

    def _finish(self) -> None:
        for scholar in self._scholars.values():
            scholar.finish(len(self._moves))
