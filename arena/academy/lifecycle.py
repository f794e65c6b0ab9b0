"""A competition's dealings with ACADEMY: contests opened before games, reports made and delivered after."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from academy.knowledge.spec import GameSpec
from academy.v1 import contests_pb2
from arena.academy.client import contest_message, contest_report, fitted, may_pass, void_report
from arena.academy.contests import ContestNotOpenError, Contests
from arena.academy.delivery import OutboxDelivery
from arena.academy.session import AcademySession
from arena.jobs import AcademyAccess, GameResult
from arena.results.outbox import Outbox
from clients.connection import AcademyRefusedError, AcademyUnavailableError

OPENING_PAUSE_SECONDS: Final = 1.0
OPENING_GIVE_UP_SECONDS: Final = 120.0
DELIVERY_SECONDS: Final = 60.0
_COUNT_SECONDS: Final = 0.5


class ContestLifecycle(Contests):
    """Contests and reports of one run at ACADEMY.

    `warn` takes what people should know. `fair_use` has the competition's own rules, by name.
    """

    def __init__(
        self,
        session: AcademySession,
        outbox: Outbox,
        warn: Callable[[str], None],
        fair_use: Mapping[str, float],
    ) -> None:
        self._session = session
        self._fair_use = fair_use
        self._reporter = OutboxDelivery(outbox, session)
        self._warn = warn
        # When a contest that could not be opened may be tried again.
        self._open_again = 0.0
        # Why contests cannot be opened now, by code and reason.
        self._trouble: tuple[str, str] | None = None
        self._waiting = 0
        self._count_again = 0.0

    def start(self) -> None:
        """Begin to deliver reports."""
        self._reporter.start()

    def stop(self) -> None:
        """Stop delivering; what waits is for the next run."""
        self._reporter.stop()

    def wake(self) -> None:
        """Deliver now: there is a new report."""
        self._reporter.wake()

    def tend(self) -> None:
        """Pass on warnings; restart an embedded server that has ended. Raises EmbeddedAcademyError."""
        while not self._reporter.warnings.empty():
            self._warn(self._reporter.warnings.get())
        if self._session.tend():
            self._warn("the embedded ACADEMY had ended and was started again")
            self._reporter.rouse()

    def waiting(self) -> int:
        """How many reports wait, as of half a second ago at most."""
        if time.monotonic() >= self._count_again:
            self._waiting = self._reporter.waiting()
            self._count_again = time.monotonic() + _COUNT_SECONDS
        return self._waiting

    # Contests

    def contest(
        self, contest_id: str, spec: GameSpec, players: Sequence[str], elo: Sequence[float]
    ) -> bytes | None:
        """The contest as it will be opened: players by seat, with the ratings they begin it with."""
        spec = self._session.called(spec)
        self._session.know(spec)
        return contest_message(contest_id, spec, players, elo, self._fair_use).SerializeToString()

    def open(self, contest: bytes | None, since: float) -> AcademyAccess | None:
        """Open a contest that was made `since` by `time.monotonic`; what its players need to get there.

        Raises ContestNotOpenError; AcademyUnavailableError when it stayed so for two minutes, and
        AcademyRefusedError.
        """
        if contest is None:
            return None
        if time.monotonic() < self._open_again:
            raise ContestNotOpenError
        message = contests_pb2.Contest.FromString(contest)
        try:
            tickets = self._session.link.open_contest(message)
        except (AcademyUnavailableError, AcademyRefusedError) as error:
            if not may_pass(error) or time.monotonic() - since > OPENING_GIVE_UP_SECONDS:
                if error.reason == "LOOSER_RULE":
                    error.add_note(
                        "the game's rules became stricter after this run began: change [fair_use] in the "
                        "control file, and `arena run` goes on where it stopped"
                    )
                elif may_pass(error):
                    error.add_note(
                        "tried for two minutes; when ACADEMY takes it, `arena run` goes on where it stopped"
                    )
                raise
            # Once, however many contests wait, and however often.
            if self._trouble != (error.code, error.reason):
                self._warn(f"{error}; trying again")
            self._trouble = error.code, error.reason
            self._open_again = time.monotonic() + OPENING_PAUSE_SECONDS
            raise ContestNotOpenError from error
        self._trouble = None
        where = self._session.link.connection
        tls_ca = None if where.ca is None else str(Path(where.ca).resolve())
        return AcademyAccess(where.address, message.contest_id, tickets, tls_ca, message.game_id)

    # Reports

    def report(
        self, contest: bytes | None, result: GameResult, elo_after: Sequence[float] = ()
    ) -> bytes | None:
        """The report of a finished game, with its players' new ratings by seat."""
        if contest is None:
            return None
        opened = contests_pb2.Contest.FromString(contest)
        if not self._session.update:
            return void_report(opened, "not to be learnt from").SerializeToString()
        message, shortened = fitted(contest_report(opened, result, elo_after))
        if shortened:
            self._warn(f"game {result.game_id}: its report {shortened}")
        return message.SerializeToString()

    def await_delivery(self, meanwhile: Callable[[str], None]) -> None:
        """Give ACADEMY a minute to take the last reports; `meanwhile` gets what the run waits for."""
        self._reporter.hurry()
        deadline = time.monotonic() + DELIVERY_SECONDS
        while (waiting := self._reporter.waiting()) and time.monotonic() < deadline:
            self.tend()
            meanwhile(f"waiting for ACADEMY to take {_reports(waiting)}")
            time.sleep(0.05)
        if waiting:
            self._warn(f"{_reports(waiting)} to ACADEMY not delivered yet; the next run sends what waits")


def _reports(count: int) -> str:
    return "1 report" if count == 1 else f"{count} reports"
