"""What the arena asks of a player, over any protocol, and how players fail."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, ClassVar, NamedTuple, TypeVar

from arena.jobs import Fault, PlayerSetup
from arena.players.clock import Clock
from arena.players.logs import Transcript
from referees.api import IllegalMoveError, Outcome, Referee, UnreadableMoveError


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


class LobbyGoneError(PlayerError):
    """The arena's own lobby has ended, so that its players cannot be asked: none of them is at fault."""

    fault = Fault.NONE


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
    """The player refused what it was asked; `answer` is its text."""

    fault = Fault.REFUSED

    def __init__(self, message: str, answer: str) -> None:
        super().__init__(message)
        self.answer = answer


class MoveDisputedError(PlayerError):
    """The player refuses a move of another seat, `mover`, as illegal; the referee has accepted that move."""

    fault = Fault.DISPUTED_MOVE

    def __init__(self, message: str, mover: int) -> None:
        super().__init__(message)
        self.mover = mover


class InvalidPlayerParametersError(ValueError):
    """Parameters in a player's setup that its protocol does not have or accept."""


def check_known(parameters: Iterable[str], known: Iterable[str], owner: str) -> None:
    """Do nothing where all parameters are known to their owner. Raises InvalidPlayerParametersError."""
    if unknown := sorted(set(parameters) - set(known)):
        listed = ", ".join(known) or "none"
        raise InvalidPlayerParametersError(
            f"{unknown[0]!r} is not a parameter of {owner}; there are {listed}"
        )


Parameters = TypeVar("Parameters")


def read_parameters(kind: Callable[..., Parameters], parameters: Mapping[str, Any], owner: str) -> Parameters:
    """A player's parameters of a kind, whose values the control file's schema has checked.

    Raises InvalidPlayerParametersError.
    """
    check_known(parameters, signature(kind).parameters, owner)
    return kind(**parameters)


def module_and_factory(command: Sequence[str]) -> tuple[str, str]:
    """The two names in a command `module:factory`. Raises InvalidPlayerParametersError."""
    module, _, factory = command[0].partition(":") if len(command) == 1 else ("", "", "")
    if not module or not factory:
        raise InvalidPlayerParametersError(f"the command {list(command)} must be one 'module:factory'")
    return module, factory


class WarningList:
    """The first warnings of a player that did not stop the game, each cut, and the number of the rest."""

    def __init__(self, most: int = 50, longest: int = 300) -> None:
        self._most, self._longest = most, longest
        self._warnings: list[str] = []
        self._dropped = 0

    def add(self, warning: str) -> None:
        """Note a warning, or count it where there are too many."""
        if len(self._warnings) < self._most:
            self._warnings.append(warning[: self._longest])
        else:
            self._dropped += 1

    def lines(self) -> list[str]:
        """The warnings, and how many more there were."""
        return [*self._warnings, *([f"{self._dropped} more such warnings"] if self._dropped else [])]


@dataclass(frozen=True)
class Seating:
    """A seat of one game, and who takes it. `label` is how logs and transcripts call the player.

    `seed` is the seat's own, for the player's chance: never the game's. `first_view` is what the seat may
    see of the first position, before anybody arranges it. `environment` is what programs know of the game;
    `log_path` the file for their standard error (None: this process's own). `clock` shows the player's
    time before each of its moves; None where it has `move_seconds` for each. `settings` are the game's,
    `players` the labels of all seats.
    """

    setup: PlayerSetup
    seat: int
    label: str
    referee: Referee[Any, Any]
    game_id: str
    seed: int
    environment: Mapping[str, str] = field(default_factory=dict)
    log_path: str | None = None
    transcript: Transcript | None = None
    clock: Clock | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    players: tuple[str, ...] = ()
    first_view: Any = None

    @property
    def move_seconds(self) -> float:
        """How long the player may take for its next move."""
        return self.setup.move_seconds if self.clock is None else self.clock.limit

    def late(self, what: str) -> str:
        """The message about a player that is late, with what its clock showed."""
        return what if self.clock is None else f"{what} ({self.clock.description})"

    @property
    def command(self) -> tuple[str, ...]:
        """The program's words; `{seed}` in them stands for this seat's seed, a number below 2^31."""
        return tuple(word.replace("{seed}", str(self.seed % 2**31)) for word in self.setup.command)


class Choice(NamedTuple):
    """What a player answered when it was its move: a move's text, or that it resigns or claims the game.

    `seconds` is how long it took; `value` the player's own expected value (0 to 1) of the position
    after the move, and `value_before` of the position before it, None where it gave none; `comment` what it
    says of the move. `missed` is what kept the player from answering in full: the move is then made for it,
    as for one that is gone, but it is asked again.
    """

    text: str
    resigns: bool = False
    seconds: float = 0.0
    value: float | None = None
    comment: str = ""
    claims: bool = False
    missed: PlayerError | None = None
    value_before: float | None = None


@dataclass(frozen=True)
class Disorder:
    """The first civil disorder of a player that is not gone at once: its cause, and the turns over then."""

    cause: PlayerError
    turns: int


@dataclass(frozen=True)
class Cost:
    """What a player used, None where unknown; `killed` is whether its process did not exit by itself."""

    cpu_seconds: float | None = None
    peak_memory_bytes: int | None = None
    killed: bool = False


class Player(ABC):
    """A player in its seat, for one game.

    The calls come in the order in which they stand here: `start`, `set_up`, one of `arrange` and
    `arranged` where a seat arranges the first position, then `take_opening`, `choose` and `take_moves` as
    the game goes, `score` where it is counted, `ended`, `close`; after a failure only `ended` and `close`
    are left. In a check `rehearse` and `close` follow `set_up`. All but `close` raise PlayerError, and
    none waits longer than the setup's time limits.

    `name` and `description` are what the player calls itself, known after `set_up`; `warnings` are
    oddities that did not stop the game, `disorder` is the first failure that did not end its part in it.
    `faulty` is set when the player has failed, so that nothing of it is used for another game.
    """

    def __init__(self, seating: Seating) -> None:
        self.seating = seating
        self.name = ""
        self.description = ""
        self.faulty = False
        self.warnings: list[str] = []
        self.disorder: Disorder | None = None

    @abstractmethod
    def start(self) -> None:
        """Launch the player, without waiting until it is ready."""

    @abstractmethod
    def set_up(self) -> None:
        """Bring the player to the beginning of the game."""

    def rehearse(self, position: Any, view: Any) -> None:  # noqa: B027 - some have shown in `set_up` that they work
        """Show, in a check instead of a game, that the player can move.

        `position` is the first one, by which its move is judged, and `view` what the player may see of it.

        Raises PlayerError where it cannot.
        """

    def _check_first_move(self, position: Any, choice: Choice) -> None:
        """Have the referee judge it as in a game: a view may hide what it needs. Raises NoMoveError."""
        referee, seat = self.seating.referee, self.seating.seat
        try:
            referee.check(position, seat, referee.read_move(position, seat, choice.text))
        except (UnreadableMoveError, IllegalMoveError) as error:
            raise NoMoveError(
                f"player {self.seating.label}: its first move {choice.text[:80]!r}: {error}"
            ) from error

    def without_academy(self) -> str:
        """Why the player cannot hear of its contests at ACADEMY, empty where it can; after `set_up`."""
        return ""

    @property
    def record_name(self) -> str:
        """What the game's record calls the player."""
        return self.seating.setup.name

    def arrange(self) -> str | None:
        """The first position as this player wants it, or None to leave that to the referee."""
        return None

    def arranged(self, view: Any) -> None:  # noqa: B027 - most players have nothing to do
        """Show the first position, as the seat sees it, which this player did not arrange."""

    def take_opening(self, moves: Mapping[int, Any], view: Any) -> None:
        """Show moves that were made for the players, as in an opening, this player's own among them."""
        self.take_moves(moves, view)

    @abstractmethod
    def choose(self, view: Any) -> Choice:
        """Ask for the seat's move; `view` is what the seat may see of the position."""

    @abstractmethod
    def take_moves(self, moves: Mapping[int, Any], view: Any) -> None:
        """Show the moves just made, by seat, and what the seat sees of the position after them.

        In games with hidden information a player may learn nothing but the view. Raises
        MoveDisputedError where the player refuses another's move as illegal.
        """

    def can_score(self) -> bool:
        """Whether the player, once set up, would count a finished game."""
        return False

    def score(self) -> Outcome | None:
        """How the player counts the finished game; None where it does not."""
        return None

    def ended(self, outcome: Outcome | None, void_reason: str) -> None:  # noqa: B027 - as above
        """Report how the game ended; without an outcome it is void for a reason."""

    @abstractmethod
    def close(self, *, at_once: bool = False) -> Cost:
        """End the player, politely unless `at_once`. Nothing of it is left afterwards. Never raises."""
