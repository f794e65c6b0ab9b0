"""What GTP engines of board games have in common: the position, moves of either colour, ACADEMY, values.

All rules are the referee's.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeVar

from clients.academy import Academy, Seat
from clients.bots.gtp import GtpEngine, GtpError
from clients.bots.scholar import Scholar
from clients.bots.thinking import Candidate, Thinker
from referees.api import IllegalMove, InvalidSetting, Referee, UnreadableMove

Rules = TypeVar("Rules", bound=Referee[Any, int])
Position = TypeVar("Position")
Number = TypeVar("Number", int, float)

_COLOURS: Final = {"b": 1, "black": 1, "w": 2, "white": 2}


class BoardEngine(GtpEngine, Generic[Rules, Position]):
    """An engine of a game of Black, seat 1, and White, seat 2.

    A game's engine gives the referee class and how its rules bend to GTP, which lets a colour move twice
    in a row and go on after the end.
    """

    def __init__(
        self,
        name: str,
        game: type[Rules],
        settings: dict[str, object],
        thinker: Thinker[Rules, Position],
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

    def _begin(self) -> None:
        """The first position under the settings; the scholars of both colours are new."""
        self._referee = self._game.from_settings(self._settings)
        self._position: Position = self._referee.start(0)
        self._moves: list[str] = []
        self._before: list[Position] = []
        self._scholars: dict[int, Scholar[Rules, Position]] = {}
        self._expected_value: float | None = None

    def _change(self, **settings: object) -> None:
        """Begin anew under other settings."""
        changed = {**self._settings, **settings}
        try:
            self._game.from_settings(changed)
        except InvalidSetting as error:
            raise GtpError("unacceptable size" if error.setting == "board_size" else str(error)) from None
        self._settings = changed
        self._begin()

    def _number(self, arguments: Sequence[str], kind: Callable[[str], Number]) -> Number:
        try:
            return kind(arguments[0])
        except (IndexError, ValueError):
            raise GtpError(f"a number is needed, not {' '.join(arguments)!r}") from None

    @abstractmethod
    def _with_mover(self, colour: int) -> Position:
        """The position as it is when this colour moves."""

    def _decide(self, position: Position, colour: int) -> Candidate:
        """The move to make."""
        return self._scholar(colour).choose(position, self._moves)

    def gtp_clear_board(self, arguments: Sequence[str]) -> str:
        """Begin a new game."""
        self._finish()
        self._begin()
        return ""

    def gtp_play(self, arguments: Sequence[str]) -> str:
        """Take in a move of either colour."""
        colour = self._colour(arguments)
        position = self._with_mover(colour)
        try:
            move = self._referee.read_move(position, colour, " ".join(arguments[1:]))
            self._make(position, colour, move)
        except UnreadableMove:
            raise GtpError("invalid color or coordinate") from None
        except IllegalMove:
            raise GtpError("illegal move") from None
        return ""

    def _make(self, position: Position, colour: int, move: int) -> None:
        after = self._referee.play(position, {colour: move})
        self._before.append(self._position)
        self._position = after
        self._moves.append(self._referee.move_text(move))

    def gtp_undo(self, arguments: Sequence[str]) -> str:
        """Take back the last move."""
        if not self._moves:
            raise GtpError("cannot undo")
        self._position = self._before.pop()
        self._moves.pop()
        self._expected_value = None
        return ""

    def gtp_genmove(self, arguments: Sequence[str]) -> str:
        """Choose a move and make it."""
        colour = self._colour(arguments)
        position = self._with_mover(colour)
        if not self._referee.to_move(position):
            return "resign"
        chosen = self._decide(position, colour)
        self._expected_value = chosen.value
        self._make(position, colour, chosen.move)
        return self._moves[-1]

    def gtp_academy__expected_value(self, arguments: Sequence[str]) -> str:
        """The bot's own expected value after its last move."""
        if self._expected_value is None:
            raise GtpError("no move generated yet")
        return f"{self._expected_value:.6f}"

    def gtp_quit(self, arguments: Sequence[str]) -> str:
        """Propose what was learnt, and end."""
        self._finish()
        return ""

    def _colour(self, arguments: Sequence[str]) -> int:
        colour = _COLOURS.get(arguments[0].lower()) if arguments else None
        if colour is None:
            raise GtpError("invalid color or coordinate")
        return colour

    def _scholar(self, colour: int) -> Scholar[Rules, Position]:
        if colour not in self._scholars:
            spec = self._referee.spec()
            seat = Seat(spec.game_id, spec.geometry, colour, self._contest_id)
            self._scholars[colour] = Scholar(self._thinker, self._referee, self._academy, seat)
        return self._scholars[colour]

    def _finish(self) -> None:
        for scholar in self._scholars.values():
            scholar.finish(len(self._moves))
