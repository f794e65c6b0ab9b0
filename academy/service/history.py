"""What happened, for pages and commands: contests by opening position, patterns' histories, growth."""

import asyncio
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from academy.knowledge.fair_use import FairUse
from academy.knowledge.library import UnknownPatternError
from academy.knowledge.openings import Continuation
from academy.knowledge.transpositions import find_transpositions
from academy.knowledge.votes import ELO_SCALE
from academy.service.access import ContestAccess, current_caller
from academy.service.books import Reader
from academy.service.cost import cost_of_listing, cost_of_moves
from academy.service.errors import require, require_time
from academy.service.game_cache import GameCache
from academy.service.interceptor import CallInterceptor, ConcurrencyLimiter, Context
from academy.service.moves import check_line
from academy.store import event_log, history
from academy.store.codec.games import pattern_library_from_proto
from academy.store.environment import Transaction
from academy.store.game_tables import game_record
from academy.store.library_store import Store
from academy.store.v1 import records_pb2
from academy.v1 import contests_pb2, history_pb2_grpc
from academy.v1 import history_pb2 as messages
from academy.wire.tokens import bearer_token

# How often a watched log is looked at: a look takes some microseconds.
_LOOK_SECONDS: Final = 0.25


class HistoryServicer(history_pb2_grpc.HistoryServiceServicer):
    """academy.v1.HistoryService."""

    def __init__(self, store: Store, games: GameCache, access: ContestAccess, guard: CallInterceptor) -> None:
        self._store = store
        self._games = games
        self._access = access
        self._guard = guard
        self._limits = guard.limits
        most, of_one = guard.limits.library_watches, guard.limits.library_watches_per_caller
        self._watches = ConcurrencyLimiter("library watches", of_one, most)

    async def ExploreOpening(
        self, request: messages.ExploreOpeningRequest, context: Context
    ) -> messages.ExploreOpeningResponse:
        """Return contests that came to a position, other ways to it, and a count by a filter."""
        caller = current_caller.get()
        check_line(request.moves, self._limits)
        filtering = request.HasField("filter")
        view = (await self._games.game(request.game_id)).view
        cost = cost_of_moves(len(request.moves))
        if filtering:
            cost += cost_of_listing(self._store.read(history.count_recent_contests, request.game_id))
        self._guard.charge_rest(caller, cost)
        # Always as analysis: who plays a contest of the game is refused.
        self._access.find_asking_seat(caller, view.spec, "", request.player)
        elo = self._access.elo(caller, None, request.game_id)
        reader = Reader.of(elo, FairUse.of(view.settings))
        tree, moves = view.openings, tuple(request.moves)
        answer = messages.ExploreOpeningResponse()
        for other in find_transpositions(tree, moves):
            if reader.accepts(other.node):
                answer.transpositions.add(moves=other.moves, visits=other.node.visits)
        node = tree.find(moves, request.player)
        if node is None or not reader.accepts(node):
            return answer
        newest, strongest = self._store.read(history.contests_of_node, request.game_id, node.node_id)
        answer.newest.extend(newest)
        answer.strongest.extend(strongest)
        if filtering:
            continuations = tree.continuations(moves, request.player)
            accepted = [move for move in continuations if reader.accepts(move.node)]
            count = _Count(request.filter, request.player, node.node_id, accepted)
            counted = await asyncio.to_thread(self._store.read, count.run, request.game_id)
            answer.filtered.CopyFrom(counted)
        return answer

    async def GetPatternHistory(
        self, request: messages.GetPatternHistoryRequest, context: Context
    ) -> messages.GetPatternHistoryResponse:
        """Return what became of a pattern."""
        library = pattern_library_from_proto(request.library)
        view = (await self._games.game(request.game_id)).view
        if request.pattern_id not in view.libraries[library]:
            raise UnknownPatternError(request.pattern_id, library, request.game_id)
        return self._store.read(history.pattern_history, request.game_id, library, request.pattern_id)

    async def GetGrowth(
        self, request: messages.GetGrowthRequest, context: Context
    ) -> messages.GetGrowthResponse:
        """Return how a game's libraries grew."""
        self._store.read(game_record, request.game_id)
        return messages.GetGrowthResponse(points=self._store.read(history.read_growth, request.game_id))

    async def WatchLibrary(
        self, request: messages.WatchLibraryRequest, context: Context
    ) -> AsyncIterator[messages.WatchLibraryResponse]:
        """Yield events as they come."""
        caller, token = current_caller.get(), bearer_token(context.invocation_metadata())
        require(
            request.after < 1 << 63,
            "after",
            f"{request.after}: no event has this number",
            value=request.after,
        )
        if request.game_id:
            self._store.read(game_record, request.game_id)
        after = request.after if request.HasField("after") else self._store.read(event_log.last_sequence)
        self._watches.take(caller.name)
        try:
            end = time.monotonic() + self._limits.library_watch_seconds
            while time.monotonic() < end and not self._guard.draining:
                # The token may have been revoked meanwhile.
                self._guard.authenticate(token)
                if self._store.read(event_log.last_sequence) > after:
                    news, after = await asyncio.to_thread(
                        self._store.read, history.events_after, request.game_id, after
                    )
                    for event in news:
                        yield event
                else:
                    await asyncio.sleep(_LOOK_SECONDS)
        finally:
            self._watches.give_back(caller.name)


@dataclass
class _Tally:
    """Results of contests so far."""

    results: Counter[int] = field(default_factory=Counter)
    elo_hundredths: int = 0

    def add(self, contest: records_pb2.RecentContest, player: int) -> None:
        self.results[contest.results[player - 1]] += 1
        self.elo_hundredths += contest.elo_hundredths

    def as_message(self) -> messages.ResultCount:
        contests = self.results.total()
        return messages.ResultCount(
            contests=contests,
            wins=self.results[contests_pb2.RESULT_WIN],
            draws=self.results[contests_pb2.RESULT_DRAW],
            losses=self.results[contests_pb2.RESULT_LOSS],
            elo=self.elo_hundredths / ELO_SCALE / contests if contests else 0.0,
        )


class _Count:
    """Counts what a part of a game's newest contests played in a position.

    Raises InvalidFieldError for a filter that nothing can pass.
    """

    def __init__(
        self, wanted: messages.ContestFilter, player: int, node_id: int, continuations: list[Continuation]
    ) -> None:
        require_time(wanted.since, "filter.since")
        require_time(wanted.until, "filter.until")
        self._player, self._node_id = player, node_id
        self._since = wanted.since.ToNanoseconds() if wanted.HasField("since") else 0
        self._until = wanted.until.ToNanoseconds() if wanted.HasField("until") else 1 << 64
        require(
            not math.isnan(wanted.min_elo), "filter.min_elo", "nan: it must be a number", value=wanted.min_elo
        )
        require(
            self._since < self._until,
            "filter.until",
            "it must be later than `since`: no contest was reported at once before and after",
        )
        self._min_elo = wanted.min_elo * ELO_SCALE if wanted.HasField("min_elo") else float("-inf")
        self._moves: Mapping[int, Continuation] = {move.node.node_id: move for move in continuations}

    def run(self, transaction: Transaction, game_id: str) -> messages.FilteredOpening:
        """Return the count."""
        answer = messages.FilteredOpening()
        position = _Tally()
        played = {node_id: _Tally() for node_id in self._moves}
        for contest in history.recent_contests(transaction, game_id):
            if not answer.looked_through:
                answer.oldest.FromNanoseconds(contest.time)
            answer.looked_through += 1
            if contest.elo_hundredths < self._min_elo or not self._since <= contest.time < self._until:
                continue
            answer.passed += 1
            if self._node_id in contest.nodes:
                position.add(contest, self._player)
                for node_id in self._moves.keys() & contest.nodes:
                    played[node_id].add(contest, self._player)
        answer.position.CopyFrom(position.as_message())
        for node_id, tally in sorted(played.items(), key=lambda item: (-item[1].results.total(), item[0])):
            if tally.results:
                spellings = self._moves[node_id].moves
                answer.moves.add(move=spellings[0], equivalents=spellings, count=tally.as_message())
        return answer
