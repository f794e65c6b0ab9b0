"""The engine's side of the Go Text Protocol, version 2: reading commands, answering, the loop.

An engine subclasses `GtpProgram` and gives its commands as methods named `gtp_<command>`, which take
the arguments and return the answer. Besides GTP's own there are three commands that the arena knows:
`academy-expected_value` (the engine's own expected value, 0 to 1, after its last move; or two, before and
after it), `gomill-cpu_time`, and `academy-contest`, which gives an engine that plays many games the contest
of each at ACADEMY.
"""

import re
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Self, TextIO, TypeVar
from urllib.parse import unquote

from referees.api import IllegalMoveError, InvalidSettingError, UnreadableMoveError

_Argument = TypeVar("_Argument")

_MOST_SEAT_DIGITS: Final = 4
_UNWANTED: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class GtpError(ValueError):
    """What the engine answers with a failure; the message is the answer."""


@dataclass(frozen=True)
class ContestAccess:
    """The arguments of `academy-contest`: where ACADEMY is, the contest, one's ticket and seat (from 1).

    `tls_ca` is the file of the authority that ACADEMY's certificate is checked by, if it has one.
    """

    address: str
    contest_id: str
    token: str = field(repr=False)
    seat: int
    tls_ca: str | None = None

    @classmethod
    def read(cls, arguments: Sequence[str]) -> Self:
        """Read the arguments, which are percent-encoded where they would have blanks. Raises GtpError."""
        words = [unquote(word) for word in arguments]
        if len(words) not in (4, 5) or not (words[3].isdecimal() and len(words[3]) <= _MOST_SEAT_DIGITS):
            raise GtpError("academy-contest ADDRESS CONTEST TOKEN SEAT [TLS_CA], or nothing, is needed")
        return cls(words[0], words[1], words[2], int(words[3]), words[4] if len(words) == 5 else None)


class GtpProgram:
    """Answers GTP commands until `quit` or the end of input; what a referee refuses with a failure."""

    name = "engine"
    version = "1"

    def __init__(self) -> None:
        self._commands: dict[str, Callable[[Sequence[str]], str]] = {
            # `_` stands for the `-` that a method's name cannot have.
            attribute.removeprefix("gtp_").replace("__", "-"): getattr(self, attribute)
            for attribute in dir(self)
            if attribute.startswith("gtp_")
        }

    def run(self, commands: TextIO | None = None, answers: TextIO | None = None) -> None:
        """Read commands line by line and write an answer to each: by default on standard input and output."""
        # Not as defaults: a program may have replaced them after this was imported.
        commands = sys.stdin if commands is None else commands
        answers = sys.stdout if answers is None else answers
        for line in commands:
            words = _UNWANTED.sub("", line.partition("#")[0]).split()
            if not words:
                continue
            number = words.pop(0) if words[0].isdigit() else ""
            if not words:
                continue
            status, answer = self.answer(words[0], words[1:])
            try:
                answers.write(f"{status}{number} {answer}".rstrip() + "\n\n")
                answers.flush()
            except BrokenPipeError:
                # Nobody reads: that is an end, too. What waits to be written must not fail at Python's.
                with suppress(BrokenPipeError):
                    answers.close()
                return
            if words[0] == "quit":
                return

    def answer(self, command: str, arguments: Sequence[str]) -> tuple[str, str]:
        """Carry out one command; returns `=` or `?`, and the answer."""
        method = self._commands.get(command)
        if method is None:
            return "?", "unknown command"
        try:
            return "=", method(arguments)
        except (GtpError, InvalidSettingError, UnreadableMoveError, IllegalMoveError) as error:
            return "?", str(error)

    @staticmethod
    def argument(arguments: Sequence[str], place: int, read: Callable[[str], _Argument]) -> _Argument:
        """Return the argument of a place, from 0, as `read`, such as `int`, reads it. Raises GtpError."""
        try:
            return read(arguments[place])
        except (IndexError, ValueError):
            raise GtpError("syntax error") from None

    def gtp_protocol_version(self, arguments: Sequence[str]) -> str:
        """The version of GTP spoken."""
        return "2"

    def gtp_name(self, arguments: Sequence[str]) -> str:
        """The engine's name."""
        return self.name

    def gtp_version(self, arguments: Sequence[str]) -> str:
        """The engine's version."""
        return self.version

    def gtp_known_command(self, arguments: Sequence[str]) -> str:
        """Whether a command is known."""
        return "true" if arguments and arguments[0] in self._commands else "false"

    def gtp_list_commands(self, arguments: Sequence[str]) -> str:
        """All commands, one a line."""
        return "\n".join(sorted(self._commands))

    def gtp_quit(self, arguments: Sequence[str]) -> str:
        """End the session."""
        return ""

    def gtp_gomill__cpu_time(self, arguments: Sequence[str]) -> str:
        """CPU seconds used so far."""
        return f"{time.process_time():.3f}"
