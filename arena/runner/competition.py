"""The loop of a competition: select, play, record, rate, report to ACADEMY.

A game's way: its attempt is stored, then its contest is opened at ACADEMY, then it is played. Its
result is stored with ratings and report in one transaction; the reporter delivers the report. So
after any crash the database shows which attempts were interrupted; ACADEMY hears that they are void,
and the games are played again under the same id with the same players, as another attempt with a
contest id of its own.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Final

from arena.academy.contests import ContestNotOpenError, Contests, void_contest_report
from arena.control import plans
from arena.control.schema import TUNERS
from arena.control.settings import Control, Scope
from arena.jobs import Fault, GameResult, PlayerSetup
from arena.results.games import FinishedGame
from arena.results.series import Attempt, PlannedGame, Series
from arena.results.series_reader import StoredRecord
from arena.runner.event_log import EventLog
from arena.runner.files import CompetitionFiles, history_line
from arena.runner.game_jobs import JobMaker
from arena.runner.resume import give_up_open_attempts, resume_games
from arena.runner.stopping import RunInterruptedError, StopRequests
from arena.runner.void_games import DIALS_IN, VoidGames, forfeit_game, seat_at_fault
from arena.selection.selector import CompletedGame, Fixture, Selector, original_name
from arena.selection.voids import Sequel
from arena.terminal.display import Display
from arena.terminal.progress import GameInProgress, Pace, RunProgress
from arena.workers.interface import WorkerLost, Workers
from referees.api import Termination

if TYPE_CHECKING:
    from arena.academy.session import AcademySession
    from arena.runner.league import LeagueDelivery

TICK_SECONDS: Final = 0.25
# Results that are stored with one wait for the disk.
MOST_TOGETHER: Final = 100
# A player could end its machine's part in the run to undo a game that it loses.
MOST_MACHINES_LOST: Final = 3


class RunEnd(Enum):
    """Why a run ended. In all cases the games in progress were played to their end."""

    COMPLETED = "all games have been played"
    WITHOUT_SOME = "all games have been played but for players or matchups that are left out"
    DECIDED = "the test or tournament is decided"
    GAME_LIMIT = "the run's limit of games is reached"
    STOPPED = "it was asked to stop"
    HALTED = "there were too many void games"
    NO_GAME = "games are missing, but none of them can be played"
    NOBODY_LEFT = "games are missing, and no player is left for them"


@dataclass(frozen=True)
class _Running:
    fixture: Fixture
    attempt: Attempt
    contest: bytes | None
    started: float
    seed: int = 0


@dataclass(frozen=True)
class RunResources:
    """What a run works with; its caller has opened it and closes it.

    `session` is None without ACADEMY, `league` where the competition belongs to none.
    """

    files: CompetitionFiles
    series: Series
    log: EventLog
    stopping: StopRequests
    workers: Workers
    session: "AcademySession | None"
    display: Display
    league: "LeagueDelivery | None" = None


class Competition:
    """One run of a competition, whose caller holds the competition's lock."""

    def __init__(self, control: Control, selector: Selector, jobs: JobMaker, resources: RunResources) -> None:
        self._control = control
        self._selector = selector
        self._jobs = jobs
        self._files = resources.files
        self._series = resources.series
        self._log = resources.log
        self._stopping = resources.stopping
        self._workers = resources.workers
        self._display = resources.display
        self._league = resources.league
        self._academy = self._contests(resources.session)
        # A contest is opened for a game that is stored.
        self._begins_early = resources.session is None and selector.finds_at_once
        self._voids = VoidGames(control, selector)
        self._retries: deque[Fixture] = deque()
        # Games that wait until another game of a player has ended, with the player.
        self._put_off: list[tuple[str, Fixture]] = []
        # By game: how often it was played again in this run since its loser had hung.
        self._hung: Counter[str] = Counter()
        # By game: how often the machine that played it was lost in this run.
        self._machines_lost: Counter[str] = Counter()
        self._running: dict[str, _Running] = {}
        self._started_games = 0
        self._max_games: int | None = None
        self._pace = Pace()
        self._end: RunEnd | None = None
        # What is done when the results that are being taken are stored.
        self._stored: deque[Callable[[], None]] = deque()
        # A game whose contest could not be opened at ACADEMY yet.
        self._unopened: _Running | None = None
        taken_up = resume_games(control, self._files, self._series, selector, self._log)
        self._standings = taken_up.standings
        self._unfinished = deque(taken_up.unfinished)
        for warning in taken_up.warnings:
            self._warn(warning)

    def _contests(self, session: "AcademySession | None") -> Contests:
        if session is None:
            return Contests()
        from arena.academy.lifecycle import ContestLifecycle

        return ContestLifecycle(session, self._series.outbox, self._warn, self._control.fair_use)

    def run(self, max_games: int | None = None) -> RunEnd:
        """Play until the competition is complete or stopped, starting at most `max_games` games.

        Raises RunInterruptedError; AcademyUnavailableError when no contest could be opened for two minutes;
        AcademyRefusedError, EmbeddedAcademyError, SQLAlchemyError, and ResultsError where the results' file
        was taken away.
        """
        self._max_games = max_games
        self._log.add("run started", max_games=max_games, parallel=self._workers.size)
        self._academy.start()
        if self._league is not None:
            self._league.start()
        self._files.clear_live()
        try:
            while True:
                self._tend()
                self._start_games()
                self._show()
                if not self._running and self._nothing_comes():
                    break
                result = self._workers.next_result(TICK_SECONDS if self._running else 0)
                if result is not None:
                    self._take_all(result)
                elif not self._running:
                    time.sleep(TICK_SECONDS)
            give_up_open_attempts(self._series, self._log, "the run stopped before it began")
            end = self._end or self._natural_end()
            if end in (RunEnd.COMPLETED, RunEnd.WITHOUT_SOME, RunEnd.DECIDED):
                self._series.complete()
            self._academy.await_delivery(self._wait_for_delivery)
            self._finish_in_league()
        except BaseException as error:
            self._interrupt(error)
            raise
        finally:
            self._files.delete_live()
            self._academy.stop()
        self._log.add("run finished", why=self._selector.decided or end.value)
        return end

    def renew_players(self, control: Control) -> None:
        """Take over the players of a standing arena, between rounds."""
        self._control = control
        self._jobs.renew_players(control)
        self._standings.follow(control.elo)
        self._log.add("players changed", players=" ".join(control.competitors))

    def _nothing_comes(self) -> bool:
        if self._end is not None:
            return True
        return self._unopened is None and not self._selector.expects_games

    def _natural_end(self) -> RunEnd:
        if self._selector.decided:
            return RunEnd.DECIDED
        if self._selector.finished:
            return RunEnd.WITHOUT_SOME if self._selector.excluded else RunEnd.COMPLETED
        if not self._selector.short:
            return RunEnd.NO_GAME
        self._warn(f"{self._selector.short} (`arena run --readmit` lets everybody play again)")
        return RunEnd.NOBODY_LEFT

    def _interrupt(self, error: BaseException) -> None:
        self._workers.stop()
        reason = (
            "the run was interrupted"
            if isinstance(error, RunInterruptedError)
            else f"the run failed: {error}"
        )
        self._log.add("run interrupted", why=reason, in_progress=" ".join(self._running) or "nothing")
        seconds = {game_id: time.monotonic() - game.started for game_id, game in self._running.items()}
        give_up_open_attempts(self._series, self._log, reason, seconds)

    # While games go on

    def _tend(self) -> None:
        self._series.check_file()
        why = self._stopping.look()
        if why and self._end is None:
            self._stop(RunEnd.STOPPED, why)
            self._display.acknowledge(f"{why}; stopping when the games in progress are over")
        self._academy.tend()
        self._warn_of_league()
        for news in self._workers.news():
            self._log.add(news)
            self._display.note_machines(news)

    def _warn_of_league(self) -> None:
        while self._league is not None and not self._league.warnings.empty():
            self._warn(self._league.warnings.get())

    def _finish_in_league(self) -> None:
        if self._league is None:
            return
        if not self._league.finish():
            self._warn("the league has not taken all games yet; the next run, or `arena league import`, does")
        self._warn_of_league()

    def _stop(self, end: RunEnd, why: str = "") -> None:
        self._end = end
        self._log.add("no more games are started", why=why or end.value)

    def _start_games(self) -> None:
        while self._end is None and len(self._running) < self._workers.size:
            if self._unopened is None:
                if self._startable == 0:
                    self._stop(RunEnd.GAME_LIMIT)
                    return
                fixture = self._next_fixture()
                if fixture is None:
                    return
                self._unopened = self._begin(fixture)
            try:
                self._start(self._unopened)
            except ContestNotOpenError:
                return
            self._unopened = None

    @property
    def _startable(self) -> int | None:
        return None if self._max_games is None else max(0, self._max_games - self._started_games)

    def _next_fixture(self) -> Fixture | None:
        # Where all games are of a player that is busy, they are not put off without end.
        while len(self._put_off) < 2 * self._workers.size and (fixture := self._take_fixture()) is not None:
            players = set(map(original_name, fixture.players))
            busy = next((name for name, _ in self._put_off if name in players), None)
            if not self._selector.wants(fixture):
                self._selector.dropped(fixture)
            elif busy is not None:
                self._put_off.append((busy, fixture))
            else:
                return fixture
        return None

    def _take_fixture(self) -> Fixture | None:
        if self._selector.decided:
            return None
        if self._retries:
            return self._retries.popleft()
        while self._unfinished:
            game = self._unfinished.popleft()
            fixture = self._selector.resume(game.game_id, game.players, game.detail)
            if fixture is not None:
                return fixture
        return self._selector.next_game()

    def _begin(self, fixture: Fixture) -> _Running:
        attempt = self._series.next_attempt(fixture.game_id)
        elo = [self._standings.elo(name) for name in fixture.players]
        spec = self._jobs.rules(fixture).spec()
        contest = self._academy.contest(attempt.contest_id, spec, fixture.players, elo)
        self._series.begin(
            attempt,
            contest,
            PlannedGame(
                fixture.matchup,
                self._jobs.players(fixture),
                fixture.detail,
                self._jobs.setting(fixture),
                self._jobs.opening(fixture),
            ),
        )
        self._started_games += 1
        return _Running(fixture, attempt, contest, time.monotonic())

    def _start(self, game: _Running) -> None:
        """Open the game's contest and hand the game to the workers. Raises ContestNotOpenError."""
        access = self._academy.open(game.contest, game.started)
        fixture = game.fixture
        job = replace(self._jobs.job(fixture, game.attempt.number), academy=access)
        self._running[fixture.game_id] = replace(game, seed=job.seed)
        # The log may be read by players of this machine: a game's seed is logged when the game is over.
        self._log.add("game started", game=fixture.game_id, players=" vs ".join(fixture.players))
        self._workers.submit(job)

    # When games are over

    def _take_all(self, first: GameResult | WorkerLost) -> None:
        """Store a result, and others that are there, with one wait for the disk; then make them known.

        Where they can, workers begin their next games before that wait: what is lost then has never begun.
        """
        with self._series.together():
            self._take(first)
            for _ in range(MOST_TOGETHER - 1):
                result = self._workers.next_result(0)
                if result is None:
                    break
                self._take(result)
            if self._begins_early and not self._stopping.requested:
                self._start_games()
        while self._stored:
            self._stored.popleft()()
        self._academy.wake()
        if self._league is not None:
            self._league.wake()

    def _take(self, result: GameResult | WorkerLost) -> None:
        game = self._running.get(result.game_id)
        if game is None or game.attempt.number != result.attempt:
            # A machine that was given up as lost sent it; its game is played elsewhere or over.
            self._log.add("late result refused", game=result.game_id, attempt=result.attempt)
            return
        if isinstance(result, WorkerLost) and result.machine_lost and self._may_lose_machine(result.game_id):
            self._play_again(game, result)
        elif isinstance(result, GameResult) and self._is_rerun(result):
            assert result.outcome is not None
            self._hung[result.game_id] += 1
            self._void(game, replace(result, outcome=None, void_reason=result.outcome.detail), rerun=True)
        elif isinstance(result, GameResult) and result.outcome is not None:
            self._finish(game, result)
        else:
            self._void(game, result)
        del self._running[result.game_id]
        # After its result is stored: watchers see a game that is in progress or over, or both for a moment.
        live = self._files.live_game(result.game_id, game.attempt.number)
        self._stored.append(partial(live.unlink, missing_ok=True))
        self._release(game.fixture)

    def _release(self, ended: Fixture) -> None:
        """Let the games begin that waited for the end of this one.

        If it was put off itself, its player still has another game, whose end the player's games wait for.
        """
        busy = {name for name, fixture in self._put_off if fixture is ended}
        free = set(map(original_name, ended.players)) - busy
        waiting = self._put_off
        self._put_off = [(name, fixture) for name, fixture in waiting if name not in free]
        self._retries.extend(fixture for name, fixture in waiting if name in free)

    def _finish(self, game: _Running, result: GameResult, *, counts_at_academy: bool = True) -> None:
        assert result.outcome is not None
        fixture = game.fixture
        before = tuple(self._standings.elo(name) for name in fixture.players)
        # Candidates of a tuner play too little for a rating, and games against them rate no player.
        rated = self._control.kind not in TUNERS
        after = self._control.elo.rate_outcome(fixture.players, before, result.outcome) if rated else before
        if counts_at_academy:
            report = self._academy.report(game.contest, result, after)
        else:
            report = void_contest_report(game.contest, "forfeited before it began")
        finished = FinishedGame.from_result(fixture.matchup, fixture.players, result, before, after)
        self._series.finish(game.attempt, finished, result, game.seed, report)
        self._standings.add(finished)
        self._pace.note_game()
        remark = self._selector.history_remark(fixture.game_id, fixture.detail)
        self._selector.completed(
            CompletedGame(fixture.game_id, fixture.players, result.outcome, fixture.detail)
        )
        if counts_at_academy:
            self._voids.note_completed(fixture)
        lines = [history_line(finished, remark), *self._selector.history_lines()]
        self._stored.append(partial(self._make_known, result, finished, game.seed, lines))

    def _make_known(
        self, result: GameResult, finished: FinishedGame, seed: int, history: Sequence[str]
    ) -> None:
        """Tell of a game whose result is stored."""
        if self._control.record_games and result.record:
            self._files.write_record(StoredRecord(result.game_id, result.record, result.record_extension))
        self._files.add_to_history(history)
        self._log.add("game finished", game=result.game_id, result=finished.describe(), seed=seed)
        self._display.result(f"game {result.game_id}: {finished.describe()}")
        for warning in result.warnings:
            self._warn(f"game {result.game_id}: {warning}")

    def _may_lose_machine(self, game_id: str) -> bool:
        self._machines_lost[game_id] += 1
        return self._machines_lost[game_id] <= MOST_MACHINES_LOST

    def _play_again(self, game: _Running, lost: WorkerLost) -> None:
        """Give up an attempt whose machine was lost; no player is at fault."""
        report = void_contest_report(game.contest, "interrupted")
        seconds = time.monotonic() - game.started
        self._series.give_up(game.attempt, "interrupted", lost.reason, seconds, report)
        self._warn(f"game {lost.game_id} is played again: {lost.reason}")
        self._retries.append(game.fixture)

    def _is_rerun(self, result: GameResult) -> bool:
        """Whether a game is void because its loser hung. That stops no run: one that hangs again loses."""
        if not self._selector.reruns_hung_games or not _never_answered(result):
            return False
        return self._hung[result.game_id] < self._control.void_retries

    def _void(self, game: _Running, result: GameResult | WorkerLost, *, rerun: bool = False) -> None:
        reason = result.reason if isinstance(result, WorkerLost) else result.void_reason
        seat = seat_at_fault(result) if isinstance(result, GameResult) else None
        culprit = None if seat is None else self._jobs.players(game.fixture)[seat - 1]
        absent = isinstance(result, GameResult) and result.absent is not None
        inhibited = absent and culprit is not None and self._bar_from_selection(culprit, game)
        if self._selector.drops_void_games:
            sequel = Sequel.DROP
            if culprit is not None:
                self._selector.failed(original_name(culprit.name))
        elif rerun or inhibited:
            sequel = Sequel.RETRY if rerun else Sequel.DROP
        else:
            sequel = self._voids.judge(game.fixture, culprit, self._elsewhere(game))
        if sequel is Sequel.FORFEIT and isinstance(result, GameResult) and seat is not None:
            self._warn(
                f"game {result.game_id} was void, and is lost by {game.fixture.players[seat - 1]}: {reason}"
            )
            lost = forfeit_game(result, self._jobs.rules(game.fixture), seat)
            self._finish(game, lost, counts_at_academy=False)
            return
        report = void_contest_report(game.contest, "void")
        self._series.give_up(game.attempt, "void", reason, time.monotonic() - game.started, report)
        if isinstance(result, GameResult) and result.record and self._control.record_games:
            record = StoredRecord(result.game_id, result.record, result.record_extension)
            self._files.write_record(record, void=True)
        self._warn(f"game {result.game_id} is void: {reason}")
        if inhibited and culprit is not None:
            self._store_inhibition(culprit, game)
        self._follow(sequel, game.fixture, culprit, reason)

    def _follow(self, sequel: Sequel, fixture: Fixture, culprit: PlayerSetup | None, reason: str) -> None:
        match sequel:
            case Sequel.RETRY:
                self._retries.append(fixture)
            case Sequel.PUT_OFF if culprit is not None:
                self._put_off.append((original_name(culprit.name), fixture))
            case Sequel.DROP:
                self._selector.dropped(fixture)
            case Sequel.LEAVE_OUT if culprit is not None:
                name = original_name(culprit.name)
                complaint = self._voids.complaint(name, fixture.game_id)
                self._exclude("player", name, f"{complaint}; the last: {reason}")
                self._selector.dropped(fixture)
            case Sequel.SKIP:
                group = self._selector.void_group(fixture)
                self._exclude("matchup", group, f"too many void games; the last: {reason}")
                self._selector.dropped(fixture)
            case _ if self._end is not RunEnd.HALTED:
                self._stop(RunEnd.HALTED)

    def _exclude(self, scope: Scope, name: str, reason: str) -> None:
        # Another game that was in progress may have led to the same.
        if name in self._selector.excluded.of(scope):
            return
        self._series.exclude(scope, name, reason)
        self._selector.exclude(scope, name)
        self._warn(
            f"{scope} {name} is left out of the competition from now on: {reason} "
            "(`arena run --readmit` lets everybody play again)"
        )

    def _bar_from_selection(self, culprit: PlayerSetup, game: _Running) -> bool:
        """Have the selector give an absent player no more games of this variant.

        Returns whether its kind does that.
        """
        if culprit.protocol in DIALS_IN and original_name(culprit.name) in self._elsewhere(game):
            return False
        return self._selector.inhibit(culprit.name, self._jobs.setting(game.fixture).variant)

    def _store_inhibition(self, culprit: PlayerSetup, game: _Running) -> None:
        variant = self._jobs.setting(game.fixture).variant
        self._series.inhibit(culprit.name, variant)
        self._warn(
            f"player {culprit.name} does not get ready: it is inhibited from now on for {variant} "
            "(`arena run --readmit` lets it play again)"
        )

    def _elsewhere(self, game: _Running) -> set[str]:
        """The players of the other games that are in progress, which may have all their programs."""
        others = (other for other in self._running.values() if other is not game)
        return {original_name(name) for other in others for name in other.fixture.players}

    # What people see

    def _warn(self, text: str) -> None:
        self._log.add("warning", text=text)
        self._display.warning(text)

    def _show(self) -> None:
        if self._end is not None and self._running:
            self._display.note(f"waiting for the games in progress, then stopping: {self._end.value}")
        self._display.show(self._progress)

    def _wait_for_delivery(self, what: str) -> None:
        self._stopping.look()
        self._display.note(what)
        self._display.show(self._progress)

    def _progress(self) -> RunProgress:
        now, total = time.monotonic(), self._selector.total
        left = None if total is None else max(0, total - self._standings.games)
        return RunProgress(
            title=self._files.name,
            standings=self._standings,
            in_progress=tuple(
                GameInProgress(
                    game_id, game.fixture.players, now - game.started, self._workers.machine(game_id)
                )
                for game_id, game in self._running.items()
            ),
            total=total,
            startable=self._startable,
            games_per_second=self._pace.games_per_second,
            seconds_left=self._pace.seconds_for(left),
            waiting_reports=self._academy.waiting(),
            lines=self._selector.report_lines(),
            tuner=isinstance(self._control.plan, plans.TunerPlan),
            halt_key=self._stopping.key_available,
        )


def _never_answered(result: GameResult) -> bool:
    """Whether a game was lost for want of an answer by a player that had made no move.

    One that has moved knows how it stands, and could undo the games that it is losing.
    """
    outcome = result.outcome
    if outcome is None or outcome.termination is not Termination.FORFEIT:
        return False
    moved = {move.seat for move in result.moves if not (move.opening or move.stand_in)}
    # A winner that was late once has not hung.
    return any(
        usage.fault is Fault.LATE and seat not in moved and seat not in outcome.winners
        for seat, usage in enumerate(result.usage, start=1)
    )
