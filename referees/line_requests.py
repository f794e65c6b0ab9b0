"""Which request a bot's lines answer, even where answers come late or are left out."""

from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar, Final

from referees.dialogues import Prompt

MAX_ANSWER_LINES: Final = 5000
MAX_ORDER_CHARACTERS: Final = 1000


@dataclass(eq=False)
class Request:
    """What a bot was asked; `answer` has the lines of its answer, None before it has come.

    `kind` is the kind of its answers, empty where they have none. To a `formality` any line is an
    answer. When a request is `followed` by
    another of the same turn, its answer may still be corrected until the last of that turn is answered.
    """

    kind: str = ""
    followed: bool = False
    formality: bool = False
    answer: Sequence[str] | None = None


@dataclass
class OpenRequests:
    """The requests that a bot has not answered, the oldest first.

    A bot answers in the order in which it was asked, but late, or not at all. So a line answers the oldest
    open request of its kind, and those before it never will be; a line of unknown kind answers the
    oldest. A line that answers none, such as a remark of the bot, goes to the oldest if that is a formality.
    One case is left open by that: two requests of one kind, and one line. It answers both for the time
    being; a later line of that kind is the newer one's answer, and if there is none the older had none.
    """

    _open: deque[Request] = field(default_factory=deque)

    def __bool__(self) -> bool:
        return bool(self._open)

    def add(self, request: Request) -> None:
        """Note what the bot has just been asked."""
        self._open.append(request)

    def answered(self, line: str, kind: str | None) -> bool:
        """Give a line, of a kind if that is known, to the request it answers; return whether there is one.

        `kind` is as `LineDialogue.kind_of` has it.
        """
        if not self._open:
            return False
        at = next((number for number, waiting in enumerate(self._open) if kind in ("", waiting.kind)), None)
        if at is None:
            if not self._open[0].formality:
                return False
            at = 0
        request = self._open[at]
        for _ in range(at + 1):
            self._open.popleft()
        request.answer = [line]
        for later in self._open:
            if later.followed and later.kind == request.kind:
                later.answer = [line]
        return True


class Dropped(Enum):
    """Why lines of a bot were not taken."""

    CUT = f"of an answer the lines after the first {MAX_ANSWER_LINES} were dropped"
    OUTSIDE = "lines outside of a turn were skipped"
    NO_ANSWER = "lines that do not answer what was asked were skipped"

    def text(self, count: int) -> str:
        """The complaint of `count` lines."""
        return self.value if self is Dropped.CUT else f"{count} {self.value}"


class LineExchange(ABC):
    """The lines to and from a bot; `kind_of` finds the kinds of one-line answers, as LineDialogue does.

    After a late answer the bot still owes it: when it comes it is skipped, so that later answers are
    not taken for each other. Where an answer of many lines has begun and the next prompt has one last line
    before its time is up, the first one was left out, and the bot owes nothing. An answer of many lines is
    cut, and each of its lines. What comes before a prompt and is not owed is skipped, and so are lines that
    answer nothing that was asked in one line. `dropped` counts all these lines.
    """

    late: ClassVar[type[Exception]]
    """What is raised where no line comes in time."""

    def __init__(self, kind_of: Callable[[str], str | None]) -> None:
        self._kind_of = kind_of
        self._open = OpenRequests()
        self._owed = 0
        # Whether lines of an answer have come whose last line has not.
        self._unfinished = False
        self.dropped: Counter[Dropped] = Counter()

    @abstractmethod
    def send(self, lines: Sequence[str], deadline: float) -> None:
        """Send lines; `deadline` is a time of time.monotonic(). Raises an error where the bot is gone."""

    @abstractmethod
    def _arrived_lines(self) -> Sequence[str]:
        """The lines that have come, without waiting."""

    @abstractmethod
    def _read(self, deadline: float) -> str:
        """The next line. Raises `late`, and an error where the bot is gone."""

    @abstractmethod
    def _note(self, line: str) -> None:
        """Keep what the bot wrote, where somebody reads it."""

    def ask(
        self,
        prompt: Prompt,
        milliseconds: int,
        deadline: float,
        *,
        followed: bool = False,
        formality: bool = False,
    ) -> Request:
        """Send a prompt and wait for the answer; `followed` is whether the same turn has another prompt.

        The answer to a `formality` changes nothing, and may be any line.

        The request that is returned has an answer, which may change until the last prompt of the turn
        has its own. Raises `late`, and what `send` raises.
        """
        request = Request(prompt.kind, followed, formality)
        if prompt.last_line is None:
            self._ask_for_line(request, prompt.lines(milliseconds), deadline)
        else:
            self._ask_for_lines(request, prompt.lines(milliseconds), prompt.last_line, deadline)
        return request

    def _ask_for_line(self, request: Request, lines: Sequence[str], deadline: float) -> None:
        for line in self._arrived_lines():
            # What has come before this prompt was sent cannot be its answer.
            self._take(line)
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
        for line in self._arrived_lines():
            # What has come before this prompt was sent cannot be its answer.
            self._skip(line, last_line)
        end_left_out = self._unfinished
        self.send(lines, deadline)
        self._owed += 1
        while self._owed:
            try:
                request.answer = self._lines(last_line, deadline)
            except self.late:
                # The answer that came is that of a turn before, unless that one's last line was left out:
                # then the bot would owe one for ever.
                if request.answer is None or not end_left_out:
                    raise
                self._owed = 1
            self._owed -= 1

    def _skip(self, line: str, last_line: str) -> None:
        if not line.strip():
            return
        self._note(line[:MAX_ORDER_CHARACTERS])
        if not self._owed:
            self.dropped[Dropped.OUTSIDE] += 1
        elif _ends(line, last_line):
            self._owed -= 1
            self._unfinished = False
        else:
            self._unfinished = True

    def _lines(self, last_line: str, deadline: float) -> list[str]:
        lines: list[str] = []
        while True:
            line = self._read(deadline)[:MAX_ORDER_CHARACTERS]
            ends = _ends(line, last_line)
            self._unfinished = not ends
            if ends or len(lines) < MAX_ANSWER_LINES:
                self._note(line)
            if ends:
                return lines
            if len(lines) < MAX_ANSWER_LINES:
                lines.append(line)
            else:
                self.dropped[Dropped.CUT] += 1


def _ends(line: str, last_line: str) -> bool:
    return line.strip(" \t\r") == last_line
