"""The ways in which a run is told from outside to end: Ctrl-X, `arena stop`, and signals."""

from types import TracebackType
from typing import Self

from arena.competition_files import CompetitionFiles
from arena.halt_key import HaltKey
from arena.interruption import Interruption


class StopRequests:
    """Looks for requests while its `with` block lasts. To be entered in the main thread."""

    def __init__(self, files: CompetitionFiles) -> None:
        """Requests to stop that lie about from before are forgotten."""
        self._files = files
        self._key = HaltKey()
        self._interruption = Interruption()
        self._why = ""
        files.forget_stop()

    def look(self) -> str:
        """What asked the run to end when its games in progress are over, or nothing. Never waits.

        Raises Interrupted where the run is to end at once.
        """
        self._interruption.check()
        if not self._why and self._key.pressed():
            self._why = "Ctrl-X received"
        if not self._why and self._files.stop_requested():
            self._files.forget_stop()
            self._why = "`arena stop` received"
        return self._why

    @property
    def key_available(self) -> bool:
        """Whether Ctrl-X would be noticed."""
        return self._key.available

    def __enter__(self) -> Self:
        self._key.__enter__()
        self._interruption.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._interruption.__exit__(kind, error, trace)
        self._key.__exit__(kind, error, trace)
