"""Which of a bot's requests a line answers, when answers of one line may be late or left out."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(eq=False)
class Request:
    """What a bot was asked; `answer` has the lines of its answer, None while there is none.

    `kind` is what its answers can be told by, empty where they cannot. To a `formality` any line is an
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
    open request of its kind, and those before it never will be; a line whose kind cannot be told answers the
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
        """Give a line, of a kind if that can be told, to the request it answers; whether there is one.

        `kind` is as `LineDialogue.kind_of` has it.
        """
        if not self._open:
            return False
        at = next((number for number, each in enumerate(self._open) if kind in ("", each.kind)), None)
        if at is None:
            if not self._open[0].formality:
                return False
            at = 0
        found = self._open[at]
        for _ in range(at + 1):
            self._open.popleft()
        found.answer = [line]
        for later in self._open:
            if later.followed and later.kind == found.kind:
                later.answer = [line]
        return True
