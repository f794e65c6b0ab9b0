"""The service of ratings: rating lists and histories of its league, for every holder of a token."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from arena.league.lists import LeagueReader
from arena.results.database import NoResultsYetError
from arena.service.access import AnsweringServicer, ServiceAccess, answered
from arena.service.errors import UnknownRatingsError
from arena.service.paging import number_token, page_size
from arena.service.timestamps import timestamp_of
from arena.service.tokens import ServiceCaller, ServiceRole
from arena.v1 import leagues_pb2 as messages
from arena.v1 import leagues_pb2_grpc

DEFAULT_POINTS: Final = 1_000
MOST_POINTS: Final = 10_000
_Answer = TypeVar("_Answer")


class LeagueServicer(AnsweringServicer, leagues_pb2_grpc.LeagueServiceServicer):
    """Answers from the league's database."""

    def __init__(self, access: ServiceAccess, reader: LeagueReader) -> None:
        super().__init__(access)
        self._reader = reader

    @answered(*ServiceRole)
    async def ListRatedGames(
        self, _request: messages.ListRatedGamesRequest, _: ServiceCaller
    ) -> messages.ListRatedGamesResponse:
        """The games that are rated."""
        games = await asyncio.to_thread(self._reader.games)
        return messages.ListRatedGamesResponse(
            games=[
                messages.RatedGame(game=rated.game, games=rated.games, players=rated.players)
                for rated in games
            ]
        )

    @answered(*ServiceRole)
    async def ListRatings(
        self, request: messages.ListRatingsRequest, _: ServiceCaller
    ) -> messages.ListRatingsResponse:
        """A page of a rating list. The token is the number of lines before it."""
        size, first = page_size(request.page_size), number_token(request.page_token)
        # One more tells whether there is another page.
        lines = await read_ratings(partial(self._reader.ratings, request.game, size + 1, first))
        answer = messages.ListRatingsResponse(
            ratings=[
                messages.Rating(
                    player=line.name,
                    version=line.version,
                    family=line.family,
                    elo=line.elo,
                    likeliest=line.likeliest,
                    error=line.error,
                    games=line.games,
                    score=line.score,
                    last_played=timestamp_of(line.last_played),
                    anchored=line.anchored,
                )
                for line in lines[:size]
            ]
        )
        if len(lines) > size:
            answer.next_page_token = str(first + size)
        return answer

    @answered(*ServiceRole)
    async def GetRatingHistory(
        self, request: messages.GetRatingHistoryRequest, _: ServiceCaller
    ) -> messages.GetRatingHistoryResponse:
        """The newest points of a player's ratings."""
        most = min(request.points or DEFAULT_POINTS, MOST_POINTS)
        history = await read_ratings(
            partial(self._reader.history, request.player, request.game or None, most)
        )
        return messages.GetRatingHistoryResponse(
            points=[
                messages.RatingPoint(
                    version=point.version,
                    game=point.game,
                    time=timestamp_of(point.time),
                    games=point.games,
                    elo=point.elo,
                    likeliest=point.likeliest,
                    error=point.error,
                )
                for line in history.values()
                for point in line
            ]
        )


async def read_ratings(read: Callable[[], _Answer]) -> _Answer:
    """Read from the league in a thread. Raises UnknownRatingsError."""
    try:
        return await asyncio.to_thread(read)
    except NoResultsYetError as error:
        raise UnknownRatingsError(str(error)) from None
