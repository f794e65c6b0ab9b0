"""Bytes to read: what was well written, changed in a few places."""

from collections.abc import Sequence

from hypothesis import strategies as st

LONGEST = 1 << 15
# What tends to matter to one parser or another.
_TOKENS = [
    *(b"", b"\x00", b"\xff", b"\x80", b"\n", b"\r\n", b" ", b"\t", b'"', b"'", b"%", b"#", b"=", b"?", b"\\"),
    *(b"-1", b"0", b"1e999", b"nan", b"inf", b"-0.0", b"18446744073709551616", b"9" * 40, b"0x10", b"1_0"),
    *("½".encode(), "٣".encode(), "\u2028".encode(), "\ufeff".encode(), b"\xed\xa0\x80", b"\xf4\x90\x80\x80"),
    *(b"\xff" * 9 + b"\x01", b"\x08\xff\xff\xff\xff\x0f", b"\n\x00", b"\x12\x80\x80\x80\x80\x08"),
    *(b"[", b"{", b"(", b"[" * 2_000, b"{}", b"null", b"true", b"\n\n", b"x" * 500, b"+" * 100),
]


@st.composite
def mutated(draw: st.DrawFn, samples: Sequence[bytes]) -> bytes:
    """A sample with pieces overwritten, inserted, removed, doubled, or taken from another; or any bytes."""
    if draw(st.integers(0, 19)) == 0:
        return draw(st.binary(max_size=200))
    data = draw(st.sampled_from(samples))
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from([0, 1, 1, 2, 4, 8, 40, 400])))
        match draw(st.integers(0, 5)):
            case 0:
                piece = draw(st.sampled_from(_TOKENS))
            case 1:
                piece = draw(st.binary(min_size=1, max_size=4))
            case 2:
                piece = data[start:end] * draw(st.integers(2, 6))
            case 3:
                piece = b""
            case 4:
                other = draw(st.sampled_from(samples))
                cut = draw(st.integers(0, len(other)))
                piece = other[cut : cut + draw(st.integers(0, 200))]
            case _:
                piece = bytes(byte ^ (1 << draw(st.integers(0, 7))) for byte in data[start:end][:8])
        data = (data[:start] + piece + data[end:])[:LONGEST]
    return data
