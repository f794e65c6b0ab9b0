"""What several commands write shares messages, none of which is larger than NATS takes."""

from random import Random

import pytest

from academy.store.environment import TableName
from academy.store.errors import LogMessageTooLargeError
from academy.store.shared_log.messages import CommandEntries, MessageDraft, MessageFullError

LIMIT = 10_000


def written(size: int) -> CommandEntries:
    """What a command writes that puts a record which nothing can compress."""
    part = CommandEntries()
    part.note_record(TableName.CONTESTS, b"c", Random(size).randbytes(size))
    return part


def test_a_command_that_a_message_has_no_room_for_begins_the_next_one() -> None:
    draft = MessageDraft(LIMIT)
    draft.add(written(5_000))
    draft.add(written(3_000))
    with pytest.raises(MessageFullError):
        draft.add(written(2_000))
    # What was refused left nothing.
    draft.add(written(500))
    assert 8_500 < len(draft.pack()) < LIMIT
    MessageDraft(LIMIT).add(written(2_000))


def test_what_fits_into_no_message_is_refused_and_what_does_once_it_is_compressed_is_not() -> None:
    with pytest.raises(LogMessageTooLargeError):
        MessageDraft(LIMIT).add(written(LIMIT))
    part = CommandEntries()
    part.note_record(TableName.CONTESTS, b"c", bytes(10 * LIMIT))
    draft = MessageDraft(LIMIT)
    draft.add(part)
    assert len(draft.pack()) < LIMIT
