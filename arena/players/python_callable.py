"""Players that are Python callables in this process: for tests, and for opponents that need no engine."""

import importlib
import inspect
import math
import reprlib
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from numbers import Real
from pathlib import Path
from typing import Any, Final, TypeGuard

from arena.players.clock import TimeIsUpError, WorkerStoppedError, alarm
from arena.players.player import (
    Choice,
    Cost,
    NoMoveError,
    Player,
    PlayerDisconnectedError,
    PlayerStartError,
    PlayerTimeoutError,
    Seating,
    check_known,
    module_and_factory,
)
from referees.api import Outcome

Chooser = Callable[[Any], Choice | tuple[str, float] | str | None]
Factory = Callable[..., Chooser]
# What comes from outside while other people's code runs.
_NOT_THE_PLAYERS: Final = (WorkerStoppedError, TimeIsUpError, KeyboardInterrupt)


class PythonPlayer(Player):
    """A player made by the factory that `command=("module:factory",)` names.

    The factory is called with the referee, the seat and the seat's seed and returns the chooser: from
    the seat's view of a position to a move's text, a Choice, or None to resign. Its module is looked for
    in the player's working directory after the places where Python looks anyway. It is trusted code: the time
    limit is looked at only after it has answered, and there is no memory limit.
    """

    def __init__(self, seating: Seating) -> None:
        super().__init__(seating)
        self._module, self._function = module_and_factory(seating.setup.command)
        check_known(seating.setup.parameters, (), "a Python player")
        self._chooser: Chooser | None = None
        self._cpu_seconds = 0.0

    def start(self) -> None:
        """Import the factory and make the chooser."""
        seating = self.seating
        folder = seating.setup.working_directory
        if folder is not None and (folder := str(Path(folder).absolute())) not in sys.path:
            # Last, so that no file beside the control file hides a module of Python or of the arena.
            sys.path.append(folder)
        try:
            factory: Factory = getattr(importlib.import_module(self._module), self._function)
            wanted = "environment" in inspect.signature(factory).parameters
            extra = {"environment": seating.environment} if wanted else {}
            self._chooser = factory(seating.referee, seating.seat, seating.seed, **extra)
            name = getattr(self._chooser, "name", None)
        except _NOT_THE_PLAYERS:
            raise
        except BaseException as error:  # Anything can come out of other people's code.
            raise PlayerStartError(
                f"player {seating.label}: {self._module}:{self._function}: {self._shown(error)}"
            ) from error
        # What is called `name` may be anything: it need not be meant for us.
        self.name = self.description = name if isinstance(name, str) else self._function

    def set_up(self) -> None:
        """Nothing: the factory was given the game."""

    def rehearse(self, position: Any, view: Any) -> None:
        """Ask for a first move: a function that works with other games may not with this one.

        Raises PlayerError for a move that cannot be read or is illegal.
        """
        limit = self.seating.move_seconds
        try:
            with alarm(limit):
                choice = self.choose(view)
        except TimeIsUpError:
            raise PlayerTimeoutError(
                f"player {self.seating.label}: no first move within {limit:.3g} s"
            ) from None
        if not choice.resigns:
            self._check_first_move(position, choice)

    def choose(self, view: Any) -> Choice:
        """Call the chooser."""
        assert self._chooser is not None
        started, started_cpu = time.perf_counter(), time.process_time()
        answer = self._call(self._chooser, view)
        seconds = time.perf_counter() - started
        self._cpu_seconds += time.process_time() - started_cpu
        limit = self.seating.move_seconds
        if seconds > limit:
            what = f"player {self.seating.label}: took {seconds:.3g} s for a move, above {limit:.3g} s"
            raise PlayerTimeoutError(self.seating.late(what))
        return self._read(answer)._replace(seconds=seconds)

    def _read(self, answer: object) -> Choice:
        match answer:
            case None:
                return Choice("resign", resigns=True)
            case str():
                return Choice(answer)
            case Choice(claims=True):
                raise NoMoveError("attempted a claim: a Python player may not claim the game")
            case Choice(text=str(), comment=str(), value=value, value_before=before) if _is_value(
                value
            ) and _is_value(before):
                return answer._replace(
                    value=None if value is None else float(value),
                    value_before=None if before is None else float(before),
                    missed=None,
                )
            case (str() as text, value) if isinstance(answer, tuple) and _is_value(value):
                return Choice(text, value=None if value is None else float(value))
        shown = reprlib.repr(answer)
        raise NoMoveError(
            f"attempted ill-formed move {shown}: a Python player answers with a move's text, the text and a "
            "number, a Choice of texts and a number, or None to resign"
        )

    def take_moves(self, moves: Mapping[int, Any], view: Any) -> None:
        """Show the chooser, if it listens, which seats have moved; their moves may be hidden from it."""
        self._call(getattr(self._chooser, "told", None), tuple(sorted(moves)), view)

    def ended(self, outcome: Outcome | None, void_reason: str) -> None:
        """Announce the end of the game to the chooser, if it listens."""
        self._call(getattr(self._chooser, "ended", None))

    def _call(self, function: Callable[..., Any] | None, *arguments: Any) -> Any:
        try:
            return None if function is None else function(*arguments)
        except _NOT_THE_PLAYERS:
            raise
        # Anything can come out of other people's code; `sys.exit` ends a player, not the arena's process.
        except BaseException as error:
            raise PlayerDisconnectedError(
                f"player {self.seating.label}: crashed with {self._shown(error)}"
            ) from error

    def _shown(self, error: BaseException) -> str:
        """What went wrong, and the last line of the player's own module that led there."""
        own = self._module.rpartition(".")[2] + ".py"
        files = [(Path(f.f_code.co_filename).name, n) for f, n in traceback.walk_tb(error.__traceback__)]
        lines = [line for name, line in files if name == own]
        return f"{_words(error)} ({own}, line {lines[-1]})" if lines else _words(error)

    def close(self, *, at_once: bool = False) -> Cost:
        """Forget the chooser."""
        self._chooser = None
        return Cost(cpu_seconds=self._cpu_seconds)


def _words(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:
        text = "its text cannot be shown"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _is_value(value: object) -> TypeGuard[float | None]:
    if value is None:
        return True
    try:
        return isinstance(value, Real) and math.isfinite(value)
    except OverflowError:
        return False
