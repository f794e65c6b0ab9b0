"""What pages ask ACADEMY."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final

from academy.v1 import (
    consultation_pb2,
    consultation_pb2_grpc,
    contests_pb2,
    contests_pb2_grpc,
    game_pb2,
    history_pb2,
    history_pb2_grpc,
    libraries_pb2,
    libraries_pb2_grpc,
    pattern_pb2,
    proposals_pb2,
    proposals_pb2_grpc,
    tokens_pb2_grpc,
)
from clients.connection import Connection
from web.called_service import CalledService
from web.failures import PageError
from web.shared_answer import SharedAnswer

__all__ = ["MOST_GAMES", "AcademyService", "GameFigures", "PlayerFigures"]

# More are not compared side by side.
MOST_GAMES: Final = 300
MOST_PLAYERS: Final = 200
# Names of linked arenas may be longer, and are refused.
_LONGEST_NAME: Final = 128
# How long the list of games with its figures is shown to others without asking again.
_REMEMBERED_SECONDS: Final = 5.0


@dataclass(frozen=True)
class GameFigures:
    """A game with the sizes of its libraries, and LUDAE's measures of it."""

    game: game_pb2.Game
    statistics: libraries_pb2.GetStatisticsResponse
    measures: libraries_pb2.GetMeasuresResponse


@dataclass(frozen=True)
class PlayerFigures:
    """What a player did in a game; the Elo is None where the token may not read it or there is none."""

    statistics: libraries_pb2.PlayerStatistics
    elo: float | None


class AcademyService(CalledService):
    """A connection to ACADEMY, for one event loop; its services are for `ask`.

    All calls raise PageError where ACADEMY refuses or does not answer. Raises OSError for a certificate that
    cannot be read.
    """

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, "ACADEMY")
        self._contests = contests_pb2_grpc.ContestServiceStub(self._channel)
        self.libraries = libraries_pb2_grpc.LibraryServiceStub(self._channel)
        self.proposals = proposals_pb2_grpc.ProposalServiceStub(self._channel)
        self.tokens = tokens_pb2_grpc.TokenServiceStub(self._channel)
        self.consultation = consultation_pb2_grpc.ConsultationServiceStub(self._channel)
        self.history = history_pb2_grpc.HistoryServiceStub(self._channel)

    def _forget(self) -> None:
        super()._forget()
        self._games = SharedAnswer(self._list_games, _REMEMBERED_SECONDS)

    def download_backup(self) -> AsyncIterator[libraries_pb2.DownloadBackupResponse]:
        """Yield the parts of a copy of all data."""
        return self.stream(self.libraries.DownloadBackup, libraries_pb2.DownloadBackupRequest())

    def watch(self, after: int | None) -> AsyncIterator[history_pb2.WatchLibraryResponse]:
        """Yield what is learnt after an event, None for from now on, until ACADEMY ends the stream."""
        return self.stream(self.history.WatchLibrary, history_pb2.WatchLibraryRequest(after=after))

    async def games(self) -> list[GameFigures]:
        """Return the games with their figures, at most `MOST_GAMES`, some seconds old."""
        return await self._games.get()

    async def _list_games(self) -> list[GameFigures]:
        request = contests_pb2.ListGamesRequest(page_size=MOST_GAMES)
        games = await self.list_all(self._contests.ListGames, request, "games", MOST_GAMES)
        return list(await asyncio.gather(*map(self.figures, games)))

    async def figures(self, game: game_pb2.Game) -> GameFigures:
        """Return a game with its figures."""
        statistics, measures = await asyncio.gather(
            self.ask(self.libraries.GetStatistics, libraries_pb2.GetStatisticsRequest(game_id=game.game_id)),
            self.ask(self.libraries.GetMeasures, libraries_pb2.GetMeasuresRequest(game_id=game.game_id)),
        )
        return GameFigures(game, statistics, measures)

    async def game(self, game_id: str) -> contests_pb2.GetGameResponse:
        """Return a game's description and average length."""
        return await self.ask(self._contests.GetGame, contests_pb2.GetGameRequest(game_id=game_id))

    async def players(self, game_id: str) -> list[PlayerFigures]:
        """Return the first `MOST_PLAYERS` names that the token may see in a game, the strongest first."""
        request = libraries_pb2.ListPlayerStatisticsRequest(game_id=game_id, page_size=MOST_PLAYERS)
        listed = (await self.ask(self.libraries.ListPlayerStatistics, request)).players
        ratings = await self._ratings(game_id, [player.player for player in listed])
        players = [PlayerFigures(player, ratings.get(player.player)) for player in listed]
        return sorted(players, key=lambda known: (-(known.elo or 0.0), known.statistics.player))

    async def _ratings(self, game_id: str, players: Sequence[str]) -> dict[str, float]:
        named = [player for player in players if len(player) <= _LONGEST_NAME]
        request = contests_pb2.GetRatingsRequest(game_id=game_id, players=named)
        try:
            response = await self.ask(self._contests.GetRatings, request)
        except PageError as error:
            # Ratings are for arenas and admins, and names of linked arenas are not of this one.
            if error.status in (400, 403):
                return {}
            raise
        return {rating.player: rating.elo for rating in response.ratings}

    async def opening(
        self, game_id: str, player: int, moves: Sequence[str]
    ) -> consultation_pb2.LookUpOpeningResponse:
        """Return what is known after a list of moves, with the figures of a player."""
        request = consultation_pb2.LookUpOpeningRequest(game_id=game_id, player=player, moves=moves)
        return await self.ask(self.consultation.LookUpOpening, request)

    async def pattern(
        self, game_id: str, library: pattern_pb2.Library.ValueType, pattern_id: int
    ) -> pattern_pb2.PatternRecord:
        """Return one pattern."""
        request = libraries_pb2.GetPatternRequest(game_id=game_id, library=library, pattern_id=pattern_id)
        return (await self.ask(self.libraries.GetPattern, request)).pattern

    async def contest(self, contest_id: str) -> contests_pb2.Contest:
        """Return a contest."""
        request = contests_pb2.GetContestRequest(contest_id=contest_id)
        return (await self.ask(self._contests.GetContest, request)).contest

    async def consultations(self, contest_id: str) -> contests_pb2.GetConsultationsResponse:
        """Return what the players of a contest asked and got."""
        request = contests_pb2.GetConsultationsRequest(contest_id=contest_id)
        return await self.ask(self._contests.GetConsultations, request)

    async def proposals_of_contest(self, contest_id: str, most: int) -> list[proposals_pb2.Proposal]:
        """Return the patterns that were proposed from a contest, with what became of them."""
        request = proposals_pb2.ListProposalsRequest(contest_id=contest_id, page_size=most)
        return list((await self.ask(self.proposals.ListProposals, request)).proposals)

    async def pattern_history(
        self, game_id: str, library: pattern_pb2.Library.ValueType, pattern_id: int
    ) -> history_pb2.GetPatternHistoryResponse:
        """Return what became of a pattern."""
        request = history_pb2.GetPatternHistoryRequest(
            game_id=game_id, library=library, pattern_id=pattern_id
        )
        return await self.ask(self.history.GetPatternHistory, request)

    async def growth(self, game_id: str) -> list[history_pb2.GrowthPoint]:
        """Return how a game's libraries grew, the oldest point first."""
        request = history_pb2.GetGrowthRequest(game_id=game_id)
        return list((await self.ask(self.history.GetGrowth, request)).points)

    async def player(self, player: str) -> list[PlayerFigures]:
        """Return what is known of a player in all games that it has figures in."""
        request = libraries_pb2.ListPlayerStatisticsRequest(player=player)
        listed = (await self.ask(self.libraries.ListPlayerStatistics, request)).players
        ratings = await asyncio.gather(*(self._ratings(figures.game_id, [player]) for figures in listed))
        return [
            PlayerFigures(figures, elos.get(player)) for figures, elos in zip(listed, ratings, strict=True)
        ]
