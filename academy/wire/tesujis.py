"""Tesujis that are not cells, over gRPC."""

from academy.knowledge.tesujis.fights import Fight
from academy.v1 import pattern_pb2


def read_fight(record: pattern_pb2.TesujiRecord) -> Fight | None:
    """What the move does to chains; None for other tesujis."""
    if not record.HasField("fight"):
        return None
    fight = record.fight
    return Fight(fight.taken, fight.extended, fight.threatened, fight.liberties)
