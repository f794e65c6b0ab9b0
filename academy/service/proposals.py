"""Bots propose patterns and read the verdicts."""

import asyncio

from academy.service import paging
from academy.service.access import ContestAccess, current_caller
from academy.service.cost import cost_of_listing
from academy.service.errors import require
from academy.service.game_cache import GameCache
from academy.service.interceptor import CallInterceptor, Context
from academy.store import arenas
from academy.store.codec.proposals import count_above, read_proposal
from academy.store.errors import TooManyProposalsError
from academy.store.game_tables import game_record
from academy.store.keys import arena_number
from academy.store.library_store import Store
from academy.store.proposal_commands import SubmitProposals
from academy.store.proposal_tables import MOST_LOOKED_AT, NO_ARENA, ProposalFilter, count_proposals_of_seat
from academy.store.tokens import Caller, Role
from academy.v1 import proposals_pb2 as messages
from academy.v1 import proposals_pb2_grpc
from academy.wire.errors import NotPermittedError


class ProposalServicer(proposals_pb2_grpc.ProposalServiceServicer):
    """academy.v1.ProposalService."""

    def __init__(self, store: Store, games: GameCache, access: ContestAccess, guard: CallInterceptor) -> None:
        self._store = store
        self._games = games
        self._access = access
        self._guard = guard
        self._limits = guard.limits
        # More threads would only take turns, and the loop's with them.
        self._listings = asyncio.Semaphore(1)

    async def SubmitProposals(
        self, request: messages.SubmitProposalsRequest, context: Context
    ) -> messages.SubmitProposalsResponse:
        """Hold the proposals until their contest is reported."""
        caller = current_caller.get()
        count = len(request.proposals)
        most = self._limits.proposals_per_call
        require(1 <= count <= most, "proposals", f"{count} in one call: 1 to {most}", value=count, limit=most)
        for place, proposal in enumerate(request.proposals):
            longest = self._limits.pattern_characters
            require(
                len(proposal.cells) <= longest,
                f"proposals[{place}].cells",
                f"{len(proposal.cells):,} characters: at most {longest:,}",
                value=len(proposal.cells),
                limit=longest,
            )
        self._guard.charge_rest(caller, count)
        contest, seat = self._access.find_proposing_seat(caller, request.contest_id)
        view = (await self._games.game(contest.game_id)).view
        allowed = view.settings.max_submissions_per_contest
        if more := count_above(request.proposals, allowed):
            held = self._store.read(count_proposals_of_seat, contest.contest_id, seat)
            raise TooManyProposalsError(held, more, allowed)
        proposals = []
        for place, content in enumerate(request.proposals):
            if place:
                # Others have their turn after each.
                await asyncio.sleep(0)
            proposals.append(
                read_proposal(content, contest.contest_id, seat, view.spec, f"proposals[{place}]")
            )
        command = SubmitProposals(contest.contest_id, seat, proposals, caller.name)
        held_now = await self._store.write(command)
        return messages.SubmitProposalsResponse(
            proposals=self._store.read(arenas.proposals_as_given, held_now)
        )

    async def ListProposals(
        self, request: messages.ListProposalsRequest, context: Context
    ) -> messages.ListProposalsResponse:
        """Return proposals: the caller's own, its arena's, or any to an admin."""
        count, most = len(request.verdicts), self._limits.verdicts_per_call
        require(count <= most, "verdicts", f"{count:,} verdicts: at most {most:,}", value=count, limit=most)
        caller = current_caller.get()
        if request.game_id:
            self._store.read(game_record, request.game_id)
        wanted = self._read_filter(caller, request)
        size = paging.page_size(request.page_size, self._limits)
        start = paging.page_place(request)
        most = MOST_LOOKED_AT if wanted.leaves_out else size
        self._guard.charge_rest(caller, cost_of_listing(most))
        # The search takes milliseconds: others' calls must not wait for it.
        async with self._listings:
            proposals, after = await asyncio.to_thread(
                self._store.read, arenas.list_proposals, wanted, start, size
            )
        return messages.ListProposalsResponse(
            proposals=proposals, next_page_token=paging.token_of_place(request, after)
        )

    def _read_filter(self, caller: Caller, request: messages.ListProposalsRequest) -> ProposalFilter:
        """Return a request's filter. Raises NotPermittedError for proposals that the caller may not read."""
        kept = self._access.find_contest_to_list(caller, request.contest_id, request.arena)
        verdicts = frozenset(request.verdicts)
        if caller.role is Role.ADMIN:
            arena = self._arena_number(self._access.arena(caller, request.arena)) if request.arena else None
            return ProposalFilter(request.player, kept, verdicts, arena, request.game_id)
        if caller.role is Role.ARENA:
            acting = self._access.arena(caller, request.arena)
            player = self._store.read(arenas.identity_in, acting, request.player) if request.player else ""
            return ProposalFilter(player, kept, verdicts, self._arena_number(acting), request.game_id)
        if request.player not in ("", caller.name):
            raise NotPermittedError(
                f"the proposals of {request.player!r} are for that player, its arena and admins to read",
                player=request.player,
            )
        arena = arena_number(caller.contest_id) if caller.contest_id else None
        return ProposalFilter(caller.name, kept, verdicts, arena, request.game_id)

    def _arena_number(self, arena: str) -> int:
        number = self._store.read(arenas.number_of, arena)
        return NO_ARENA if number is None else number
