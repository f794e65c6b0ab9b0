"""Bots propose patterns and read what became of them."""

import asyncio

from academy.service import identity, paging
from academy.service.guard import Context, Guard
from academy.service.limits import Limits
from academy.service.live_games import LiveGames
from academy.service.refusals import NotPermitted, require
from academy.service.seats import Seats
from academy.service.writes import Writes
from academy.store.contest_commands import SubmitProposals
from academy.store.errors import TooManyProposals
from academy.store.library_store import Page, Store
from academy.store.proposal_records import count_above, read_proposal
from academy.store.tokens import Role
from academy.v1 import proposals_pb2 as messages
from academy.v1 import proposals_pb2_grpc


class ProposalServicer(proposals_pb2_grpc.ProposalServiceServicer):
    """academy.v1.ProposalService."""

    def __init__(
        self, store: Store, games: LiveGames, writes: Writes, seats: Seats, guard: Guard, limits: Limits
    ) -> None:
        self._store = store
        self._games = games
        self._writes = writes
        self._seats = seats
        self._guard = guard
        self._limits = limits

    async def SubmitProposals(
        self, request: messages.SubmitProposalsRequest, context: Context
    ) -> messages.SubmitProposalsResponse:
        """Hold the proposals until their contest is reported."""
        caller = identity.caller()
        count = len(request.proposals)
        most = self._limits.proposals_per_call
        require(count <= most, "proposals", f"{count} in one call: at most {most}", value=count, limit=most)
        for place, proposal in enumerate(request.proposals):
            longest = self._limits.pattern_characters
            require(
                len(proposal.cells) <= longest,
                f"proposals[{place}].cells",
                f"{len(proposal.cells):,} characters: at most {longest:,}",
                value=len(proposal.cells),
                limit=longest,
            )
        self._guard.ask(caller, count - 1)
        contest, seat = self._seats.proposing(caller, request.contest_id)
        view = (await self._games.game(contest.game_id)).view
        allowed = view.settings.max_submissions_per_contest
        if more := count_above(request.proposals, allowed):
            held = self._store.proposals_of_seat(contest.contest_id, seat)
            raise TooManyProposals(held, more, allowed)
        proposals = []
        for place, content in enumerate(request.proposals):
            if place:
                # Others are let in after each.
                await asyncio.sleep(0)
            proposals.append(
                read_proposal(content, contest.contest_id, seat, view.spec, f"proposals[{place}]")
            )
        command = SubmitProposals(contest.contest_id, seat, proposals, caller.name)
        return messages.SubmitProposalsResponse(proposals=await self._writes.done(command))

    async def ListProposals(
        self, request: messages.ListProposalsRequest, context: Context
    ) -> messages.ListProposalsResponse:
        """Return a player's own proposals, newest first; an admin may name another player."""
        caller = identity.caller()
        player = request.player or caller.name
        if player != caller.name and caller.role is not Role.ADMIN:
            raise NotPermitted(
                f"the proposals of {player!r} are for that player and admins to read", player=player
            )
        contest_id = request.contest_id
        if caller.contest_id:
            if contest_id not in ("", caller.contest_id):
                raise NotPermitted(f"this ticket is for contest {caller.contest_id!r}", contest_id=contest_id)
            contest_id = caller.contest_id
        size = paging.page_size(request.page_size, self._limits)
        key = paging.page_key(request, (int,))
        page = Page(size, int(key[0]) if key else 0)
        proposals, place = self._store.proposals(player, page, contest_id=contest_id)
        token = paging.page_token(request, [place]) if place else ""
        return messages.ListProposalsResponse(proposals=proposals, next_page_token=token)
