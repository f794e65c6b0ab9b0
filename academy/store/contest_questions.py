"""What players asked and got in a contest, read from its record and its event."""

from academy.store import event_log, keys
from academy.store.environment import TableName, Transaction
from academy.store.v1 import records_pb2
from academy.v1 import contests_pb2


def consultations(
    transaction: Transaction, record: records_pb2.ContestRecord
) -> contests_pb2.GetConsultationsResponse:
    """Return them by seat; what the event has is missing where it was compacted."""
    answer = contests_pb2.GetConsultationsResponse()
    for number, seat in enumerate(record.seats, 1):
        answer.seats.add(
            player=number,
            opening_questions=seat.consultations,
            opening_plies=seat.opening_plies,
            pattern_questions=seat.claims,
            questions=seat.questions,
            opening_answers=seat.opening_answers,
        )
    stored = transaction.get(TableName.EVENTS, keys.number(record.event)) if record.event else None
    if stored is not None:
        for use in event_log.unpack(stored).contest_reported.uses:
            answer.seats[use.player - 1].patterns.add(library=use.library, pattern_ids=use.pattern_ids)
    return answer
