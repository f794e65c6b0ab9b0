"""What the arena needs to know of a game whose bots write plain lines of text.

Such a bot is a program that reads lines from its standard input and answers on its standard output, in
words that a referee's dialogue has. `Referee.dialogue("lines")` gives the game's own dialogue,
`Referee.dialogue("lines:NAME")` others. A dialogue keeps no game: positions are handed to it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

View = TypeVar("View", contravariant=True)


@dataclass(frozen=True)
class Prompt:
    """Lines for a bot, after which its answer is waited for.

    `lines` makes them, given the milliseconds that the bot's clock shows. With a `last_line` the answer
    is all lines before that one; without, it is one line that is not blank. `kind` is what
    `LineDialogue.kind_of` says of its answers, as far as they can be told.
    """

    lines: Callable[[int], Sequence[str]]
    last_line: str | None = None
    kind: str = ""


@dataclass(frozen=True)
class BotTime:
    """What a bot may be told of its time, in milliseconds: at first, and in addition after each turn."""

    bank: int
    added: int


@dataclass(frozen=True)
class Reading:
    """What was made of a bot's answers: the move's text, what was wrong, and its own expected value.

    `complaints` name what was dropped and why. `value` is from 0 to 1, None where the bot told none, and
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
        """Which kind of prompt a line of a bot answers; empty where that cannot be told, None: no kind."""
        return ""

    def read(self, answers: Sequence[Sequence[str]], seat: int) -> Reading:
        """Read the answers to a turn's prompts; what cannot be read is dropped and complained of."""

    def passing(self) -> str:
        """The move of a bot that does not answer."""

    def refusals(self, view: View, seat: int) -> Sequence[str]:
        """What the seat's orders of the turn before did not do, and why."""
        return ()

    def farewell(self) -> Sequence[str]:
        """Lines that tell a bot to exit. Without any it is ended."""
        return ()
