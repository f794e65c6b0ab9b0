"""The loop of a competition: select, play, record, rate, report to ACADEMY.

A game's way: its attempt is stored, then its contest is opened at ACADEMY, then it is played. Its
result is stored with ratings and report in one transaction; the reporter delivers the report. So
after any crash the database tells which attempts were broken off; ACADEMY hears that they are void,
and the games are played again under the same id, as another attempt with a contest id of its own.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Final

from academy.v1 import contests_pb2
from arena.academy_link import contest_message, contest_report, fitted, may_pass, void_report
from arena.academy_session import AcademySession
from arena.competition_files import CompetitionFiles
from arena.control.settings import Control
from arena.display import Display, Progress
from arena.event_log import EventLog
from arena.interruption import Interrupted
from arena.jobs import AcademyAccess, GameJob, GameResult
from arena.reporter import Reporter
from arena.results.games import FinishedGame
from arena.results.series import Attempt, Series, StoredRecord
from arena.results.standings import Standings
from arena.selection.selector import CompletedGame, Fixture, Selector
from arena.selection.voids import VoidRules, VoidVerdict
from arena.workers.interface import WorkerLost, Workers
from clients.connection import AcademyRefusal, AcademyUnavailable

TICK_SECONDS: Final = 0.25
OPENING_PAUSE_SECONDS: Final = 1.0
OPENING_GIVE_UP_SECONDS: Final = 120.0
DELIVERY_SECONDS: Final = 60.0


class RunEnd(Enum):
    """Why a run ended. In all cases the games in progress were played to their end."""

    COMPLETED = "all games have been played"
    GAME_LIMIT = "the run's limit of games is reached"
    STOPPED = "it was asked to stop"
    HALTED = "there were too many void games"


@dataclass(frozen=True)
class _Running:
    fixture: Fixture
    attempt: Attempt
    contest: contests_pb2.Contest | None
    started: float


class Competition:
    """One run of a competition.

    Whoever makes it holds the competition's lock and closes what it is given.
    """

    def __init__(
        self,
        control: Control,
        files: CompetitionFiles,
        series: Series,
        selector: Selector,
        workers: Workers,
        session: AcademySession | None,
        display: Display,
        log: EventLog,
        *,
        log_protocol: bool = False,
        check_interruption: Callable[[], None] = lambda: None,
    ) -> None:
        self._control = control
        self._files = files
        self._series = series
        self._selector = selector
        self._workers = workers
        self._session = session
        self._reporter = None if session is None else Reporter(series.outbox, session)
        self._display = display
        self._log = log
        self._log_protocol = log_protocol
        self._check_interruption = check_interruption
        self._voids = VoidRules(selector.void_policy)
        self._retries: deque[Fixture] = deque()
        self._running: dict[str, _Running] = {}
        self._started_games = 0
        self._end: RunEnd | None = None
        # A game that could not be opened at ACADEMY: since when, and when to try again.
        self._unopened: _Running | None = None
        self._open_again = 0.0
        self._restore()

    @property
    def standings(self) -> Standings:
        """The table as it is now."""
        return self._standings

    def run(self, max_games: int | None = None) -> RunEnd:
        """Play until the competition is complete or stopped, starting at most `max_games` games.

        Raises Interrupted when `check_interruption` does; AcademyUnavailable when no contest could
        be opened for two minutes; AcademyRefusal, EmbeddedFailure and SQLAlchemyError.
        """
        self._log.add("run started", max_games=max_games, parallel=self._workers.size)
        if self._reporter is not None:
            self._reporter.start()
        try:
            while True:
                self._tend()
                self._start_games(max_games)
                self._show()
                if not self._running and (self._unopened is None or self._end is not None):
                    break
                result = self._workers.next_result(TICK_SECONDS if self._running else 0)
                if result is not None:
                    self._take(result)
                elif not self._running:
                    time.sleep(TICK_SECONDS)
            self._give_up_open_attempts("the run stopped before it began")
            end = self._end or RunEnd.COMPLETED
            if end is RunEnd.COMPLETED:
                self._series.complete()
            self._await_delivery()
        except BaseException as error:
            self._break_off(error)
            raise
        finally:
            if self._reporter is not None:
                self._reporter.stop()
        self._log.add("run finished", why=end.value)
        return end

    # Before and after

    def _restore(self) -> None:
        """Take up what earlier runs left: their games, their unfinished attempts, their missing files."""
        games = list(self._series.finished_games())
        self._standings = Standings(self._control.competitors, self._control.elo, games)
        for game in games:
            self._selector.completed(CompletedGame(game.game_id, game.matchup, game.players, game.outcome))
        self._files.rewrite_history(games)
        if self._control.record_games:
            for record in self._series.records():
                if record.content and not self._files.has_record(record):
                    self._files.write_record(record)
        self._give_up_open_attempts("the run that played it ended")
        self._files.forget_stop()

    def _give_up_open_attempts(self, reason: str) -> None:
        for known in self._series.open_attempts():
            report = None
            if known.contest is not None:
                report = void_report(contests_pb2.Contest.FromString(known.contest), "interrupted")
            running = self._running.get(known.attempt.game_id)
            seconds = 0.0 if running is None else time.time() - running.started
            self._series.give_up(
                known.attempt,
                "interrupted",
                reason,
                seconds,
                None if report is None else report.SerializeToString(),
            )
            self._log.add("attempt broken off", game=known.attempt.game_id, reason=reason)

    def _break_off(self, error: BaseException) -> None:
        self._workers.stop()
        reason = "the run was interrupted" if isinstance(error, Interrupted) else f"the run failed: {error}"
        self._log.add("run broken off", why=reason, in_progress=" ".join(self._running) or "nothing")
        self._give_up_open_attempts(reason)

    def _await_delivery(self) -> None:
        """Give ACADEMY a while to take the last reports."""
        if self._reporter is None:
            return
        self._reporter.hurry()
        deadline = time.monotonic() + DELIVERY_SECONDS
        while (waiting := self._reporter.waiting()) and time.monotonic() < deadline:
            self._tend()
            self._show(note=f"waiting for ACADEMY to take {waiting} reports")
            time.sleep(0.05)
        if waiting:
            self._warn(f"{waiting} reports to ACADEMY are still undelivered; the next run sends them")

    # While games go on

    def _tend(self) -> None:
        self._check_interruption()
        if self._end is None and self._files.stop_requested():
            self._files.forget_stop()
            self._stop(RunEnd.STOPPED)
        if self._session is None or self._reporter is None:
            return
        while not self._reporter.warnings.empty():
            self._warn(self._reporter.warnings.get())
        if self._session.tend():
            self._warn("the embedded ACADEMY had ended and was started again")
            self._reporter.wake()

    def _stop(self, end: RunEnd) -> None:
        self._end = end
        self._log.add("no more games are started", why=end.value)

    def _start_games(self, max_games: int | None) -> None:
        while self._end is None and len(self._running) < self._workers.size:
            if self._unopened is None:
                if max_games is not None and self._started_games >= max_games:
                    self._stop(RunEnd.GAME_LIMIT)
                    return
                fixture = self._retries.popleft() if self._retries else self._selector.next_game()
                if fixture is None:
                    return
                self._unopened = self._begin(fixture)
            if not self._open(self._unopened):
                return
            self._unopened = None

    def _begin(self, fixture: Fixture) -> _Running:
        attempt = self._series.next_attempt(fixture.game_id)
        contest = None
        if self._session is not None:
            elo = [self._standings.elo(name) for name in fixture.players]
            contest = contest_message(attempt.contest_id, self._session.spec, fixture.players, elo)
        self._series.begin(
            attempt,
            None if contest is None else contest.SerializeToString(),
            fixture.matchup,
            [self._control.players[name] for name in fixture.players],
        )
        self._started_games += 1
        return _Running(fixture, attempt, contest, time.time())

    def _open(self, game: _Running) -> bool:
        """Open the game's contest and hand the game to the workers; False if that must be tried later."""
        access = None
        if self._session is not None and game.contest is not None:
            if time.monotonic() < self._open_again:
                return False
            try:
                tickets = self._session.link.open_contest(game.contest)
            except (AcademyUnavailable, AcademyRefusal) as error:
                if not may_pass(error) or time.time() - game.started > OPENING_GIVE_UP_SECONDS:
                    raise
                self._warn(f"{error}; trying again")
                self._open_again = time.monotonic() + OPENING_PAUSE_SECONDS
                return False
            where = self._session.link.connection
            tls_ca = None if where.ca is None else str(Path(where.ca).resolve())
            access = AcademyAccess(where.address, game.attempt.contest_id, tickets, tls_ca)
        fixture, control = game.fixture, self._control
        self._running[fixture.game_id] = game
        self._log.add(
            "game started", game=fixture.game_id, players=" vs ".join(fixture.players), seed=fixture.seed
        )
        self._workers.submit(
            GameJob(
                game_id=fixture.game_id,
                game=control.game.name,
                settings=control.game.settings,
                players=tuple(control.players[name] for name in fixture.players),
                seed=fixture.seed,
                move_limit=control.game.move_limit,
                scorer=control.game.scorer,
                academy=access,
                log_path=str(self._files.log),
                transcript=self._transcript(fixture.game_id),
                event=self._files.name,
            )
        )
        return True

    def _transcript(self, game_id: str) -> str | None:
        if not self._log_protocol:
            return None
        self._files.protocol.mkdir(exist_ok=True)
        return str(self._files.protocol / f"{game_id}.log")

    def _take(self, result: GameResult | WorkerLost) -> None:
        game = self._running[result.game_id]
        if isinstance(result, GameResult) and result.outcome is not None:
            self._finish(game, result)
        else:
            self._void(game, result)
        del self._running[result.game_id]
        if self._reporter is not None:
            self._reporter.wake()

    def _finish(self, game: _Running, result: GameResult) -> None:
        assert result.outcome is not None
        fixture = game.fixture
        before = tuple(self._standings.elo(name) for name in fixture.players)
        after = self._control.elo.rate(fixture.players, before, result.outcome.winners)
        report = None
        if self._session is not None and game.contest is not None:
            message = (
                contest_report(game.contest, result)
                if self._session.update
                else void_report(game.contest, "not to be learnt from")
            )
            message, shortened = fitted(message)
            if shortened:
                self._warn(f"game {result.game_id}: its report {shortened}")
            report = message.SerializeToString()
        self._series.finish(
            game.attempt, fixture.matchup, fixture.seed, fixture.players, result, before, after, report
        )
        finished = FinishedGame(
            fixture.game_id,
            fixture.matchup,
            fixture.players,
            result.outcome,
            tuple(usage.cpu_seconds for usage in result.usage),
            before,
            after,
        )
        self._standings.add(finished)
        self._selector.completed(
            CompletedGame(fixture.game_id, fixture.matchup, fixture.players, result.outcome, fixture.detail)
        )
        self._voids.completed(fixture.matchup)
        if self._control.record_games and result.record:
            self._files.write_record(StoredRecord(result.game_id, result.record, result.record_extension))
        self._files.add_to_history(finished)
        self._log.add("game finished", game=result.game_id, result=finished.describe())
        self._display.result(f"game {result.game_id}: {finished.describe()}")
        for warning in result.warnings:
            self._warn(f"game {result.game_id}: {warning}")

    def _void(self, game: _Running, result: GameResult | WorkerLost) -> None:
        reason = result.reason if isinstance(result, WorkerLost) else result.void_reason
        report = None
        if game.contest is not None:
            report = void_report(game.contest, "void").SerializeToString()
        self._series.give_up(game.attempt, "void", reason, time.time() - game.started, report)
        if isinstance(result, GameResult) and result.record and self._control.record_games:
            record = StoredRecord(result.game_id, result.record, result.record_extension)
            self._files.write_record(record, void=True)
        self._warn(f"game {result.game_id} is void: {reason}")
        match self._voids.void(game.fixture.matchup, game.fixture.game_id):
            case VoidVerdict.RETRY:
                self._retries.append(game.fixture)
            case VoidVerdict.DROP:
                self._selector.dropped(game.fixture)
            case VoidVerdict.HALT if self._end is not RunEnd.HALTED:
                self._stop(RunEnd.HALTED)

    def _warn(self, text: str) -> None:
        self._log.add("warning", text=text)
        self._display.warning(text)

    def _show(self, note: str = "") -> None:
        if not note and self._end is not None and self._running:
            note = f"waiting for games in progress, then stopping: {self._end.value}"
        self._display.show(
            Progress(
                title=self._files.name,
                standings=self._standings,
                in_progress=tuple(self._running),
                total=self._selector.total,
                waiting_reports=0 if self._reporter is None else self._reporter.waiting(),
                note=note,
            )
        )
