"""How the arena talks with programs about a game: over GTP, in plain lines, and with policies."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from referees.api import Outcome, UnreadableMoveError

Position = TypeVar("Position", contravariant=True)
Move = TypeVar("Move", contravariant=True)


class GtpGame(Protocol[Position, Move]):
    """Words of a game in GTP; `Referee.dialogue("gtp")` gives one, bound to the referee's settings.

    A game without handicap that is counted by its rules alone needs only `setup`, `colour` and `vertex`.
    """

    def setup(self) -> Sequence[str]:
        """Commands that bring an engine to an empty board (`boardsize 9`, `clear_board`, `komi 7.5`)."""

    def handicap(self) -> str | None:
        """The command both engines are sent to place handicap stones; None without a fixed handicap."""
        return None

    def check_handicap(self, response: str) -> None:
        """Check the engine's answer to that command. Raises UnreadableMoveError where it placed others."""
        raise UnreadableMoveError("this game has no handicap")

    def ask_arrangement(self) -> str:
        """The command that asks an engine for the first position; `Referee.arrange` reads the answer."""
        raise UnreadableMoveError("in this game no player arranges the first position")

    def tell_arrangement(self, position: Position) -> str:
        """The command that sends an engine a first position it did not arrange."""
        raise UnreadableMoveError("in this game no player arranges the first position")

    def colour(self, seat: int) -> str:
        """The seat in GTP's words (`b`)."""

    def vertex(self, move: Move) -> str:
        """A move as GTP engines read it (`D4`, `pass`), in one word or several."""

    def read_score(self, response: str) -> Outcome | None:
        """The outcome in an answer to `final_score`; None where it says nothing."""
        return None


View = TypeVar("View", contravariant=True)


@dataclass(frozen=True)
class Prompt:
    """Lines for a bot, after which its answer is waited for.

    `lines` makes them, given the milliseconds that the bot's clock shows. With a `last_line` the answer
    is all lines before that one; without, it is one line that is not blank. `kind` is what
    `LineDialogue.kind_of` returns for its answers, empty where that is not known.
    """

    lines: Callable[[int], Sequence[str]]
    last_line: str | None = None
    kind: str = ""


@dataclass(frozen=True)
class BotTime:
    """A bot's time in milliseconds: at first, and in addition after each turn."""

    bank: int
    added: int


@dataclass(frozen=True)
class Reading:
    """What was made of a bot's answers: the move's text, what was wrong, and its own expected value.

    `complaints` name what was dropped and why. `value` is from 0 to 1, None where the bot gave none, and
    `value_before` the same of the position before its move.
    """

    text: str
    complaints: tuple[str, ...] = ()
    value: float | None = None
    value_before: float | None = None


class LineDialogue(Protocol[View]):
    """The words of one game; a view is what a seat may see of a position."""

    def greeting(self, seat: int, time: BotTime) -> Sequence[str]:
        """Lines that a bot is sent when it has started. No answer is waited for."""

    def preparation(self, view: View, seat: int) -> Sequence[Prompt]:
        """Prompts before the first turn, whose answers change nothing."""
        return ()

    def turn(self, view: View, seat: int) -> Sequence[Prompt]:
        """Prompts of one turn."""

    def kind_of(self, line: str) -> str | None:
        """The kind of prompt that a bot's line answers; empty where it is not known, None for no kind."""
        return ""

    def read(self, answers: Sequence[Sequence[str]], seat: int) -> Reading:
        """Read the answers to a turn's prompts; what cannot be read is dropped and complained of."""

    def passing(self) -> str:
        """The move of a bot that does not answer."""

    def refusals(self, view: View, seat: int) -> Sequence[str]:
        """What the seat's orders of the turn before did not do, and why."""
        return ()

    def farewell(self) -> Sequence[str]:
        """Lines that ask a bot to exit. Without any it is ended."""
        return ()


class PolicyGame(Protocol):
    """One game as policies see it, which follows what is played."""

    def is_at(self, view: Any) -> bool:
        """Whether this is the position that the game has reached."""

    def to_move(self) -> tuple[int, ...]:
        """The seats to move."""

    def follow(self, moves: Mapping[int, Any]) -> None:
        """Play the moves of the seats that were to move."""

    def follow_texts(self, moves: Mapping[int, str]) -> None:
        """As `follow`, with moves as text."""

    def frame(self) -> Mapping[str, object]:
        """What a policy is shown of the position, to be written as JSON."""

    def read(self, seat: int, actions: Sequence[int]) -> Reading:
        """The move that a policy's actions are; those that are illegal are dropped and complained of."""


class PolicyDialogue(Protocol):
    """A game that policies play.

    `host` is the program, a file or a folder, that the policy's own Python runs: it makes the policy, shows
    it the frames and answers with its actions. See `arena.players.policy` for its lines of JSON.
    """

    host: Path

    def begin(self, view: Any) -> PolicyGame:
        """A game that begins with this position."""

    def slot(self, seat: int) -> int:
        """What policies call a seat."""

    def passing(self) -> str:
        """The move of a policy that gives none."""
