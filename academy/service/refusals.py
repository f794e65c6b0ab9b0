"""What the service itself refuses, beside what the rules and the store refuse.

Public attributes of a refusal are the numbers its caller is told.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from academy.knowledge.boards import InvalidBoardError
from academy.knowledge.patterns import InvalidPatternError
from academy.knowledge.settings import InvalidSettingsError
from academy.knowledge.spec import InvalidGameError
from academy.knowledge.votes import InvalidVoteError


class NotAuthenticatedError(PermissionError):
    """No token, or none that is known and valid; `reason` says which, never what the token was."""

    def __init__(self, reason: str, what: str) -> None:
        super().__init__(what)
        self.reason = reason


class NotPermittedError(PermissionError):
    """The caller is known, and may not do this."""

    def __init__(self, what: str, **numbers: str | int) -> None:
        super().__init__(what)
        vars(self).update(numbers)


class InvalidFieldError(ValueError):
    """A field of a request that breaks a rule. `field` is its path, `numbers` the value and the bounds."""

    def __init__(self, field: str, what: str, **numbers: float | str) -> None:
        super().__init__(f"{field}: {what}")
        self.field = field
        vars(self).update(numbers)


class MalformedMessageError(ValueError):
    """Bytes that are no message of the kind the method takes."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}; send the message that academy.v1 has for this method")


class StalePageTokenError(ValueError):
    """A page token that does not belong to this request, or to the state the listing has now."""


class UnknownOpeningError(LookupError):
    """A list of moves that the opening tree does not hold."""

    def __init__(self, moves: int, known: int) -> None:
        super().__init__(f"the opening tree holds only the first {known} of these {moves} moves")
        self.moves = moves
        self.known = known


class RateExceededError(RuntimeError):
    """A caller asks faster than the limit; `retry_after` is in seconds."""

    def __init__(self, per_second: float, burst: float, retry_after: float) -> None:
        super().__init__(
            f"more than {per_second:g} questions a second (and {burst:g} at once): "
            f"ask again in {retry_after:.3f} seconds"
        )
        self.questions_per_second = per_second
        self.question_burst = burst
        self.retry_after = retry_after


class TooManyCallsError(RuntimeError):
    """More calls at once than the limit; `retry_after` is in seconds."""

    def __init__(self, what: str, limit: int, retry_after: float) -> None:
        super().__init__(f"{what}: at most {limit} at once; finish some, then ask again")
        self.limit = limit
        self.retry_after = retry_after


class StreamIdleError(TimeoutError):
    """A stream on which nothing was asked for too long, or that has lasted for long enough."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(f"{what} for {seconds:g} seconds: the stream is closed; open another when needed")
        self.seconds = seconds


class MessageOverdueError(TimeoutError):
    """A call whose message did not come in time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the call's message did not come in {seconds:g} seconds: call again, and send it")
        self.seconds = seconds


class AnswerNotReadError(TimeoutError):
    """An answer that was on its way for too long, so that no status can reach its caller either."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"nothing was read for {seconds:g} seconds: the call is reset")
        self.seconds = seconds


class ServerDrainingError(RuntimeError):
    """The server is about to stop and takes no more questions."""

    def __init__(self) -> None:
        super().__init__("the server is about to stop: ask again in a moment, it or another will answer")


class AnswerTooLargeError(RuntimeError):
    """An answer that no message could hold; `size` and `limit` are in bytes."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"the answer has {size:,} bytes, a message at most {limit:,}: ask for fewer positions, "
            "fewer matches, or without cells"
        )
        self.size = size
        self.limit = limit


class AnalysisDuringContestError(RuntimeError):
    """A player asks outside a contest about a game in which they are playing one."""

    def __init__(self, player: str, game_id: str, contest_id: str) -> None:
        super().__init__(
            f"{player!r} is playing contest {contest_id!r} of game {game_id!r}: until it is reported, "
            "ask with its contest_id and under fair use"
        )
        self.game_id = game_id
        self.contest_id = contest_id


@contextmanager
def about(field: str) -> Iterator[None]:
    """Say which field of the request an invalid value stood in."""
    try:
        yield
    except (
        InvalidBoardError,
        InvalidPatternError,
        InvalidVoteError,
        InvalidSettingsError,
        InvalidGameError,
    ) as error:
        raise InvalidFieldError(field, str(error)) from error


def require(holds: bool, field: str, what: str, **numbers: float | str) -> None:
    """Raise InvalidFieldError unless a rule holds."""
    if not holds:
        raise InvalidFieldError(field, what, **numbers)
