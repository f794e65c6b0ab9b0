"""Messages as bytes, after the client-server protocol."""

import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referees.diplomacy.daide.frames import (
    DaideProtocolError,
    ErrorCode,
    Frame,
    FrameReader,
    FrameType,
    error_frame,
    final_frame,
    initial_frame,
    message_frame,
    read_representation,
    representation_frame,
)
from tests.referees.diplomacy.daide.words import STANDARD, STRAITS, tokens

INITIAL = bytes.fromhex("00 00 0004 0001 DA10")
OBSERVE = bytes.fromhex("02 00 0002 480F")


def read(data: bytes, *, at_server: bool = True, pieces: Sequence[int] = ()) -> list[Frame]:
    """The frames of some bytes, which come in pieces that end at the given places."""
    reader = FrameReader(at_server=at_server)
    reader.words = STANDARD
    ends = [*sorted(pieces), len(data)]
    return [
        frame for start, end in zip([0, *ends], ends, strict=False) for frame in reader.feed(data[start:end])
    ]


def test_the_bytes_of_each_kind_of_message() -> None:
    assert initial_frame() == INITIAL
    assert representation_frame(STANDARD) == bytes.fromhex("01 00 0000")
    assert message_frame(tokens("OBS")) == OBSERVE
    assert message_frame(tokens("NME ('A') ('1')")) == bytes.fromhex(
        "02 00 000E 480C 4000 4B41 4001 4000 4B31 4001"
    )
    assert final_frame() == bytes.fromhex("03 00 0000")
    assert error_frame(ErrorCode.INVALID_TOKEN) == bytes.fromhex("04 00 0002 000E")


def test_the_tokens_of_another_map_are_sent_in_blocks_of_six_bytes() -> None:
    frame = representation_frame(STRAITS)
    blocks = 2 + 11
    assert frame[:4] == struct.pack(">BBH", 1, 0, 6 * blocks)
    assert frame[4:10] == bytes.fromhex("4100") + b"NOR\0"
    (content,) = FrameReader(at_server=False).feed(frame)
    assert read_representation(content) == {name: STRAITS.numbers[name] for _, name in STRAITS.own}


@given(st.lists(st.integers(0, 40)), st.lists(st.sampled_from([*STANDARD.names]), min_size=1))
def test_messages_are_read_in_any_pieces(pieces: list[int], numbers: list[int]) -> None:
    frames = read(INITIAL + OBSERVE + message_frame(numbers) + final_frame(), pieces=pieces)
    message = FrameType.DIPLOMACY
    assert [frame.type for frame in frames] == [FrameType.INITIAL, message, message, FrameType.FINAL]
    assert frames[1].tokens == tokens("OBS")
    assert frames[2].tokens == tuple(numbers)


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        # The other codes are in the answers of the door, byte for byte.
        ("00 00 0004 0001 DA10 02 00 0000", ErrorCode.TOO_SHORT),
        ("00 00 0004 0001 DA10 02 00 0003 481000", ErrorCode.TOO_SHORT),
        ("01 00 0000", ErrorCode.REPRESENTATION_BY_CLIENT),
        ("00 00 0004 0001 DA10 02 00 0002 58FF", ErrorCode.INVALID_TOKEN),
        ("00 00 0004 0001 DA10 02 00 0002 5800", ErrorCode.INVALID_TOKEN),
        ("00 00 0004 0001 DA10 02 00 0002 4BFF", ErrorCode.INVALID_TOKEN),
    ],
)
def test_client_that_breaks_the_protocol_learns_how(sent: str, code: ErrorCode) -> None:
    with pytest.raises(DaideProtocolError) as broken:
        read(bytes.fromhex(sent))
    assert broken.value.code is code


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        ("00 00 0004 0001 DA10", ErrorCode.INITIAL_BY_SERVER),
        ("02 00 0002 480F", ErrorCode.DIPLOMACY_BEFORE_REPRESENTATION),
        ("01 00 0000 01 00 0000", ErrorCode.SECOND_REPRESENTATION),
    ],
)
def test_a_server_that_breaks_the_protocol_is_found_out(sent: str, code: ErrorCode) -> None:
    with pytest.raises(DaideProtocolError) as broken:
        read(bytes.fromhex(sent), at_server=False)
    assert broken.value.code is code


def test_a_message_above_the_limit_is_not_waited_for() -> None:
    reader = FrameReader(at_server=True, longest=100)
    assert len(list(reader.feed(INITIAL))) == 1
    with pytest.raises(DaideProtocolError, match="at most 100") as broken:
        list(reader.feed(bytes.fromhex("02 00 1000")))
    assert broken.value.code is None


@given(st.binary(max_size=60))
def test_any_bytes_are_frames_or_break_the_protocol(data: bytes) -> None:
    try:
        frames = read(INITIAL + data)
    except DaideProtocolError as broken:
        assert broken.code is not None
    else:
        assert frames[0].type is FrameType.INITIAL


@pytest.mark.parametrize("count", [0, 40_000])
def test_a_message_that_fits_no_frame_is_refused(count: int) -> None:
    with pytest.raises(ValueError):
        message_frame([0x4810] * count)
