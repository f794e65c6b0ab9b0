"""Delivers the outbox to ACADEMY while games go on, again and again until it is acknowledged."""

import math
import queue
import random
import threading
import time
from collections import Counter
from contextlib import suppress
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from academy.v1 import contests_pb2
from arena.academy.client import may_pass, misses_game, rejects_identity
from arena.academy.session import AcademySession
from arena.results.database import reason
from arena.results.outbox import DROPPED, Outbox, StoredVerdict, WaitingReport
from clients.connection import AcademyRefusedError, AcademyUnavailableError

FIRST_PAUSE_SECONDS: Final = 0.5
LONGEST_PAUSE_SECONDS: Final = 60.0
MOST_FAILURES: Final = 10
_IDLE_SECONDS: Final = 3600.0


class OutboxDelivery:
    """A thread of its own that sends waiting reports, those tried least often first.

    After a failure it pauses, twice as long each time up to a minute, and as long as ACADEMY asks for.
    Meanwhile it sends new reports, if they may fare better. A report at which ACADEMY itself
    fails is given up after `MOST_FAILURES` times in a run; it waits for as long as it takes for an
    ACADEMY that is away, asks to be asked later, or does not accept the token. What people should
    know of is put into `warnings`.
    """

    def __init__(self, outbox: Outbox, session: AcademySession) -> None:
        self.warnings: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._outbox = outbox
        self._session = session
        self._woken = threading.Event()
        self._roused = threading.Event()
        self._stopping = threading.Event()
        self._pause = FIRST_PAUSE_SECONDS
        self._longest_pause = math.inf
        # When the pause is over; infinity while there is none.
        self._again = math.inf
        # The reports that were tried since the last pause, and whether others would fare no better.
        self._tried: set[int] = set()
        self._held_up = False
        # The seconds of rest that ACADEMY asked for last.
        self._rest = 0.0
        self._last_warning = ""
        # Why reports cannot be delivered now, by code and reason.
        self._trouble: tuple[str, str] | None = None
        self._failures: Counter[int] = Counter()
        self._thread = threading.Thread(target=self._run, name="reporter", daemon=True)

    def start(self) -> None:
        """Begin to deliver."""
        self._thread.start()

    def wake(self) -> None:
        """Deliver what is new."""
        self._woken.set()

    def rouse(self) -> None:
        """Deliver now: there is hope for what is old."""
        self._roused.set()
        self._woken.set()

    def waiting(self) -> int:
        """How many reports still wait."""
        return self._outbox.count_waiting()

    def hurry(self) -> None:
        """Pause for no longer than two seconds from now on: the run is waiting for the rest."""
        self._longest_pause = 2.0
        self.rouse()

    def stop(self) -> None:
        """End the thread after the call it is in. What waits is delivered by the next run."""
        self._stopping.set()
        self._woken.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._woken.clear()
            if self._roused.is_set():
                self._roused.clear()
                self._pause, self._again = FIRST_PAUSE_SECONDS, 0.0
            if time.monotonic() >= self._again:
                self._again, self._held_up = math.inf, False
                self._tried.clear()
            if not self._held_up:
                if self._deliver_all():
                    self._pause, self._again = FIRST_PAUSE_SECONDS, math.inf
                    self._tried.clear()
                elif self._held_up or self._again == math.inf:
                    self._begin_pause()
            self._woken.wait(min(_IDLE_SECONDS, max(0.0, self._again - time.monotonic())))

    def _begin_pause(self) -> None:
        # A little chance keeps many arenas from calling a restarted server all at once.
        seconds = max(self._rest, self._pause * random.uniform(0.8, 1.2))
        self._again = time.monotonic() + min(seconds, self._longest_pause)
        self._pause = min(2 * self._pause, LONGEST_PAUSE_SECONDS)

    def _deliver_all(self) -> bool:
        """Send what waits, each report once between pauses; return whether nothing is left to try again."""
        try:
            while fresh := [
                report for report in self._outbox.waiting() if report.outbox_id not in self._tried
            ]:
                for report in fresh:
                    if self._stopping.is_set():
                        return True
                    self._tried.add(report.outbox_id)
                    if not self._deliver(report):
                        self._held_up = True
                        return False
            return self.waiting() == 0
        except SQLAlchemyError as error:
            self._warn(f"the outbox can't be used: {reason(error)}; trying again")
            self._held_up = True
            return False

    def _deliver(self, report: WaitingReport) -> bool:
        """Send a report and note what became of it; return whether others may be sent right now."""
        self._rest = 0.0
        try:
            request = contests_pb2.ReportContestRequest.FromString(report.report)
            verdicts = self._send(request)
        except AcademyUnavailableError as error:
            self._try_again(report, str(error), (error.code, error.reason))
            return False
        except AcademyRefusedError as refusal:
            if rejects_identity(refusal) or refusal.retry_after is not None:
                self._rest = refusal.retry_after or 0.0
                self._try_again(report, str(refusal), (refusal.code, refusal.reason))
                return False
            if misses_game(refusal) and self._is_of_other_run(request):
                self._try_again(report, str(refusal), (refusal.code, refusal.reason))
                return True
            self._note_failure(report, str(refusal), (refusal.code, refusal.reason), may_pass(refusal))
        except Exception as error:  # What nobody foresaw with one report keeps no other from being sent.
            what = type(error).__name__
            self._note_failure(
                report, f"sending the report of {report.contest_id}: {what}: {error}", (what, "")
            )
        else:
            self._outbox.mark_acknowledged(report, verdicts)
            self._trouble = None
            if self._again == math.inf:
                # A server that takes some reports and then asks for rest is not a server that is away.
                self._pause = FIRST_PAUSE_SECONDS
        return True

    def _send(self, request: contests_pb2.ReportContestRequest) -> list[StoredVerdict]:
        """Report, to an ACADEMY that lost the game too, and ask what became of the proposals.

        Raises AcademyUnavailableError and AcademyRefusedError.
        """
        link = self._session.link
        try:
            answer = link.report(request)
        except AcademyRefusedError as refusal:
            if not misses_game(refusal) or self._is_of_other_run(request):
                raise
            link.register_game(self._session.specs[request.contest.game_id])
            answer = link.report(request)
        return self._verdicts(request.contest, answer)

    def _is_of_other_run(self, request: contests_pb2.ReportContestRequest) -> bool:
        """Whether this run has not begun this game so far: the first that does registers it."""
        return request.contest.game_id not in self._session.specs

    def _verdicts(
        self, contest: contests_pb2.Contest, answer: contests_pb2.ReportContestResponse
    ) -> list[StoredVerdict]:
        """What became of a reported contest's proposals; the counts, where ACADEMY gives only them."""
        if answer.counted and not answer.accepted + answer.dropped:
            return []
        verdicts: list[StoredVerdict] = []
        with suppress(AcademyUnavailableError, AcademyRefusedError):
            verdicts = self._session.link.verdicts(contest)
        counts = {"accepted": answer.accepted, DROPPED: answer.dropped}
        return verdicts or [
            StoredVerdict(0, "", name) for name, count in counts.items() for _ in range(count)
        ]

    def _note_failure(
        self, report: WaitingReport, why: str, trouble: tuple[str, str], again: bool = True
    ) -> None:
        """Count a report's failure, after too many of which it is given up, or at once."""
        self._failures[report.outbox_id] += 1
        if again and self._failures[report.outbox_id] < MOST_FAILURES:
            self._try_again(report, why, trouble)
        else:
            self._outbox.mark_refused(report, why)
            self._trouble = None
            self._warn(f"{why}; this report is given up")

    def _try_again(self, report: WaitingReport, why: str, trouble: tuple[str, str]) -> None:
        self._outbox.mark_failed(report, why)
        # Once, however many reports wait, and however often.
        if self._trouble != trouble:
            self._warn(f"{why}; trying again")
        self._trouble = trouble

    def _warn(self, text: str) -> None:
        if text != self._last_warning:
            self._last_warning = text
            self.warnings.put(text)
