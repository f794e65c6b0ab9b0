"""A run of a competition from its control file: everything is opened, used and closed here."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

from arena.academy_session import AcademySession
from arena.competition import Competition, RunEnd
from arena.competition_files import CompetitionFiles
from arena.control.settings import Control
from arena.event_log import EventLog
from arena.game_jobs import JobMaker
from arena.live_display import display_for
from arena.output import say
from arena.player_check import check_player
from arena.results.database import ResultsDatabase, ResultsError
from arena.results.registration import Heading
from arena.results.report import Summary, report_text
from arena.results.series import Series, SeriesReader
from arena.results.standings import Standings
from arena.selection.all_play_all import letters
from arena.selection.kinds import selector_for
from arena.selection.selector import Selector
from arena.stopping import StopRequests
from arena.workers.pool import WorkerPool
from referees.api import Referee, referee


@dataclass(frozen=True)
class RunOptions:
    """How to run: games at a time, how many to start at most (None: no limit), what to show and to log."""

    parallel: int = 1
    max_games: int | None = None
    quiet: bool = False
    log_protocol: bool = False


@dataclass(frozen=True)
class Ended:
    """How a run ended, and how many reports ACADEMY has not taken."""

    end: RunEnd
    undelivered: int


@dataclass(frozen=True)
class Results:
    """A competition's results as they stand."""

    summary: Summary
    standings: Standings

    def as_text(self) -> str:
        """The report."""
        return report_text(self.summary, self.standings)

    def as_json(self) -> Mapping[str, Any]:
        """The same as plain values."""
        return {**vars(self.summary), **self.standings.as_json()}


def check_players(control: Control, quiet: bool, tell: Callable[[str], None]) -> None:
    """Start each competitor once and bring it to the beginning of a game.

    Raises PlayerFailure or InvalidParameters for the first that does not get there.
    """
    rules = _referee(control)
    for name in control.competitors:
        tell(f"checking player {name}")
        description = check_player(control.players[name], rules, quiet)
        tell(f"player {name} works: {description}")


def run(control: Control, files: CompetitionFiles, options: RunOptions) -> Ended:
    """Run a competition, or take it up again where it was left.

    Raises AlreadyRunning, ResultsError, Interrupted, PlayerFailure, and what `Competition.run` and
    `AcademySession` raise.
    """
    selector = selector_for(control)
    rules = _referee(control)
    with ExitStack() as stack:
        stack.enter_context(files.locked())
        stopping = stack.enter_context(StopRequests(files))
        database = stack.enter_context(closing(ResultsDatabase.open(files.results)))
        series = Series.register(database, _heading(control, files, rules, selector))
        log = stack.enter_context(EventLog(files.log))
        _startup_checks(control, options.quiet, log, stopping)
        workers = stack.enter_context(WorkerPool(options.parallel, pin=control.pin_cores))
        session = None
        if control.academy is not None:
            session = AcademySession(control.academy, rules.spec(), files.academy_log)
            stack.callback(session.close)
        with display_for(options.quiet) as display:
            competition = Competition(
                control,
                files,
                series,
                selector,
                workers,
                session,
                display,
                log,
                jobs=JobMaker(control, files, options.log_protocol),
                stopping=stopping,
            )
            end = competition.run(options.max_games)
        files.write_report(_results(control, files, series).as_text())
        return Ended(end, series.outbox.counts()["waiting"])


def _startup_checks(control: Control, quiet: bool, log: EventLog, stopping: StopRequests) -> None:
    def tell(text: str) -> None:
        log.add(text)
        stopping.look()

    count = len(control.competitors)
    if not control.check_players:
        if not quiet:
            say(f"skipping {count} player checks")
        return
    if not quiet:
        say(f"checking {count} players")
    check_players(control, quiet=True, tell=tell)


def read_results(control: Control, files: CompetitionFiles) -> Results:
    """The results so far; works while the competition runs. Raises ResultsError if there are none."""
    if not files.results_exist():
        raise ResultsError(
            f"there are no results of {files.name!r} yet: {files.results.database} does not exist"
        )
    with closing(ResultsDatabase.open(files.results, create=False)) as database:
        return _results(control, files, SeriesReader.find(database, files.name))


def _results(control: Control, files: CompetitionFiles, series: SeriesReader) -> Results:
    standings = Standings(control.competitors, control.elo, series.finished_games())
    summary = Summary(
        name=files.name,
        kind=control.kind,
        description=control.description,
        game=control.game.name,
        settings=control.game.settings,
        total=selector_for(control).total,
        letters={name: letters(place) for place, name in enumerate(control.competitors)},
        voids=series.void_count(),
        reports=series.outbox.counts() if control.academy is not None else {},
        refusals=series.outbox.refusals() if control.academy is not None else {},
    )
    return Results(summary, standings)


def _referee(control: Control) -> Referee[Any, Any]:
    return referee(control.game.name).from_settings(control.game.settings)


def _heading(
    control: Control, files: CompetitionFiles, rules: Referee[Any, Any], selector: Selector
) -> Heading:
    return Heading(
        name=files.name,
        kind=control.kind,
        description=control.description,
        selector=selector.description,
        games=selector.total,
        game=control.game.name,
        settings=control.game.settings,
        move_limit=control.game.move_limit,
        scorer=control.game.scorer,
        variant=rules.spec().game_id,
        seats=[rules.seat_name(seat) for seat in range(1, rules.seats + 1)],
        players=[control.players[name] for name in control.competitors],
    )
