"""A bot's two pipes, spoken to in prompts and answers of plain lines."""

from collections import Counter
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Final

from arena.players.failures import Disconnected, Late
from arena.players.open_requests import OpenRequests, Request
from arena.players.process import ChildProcess
from arena.players.transcript import Transcript
from referees.lines import Prompt

MAX_ANSWER_LINES: Final = 5000
MAX_ORDER_CHARACTERS: Final = 1000


class Dropped(Enum):
    """Why lines of a bot were not taken."""

    CUT = f"of an answer the lines after the first {MAX_ANSWER_LINES} were dropped"
    OUTSIDE = "lines outside of a turn were skipped"
    NO_ANSWER = "lines that do not answer what was asked were skipped"

    def told(self, count: int) -> str:
        """The complaint of so many lines."""
        return self.value if self is Dropped.CUT else f"{count} {self.value}"


class Clogged(Disconnected):
    """The bot does not take what it is sent: it has part of a line, and cannot be followed any more."""


class LinesChannel:
    """What is said to a bot and by it; `kind_of` tells kinds of one-line answers, as LineDialogue does.

    After a late answer the bot still owes it: when it comes it is skipped, so that later answers are
    not taken for each other. An answer of many lines is cut, and each of its lines. What comes before a
    prompt and is not owed is skipped, and so are lines that answer nothing that was asked in one line.
    `dropped` counts all these lines.
    """

    def __init__(
        self,
        process: ChildProcess,
        label: str,
        transcript: Transcript | None,
        kind_of: Callable[[str], str | None] = lambda line: "",
    ) -> None:
        self._process = process
        self._label = label
        self._transcript = transcript
        self._kind_of = kind_of
        self._open = OpenRequests()
        self._owed = 0
        self.dropped: Counter[Dropped] = Counter()

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

    def ask(
        self,
        prompt: Prompt,
        milliseconds: int,
        deadline: float,
        *,
        followed: bool = False,
        formality: bool = False,
    ) -> Request:
        """Send a prompt and wait for the answer; `followed` tells that the same turn has another prompt.

        The answer to a `formality` changes nothing, and may be any line.

        The request that is returned has an answer, which may change until the last prompt of the turn
        has its own. Raises Late and Disconnected.
        """
        request = Request(prompt.kind, followed, formality)
        if prompt.last_line is None:
            self._ask_for_line(request, prompt.lines(milliseconds), deadline)
        else:
            self._ask_for_lines(request, prompt.lines(milliseconds), prompt.last_line, deadline)
        return request

    def _ask_for_line(self, request: Request, lines: Sequence[str], deadline: float) -> None:
        for line in self._process.arrived_lines():
            # What has come before this prompt was sent cannot be its answer.
            self._take(_text(line))
        self.send(lines, deadline)
        self._open.add(request)
        while request.answer is None:
            self._take(self._read(deadline))

    def _take(self, line: str) -> None:
        if not line.strip():
            return
        self._note(line)
        outside = not self._open
        if not self._open.answered(line, self._kind_of(line)):
            self.dropped[Dropped.OUTSIDE if outside else Dropped.NO_ANSWER] += 1

    def _ask_for_lines(self, request: Request, lines: Sequence[str], last_line: str, deadline: float) -> None:
        if not self._owed:
            for line in map(_text, self._process.arrived_lines()):
                if line.strip():
                    self._note(line[:MAX_ORDER_CHARACTERS])
                    self.dropped[Dropped.OUTSIDE] += 1
        self.send(lines, deadline)
        self._owed += 1
        while self._owed:
            try:
                request.answer = self._lines(last_line, deadline)
            except Late:
                if request.answer is None:
                    raise
                # A bot left out the last line of an answer: it would owe one for ever.
                self._owed = 1
            self._owed -= 1

    def _lines(self, last_line: str, deadline: float) -> list[str]:
        found: list[str] = []
        while True:
            line = self._read(deadline)[:MAX_ORDER_CHARACTERS]
            ends = line.strip(" \t\r") == last_line
            if ends or len(found) < MAX_ANSWER_LINES:
                self._note(line)
            if ends:
                return found
            if len(found) < MAX_ANSWER_LINES:
                found.append(line)
            else:
                self.dropped[Dropped.CUT] += 1

    def _note(self, line: str) -> None:
        if self._transcript is not None:
            self._transcript.said(self._label, line)

    def _read(self, deadline: float) -> str:
        read = self._process.read_cut_line(deadline)
        if read is None:
            raise Disconnected(self._process.obituary())
        return _text(read)


def _text(line: bytes) -> str:
    return line.decode(errors="replace").rstrip("\r")
