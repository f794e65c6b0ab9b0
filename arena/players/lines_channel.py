"""A bot's two pipes, spoken to in prompts and answers of plain lines."""

from collections.abc import Sequence
from typing import Final

from arena.players.failures import Disconnected, Late
from arena.players.process import ChildProcess
from arena.players.transcript import Transcript
from referees.lines import Prompt

MAX_ANSWER_LINES: Final = 5000
MAX_ORDER_CHARACTERS: Final = 1000


class Clogged(Disconnected):
    """The bot does not take what it is sent: it has part of a line, and cannot be followed any more."""


class LinesChannel:
    """What is said to a bot and by it.

    After a late answer the bot still owes it: when it comes it is skipped, so that later answers are
    not taken for each other. An answer of many lines is cut, and each of its lines; `dropped_lines` counts
    those that were dropped.
    """

    def __init__(self, process: ChildProcess, label: str, transcript: Transcript | None) -> None:
        self._process = process
        self._label = label
        self._transcript = transcript
        self._owed = 0
        self.dropped_lines = 0

    def send(self, lines: Sequence[str], deadline: float) -> None:
        """Send lines; `deadline` is a time of time.monotonic(). Raises Disconnected."""
        if not lines:
            return
        if self._transcript is not None:
            for line in lines:
                self._transcript.told(self._label, line)
        try:
            self._process.write_line("\n".join(lines).encode(), deadline)
        except Late:
            raise Clogged("does not read what it is sent") from None

    def ask(self, prompt: Prompt, milliseconds: int, deadline: float) -> list[str]:
        """Send a prompt and return the lines of the answer. Raises Late and Disconnected."""
        if prompt.last_line is None:
            self._process.skip_lines()
        self.send(prompt.lines(milliseconds), deadline)
        try:
            return (
                self._line(deadline) if prompt.last_line is None else self._lines(prompt.last_line, deadline)
            )
        except Late:
            if prompt.last_line is not None:
                self._owed += 1
            raise

    def _line(self, deadline: float) -> list[str]:
        while not (line := self._read(deadline)).strip():
            pass
        self._note(line)
        return [line]

    def _lines(self, last_line: str, deadline: float) -> list[str]:
        found: list[str] = []
        while True:
            line = self._read(deadline)[:MAX_ORDER_CHARACTERS]
            ends = line.strip() == last_line
            if ends or len(found) < MAX_ANSWER_LINES:
                self._note(line)
                found.append(line)
            else:
                self.dropped_lines += 1
            if ends and not self._owed:
                return found[:-1]
            if ends:
                self._owed -= 1
                found = []

    def _note(self, line: str) -> None:
        if self._transcript is not None:
            self._transcript.said(self._label, line)

    def _read(self, deadline: float) -> str:
        read = self._process.read_cut_line(deadline)
        if read is None:
            raise Disconnected(self._process.obituary())
        return read.decode(errors="replace").rstrip("\r")
