"""How players fail. What a failure means for the game is `arena.match.game`'s business."""

from typing import ClassVar

from arena.jobs import Fault


class PlayerError(RuntimeError):
    """A player did not do what its game needs. The message says what; `fault` of which kind it is.

    `passing` is whether the player was seen to work, so that the next game may well have it.
    """

    fault: ClassVar[Fault]
    passing: ClassVar[bool] = False


class PlayerStartError(PlayerError):
    """The player's program could not be run, or its setup makes no sense."""

    fault = Fault.DISCONNECTED


class PlayerDisconnectedError(PlayerError):
    """The player ended, crashed or closed its side of the channel."""

    fault = Fault.DISCONNECTED


class PlayerTimeoutError(PlayerError):
    """The player did not answer within its time limit."""

    fault = Fault.LATE


class TooFewAnswersError(PlayerTimeoutError):
    """A player that dials in with several programs has not all of them there."""

    passing = True


class PlayerLeftError(PlayerDisconnectedError):
    """A player that had dialled in was gone again before the game."""

    passing = True


class GameDeclinedError(PlayerStartError):
    """A player that has dialled in does not want this game."""

    passing = True


class IllFormedAnswerError(PlayerError):
    """What the player sent breaks the rules of its protocol."""

    fault = Fault.PROTOCOL


class NoMoveError(PlayerError):
    """The player answered what no move can be read from."""

    fault = Fault.ILLEGAL_MOVE


class MoveRefusedError(PlayerError):
    """The player answered that it does not do what it was asked; `answer` is what it said."""

    fault = Fault.REFUSED

    def __init__(self, message: str, answer: str = "") -> None:
        super().__init__(message)
        self.answer = answer


class MoveDisputedError(PlayerError):
    """The player refuses a move of another seat, `mover`, as illegal; the referee has accepted that move."""

    fault = Fault.DISPUTED_MOVE

    def __init__(self, message: str, mover: int) -> None:
        super().__init__(message)
        self.mover = mover
