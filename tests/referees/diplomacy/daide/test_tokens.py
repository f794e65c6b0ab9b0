"""Tokens and their text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referees.diplomacy.daide.tokens import UnknownDaideTokenError, Vocabulary
from referees.diplomacy.map import InvalidMapError, read_map, shipped_map
from tests.referees.diplomacy.daide.words import STANDARD, STRAITS, text, tokens

NUMBERS = {
    "(": 0x4000, ")": 0x4001,
    "AUS": 0x4100, "TUR": 0x4106,
    "AMY": 0x4200, "FLT": 0x4201,
    "CTO": 0x4320, "CVY": 0x4321, "HLD": 0x4322, "MTO": 0x4323, "SUP": 0x4324, "VIA": 0x4325,
    "DSB": 0x4340, "RTO": 0x4341, "BLD": 0x4380, "REM": 0x4381, "WVE": 0x4382,
    "MBV": 0x4400, "NSP": 0x440E, "NSU": 0x4410, "NVR": 0x4411, "NYU": 0x4412, "YSC": 0x4413,
    "SUC": 0x4500, "BNC": 0x4501, "CUT": 0x4502, "DSR": 0x4503, "NSO": 0x4505, "RET": 0x4506,
    "NCS": 0x4600, "NEC": 0x4602, "ECS": 0x4604, "SCS": 0x4608, "WCS": 0x460C, "NWC": 0x460E,
    "SPR": 0x4700, "SUM": 0x4701, "FAL": 0x4702, "AUT": 0x4703, "WIN": 0x4704,
    "CCD": 0x4800, "HLO": 0x4804, "MIS": 0x480B, "YES": 0x481C, "ADM": 0x481D, "SMR": 0x481E,
    "AOA": 0x4900, "UNO": 0x490B, "DSD": 0x490D,
    "ALY": 0x4A00, "XDO": 0x4A1F, "YDO": 0x4A21,
    "BOH": 0x5000, "BUD": 0x5107, "ADR": 0x520E, "ALB": 0x5421, "ANK": 0x5530, "STP": 0x574A,
}  # fmt: skip


def test_tokens_have_the_numbers_of_the_protocol() -> None:
    assert {name: STANDARD.numbers[name] for name in NUMBERS} == NUMBERS


def test_the_low_byte_of_a_province_is_its_number_in_every_map() -> None:
    for words in (STANDARD, STRAITS):
        assert [token & 0xFF for token in words.provinces] == list(range(len(words.map.codes)))
        assert len(set(words.numbers.values())) == len(words.numbers)


def test_a_map_of_our_own_has_groups_of_its_own() -> None:
    groups = {code: STRAITS.numbers[code] >> 8 for code in ("NCA", "NPO", "NMO", "MID", "STR")}
    assert groups == {"NCA": 0x51, "NPO": 0x55, "NMO": 0x54, "MID": 0x57, "STR": 0x52}


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        ("NME ('Hi') ()", (0x480C, 0x4000, 0x4B48, 0x4B69, 0x4001, 0x4000, 0x4001)),
        ("TME (-1)", (0x481B, 0x4000, 0x3FFF, 0x4001)),
        ("TME (8191)", (0x481B, 0x4000, 0x1FFF, 0x4001)),
        ("('it''s')", (0x4000, 0x4B69, 0x4B74, 0x4B27, 0x4B73, 0x4001)),
        ("now(spr 1901)", (0x480E, 0x4000, 0x4700, 1901, 0x4001)),
    ],
)
def test_text_is_read_as_tokens(written: str, numbers: tuple[int, ...]) -> None:
    assert tokens(written) == numbers
    assert tokens(text(numbers)) == numbers


@given(st.lists(st.sampled_from([*STANDARD.names, *range(0x4000), *range(0x4B00, 0x4B80)])))
def test_all_tokens_come_back_from_their_text(numbers: list[int]) -> None:
    assert tokens(text(tuple(numbers))) == tuple(numbers)
    assert all(STANDARD.knows(token) for token in numbers)


@given(st.text(max_size=40))
def test_any_text_is_tokens_or_is_refused(written: str) -> None:
    try:
        read = tokens(written)
    except UnknownDaideTokenError:
        return
    assert tokens(text(read)) == read


@pytest.mark.parametrize("written", ["QQQ", "NOWW", "(8192)", "-8193", "'open", "?", "AB"])
def test_a_text_that_is_not_a_token_is_refused(written: str) -> None:
    with pytest.raises(UnknownDaideTokenError):
        tokens(written)


def test_a_map_whose_codes_mean_something_else_is_refused() -> None:
    source = shipped_map("straits").text
    for code, why in (("CCD", "something else"), ("QU", "three letters")):
        with pytest.raises(InvalidMapError, match=why):
            Vocabulary(read_map(source.replace("STR", code)))
