"""The service that starts, stops, watches and tells of competitions."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

import structlog
from grpc import aio

from arena.lobby.lobby import RemoteSession
from arena.lobby.refusals import (
    InvalidRequestError,
    LobbyClosingError,
    NotAuthenticatedError,
    NotPermittedError,
    TooManyError,
)
from arena.lobby.tokens import bearer_token
from arena.service.folder import CompetitionFolder
from arena.service.refusals import (
    EXPECTED,
    AlreadyRunningError,
    NotRunningError,
    UnknownGameError,
    UploadsDisabledError,
    refusal,
)
from arena.service.runs import Runs
from arena.service.tokens import ServiceCaller, ServiceRole, Tokens
from arena.service.views import Viewed
from arena.v1 import competitions_pb2, competitions_pb2_grpc

Context = aio.ServicerContext[Any, Any]
_Answer = TypeVar("_Answer")
_log = structlog.get_logger()
_ROLES: Final[Mapping[competitions_pb2.TokenRole.ValueType, ServiceRole]] = {
    competitions_pb2.TOKEN_ROLE_WATCHER: ServiceRole.WATCHER,
    competitions_pb2.TOKEN_ROLE_OPERATOR: ServiceRole.OPERATOR,
    competitions_pb2.TOKEN_ROLE_PLAYER: ServiceRole.PLAYER,
}
_ROLE_NUMBERS: Final = {role: number for number, role in _ROLES.items()}
_OPERATORS: Final = (ServiceRole.OPERATOR,)
_WATCHERS: Final = (ServiceRole.OPERATOR, ServiceRole.WATCHER)


@dataclass(frozen=True)
class ServiceLimits:
    """Bounds on what callers may ask. `look_seconds` is how often a watched competition is looked at."""

    default_page: int = 100
    page: int = 1_000
    watchers: int = 64
    look_seconds: float = 0.3


class CompetitionServicer(competitions_pb2_grpc.CompetitionServiceServicer):
    """Answers from the files of a folder's competitions. Reading them is left to threads."""

    def __init__(
        self,
        folder: CompetitionFolder,
        runs: Runs,
        tokens: Tokens,
        *,
        allow_uploads: bool,
        limits: ServiceLimits,
    ) -> None:
        self._folder = folder
        self._runs = runs
        self._tokens = tokens
        self._allow_uploads = allow_uploads
        self._limits = limits
        self._closing = asyncio.Event()
        # The players that have dialled in; there are none before the lobby is open.
        self.guests: Callable[[], Sequence[RemoteSession]] = tuple
        self.watchers = 0
        # Calls by how they ended: OK, or the reason of the refusal.
        self.calls: Counter[str] = Counter()

    def close(self) -> None:
        """Start nothing more, and tell the watchers that the service ends."""
        self._closing.set()

    async def StartCompetition(
        self, request: competitions_pb2.StartCompetitionRequest, context: Context
    ) -> competitions_pb2.StartCompetitionResponse:
        """Start a child process."""

        async def start(caller: ServiceCaller) -> competitions_pb2.StartCompetitionResponse:
            if self._closing.is_set():
                raise LobbyClosingError("the service is closing")
            if request.control:
                if not self._allow_uploads:
                    raise UploadsDisabledError(
                        "this service takes no control files: start one of those it has"
                    )
                await asyncio.to_thread(self._folder.add, request.name, request.control)
            viewed = await self._viewed(request.name)
            if self._runs.running(viewed.control.path) or await asyncio.to_thread(viewed.files.running):
                raise AlreadyRunningError(f"the competition {request.name} is already running")
            options = {"max-games": request.max_games, "parallel": request.parallel}
            await self._runs.start(
                viewed.control.path,
                {name: value for name, value in options.items() if value},
                # Tokens of other competitions are nothing to this one's players; its own it withholds itself.
                await asyncio.to_thread(self._folder.token_variables) - viewed.control.token_variables,
            )
            _log.info("competition started", name=request.name, caller=caller.name)
            return competitions_pb2.StartCompetitionResponse(competition=await self._told(viewed))

        return await self._answered(context, _OPERATORS, start)

    async def StopCompetition(
        self, request: competitions_pb2.StopCompetitionRequest, context: Context
    ) -> competitions_pb2.StopCompetitionResponse:
        """Ask its process to stop, or break it off."""

        async def stop(caller: ServiceCaller) -> competitions_pb2.StopCompetitionResponse:
            viewed = await self._viewed(request.name)
            path = viewed.control.path
            if not (self._runs.running(path) or await asyncio.to_thread(viewed.files.running)):
                raise NotRunningError(f"the competition {request.name} is not running")
            _log.info("competition stopped", name=request.name, at_once=request.at_once, caller=caller.name)
            if not request.at_once:
                await asyncio.to_thread(viewed.files.request_stop)
            elif not await self._runs.interrupt(path):
                raise NotRunningError(
                    "the competition was not started by this service: it can be asked to stop only"
                )
            return competitions_pb2.StopCompetitionResponse(competition=await self._told(viewed))

        return await self._answered(context, _OPERATORS, stop)

    async def GetCompetition(
        self, request: competitions_pb2.GetCompetitionRequest, context: Context
    ) -> competitions_pb2.GetCompetitionResponse:
        """Say how a competition stands."""

        async def get(_: ServiceCaller) -> competitions_pb2.GetCompetitionResponse:
            told = await self._told(await self._viewed(request.name))
            return competitions_pb2.GetCompetitionResponse(competition=told)

        return await self._answered(context, _WATCHERS, get)

    async def ListCompetitions(
        self, request: competitions_pb2.ListCompetitionsRequest, context: Context
    ) -> competitions_pb2.ListCompetitionsResponse:
        """All competitions of the folder; those whose control files can't be used say so in `remark`."""

        async def get(_: ServiceCaller) -> competitions_pb2.ListCompetitionsResponse:
            size = self._page_size(request.page_size)
            names = await asyncio.to_thread(self._folder.names)
            rest = [name for name in names if name > request.page_token]
            answer = competitions_pb2.ListCompetitionsResponse()
            for name in rest[:size]:
                try:
                    answer.competitions.append(await self._told(await self._viewed(name)))
                except EXPECTED as error:
                    answer.competitions.add(name=name, remark=str(error))
            if len(rest) > size:
                answer.next_page_token = rest[size - 1]
            return answer

        return await self._answered(context, _WATCHERS, get)

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

        await self._answered(context, _WATCHERS, watch)

    async def _events(
        self, request: competitions_pb2.WatchCompetitionRequest
    ) -> AsyncIterator[competitions_pb2.WatchCompetitionResponse]:
        viewed = await self._viewed(request.name)
        if request.HasField("after"):
            after = request.after
        else:
            counts = await asyncio.to_thread(viewed.counts)
            after = 0 if counts is None else counts.last
        told: competitions_pb2.CompetitionState.ValueType | None = None
        while True:
            # In this order: what is played before a competition stands still is told.
            competition = await self._told(viewed)
            running = competition.state == competitions_pb2.COMPETITION_STATE_RUNNING
            if told is None:
                yield competitions_pb2.WatchCompetitionResponse(competition=competition)
            while games := await asyncio.to_thread(viewed.games, after, self._limits.page):
                for game in games:
                    yield competitions_pb2.WatchCompetitionResponse(game=game)
                    after = game.sequence
            if told is not None and told != competition.state:
                yield competitions_pb2.WatchCompetitionResponse(competition=competition)
            told = competition.state
            if not running:
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(self._limits.look_seconds):
                    await self._closing.wait()
                    raise LobbyClosingError(
                        "the service is closing; competitions go on when it is started again"
                    )

    async def GetStandings(
        self, request: competitions_pb2.GetStandingsRequest, context: Context
    ) -> competitions_pb2.GetStandingsResponse:
        """The table of a competition."""

        async def get(_: ServiceCaller) -> competitions_pb2.GetStandingsResponse:
            viewed = await self._viewed(request.name)
            return await asyncio.to_thread(viewed.standings)

        return await self._answered(context, _WATCHERS, get)

    async def ListGames(
        self, request: competitions_pb2.ListGamesRequest, context: Context
    ) -> competitions_pb2.ListGamesResponse:
        """A page of games. The token is the last game's sequence."""

        async def get(_: ServiceCaller) -> competitions_pb2.ListGamesResponse:
            size = self._page_size(request.page_size)
            token = request.page_token or "0"
            if not (token.isascii() and token.isdecimal() and len(token) < 19):
                raise InvalidRequestError("page_token: not a token of this service; begin again without one")
            viewed = await self._viewed(request.name)
            games = await asyncio.to_thread(viewed.games, int(token), size + 1)
            answer = competitions_pb2.ListGamesResponse(games=games[:size])
            if len(games) > size:
                answer.next_page_token = str(games[size - 1].sequence)
            return answer

        return await self._answered(context, _WATCHERS, get)

    async def GetGame(
        self, request: competitions_pb2.GetGameRequest, context: Context
    ) -> competitions_pb2.GetGameResponse:
        """One game with its moves and its record."""

        async def get(_: ServiceCaller) -> competitions_pb2.GetGameResponse:
            viewed = await self._viewed(request.name)
            found = await asyncio.to_thread(viewed.game, request.game_id)
            if found is None:
                raise UnknownGameError(f"{request.name} has no finished game {request.game_id[:80]!r}")
            return found

        return await self._answered(context, _WATCHERS, get)

    async def ListPlayers(
        self, request: competitions_pb2.ListPlayersRequest, context: Context
    ) -> competitions_pb2.ListPlayersResponse:
        """The players that have dialled in."""

        async def get(_: ServiceCaller) -> competitions_pb2.ListPlayersResponse:
            answer = competitions_pb2.ListPlayersResponse()
            for guest in self.guests():
                answer.players.add(
                    name=guest.name,
                    engine_name=guest.hello.engine_name,
                    engine_version=guest.hello.engine_version,
                    games=len(guest.seats),
                    games_at_once=max(1, guest.hello.games_at_once),
                )
            return answer

        return await self._answered(context, _WATCHERS, get)

    async def CreateToken(
        self, request: competitions_pb2.CreateTokenRequest, context: Context
    ) -> competitions_pb2.CreateTokenResponse:
        """Make a token of a watcher or player."""

        async def create(caller: ServiceCaller) -> competitions_pb2.CreateTokenResponse:
            role = _ROLES.get(request.role)
            if role is None:
                raise InvalidRequestError("role: it must be WATCHER or PLAYER")
            text = await asyncio.to_thread(self._tokens.create, request.name, role)
            _log.info("token made", name=request.name, role=role.value, caller=caller.name)
            return competitions_pb2.CreateTokenResponse(token=text)

        return await self._answered(context, _OPERATORS, create)

    async def ListTokens(
        self, request: competitions_pb2.ListTokensRequest, context: Context
    ) -> competitions_pb2.ListTokensResponse:
        """The names of those who have a token."""

        async def get(_: ServiceCaller) -> competitions_pb2.ListTokensResponse:
            answer = competitions_pb2.ListTokensResponse()
            for caller in await asyncio.to_thread(self._tokens.callers):
                answer.tokens.add(name=caller.name, role=_ROLE_NUMBERS[caller.role])
            return answer

        return await self._answered(context, _OPERATORS, get)

    async def RevokeToken(
        self, request: competitions_pb2.RevokeTokenRequest, context: Context
    ) -> competitions_pb2.RevokeTokenResponse:
        """End the rights of a watcher or player."""

        async def revoke(caller: ServiceCaller) -> competitions_pb2.RevokeTokenResponse:
            await asyncio.to_thread(self._tokens.revoke, request.name)
            for guest in self.guests():
                if guest.name == request.name:
                    guest.end(NotAuthenticatedError("this player's token was revoked"))
            _log.info("token revoked", name=request.name, caller=caller.name)
            return competitions_pb2.RevokeTokenResponse()

        return await self._answered(context, _OPERATORS, revoke)

    async def _answered(
        self,
        context: Context,
        roles: tuple[ServiceRole, ...],
        answer: Callable[[ServiceCaller], Awaitable[_Answer]],
    ) -> _Answer:
        try:
            caller = self._tokens.authenticate(bearer_token(context.invocation_metadata()))
            if caller.role not in roles:
                needed = " or ".join(role.value for role in roles)
                raise NotPermittedError(
                    f"this is for an {needed}; {caller.name}'s role is {caller.role.value}"
                )
            answered = await answer(caller)
        except EXPECTED as error:
            why = refusal(error)
            self.calls[why.reason] += 1
            _log.info("refused", reason=why.reason, why=str(why), peer=context.peer())
            await why.abort(context)
            raise  # never: abort has raised
        self.calls["OK"] += 1
        return answered

    async def _viewed(self, name: str) -> Viewed:
        return await asyncio.to_thread(lambda: Viewed(name, self._folder.control_file(name)))

    async def _told(self, viewed: Viewed) -> competitions_pb2.Competition:
        path = viewed.control.path
        tell = partial(viewed.competition, self._runs.running(path), self._runs.last(path))
        return await asyncio.to_thread(tell)

    def _page_size(self, asked: int) -> int:
        if asked < 0:
            raise InvalidRequestError(f"page_size: {asked}: it must be 0 (the default) or more")
        return min(asked or self._limits.default_page, self._limits.page)
