"""What pages ask an arena's service."""

from collections.abc import AsyncIterator
from typing import Final

from arena.v1 import competitions_pb2, competitions_pb2_grpc
from clients.connection import Connection
from web.called_service import CalledService
from web.failures import PageError
from web.shared_answer import SharedAnswer

__all__ = ["GAMES_PER_PAGE", "ArenaService"]

_COMPETITIONS: Final = 500
GAMES_PER_PAGE: Final = 50
_COMPETITIONS_PER_PAGE: Final = 100
_REMEMBERED_SECONDS: Final = 10.0


class ArenaService(CalledService):
    """A connection to an arena's service, for one event loop; `service` is for `ask`.

    All calls raise PageError where the service refuses or does not answer. Raises OSError for a certificate
    that cannot be read.
    """

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, "the arena")
        self.service = competitions_pb2_grpc.CompetitionServiceStub(self._channel)

    def _forget(self) -> None:
        super()._forget()
        self._series = SharedAnswer(self._list_series, _REMEMBERED_SECONDS)

    async def competitions(self) -> list[competitions_pb2.Competition]:
        """Return the competitions by name."""
        request = competitions_pb2.ListCompetitionsRequest(page_size=_COMPETITIONS)
        return await self.list_all(self.service.ListCompetitions, request, "competitions")

    async def series(self) -> dict[str, str]:
        """Return the names of competitions by what the ids of their contests at ACADEMY begin with.

        They are some seconds old: many pages ask, and each answer reads all competitions.
        """
        return await self._series.get()

    async def _list_series(self) -> dict[str, str]:
        listed = await self.competitions()
        return {competition.series: competition.name for competition in listed if competition.series}

    async def competitions_from(self, page_token: str) -> competitions_pb2.ListCompetitionsResponse:
        """Return a page of the competitions by name; its token is of the page before, "" for the first."""
        request = competitions_pb2.ListCompetitionsRequest(
            page_size=_COMPETITIONS_PER_PAGE, page_token=page_token
        )
        return await self.ask(self.service.ListCompetitions, request)

    async def competition(self, name: str) -> competitions_pb2.Competition:
        """Return a competition."""
        request = competitions_pb2.GetCompetitionRequest(name=name)
        return (await self.ask(self.service.GetCompetition, request)).competition

    def watch(self, name: str) -> AsyncIterator[competitions_pb2.WatchCompetitionResponse]:
        """Yield what happens in a competition, with the moves of its games in progress, while it runs."""
        request = competitions_pb2.WatchCompetitionRequest(name=name, in_progress=True)
        return self.stream(self.service.WatchCompetition, request)

    async def standings(self, name: str) -> competitions_pb2.GetStandingsResponse:
        """Return the standings of a competition."""
        request = competitions_pb2.GetStandingsRequest(name=name)
        return await self.ask(self.service.GetStandings, request)

    async def schedule(self, name: str, most: int) -> list[competitions_pb2.ScheduledGame]:
        """Return the games still to come, as far as the competition's kind knows them."""
        request = competitions_pb2.GetScheduleRequest(name=name, page_size=most)
        return list((await self.ask(self.service.GetSchedule, request)).games)

    async def history(self, name: str, player: str = "") -> competitions_pb2.GetHistoryResponse:
        """Return how the ratings of a player, "" for all of them, and a sequential test went."""
        request = competitions_pb2.GetHistoryRequest(name=name, player=player)
        return await self.ask(self.service.GetHistory, request)

    async def games(
        self, name: str, page_token: str, which: competitions_pb2.GameFilter | None = None
    ) -> competitions_pb2.ListGamesResponse:
        """Return a page of finished games, the newest first; its token is as for competitions."""
        request = competitions_pb2.ListGamesRequest(
            name=name, page_size=GAMES_PER_PAGE, page_token=page_token, newest_first=True, filter=which
        )
        return await self.ask(self.service.ListGames, request)

    async def texts(self, name: str, game_id: str) -> list[competitions_pb2.PlayerTexts]:
        """Return what was kept of a game's players, for an operator or one of them; nothing for others."""
        request = competitions_pb2.GetGameTextsRequest(name=name, game_id=game_id)
        try:
            return list((await self.ask(self.service.GetGameTexts, request)).players)
        except PageError:
            return []

    async def game(self, name: str, game_id: str) -> competitions_pb2.GetGameResponse:
        """Return a finished game with its moves and its record."""
        request = competitions_pb2.GetGameRequest(name=name, game_id=game_id)
        return await self.ask(self.service.GetGame, request)
