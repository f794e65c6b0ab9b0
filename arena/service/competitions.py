"""The service that starts, stops, watches and reports on competitions."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from academy.wire.errors import NotAuthenticatedError
from arena.control.settings import ControlError
from arena.control.values import MAX_PARALLEL
from arena.lobby.errors import InvalidRequestError, LobbyClosingError, TooManyError
from arena.lobby.lobby import Lobby
from arena.match.live_game import LiveFolder
from arena.service.access import WATCHERS, AnsweringServicer, Context, ServiceAccess, answered
from arena.service.competition_view import CompetitionView
from arena.service.errors import (
    EXPECTED,
    AlreadyRunningError,
    NotRunningError,
    UnknownGameError,
    UploadsDisabledError,
)
from arena.service.folder import CompetitionFolder
from arena.service.game_messages import news_event, read_filter, shorten
from arena.service.paging import DEFAULT_PAGE, PAGE, number_token, page_size
from arena.service.runs import Runs
from arena.service.tokens import ServiceCaller, ServiceRole
from arena.v1 import competitions_pb2, competitions_pb2_grpc

_log = structlog.get_logger()
_ROLES: Final[Mapping[competitions_pb2.TokenRole.ValueType, ServiceRole]] = {
    competitions_pb2.TOKEN_ROLE_WATCHER: ServiceRole.WATCHER,
    competitions_pb2.TOKEN_ROLE_OPERATOR: ServiceRole.OPERATOR,
    competitions_pb2.TOKEN_ROLE_PLAYER: ServiceRole.PLAYER,
}
_ROLE_NUMBERS: Final = {role: number for number, role in _ROLES.items()}
_MOST_VIEWS: Final = 500
_MOST_WATCHERS: Final = 64
# How often a watched competition is looked at, and how often its games in progress are.
_LOOK_SECONDS: Final = 0.3
_LIVE_SECONDS: Final = 0.1
_DEFAULT_POINTS: Final = 200
_MOST_POINTS: Final = 1_000


class CompetitionServicer(AnsweringServicer, competitions_pb2_grpc.CompetitionServiceServicer):
    """Answers from the files of a folder's competitions. Reading them is left to threads."""

    def __init__(
        self,
        folder: CompetitionFolder,
        runs: Runs,
        access: ServiceAccess,
        lobby: Lobby,
        *,
        allow_uploads: bool,
    ) -> None:
        super().__init__(access)
        self._folder = folder
        self._runs = runs
        self._allow_uploads = allow_uploads
        self._closing = asyncio.Event()
        # What was read of control files, with their state then.
        self._views: dict[str, tuple[tuple[Path, int, int, int], CompetitionView]] = {}
        self._lobby = lobby
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
        if request.parallel > MAX_PARALLEL:
            raise InvalidRequestError(f"parallel: {request.parallel}: at most {MAX_PARALLEL} games at a time")
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
        size = page_size(request.page_size)
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
            if self.watchers >= _MOST_WATCHERS:
                raise TooManyError(f"{_MOST_WATCHERS} watch already", watchers=_MOST_WATCHERS)
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
        # No database counts further.
        after = min(request.after, 2**63 - 1)
        if not request.HasField("after"):
            counts = await asyncio.to_thread(view.counts)
            after = 0 if counts is None else counts.last
        live = LiveFolder(view.files.live) if request.in_progress else None
        look = await self._look(view, after)
        # Games in progress stand before it, so that a client that has it has them all.
        for news in live.news() if live is not None and look.running else ():
            yield news_event(news)
        yield competitions_pb2.WatchCompetitionResponse(competition=look.competition)
        state = look.competition.state
        while True:
            for game in look.games:
                yield competitions_pb2.WatchCompetitionResponse(game=game)
                after = game.sequence
            if len(look.games) == PAGE:
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
        for news in live.forget() if live is not None else ():
            yield news_event(news)

    async def _look(self, view: CompetitionView, after: int) -> "_Look":
        # In this order: games that end before the competition has ended are seen.
        competition = await self._describe(view)
        return _Look(competition, await asyncio.to_thread(view.games, after, PAGE))

    async def _look_later(self, view: CompetitionView, after: int) -> "_Look":
        """Look again after a while."""
        await self._pause(_LOOK_SECONDS)
        return await self._look(view, after)

    async def _moves(
        self, live: LiveFolder | None, until: "asyncio.Task[_Look]"
    ) -> AsyncIterator[competitions_pb2.WatchCompetitionResponse]:
        """What is new in games in progress, until the competition has been looked at again."""
        while live is not None and not until.done():
            for news in await asyncio.to_thread(lambda: list(live.news())):
                yield news_event(news)
            await asyncio.wait([until], timeout=_LIVE_SECONDS)

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
        # It has no next page.
        if request.page_size > PAGE:
            raise InvalidRequestError(f"page_size: {request.page_size}: at most {PAGE} are sent")
        view = await self._view(request.name)
        return await asyncio.to_thread(view.schedule, request.page_size or DEFAULT_PAGE)

    @answered(*WATCHERS)
    async def GetHistory(
        self, request: competitions_pb2.GetHistoryRequest, _: ServiceCaller
    ) -> competitions_pb2.GetHistoryResponse:
        """How ratings and a test went."""
        if request.points > _MOST_POINTS:
            raise InvalidRequestError(f"points: {request.points}: at most {_MOST_POINTS} are sent")
        view = await self._view(request.name)
        return await asyncio.to_thread(view.history, request.player, request.points or _DEFAULT_POINTS)

    @answered(*WATCHERS)
    async def ListGames(
        self, request: competitions_pb2.ListGamesRequest, _: ServiceCaller
    ) -> competitions_pb2.ListGamesResponse:
        """A page of games. The token is the last game's sequence."""
        size, after = page_size(request.page_size), number_token(request.page_token)
        which = read_filter(request.filter)
        view = await self._view(request.name)
        games, total = await asyncio.to_thread(
            view.listed_games, after, size + 1, which, newest_first=request.newest_first
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
        await asyncio.to_thread(shorten, game)
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
        for session in self._lobby.sessions():
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
        self._lobby.end_session(request.name, NotAuthenticatedError("this player's token was revoked"))
        _log.info("token revoked", name=request.name, caller=caller.name)
        return competitions_pb2.RevokeTokenResponse()

    @answered(*ServiceRole)
    async def GetCaller(
        self, request: competitions_pb2.GetCallerRequest, caller: ServiceCaller
    ) -> competitions_pb2.GetCallerResponse:
        """Say whose token it is."""
        return competitions_pb2.GetCallerResponse(name=caller.name, role=_ROLE_NUMBERS[caller.role])

    async def _is_running(self, view: CompetitionView) -> bool:
        return self._runs.running(view.control.path) or await asyncio.to_thread(view.files.running)

    async def _view(self, name: str) -> CompetitionView:
        return await asyncio.to_thread(self._read_view, name)

    def _read_view(self, name: str) -> CompetitionView:
        """The competition. Its control file is read where it changed: that takes longer than most answers."""
        path = self._folder.control_file(name)
        stat = path.stat()
        state = (path, stat.st_mtime_ns, stat.st_size, stat.st_ino)
        known = self._views.get(name)
        if known is None or known[0] != state:
            # One that cannot be read is read each time, and says why.
            try:
                view = CompetitionView(name, path)
            except ControlError as error:
                if known is None or not self._runs.running(path):
                    raise
                # The run goes on by what it was begun with, and can be watched and stopped.
                known[1].fault = str(error)
                return known[1]
            if len(self._views) >= _MOST_VIEWS:
                self._views.clear()
            self._views[name] = state, view
            return view
        return known[1]

    async def _describe(self, view: CompetitionView) -> competitions_pb2.Competition:
        path = view.control.path
        return await asyncio.to_thread(view.competition, self._runs.running(path), self._runs.last(path))


@dataclass(frozen=True)
class _Look:
    """What a watcher sees at a time: how the competition stands, and the next games that have ended."""

    competition: competitions_pb2.Competition
    games: list[competitions_pb2.Game]

    @property
    def running(self) -> bool:
        """Whether the competition runs."""
        return self.competition.state == competitions_pb2.COMPETITION_STATE_RUNNING
