"""The service that starts, stops, watches and reports on competitions."""

import asyncio
import json
import math
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import structlog
from google.protobuf.timestamp_pb2 import Timestamp

from academy.wire.errors import NotAuthenticatedError
from arena.control.changed_settings import abridge
from arena.control.control_file import read
from arena.control.settings import Control
from arena.jobs import Fault
from arena.lobby.errors import InvalidRequestError, LobbyClosingError, TooManyError
from arena.lobby.lobby import RemoteSession
from arena.match.live_game import LiveFolder, LiveMove, LiveNews
from arena.players.remote import to_duration
from arena.ratings.rating_list import RatingList
from arena.reports.assembly import likeliest_ratings, with_first_ratings
from arena.reports.contents import is_tuner
from arena.reports.kept_texts import read_texts
from arena.results.database import NoResultsYetError, ResultsDatabase, ResultsError
from arena.results.game_filter import GameFilter
from arena.results.registration import CompetitionTerms
from arena.results.series_reader import ListedGame, SeriesReader, WholeGame
from arena.results.standings import Score, Standings
from arena.runner.files import CompetitionFiles
from arena.runner.results import read_results
from arena.selection.candidates import TuningState
from arena.selection.generations import Descent, Generations
from arena.selection.kinds import selector_for
from arena.selection.selector import CompetitionChangedError, CompletedGame, Selector
from arena.selection.sprt import SprtMatch, SprtState
from arena.service.access import WATCHERS, AnsweringServicer, Context, ServiceAccess, answered
from arena.service.errors import (
    EXPECTED,
    AlreadyRunningError,
    NotRunningError,
    UnknownGameError,
    UploadsDisabledError,
)
from arena.service.folder import CompetitionFolder
from arena.service.games_so_far import GamesSoFar, games_to_come
from arena.service.runs import LastRun, Runs
from arena.service.tokens import ServiceCaller, ServiceRole
from arena.v1 import competitions_pb2, competitions_pb2_grpc

_log = structlog.get_logger()
_ROLES: Final[Mapping[competitions_pb2.TokenRole.ValueType, ServiceRole]] = {
    competitions_pb2.TOKEN_ROLE_WATCHER: ServiceRole.WATCHER,
    competitions_pb2.TOKEN_ROLE_OPERATOR: ServiceRole.OPERATOR,
    competitions_pb2.TOKEN_ROLE_PLAYER: ServiceRole.PLAYER,
}
_ROLE_NUMBERS: Final = {role: number for number, role in _ROLES.items()}
_LONGEST_FILTER: Final = 200
_MOST_VIEWS: Final = 500
# Characters of players' texts in an answer. Most take a byte; an answer may have 4 MiB.
_TEXTS_SENT: Final = 1 << 20
_MOST_MEMBERS: Final = 2_000
_MOST_MOVES: Final = 2**31 - 1


@dataclass(frozen=True)
class ServiceLimits:
    """Bounds on what callers may ask.

    `look_seconds` is how often a watched competition is looked at, `live_seconds` how often its games in
    progress are.
    """

    default_page: int = 100
    page: int = 1_000
    watchers: int = 64
    look_seconds: float = 0.3
    live_seconds: float = 0.1
    default_history_points: int = 200
    history_points: int = 1_000


class CompetitionServicer(AnsweringServicer, competitions_pb2_grpc.CompetitionServiceServicer):
    """Answers from the files of a folder's competitions. Reading them is left to threads."""

    def __init__(
        self,
        folder: CompetitionFolder,
        runs: Runs,
        access: ServiceAccess,
        *,
        allow_uploads: bool,
        limits: ServiceLimits,
    ) -> None:
        super().__init__(access)
        self._folder = folder
        self._runs = runs
        self._allow_uploads = allow_uploads
        self._limits = limits
        self._closing = asyncio.Event()
        # What was read of control files, with their state then.
        self._views: dict[str, tuple[tuple[Path, int, int, int], CompetitionView]] = {}
        # The players that have dialled in; there are none before the lobby is open.
        self.sessions: Callable[[], Sequence[RemoteSession]] = tuple
        self.watchers = 0

    def close(self) -> None:
        """Start nothing more, and end the streams of watchers."""
        self._closing.set()

    @answered(ServiceRole.OPERATOR)
    async def StartCompetition(
        self, request: competitions_pb2.StartCompetitionRequest, caller: ServiceCaller
    ) -> competitions_pb2.StartCompetitionResponse:
        """Start a child process."""
        if self._closing.is_set():
            raise LobbyClosingError("the service is closing")
        if request.control:
            if not self._allow_uploads:
                raise UploadsDisabledError("this service takes no control files: start one of those it has")
            await asyncio.to_thread(self._folder.add, request.name, request.control)
        view = await self._view(request.name)
        if await self._is_running(view):
            raise AlreadyRunningError(f"the competition {request.name} is already running")
        options = {"max-games": request.max_games, "parallel": request.parallel}
        await self._runs.start(
            view.control.path,
            {name: value for name, value in options.items() if value},
            # Tokens of other competitions are nothing to this one's players; its own it withholds itself.
            await asyncio.to_thread(self._folder.token_variables) - view.control.token_variables,
        )
        _log.info("competition started", name=request.name, caller=caller.name)
        return competitions_pb2.StartCompetitionResponse(competition=await self._describe(view))

    @answered(ServiceRole.OPERATOR)
    async def StopCompetition(
        self, request: competitions_pb2.StopCompetitionRequest, caller: ServiceCaller
    ) -> competitions_pb2.StopCompetitionResponse:
        """Ask its process to stop, or interrupt it."""
        view = await self._view(request.name)
        if not await self._is_running(view):
            raise NotRunningError(f"the competition {request.name} is not running")
        _log.info("competition stopped", name=request.name, at_once=request.at_once, caller=caller.name)
        if not request.at_once:
            await asyncio.to_thread(view.files.request_stop)
        elif not await self._runs.interrupt(view.control.path):
            raise NotRunningError(
                "the competition was not started by this service: it can be asked to stop only"
            )
        return competitions_pb2.StopCompetitionResponse(competition=await self._describe(view))

    @answered(*WATCHERS)
    async def GetCompetition(
        self, request: competitions_pb2.GetCompetitionRequest, _: ServiceCaller
    ) -> competitions_pb2.GetCompetitionResponse:
        """Say how a competition stands."""
        competition = await self._describe(await self._view(request.name))
        return competitions_pb2.GetCompetitionResponse(competition=competition)

    @answered(*WATCHERS)
    async def ListCompetitions(
        self, request: competitions_pb2.ListCompetitionsRequest, _: ServiceCaller
    ) -> competitions_pb2.ListCompetitionsResponse:
        """All competitions of the folder; those whose control files can't be used say so in `remark`."""
        size = self._page_size(request.page_size)
        names = await asyncio.to_thread(self._folder.names)
        rest = [name for name in names if name > request.page_token]
        answer = competitions_pb2.ListCompetitionsResponse()
        for name in rest[:size]:
            try:
                answer.competitions.append(await self._describe(await self._view(name)))
            except EXPECTED as error:
                answer.competitions.add(name=name, remark=str(error))
        if len(rest) > size:
            answer.next_page_token = rest[size - 1]
        return answer

    async def WatchCompetition(  # type: ignore[override]
        self, request: competitions_pb2.WatchCompetitionRequest, context: Context
    ) -> None:
        """Follow the results of a competition."""

        async def watch(_: ServiceCaller) -> None:
            if self.watchers >= self._limits.watchers:
                raise TooManyError(f"{self._limits.watchers} watch already", watchers=self._limits.watchers)
            self.watchers += 1
            try:
                async for event in self._events(request):
                    await context.write(event)
            finally:
                self.watchers -= 1

        await self.answer_as(context, WATCHERS, watch)

    async def _events(
        self, request: competitions_pb2.WatchCompetitionRequest
    ) -> AsyncIterator[competitions_pb2.WatchCompetitionResponse]:
        view = await self._view(request.name)
        after = request.after
        if not request.HasField("after"):
            counts = await asyncio.to_thread(view.counts)
            after = 0 if counts is None else counts.last
        live = LiveFolder(view.files.live) if request.in_progress else None
        look = await self._look(view, after)
        # Games in progress stand before it, so that who has it has them all.
        for news in _news(live) if look.running else ():
            yield _news_event(news)
        yield competitions_pb2.WatchCompetitionResponse(competition=look.competition)
        state = look.competition.state
        while True:
            for game in look.games:
                yield competitions_pb2.WatchCompetitionResponse(game=game)
                after = game.sequence
            if len(look.games) == self._limits.page:
                look = await self._look(view, after)
                continue
            if state != look.competition.state:
                yield competitions_pb2.WatchCompetitionResponse(competition=look.competition)
            state = look.competition.state
            if not look.running:
                break
            again = asyncio.create_task(self._look_later(view, after))
            try:
                async for event in self._moves(live, again):
                    yield event
                look = await again
            finally:
                again.cancel()
        for event in _ends(live):
            yield event

    async def _look(self, view: "CompetitionView", after: int) -> "_Look":
        # In this order: games that end before the competition has ended are seen.
        competition = await self._describe(view)
        return _Look(competition, await asyncio.to_thread(view.games, after, self._limits.page))

    async def _look_later(self, view: "CompetitionView", after: int) -> "_Look":
        """Look again after a while."""
        await self._pause(self._limits.look_seconds)
        return await self._look(view, after)

    async def _moves(
        self, live: LiveFolder | None, until: "asyncio.Task[_Look]"
    ) -> AsyncIterator[competitions_pb2.WatchCompetitionResponse]:
        """What is new in games in progress, until the competition has been looked at again."""
        while live is not None and not until.done():
            for news in await asyncio.to_thread(lambda: list(live.news())):
                yield _news_event(news)
            await asyncio.wait([until], timeout=self._limits.live_seconds)

    async def _pause(self, seconds: float) -> None:
        """Wait for the next look. Raises LobbyClosingError."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closing.wait()
                raise LobbyClosingError("the service is closing; competitions go on when it is started again")

    @answered(*WATCHERS)
    async def GetStandings(
        self, request: competitions_pb2.GetStandingsRequest, _: ServiceCaller
    ) -> competitions_pb2.GetStandingsResponse:
        """The table of a competition."""
        view = await self._view(request.name)
        return await asyncio.to_thread(view.standings)

    @answered(*WATCHERS)
    async def GetSchedule(
        self, request: competitions_pb2.GetScheduleRequest, _: ServiceCaller
    ) -> competitions_pb2.GetScheduleResponse:
        """The games still to come."""
        if request.page_size > self._limits.page:
            raise InvalidRequestError(f"page_size: {request.page_size}: at most {self._limits.page} are sent")
        view = await self._view(request.name)
        return await asyncio.to_thread(view.schedule, request.page_size or self._limits.default_page)

    @answered(*WATCHERS)
    async def GetHistory(
        self, request: competitions_pb2.GetHistoryRequest, _: ServiceCaller
    ) -> competitions_pb2.GetHistoryResponse:
        """How ratings and a test went."""
        if request.points > self._limits.history_points:
            raise InvalidRequestError(
                f"points: {request.points}: at most {self._limits.history_points} are sent"
            )
        view = await self._view(request.name)
        return await asyncio.to_thread(
            view.history, request.player, request.points or self._limits.default_history_points
        )

    @answered(*WATCHERS)
    async def ListGames(
        self, request: competitions_pb2.ListGamesRequest, _: ServiceCaller
    ) -> competitions_pb2.ListGamesResponse:
        """A page of games. The token is the last game's sequence."""
        size = self._page_size(request.page_size)
        token = request.page_token or "0"
        if not (token.isascii() and token.isdecimal() and len(token) < 19):
            raise InvalidRequestError("page_token: not a token of this service; begin again without one")
        which = read_filter(request.filter)
        view = await self._view(request.name)
        games, total = await asyncio.to_thread(
            view.listed_games, int(token), size + 1, which, newest_first=request.newest_first
        )
        answer = competitions_pb2.ListGamesResponse(games=games[:size], total=total)
        if len(games) > size:
            answer.next_page_token = str(games[size - 1].sequence)
        return answer

    @answered(*WATCHERS)
    async def GetGame(
        self, request: competitions_pb2.GetGameRequest, _: ServiceCaller
    ) -> competitions_pb2.GetGameResponse:
        """One game with its moves and its record; of one in progress the moves so far."""
        view = await self._view(request.name)
        game = await asyncio.to_thread(view.game, request.game_id)
        if game is None:
            raise UnknownGameError(
                f"{request.name} has no finished game {request.game_id[:80]!r}, and none in progress"
            )
        return game

    @answered(ServiceRole.OPERATOR, ServiceRole.PLAYER)
    async def GetGameTexts(
        self, request: competitions_pb2.GetGameTextsRequest, caller: ServiceCaller
    ) -> competitions_pb2.GetGameTextsResponse:
        """What was kept of a game's players; a player reads its own."""
        view = await self._view(request.name)
        own = caller.name if caller.role is ServiceRole.PLAYER else None
        return await asyncio.to_thread(view.texts, request.game_id, own)

    @answered(*WATCHERS)
    async def ListPlayers(
        self, request: competitions_pb2.ListPlayersRequest, _: ServiceCaller
    ) -> competitions_pb2.ListPlayersResponse:
        """The players that have dialled in."""
        answer = competitions_pb2.ListPlayersResponse()
        for session in self.sessions():
            answer.players.add(
                name=session.name,
                engine_name=session.hello.engine_name,
                engine_version=session.hello.engine_version,
                games=len(session.seats),
                games_at_once=session.games_at_once,
            )
        return answer

    @answered(ServiceRole.OPERATOR)
    async def CreateToken(
        self, request: competitions_pb2.CreateTokenRequest, caller: ServiceCaller
    ) -> competitions_pb2.CreateTokenResponse:
        """Make a token of a watcher or player."""
        role = _ROLES.get(request.role)
        if role is None:
            raise InvalidRequestError("role: it must be WATCHER or PLAYER")
        text = await asyncio.to_thread(self.access.create, request.name, role)
        _log.info("token made", name=request.name, role=role.value, caller=caller.name)
        return competitions_pb2.CreateTokenResponse(token=text)

    @answered(ServiceRole.OPERATOR)
    async def ListTokens(
        self, request: competitions_pb2.ListTokensRequest, _: ServiceCaller
    ) -> competitions_pb2.ListTokensResponse:
        """The names of those who have a token."""
        answer = competitions_pb2.ListTokensResponse()
        for caller in await asyncio.to_thread(self.access.tokens.callers):
            answer.tokens.add(name=caller.name, role=_ROLE_NUMBERS[caller.role])
        return answer

    @answered(ServiceRole.OPERATOR)
    async def RevokeToken(
        self, request: competitions_pb2.RevokeTokenRequest, caller: ServiceCaller
    ) -> competitions_pb2.RevokeTokenResponse:
        """End the rights of a watcher or player."""
        await asyncio.to_thread(self.access.tokens.revoke, request.name)
        for session in self.sessions():
            if session.name == request.name:
                session.end(NotAuthenticatedError("this player's token was revoked"))
        _log.info("token revoked", name=request.name, caller=caller.name)
        return competitions_pb2.RevokeTokenResponse()

    @answered(*ServiceRole)
    async def GetCaller(
        self, request: competitions_pb2.GetCallerRequest, caller: ServiceCaller
    ) -> competitions_pb2.GetCallerResponse:
        """Say whose token it is."""
        return competitions_pb2.GetCallerResponse(name=caller.name, role=_ROLE_NUMBERS[caller.role])

    async def _is_running(self, view: "CompetitionView") -> bool:
        return self._runs.running(view.control.path) or await asyncio.to_thread(view.files.running)

    async def _view(self, name: str) -> "CompetitionView":
        return await asyncio.to_thread(self._read_view, name)

    def _read_view(self, name: str) -> "CompetitionView":
        """The competition. Its control file is read where it changed: that takes longer than most answers."""
        path = self._folder.control_file(name)
        stat = path.stat()
        state = (path, stat.st_mtime_ns, stat.st_size, stat.st_ino)
        known = self._views.get(name)
        if known is None or known[0] != state:
            # One that cannot be read is read each time, and says why.
            known = state, CompetitionView(name, path)
            if len(self._views) >= _MOST_VIEWS:
                self._views.clear()
            self._views[name] = known
        return known[1]

    async def _describe(self, view: "CompetitionView") -> competitions_pb2.Competition:
        path = view.control.path
        return await asyncio.to_thread(view.competition, self._runs.running(path), self._runs.last(path))

    def _page_size(self, wanted: int) -> int:
        if wanted < 0:
            raise InvalidRequestError(f"page_size: {wanted}: it must be 0 (the default) or more")
        return min(wanted or self._limits.default_page, self._limits.page)


@dataclass(frozen=True)
class _Look:
    """What a watcher sees at a time: how the competition stands, and the next games that have ended."""

    competition: competitions_pb2.Competition
    games: list[competitions_pb2.Game]

    @property
    def running(self) -> bool:
        """Whether the competition runs."""
        return self.competition.state == competitions_pb2.COMPETITION_STATE_RUNNING


@dataclass(frozen=True)
class Counts:
    """How far a competition is; `last` is its newest game's sequence, `series` begins its contests' ids."""

    games: int = 0
    voids: int = 0
    last: int = 0
    completed: bool = False
    series: str = ""


@dataclass(frozen=True)
class _Newest:
    """What is known since the newest game: when it ended, and who leads."""

    counts: Counts
    finished: Timestamp
    leaders: tuple[str, ...]


def _leaders(standings: Standings) -> tuple[str, ...]:
    table = standings.table()
    return tuple(line.name for line in table if line.points == table[0].points)


class CompetitionView:
    """One competition as it stands. Its methods read files: call them where waiting does no harm."""

    def __init__(self, name: str, path: Path) -> None:
        """Raises ControlError."""
        self.name = name
        self.control: Control = read(path)
        self.files = CompetitionFiles(path, self.control.results)
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
                    listing.game_count(),
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
        with closing(ResultsDatabase.open(self.files.results, create=False)) as database:
            yield SeriesReader.find(database, self.files.name)

    def competition(self, running: bool, last: LastRun | None) -> competitions_pb2.Competition:
        """All about it; `running` says that the service runs it, `last` how it ended."""
        control, counts = self.control, self.counts()
        running = running or self.files.running()
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
            remark=last.words if last and not running else "",
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
                leaders = () if is_tuner(listing.terms().kind) else _leaders(_table(listing, self.control))
            known = self._newest = _Newest(counts, finished, leaders)
        return known

    def games(self, after: int, limit: int) -> list[competitions_pb2.Game]:
        """The next games after a sequence. Raises ResultsError."""
        try:
            with self._listing() as listing:
                return [_game(game) for game in listing.games_after(after, limit)]
        except NoResultsYetError:
            return []

    def listed_games(
        self, after: int, limit: int, which: GameFilter, *, newest_first: bool = False
    ) -> tuple[list[competitions_pb2.Game], int]:
        """The next games that pass a filter, and how many there are of them. Raises ResultsError."""
        try:
            with self._listing() as listing:
                games = listing.games_after(after, limit, which, newest_first=newest_first)
                return [_game(game) for game in games], listing.count_games(which)
        except NoResultsYetError:
            return [], 0

    def history(self, player: str, points: int) -> competitions_pb2.GetHistoryResponse:
        """How ratings and a test went. Raises ResultsError."""
        selector = selector_for(self.control)
        with self._listing() as listing:
            answer = competitions_pb2.GetHistoryResponse(games=listing.game_count())
            ratings = {} if is_tuner(self.control.kind) else listing.rating_history(player, points)
            for name, path in sorted(ratings.items()):
                elo = competitions_pb2.HistoryPoints(
                    games=[at for at, _ in path], values=[elo for _, elo in path]
                )
                answer.players.add(player=name, elo=elo)
            if is_tuner(self.control.kind):
                _add_parameters(answer, read_results(self.control, self.files).tuning)
            if isinstance(selector, Generations):
                _add_members(answer, read_results(self.control, self.files).descent)
            if isinstance(selector, SprtMatch):
                games = [
                    CompletedGame(game.game_id, game.matchup, game.players, game.outcome, game.detail)
                    for game in listing.finished_games()
                ]
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
        return _live(news) if news is not None and self.files.running() else None

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
        answer = _whole(game)
        own = game.listed.game.game or self.control.game
        located = replace(own, folder=self.control.game.folder).located
        answer.settings_json = json.dumps(located, sort_keys=True, default=str)
        if self.control.academy is not None:
            answer.contest_id = game.contest_id
        return answer

    def standings(self) -> competitions_pb2.GetStandingsResponse:
        """The table. Raises ResultsError."""
        if self._is_tuner():
            report = read_results(self.control, self.files)
            standings, ratings = report.standings, report.ratings
            answer = competitions_pb2.GetStandingsResponse(games=standings.games, lines=report.lines)
        else:
            standings, ratings = self._totals()
            answer = competitions_pb2.GetStandingsResponse(games=standings.games)
            self._add_state(answer)
        table = standings.table()
        for player, below in zip(table, [*table[1:], None], strict=True):
            line = answer.standings.add(
                player=player.name,
                score=_score(player.score),
                points=player.points,
                forfeits=player.forfeits,
                elo=player.elo,
                time_losses=player.time_losses,
                faults=player.fault_games,
            )
            if player.mean_cpu is not None:
                line.mean_cpu.CopyFrom(to_duration(player.mean_cpu))
            if ratings is not None:
                _rate(line, ratings, None if below is None else below.name)
        for name in standings.order:
            for opponent in standings.order:
                score = standings.against(name, opponent)
                if score.games:
                    answer.pairs.add(player=name, opponent=opponent, score=_score(score))
        return answer

    def _is_tuner(self) -> bool:
        """Whether the games are a tuner's, whose candidates make one line."""
        with self._listing() as listing:
            # The control file may be another one by now.
            return is_tuner(listing.terms().kind)

    def _add_state(self, answer: competitions_pb2.GetStandingsResponse) -> None:
        """Add what only the competition's kind knows of its state."""
        if type(self._selector).report_lines is Selector.report_lines:
            return

        def tell(selector: Selector) -> None:
            answer.lines.extend(selector.report_lines())
            if isinstance(selector, SprtMatch):
                answer.test.CopyFrom(_test(selector.state()))

        with suppress(ResultsError, CompetitionChangedError), self._listing() as listing:
            # Where the games are not those of the control file, there is a table alone.
            self._so_far.ask(listing, tell)

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
        running = {news.heading.game_id for news in LiveFolder(self.files.live).news()} if fixtures else ()
        answer = competitions_pb2.GetScheduleResponse()
        for fixture in fixtures:
            in_progress = fixture.game_id in running and self.files.running()
            answer.games.add(game_id=fixture.game_id, players=fixture.players, in_progress=in_progress)
        return answer

    def _totals(self) -> tuple[Standings, RatingList | None]:
        """The table and the likeliest ratings, from running totals."""
        with self._listing() as listing:
            control, terms = with_first_ratings(self.control, listing.first_ratings()), listing.terms()
            standings = _table(listing, control)
        two = replace(terms.game, folder=control.game.folder).rules().seats == 2
        return standings, likeliest_ratings(standings, control) if two else None


def _table(listing: SeriesReader, control: Control) -> Standings:
    try:
        listing.terms().check(CompetitionTerms(control.kind, control.game), control.own_settings)
        players: Sequence[str] = control.competitors
    except ResultsError:
        # The games are not those of the control file as it is now.
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
    # 3 is Ctrl-C or SIGTERM, 5 reports to ACADEMY that wait; below 0 are signals.
    if last is not None and last.status not in (0, 3, 5):
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


_OUTCOMES: Final[Mapping[int, Literal["won", "drew", "lost"]]] = {
    competitions_pb2.PLAYER_OUTCOME_WON: "won",
    competitions_pb2.PLAYER_OUTCOME_DREW: "drew",
    competitions_pb2.PLAYER_OUTCOME_LOST: "lost",
}


def read_filter(wanted: competitions_pb2.GameFilter) -> GameFilter:
    """Read a filter. Raises InvalidRequestError."""
    for name in ("player", "opponent", "termination", "opening"):
        if len(getattr(wanted, name)) > _LONGEST_FILTER:
            raise InvalidRequestError(f"filter.{name}: longer than {_LONGEST_FILTER} characters")
    if (wanted.outcome or wanted.opponent) and not wanted.player:
        raise InvalidRequestError("filter.player: it is missing; `outcome` and `opponent` are a player's")
    if wanted.max_moves and wanted.max_moves < wanted.min_moves:
        raise InvalidRequestError(
            f"filter.max_moves: {wanted.max_moves} is below min_moves, {wanted.min_moves}"
        )
    if max(wanted.min_moves, wanted.max_moves) > _MOST_MOVES:
        raise InvalidRequestError(f"filter: no game has more than {_MOST_MOVES:,} moves")
    return GameFilter(
        wanted.player,
        wanted.opponent,
        _OUTCOMES.get(wanted.outcome),
        wanted.termination,
        wanted.opening,
        wanted.min_moves,
        wanted.max_moves,
        wanted.faults,
    )


def _score(score: Score) -> competitions_pb2.Score:
    return competitions_pb2.Score(
        wins=score.wins, draws=score.draws, losses=score.losses, unknown=score.unknown
    )


def _game(listed: ListedGame) -> competitions_pb2.Game:
    game, outcome = listed.game, listed.game.outcome
    message = competitions_pb2.Game(
        sequence=listed.sequence,
        game_id=game.game_id,
        matchup=game.matchup,
        result=outcome.summary,
        detail=outcome.detail,
        termination=outcome.termination.value,
        move_count=listed.moves,
        opening=listed.opening,
    )
    message.started.FromDatetime(listed.started)
    message.finished.FromDatetime(listed.finished)
    for place, (name, cpu_seconds) in enumerate(zip(game.players, game.cpu_seconds, strict=True)):
        seat = message.players.add(
            name=name,
            winner=place + 1 in outcome.winners,
            points=outcome.points[place] if outcome.points else None,
            elo_before=game.elo_before[place],
            elo_after=game.elo_after[place],
            fault="" if game.faults[place] is Fault.NONE else game.faults[place].value,
        )
        if cpu_seconds is not None:
            seat.cpu.CopyFrom(to_duration(cpu_seconds))
    return message


def _whole(game: WholeGame) -> competitions_pb2.GetGameResponse:
    moves: list[Any] = [
        competitions_pb2.GameMove(
            seat=move.seat,
            text=move.text,
            time=to_duration(move.seconds),
            value=move.values.get(move.seat),
            comment=move.comment,
            clock=None if move.clock_seconds is None else to_duration(move.clock_seconds),
            clock_moves=move.clock_moves,
            opening=move.opening,
        )
        for move in game.moves
    ]
    return competitions_pb2.GetGameResponse(
        game=_game(game.listed),
        moves=moves,
        record=game.record,
        record_extension=game.record_extension,
        seed=game.seed,
        arrangement=game.arrangement,
        start_board=game.start_board,
    )


def _live_moves(moves: Sequence[LiveMove]) -> list[competitions_pb2.GameMove]:
    return [
        competitions_pb2.GameMove(
            seat=move.seat,
            text=move.text,
            time=to_duration(move.seconds),
            value=move.value,
            comment=move.comment,
            clock=None if move.clock_seconds is None else to_duration(move.clock_seconds),
            clock_moves=move.clock_moves,
            opening=move.opening,
        )
        for move in moves
    ]


def _news(live: LiveFolder | None) -> Iterator[LiveNews]:
    return iter(()) if live is None else live.news()


def _ends(live: LiveFolder | None) -> list[competitions_pb2.WatchCompetitionResponse]:
    return [] if live is None else list(map(_news_event, live.forget()))


def _news_event(news: LiveNews) -> competitions_pb2.WatchCompetitionResponse:
    message = competitions_pb2.GameInProgress(
        game_id=news.heading.game_id,
        players=news.heading.players,
        moves_before=news.moves_before,
        moves=_live_moves(news.moves),
        over=news.over,
        arrangement=news.heading.arrangement or "",
        settings_json=news.heading.settings_json,
    )
    message.started.FromMicroseconds(int(1e6 * news.heading.started))
    return competitions_pb2.WatchCompetitionResponse(in_progress=message)


def _live(news: LiveNews) -> competitions_pb2.GetGameResponse:
    game = competitions_pb2.Game(
        game_id=news.heading.game_id,
        players=[competitions_pb2.GamePlayer(name=name) for name in news.heading.players],
    )
    return competitions_pb2.GetGameResponse(
        game=game,
        moves=_live_moves(news.moves),
        in_progress=True,
        arrangement=news.heading.arrangement or "",
        settings_json=news.heading.settings_json,
    )
