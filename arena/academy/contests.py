"""What a run does for contests at ACADEMY, and how it goes without: then none of this does anything."""

from collections.abc import Callable, Sequence

from academy.knowledge.spec import GameSpec
from arena.jobs import AcademyAccess, GameResult


class ContestNotOpenError(Exception):
    """A contest that could not be opened now; it is worth trying again."""


class Contests:
    """The contests and reports of a run without ACADEMY, whose loop then need not ask whether there is one.

    Contests and reports are passed as the bytes that the results database keeps of them; None stands for
    "no ACADEMY".
    """

    def start(self) -> None:
        """Begin to deliver reports."""

    def stop(self) -> None:
        """Stop delivering; what waits is for the next run."""

    def wake(self) -> None:
        """Deliver now: there is a new report."""

    def tend(self) -> None:
        """Pass on warnings; restart an embedded server that has ended. Raises EmbeddedAcademyError."""

    def waiting(self) -> int:
        """How many reports wait, as of half a second ago at most."""
        return 0

    def contest(
        self, contest_id: str, spec: GameSpec, players: Sequence[str], elo: Sequence[float]
    ) -> bytes | None:
        """The contest as it will be opened: players by seat, with the ratings they begin it with."""
        return None

    def open(self, contest: bytes | None, since: float) -> AcademyAccess | None:
        """Open a contest that was made `since` by `time.monotonic`; what its players need to get there.

        Raises ContestNotOpenError; AcademyUnavailableError when it stayed so for two minutes, and
        AcademyRefusedError.
        """
        return None

    def report(
        self, contest: bytes | None, result: GameResult, elo_after: Sequence[float] = ()
    ) -> bytes | None:
        """The report of a finished game, with its players' new ratings by seat."""
        return None

    def await_delivery(self, meanwhile: Callable[[str], None]) -> None:
        """Give ACADEMY a minute to take the last reports; `meanwhile` gets what the run waits for."""


def void_contest_report(contest: bytes | None, reason: str) -> bytes | None:
    """The report of a contest that led to nothing; also where ACADEMY is not in use any more."""
    if contest is None:
        return None
    # A run without ACADEMY does without gRPC, which takes long to load.
    from academy.v1 import contests_pb2
    from arena.academy.client import void_report

    return void_report(contests_pb2.Contest.FromString(contest), reason).SerializeToString()
