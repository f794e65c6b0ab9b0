"""Hold what players propose until their contest is reported, or judge it at once where it was."""

from collections.abc import Sequence
from dataclasses import dataclass

from academy.knowledge.contests import Judgement
from academy.store import event_log, player_statistics, proposal_tables
from academy.store.contest_tables import contest_record, seat_record, store_contest
from academy.store.errors import TooManyProposalsError
from academy.store.v1 import records_pb2
from academy.store.writer import WriteContext
from academy.v1 import contests_pb2, events_pb2, proposals_pb2


@dataclass(frozen=True, slots=True)
class SubmitProposals:
    """Hold a player's proposals until their contest is reported; judge them at once where it was.

    They are as `codec.proposals.read_proposal` returns them. The result is the proposals in order, as they
    stand. The same proposal again (contest, seat, library, ply and cells) changes nothing. All of a call are
    taken or none. Raises TooManyProposalsError and UnknownContestError.
    """

    contest_id: str
    seat: int
    proposals: Sequence[proposals_pb2.Proposal]
    actor: str

    def execute(self, work: WriteContext) -> list[proposals_pb2.Proposal]:
        """Store the proposals."""
        record = contest_record(work.transaction, self.contest_id)
        seat_record(record, self.seat)
        fresh = {
            proposal.proposal_id: proposal
            for proposal in self.proposals
            if proposal_tables.find_proposal(work.transaction, proposal.proposal_id) is None
        }
        allowed = work.knowledge(record.contest.game_id).settings.max_submissions_per_contest
        earlier = proposal_tables.count_proposals_of_seat(work.transaction, self.contest_id, self.seat)
        if fresh and earlier + len(fresh) > allowed:
            raise TooManyProposalsError(earlier, len(fresh), allowed)
        for read in fresh.values():
            # A copy, as the command may run again.
            proposal = proposals_pb2.Proposal()
            proposal.CopyFrom(read)
            proposal.player = record.contest.players[self.seat - 1].name
            proposal.create_time.CopyFrom(work.time)
            proposal_tables.add_proposal(work.transaction, proposal)
            if record.contest.state != contests_pb2.CONTEST_STATE_OPEN:
                judgement = self._judge_late(work, record, proposal)
                proposal_tables.settle_proposal(work.transaction, proposal, judgement, record)
                if record.contest.state == contests_pb2.CONTEST_STATE_REPORTED:
                    player_statistics.count_late_proposal(
                        work.transaction, proposal.game_id, proposal.player, judgement
                    )
        if fresh and record.contest.state != contests_pb2.CONTEST_STATE_OPEN:
            store_contest(work.transaction, record)
        return [
            proposal_tables.proposal_record(work.transaction, proposal.proposal_id)
            for proposal in self.proposals
        ]

    def _judge_late(
        self, work: WriteContext, record: records_pb2.ContestRecord, proposal: proposals_pb2.Proposal
    ) -> Judgement:
        if record.contest.state == contests_pb2.CONTEST_STATE_VOID:
            return proposal_tables.DROPPED_AS_VOID
        if record.event <= event_log.last_unreferable(work.transaction):
            return proposal_tables.DROPPED_AS_TOO_LATE
        event = events_pb2.Event(
            game_id=record.contest.game_id,
            actor=self.actor,
            proposal_judged=events_pb2.ProposalJudged(proposal=proposal, report_event=record.event),
        )
        return work.record(event).judgements[0]
