"""The arena's side: games registered, contests opened and reported."""

import asyncio

from academy.knowledge.measures import Measures
from academy.service import paging
from academy.service.access import ContestAccess, current_caller
from academy.service.errors import require
from academy.service.interceptor import Context
from academy.service.limits import Limits
from academy.store import arenas, game_tables
from academy.store.arenas import AllowArena, LinkArena
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.contest_tables import oldest_open_contests, read_consultations
from academy.store.environment import TableName, Transaction
from academy.store.game_registration import RegisterGame
from academy.store.keys import check_player_name
from academy.store.library_store import Store
from academy.store.tokens import Role
from academy.v1 import contests_pb2 as messages
from academy.v1 import contests_pb2_grpc, game_pb2


class ContestServicer(contests_pb2_grpc.ContestServiceServicer):
    """academy.v1.ContestService."""

    def __init__(self, store: Store, access: ContestAccess, limits: Limits) -> None:
        self._store = store
        self._access = access
        self._limits = limits

    async def RegisterGame(
        self, request: messages.RegisterGameRequest, context: Context
    ) -> messages.RegisterGameResponse:
        """Make a game known."""
        caller = current_caller.get()
        may_describe = caller.role is Role.ADMIN or self._store.read(arenas.is_home, caller.name)
        game, created = await self._store.write(RegisterGame(request.game, caller.name, may_describe))
        return messages.RegisterGameResponse(game=game, created=created)

    async def GetGame(self, request: messages.GetGameRequest, context: Context) -> messages.GetGameResponse:
        """Return one game."""
        game, measures = self._store.read(_game_and_measures, request.game_id)
        return messages.GetGameResponse(
            game=game, average_length=measures.average_length(game.expected_length)
        )

    async def ListGames(
        self, request: messages.ListGamesRequest, context: Context
    ) -> messages.ListGamesResponse:
        """Return the games by id."""
        size = paging.page_size(request.page_size, self._limits)
        key = paging.page_key(request, (str,))
        after = str(key[0]) if key else ""
        following = self._store.read(game_tables.list_games, after=after, most=size + 1)
        games, more = paging.fill_page(following, size, self._limits)
        token = paging.page_token(request, [games[-1].game_id]) if more else ""
        return messages.ListGamesResponse(games=games, next_page_token=token)

    async def OpenContest(
        self, request: messages.OpenContestRequest, context: Context
    ) -> messages.OpenContestResponse:
        """Begin a contest and give its seats tickets."""
        arena = self._access.arena(current_caller.get(), request.contest.arena)
        contest, tickets = await self._store.write(OpenContest(request.contest, arena))
        return messages.OpenContestResponse(contest=contest, tickets=tickets)

    async def ReportContest(
        self, request: messages.ReportContestRequest, context: Context
    ) -> messages.ReportContestResponse:
        """End a contest and learn from it."""
        caller = current_caller.get()
        arena = self._access.find_arena_of_report(caller, request.contest)
        return await self._store.write(ReportContest(request, caller.name, arena))

    async def GetContest(
        self, request: messages.GetContestRequest, context: Context
    ) -> messages.GetContestResponse:
        """Return one contest; a bot sees those it plays."""
        contest = self._access.find_contest(current_caller.get(), request.contest_id, request.arena)
        return messages.GetContestResponse(contest=contest)

    async def GetConsultations(
        self, request: messages.GetConsultationsRequest, context: Context
    ) -> messages.GetConsultationsResponse:
        """Return what a contest's players asked and got."""
        record = self._access.find_record(current_caller.get(), request.contest_id, request.arena)
        # Its event has all boards of the contest: other calls must not wait for it.
        return await asyncio.to_thread(self._store.read, read_consultations, record)

    async def GetRatings(
        self, request: messages.GetRatingsRequest, context: Context
    ) -> messages.GetRatingsResponse:
        """Return players' last Elo in a game."""
        most = self._limits.players_per_call
        require(len(request.players) <= most, "players", f"more than {most:,}: ask in parts", limit=most)
        for place, name in enumerate(request.players):
            check_player_name(f"players[{place}]", name)
        caller = current_caller.get()
        ratings = await asyncio.to_thread(
            self._store.read,
            arenas.list_ratings,
            request.game_id,
            caller.name,
            request.players,
            of_admin=caller.role is Role.ADMIN,
        )
        return messages.GetRatingsResponse(
            ratings=[messages.PlayerRating(player=name, elo=elo) for name, elo in ratings.items()]
        )

    async def ListOpenContests(
        self, request: messages.ListOpenContestsRequest, context: Context
    ) -> messages.ListOpenContestsResponse:
        """Return the open contests, the oldest first."""
        size = paging.page_size(request.page_size, self._limits)
        key = paging.page_key(request, (int, str))
        after = (int(key[0]), str(key[1])) if key else None
        # A page of a thousand takes some milliseconds: others' calls must not wait for it.
        oldest = await asyncio.to_thread(
            self._store.read, oldest_open_contests, request.game_id, after, size + 1
        )
        contests, more = paging.fill_page((contest for _, contest in oldest), size, self._limits)
        token = paging.page_token(request, [*oldest[len(contests) - 1][0]]) if more else ""
        return messages.ListOpenContestsResponse(contests=contests, next_page_token=token)

    async def ListArenas(
        self, request: messages.ListArenasRequest, context: Context
    ) -> messages.ListArenasResponse:
        """Return the arenas in the order in which they came."""
        return messages.ListArenasResponse(
            arenas=[arenas.as_message(arena) for arena in self._store.read(arenas.list_arenas)]
        )

    async def LinkArena(
        self, request: messages.LinkArenaRequest, context: Context
    ) -> messages.LinkArenaResponse:
        """Put an arena's players into another's namespace."""
        link = LinkArena(request.arena, request.other)
        require(bool(link.other), "other", "must be given: the arena whose players' names are shared")
        return messages.LinkArenaResponse(arena=await self._store.write(link))

    async def UnlinkArena(
        self, request: messages.UnlinkArenaRequest, context: Context
    ) -> messages.UnlinkArenaResponse:
        """Put an arena's players back into its own namespace."""
        return messages.UnlinkArenaResponse(arena=await self._store.write(LinkArena(request.arena)))

    async def AllowArena(
        self, request: messages.AllowArenaRequest, context: Context
    ) -> messages.AllowArenaResponse:
        """Let an arena act for another, or end that."""
        command = AllowArena(request.arena, request.acts_for, request.forbid)
        return messages.AllowArenaResponse(arena=await self._store.write(command))


def _game_and_measures(transaction: Transaction, game_id: str) -> tuple[game_pb2.Game, Measures]:
    game = game_tables.game_record(transaction, game_id)
    return game, game_tables.read_measures(game_tables.stored_table(transaction, TableName.MEASURES, game_id))
