"""Deleting a competition's outputs, after its contests have been ended at ACADEMY."""

from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL
from sqlalchemy.exc import SQLAlchemyError

from academy.v1 import contests_pb2
from arena.academy.client import AcademyClient, may_pass, void_report
from arena.academy.embedded import EmbeddedAcademyError
from arena.academy.session import AcademySession
from arena.control.settings import AcademySettings, Control
from arena.control.tokens import MissingTokenError
from arena.league.database import LeagueDatabase
from arena.league.recording import take_in
from arena.league.source import find_source_competition
from arena.results.database import NoResultsYetError, ResultsDatabase, ResultsError, reason
from arena.results.run_lock import lock_competition, others_locked
from arena.results.series import holds_others, remove_series
from arena.results.series_reader import SeriesReader, UnreportedContest
from arena.runner.files import CompetitionFiles
from clients.connection import AcademyRefusedError, AcademyUnavailableError


@dataclass(frozen=True)
class LeftOpen:
    """Contests that stay open at ACADEMY, and why. No ids: it is not known which."""

    contest_ids: tuple[str, ...]
    why: str

    def __str__(self) -> str:
        if not self.contest_ids:
            return f"contests may stay open at ACADEMY: {self.why}; `academy contests list` shows them"
        return (
            f"{len(self.contest_ids)} contests stay open at ACADEMY: {self.why}; "
            f"end them with: academy contests void {' '.join(self.contest_ids)}"
        )


def finished_games(files: CompetitionFiles) -> int | None:
    """Count the games that `reset` would delete; None where the competition's own file can't be read.

    Raises ResultsError where another database can't be.
    """
    if not files.results_exist():
        return 0
    try:
        with closing(ResultsDatabase.open(files.results, create=False)) as database:
            return SeriesReader.find(database, files.name).count_games()
    except NoResultsYetError:
        return 0
    except (ResultsError, SQLAlchemyError):
        if not files.own_results:
            raise
        return None


def reset(control: Control, files: CompetitionFiles) -> LeftOpen | None:
    """Delete all outputs of a competition; return what could not be reported to ACADEMY, or None.

    Games that the league has not are taken in and reports that wait are delivered first, and attempts that
    were interrupted are reported void: their contests would stay open for ever, without a record of them
    here. A results file that others have results in stays, without the competition's. Raises
    CompetitionRunningError, and ResultsError where it runs from elsewhere or the league is away.
    """
    with files.locked(), ExitStack() as stack:
        database = _database(files)
        if database is not None:
            stack.enter_context(closing(database))
            stack.enter_context(lock_competition(database, files.name))
            if control.league is not None:
                _give_to_league(control.league, database, files.name)
        left = _end_contests(control, files)
        if database is not None and (not files.own_results or _shared(database, files)):
            remove_series(database, files.name)
        elif files.own_results:
            if database is not None:
                # Closed later, it would delete the write-ahead log of the program that makes the file next.
                database.close()
            files.delete_results()
        files.reset()
    return left


def _database(files: CompetitionFiles) -> ResultsDatabase | None:
    """The results, None where there are none of the competition's own or they can't be read."""
    if not files.own_results:
        return ResultsDatabase.open(files.results)
    if not files.results_exist():
        return None
    try:
        return ResultsDatabase.open(files.results, create=False)
    except ResultsError:
        if others_locked(files.results, files.name):
            raise
        return None


def _give_to_league(url: URL, results: ResultsDatabase, name: str) -> None:
    """Let the league, if there is one, have all games of a competition. Raises ResultsError."""
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").exists():
        # SQLite would make an empty file.
        return
    try:
        competition = find_source_competition(results, name)
        with closing(LeagueDatabase.open(url, create=False)) as league:
            take_in(league, results, competition)
    except NoResultsYetError:
        return
    except (ResultsError, SQLAlchemyError) as error:
        why = reason(error) if isinstance(error, SQLAlchemyError) else str(error)
        raise ResultsError(
            f"the league, which may lack games of {name}, can't be used: {why}; reset it later, or take "
            "[league] out of the control file to delete the games with the rest"
        ) from error


def _shared(database: ResultsDatabase, files: CompetitionFiles) -> bool:
    """Whether others have results in the competition's own file, or are about to have some."""
    if others_locked(files.results, files.name):
        return True
    try:
        return holds_others(database, files.name)
    except SQLAlchemyError:
        return False


def _end_contests(control: Control, files: CompetitionFiles) -> LeftOpen | None:
    if not files.results_exist():
        return None
    try:
        with closing(ResultsDatabase.open(files.results, create=False)) as database:
            contests = SeriesReader.find(database, files.name).unreported_contests()
    except (ResultsError, SQLAlchemyError) as error:
        why = reason(error) if isinstance(error, SQLAlchemyError) else str(error)
        return None if control.academy is None else LeftOpen((), f"the results can't be read: {why}")
    if not contests:
        return None
    if control.academy is None:
        return LeftOpen(_ids(contests), "the control file has no [academy] any more")
    if control.academy.embedded and not control.academy.data.exists():
        return None
    return _report(contests, control, control.academy, files)


def _report(
    contests: list[UnreportedContest], control: Control, academy: AcademySettings, files: CompetitionFiles
) -> LeftOpen | None:
    spec = control.game.rules().spec()
    left: list[UnreportedContest] = []
    why = ""
    try:
        with closing(AcademySession(academy, spec, files.academy_log)) as session:
            for place, contest in enumerate(contests):
                try:
                    _end(session.link, contest)
                except AcademyRefusedError as refusal:
                    left.append(contest)
                    why = str(refusal)
                except AcademyUnavailableError as error:
                    left += contests[place:]
                    why = str(error)
                    break
    except (
        AcademyUnavailableError,
        AcademyRefusedError,
        EmbeddedAcademyError,
        MissingTokenError,
        OSError,
    ) as error:
        left, why = contests, str(error)
    return LeftOpen(_ids(left), why) if left else None


def _end(link: AcademyClient, contest: UnreportedContest) -> None:
    """Deliver the contest's report; report it void without one, or if ACADEMY will never take it."""
    if contest.report is not None:
        try:
            link.report(contests_pb2.ReportContestRequest.FromString(contest.report))
            return
        except AcademyRefusedError as refusal:
            if may_pass(refusal):
                raise
    link.report(void_report(contests_pb2.Contest.FromString(contest.contest), "reset"))


def _ids(contests: list[UnreportedContest]) -> tuple[str, ...]:
    return tuple(contest.contest_id for contest in contests)
