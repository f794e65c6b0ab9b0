"""What the service reads of one competition, as it stands in its files."""

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import zip_longest
from pathlib import Path
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp

from arena.control.changed_settings import abridge
from arena.control.control_file import read_control
from arena.control.schema import TUNERS
from arena.control.settings import Control
from arena.match.live_game import LiveFolder
from arena.players.remote import to_duration
from arena.ratings.rating_list import RatingList
from arena.reports.assembly import likeliest_ratings
from arena.reports.kept_texts import read_texts
from arena.reports.replay import completed_game
from arena.results.database import NoResultsYetError, ResultsDatabase, ResultsError
from arena.results.first_ratings import with_first_ratings
from arena.results.game_filter import GameFilter
from arena.results.series_reader import SeriesReader, WholeGame
from arena.results.standings import Standings
from arena.runner.exit_status import ExitStatus
from arena.runner.files import CompetitionFiles
from arena.runner.report import read_report
from arena.selection.generations import Descent, Generations
from arena.selection.kinds import selector_for
from arena.selection.selector import CompetitionChangedError, Selector
from arena.selection.sprt import SprtMatch, SprtState
from arena.selection.tuner import TuningState
from arena.service.errors import UnknownGameError
from arena.service.game_messages import game_message, live_game_message, score_message, whole_game_message
from arena.service.games_so_far import GamesSoFar, games_to_come
from arena.service.runs import LastRun
from arena.v1 import competitions_pb2

# Characters of players' texts in an answer. Most take a byte; an answer may have 4 MiB.
_TEXTS_SENT: Final = 1 << 20
_MOST_MEMBERS: Final = 2_000
_NOT_HALTED: Final = (ExitStatus.DONE, ExitStatus.INTERRUPTED, ExitStatus.UNDELIVERED)


@dataclass(frozen=True)
class Counts:
    """How far a competition is; `last` is its newest game's sequence, `series` begins its contests' ids."""

    games: int
    voids: int
    last: int
    completed: bool
    series: str


@dataclass(frozen=True)
class _Newest:
    """When the newest game ended, and who leads after it."""

    counts: Counts
    finished: Timestamp
    leaders: tuple[str, ...]


def _leaders(standings: Standings) -> tuple[str, ...]:
    table = standings.table()
    return tuple(line.name for line in table if line.points == table[0].points)


class CompetitionView:
    """One competition as it stands. Its methods read files: call them where waiting does no harm."""

    def __init__(self, name: str, path: Path, results: str | None = None) -> None:
        """The results are in the database of this URL, else where the control file says.

        Raises ControlError.
        """
        self.name = name
        # Why the control file, which was changed since, can't be used.
        self.fault = ""
        self.control: Control = read_control(path)
        self.files = CompetitionFiles(path, results or self.control.results)
        # That of a competition without games.
        self._selector = selector_for(self.control)
        self._total = self._selector.total
        self._so_far = GamesSoFar(self.control)
        self._newest: _Newest | None = None

    def counts(self) -> Counts | None:
        """How far it is, None where it has never been run. Raises ResultsError and SQLAlchemyError."""
        try:
            with self._listing() as listing:
                return Counts(
                    listing.count_games(),
                    listing.void_count(),
                    listing.last_sequence(),
                    listing.completed(),
                    listing.uuid(),
                )
        except NoResultsYetError:
            return None

    @contextmanager
    def _listing(self) -> Iterator[SeriesReader]:
        if not self.files.results_exist():
            raise NoResultsYetError(f"there are no results of {self.name!r} yet")
        with self._database.look():
            yield SeriesReader.find(self._database, self.files.name)

    @cached_property
    def _database(self) -> ResultsDatabase:
        # Not open between looks: an open file would keep its write-ahead log, or be a deleted one's.
        return ResultsDatabase.to_look_at(self.files.results)

    def competition(self, running: bool, last: LastRun | None) -> competitions_pb2.Competition:
        """All about it; `running` says that the service runs it, `last` how it ended."""
        # In this order: of a run that ends meanwhile there are all games, or it seems to go on.
        running = running or self.files.running()
        control, counts = self.control, self.counts()
        described = competitions_pb2.Competition(
            name=self.name,
            state=_state(counts, running, last),
            kind=control.kind,
            description=control.description,
            game=control.game.name,
            settings_json=json.dumps(dict(control.game.settings), sort_keys=True),
            players=control.competitors,
            games_played=counts.games if counts else 0,
            games_total=self._total,
            void_games=counts.voids if counts else 0,
            remark=last.words if last and not running else self.fault,
            series=counts.series if counts else "",
        )
        if counts is not None and counts.games:
            newest = self._newest_state(counts)
            described.last_game.CopyFrom(newest.finished)
            described.leaders.extend(newest.leaders)
        return described

    def _newest_state(self, counts: Counts) -> "_Newest":
        """When the newest game ended and who leads; read once for each new game, as watchers ask often."""
        known = self._newest
        if known is None or known.counts != counts:
            with self._listing() as listing:
                finished = Timestamp()
                for game in listing.games_after(0, 1, newest_first=True):
                    finished.FromDatetime(game.finished)
                leaders = () if listing.terms().kind in TUNERS else _leaders(_table(listing, self.control))
            known = self._newest = _Newest(counts, finished, leaders)
        return known

    def games(self, after: int, limit: int) -> list[competitions_pb2.Game]:
        """The next games after a sequence. Raises ResultsError."""
        try:
            with self._listing() as listing:
                return [game_message(game) for game in listing.games_after(after, limit)]
        except NoResultsYetError:
            return []

    def listed_games(
        self, after: int, limit: int, which: GameFilter, *, newest_first: bool
    ) -> tuple[list[competitions_pb2.Game], int]:
        """The next games that pass a filter, and how many there are of them. Raises ResultsError."""
        try:
            with self._listing() as listing:
                games = listing.games_after(after, limit, which, newest_first=newest_first)
                return [game_message(game) for game in games], listing.count_games(which)
        except NoResultsYetError:
            return [], 0

    def history(self, player: str, points: int) -> competitions_pb2.GetHistoryResponse:
        """How ratings and a test went. Raises ResultsError."""
        selector = selector_for(self.control)
        with self._listing() as listing:
            answer = competitions_pb2.GetHistoryResponse(games=listing.count_games())
            ratings = {} if self.control.kind in TUNERS else listing.rating_history(player, points)
            for name, path in sorted(ratings.items()):
                elo = competitions_pb2.HistoryPoints(
                    games=[at for at, _ in path], values=[elo for _, elo in path]
                )
                answer.players.add(player=name, elo=elo)
            if self.control.kind in TUNERS:
                _add_parameters(answer, read_report(self.control, self.files).tuning)
            if isinstance(selector, Generations):
                _add_members(answer, read_report(self.control, self.files).descent)
            if isinstance(selector, SprtMatch):
                # Where the games are not those of the control file, there are ratings alone.
                with suppress(ResultsError, CompetitionChangedError):
                    _check_terms(listing, self.control)
                    games = list(map(completed_game, listing.finished_games()))
                    for at, llr in selector.llr_path(games, points):
                        answer.llr.games.append(at)
                        answer.llr.values.append(llr)
        return answer

    def game(self, game_id: str) -> competitions_pb2.GetGameResponse | None:
        """One game with its moves, finished or in progress. Raises ResultsError."""
        # In this order: a game that ends meanwhile is found.
        news = LiveFolder.game(self.files.live, game_id)
        with self._listing() as listing:
            game = listing.whole_game(game_id)
        if game is not None:
            return self._whole(game)
        return live_game_message(news) if news is not None and self.files.running() else None

    def texts(self, game_id: str, player: str | None) -> competitions_pb2.GetGameTextsResponse:
        """What was kept of a finished game's players, or of one. Raises UnknownGameError and OSError."""
        with self._listing() as listing:
            game = listing.whole_game(game_id)
        if game is None or (player is not None and player not in game.listed.game.players):
            # A player cannot find out which games of others there are.
            whose = "" if player is None else " of yours"
            raise UnknownGameError(f"{self.name} has no finished game {game_id[:80]!r}{whose}")
        players = game.listed.game.players
        most = _TEXTS_SENT // (2 * len(players))
        answer = competitions_pb2.GetGameTextsResponse()
        for kept in read_texts(self.files.protocol, self.files.log, game_id, players, most):
            if player in (None, players[kept.seat - 1]):
                answer.players.add(
                    seat=kept.seat, player=kept.label, protocol=kept.protocol, errors=kept.errors
                )
        return answer

    def _whole(self, game: WholeGame) -> competitions_pb2.GetGameResponse:
        """A finished game, with the settings that it was played with."""
        answer = whole_game_message(game)
        own = game.listed.game.game or self.control.game
        located = replace(own, folder=self.control.game.folder).located
        answer.settings_json = json.dumps(located, sort_keys=True, default=str)
        if self.control.academy is not None:
            answer.contest_id = game.contest_id
        return answer

    def standings(self) -> competitions_pb2.GetStandingsResponse:
        """The table. Raises ResultsError."""
        if self._is_tuner():
            report = read_report(self.control, self.files)
            standings, ratings = report.standings, report.ratings
            answer = competitions_pb2.GetStandingsResponse(games=standings.games, lines=report.lines)
        else:
            standings, ratings = self._totals()
            answer = competitions_pb2.GetStandingsResponse(games=standings.games)
            self._add_state(answer)
        table = standings.table()
        # Generations have members, and lines of the table, from the first finished game on.
        for player, below in zip_longest(table, table[1:]):
            line = answer.standings.add(
                player=player.name,
                score=score_message(player.score),
                points=player.points,
                forfeits=player.forfeits,
                elo=player.elo,
                time_losses=player.time_losses,
                faults=player.fault_games,
                mean_cpu=None if player.mean_cpu is None else to_duration(player.mean_cpu),
            )
            if ratings is not None:
                _rate(line, ratings, None if below is None else below.name)
        for name in standings.order:
            for opponent in standings.order:
                score = standings.against(name, opponent)
                if score.games:
                    answer.pairs.add(player=name, opponent=opponent, score=score_message(score))
        return answer

    def _is_tuner(self) -> bool:
        """Whether the games are a tuner's, whose candidates make one line."""
        with self._listing() as listing:
            # The control file may be another one by now.
            return listing.terms().kind in TUNERS

    def _add_state(self, answer: competitions_pb2.GetStandingsResponse) -> None:
        """Add what only the competition's kind knows of its state."""
        if type(self._selector).report_lines is Selector.report_lines:
            return

        def add_lines(selector: Selector) -> None:
            answer.lines.extend(selector.report_lines())
            if isinstance(selector, SprtMatch):
                answer.test.CopyFrom(_test(selector.state()))

        with suppress(ResultsError, CompetitionChangedError), self._listing() as listing:
            # Where the games are not those of the control file, there is a table alone.
            self._so_far.ask(listing, add_lines)

    def schedule(self, most: int) -> competitions_pb2.GetScheduleResponse:
        """The next games. Raises ResultsError."""
        try:
            with self._listing() as listing:
                fixtures = self._so_far.ask(listing, partial(games_to_come, most=most))
        except NoResultsYetError:
            fixtures = games_to_come(self._selector, most)
        except CompetitionChangedError:
            # What a run of the control file would play, no run can say.
            fixtures = []
        played_now = LiveFolder.game_ids(self.files.live) if fixtures and self.files.running() else ()
        answer = competitions_pb2.GetScheduleResponse()
        for fixture in fixtures:
            in_progress = fixture.game_id in played_now
            answer.games.add(game_id=fixture.game_id, players=fixture.players, in_progress=in_progress)
        return answer

    def _totals(self) -> tuple[Standings, RatingList | None]:
        """The table and the likeliest ratings, from running totals."""
        with self._listing() as listing:
            control, terms = with_first_ratings(self.control, listing.first_ratings()), listing.terms()
            standings = _table(listing, control)
        two = replace(terms.game, folder=control.game.folder).rules().seats == 2
        return standings, likeliest_ratings(standings, control) if two else None


def _check_terms(listing: SeriesReader, control: Control) -> None:
    """Raise ResultsError where the games are not those of the control file as it is now."""
    listing.terms().check(control.kind, control.game, control.own_settings)


def _table(listing: SeriesReader, control: Control) -> Standings:
    try:
        _check_terms(listing, control)
        players: Sequence[str] = control.competitors
    except ResultsError:
        players = ()
    return listing.standings(players, control.elo)


def _add_members(answer: competitions_pb2.GetHistoryResponse, descent: Descent | None) -> None:
    """Add the newest members of families."""
    for member in descent.members[-_MOST_MEMBERS:] if descent else ():
        answer.members.add(
            name=member.name,
            family=member.family,
            place=member.place,
            born=member.born,
            last=member.last,
            parents=member.parents,
            values=abridge(member.text),
            games=member.games,
            score=member.score,
            alive=member.alive,
        )


def _add_parameters(answer: competitions_pb2.GetHistoryResponse, tuning: TuningState | None) -> None:
    """Add how a tuner's best values went."""
    for place, parameter in enumerate(tuning.parameters if tuning else ()):
        assert tuning is not None
        values = [step.values[place] for step in tuning.path]
        names: list[str] = []
        if any(isinstance(value, bool) or not isinstance(value, int | float) for value in values):
            texts = [str(value) for value in values]
            names = list(dict.fromkeys(texts))
            values = [names.index(text) for text in texts]
        best = competitions_pb2.HistoryPoints(games=[step.games for step in tuning.path], values=values)
        answer.parameters.add(parameter=parameter, best=best, names=names, now=str(tuning.best[place]))


def _state(
    counts: Counts | None, running: bool, last: LastRun | None
) -> competitions_pb2.CompetitionState.ValueType:
    if running:
        return competitions_pb2.COMPETITION_STATE_RUNNING
    if counts is not None and counts.completed:
        return competitions_pb2.COMPETITION_STATE_COMPLETED
    # Statuses below 0 are signals.
    if last is not None and last.status not in _NOT_HALTED:
        return competitions_pb2.COMPETITION_STATE_HALTED
    return (
        competitions_pb2.COMPETITION_STATE_NEW
        if counts is None
        else competitions_pb2.COMPETITION_STATE_STOPPED
    )


def _rate(line: competitions_pb2.Standing, ratings: RatingList, below: str | None) -> None:
    """Add what all results together say of a player."""
    estimate = ratings.estimates.get(line.player)
    if estimate is None:
        return
    line.likeliest_elo = estimate.elo
    if estimate.error is not None:
        line.elo_error = estimate.error
    superiority = None if below is None else ratings.superiority(line.player, below)
    if superiority is not None:
        line.superiority = superiority


def _test(state: SprtState) -> competitions_pb2.SequentialTest:
    status, match = state.status, state.match
    test = competitions_pb2.SequentialTest(
        first=state.first,
        second=state.second,
        llr=status.llr,
        lower=status.lower,
        upper=status.upper,
        verdict=status.verdict or "",
        elo0=state.test.elo0,
        elo1=state.test.elo1,
        pairs=state.pairs,
    )
    if match is not None:
        test.superiority = match.superiority
        if math.isfinite(match.elo):
            test.elo = match.elo
        if math.isfinite(match.elo_error):
            test.elo_error = match.elo_error
    return test
