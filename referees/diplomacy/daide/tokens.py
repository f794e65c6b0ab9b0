"""DAIDE's tokens: 16 bits each, the high byte a category, the low byte the token in it.

The numbers are those of the DAIDE client-server protocol; powers and provinces are numbered by the map.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import groupby
from typing import Final

from referees.diplomacy.map import InvalidMapError, Map, Terrain

Tokens = tuple[int, ...]

POWER_CATEGORY: Final = 0x41
PRESS_CATEGORY: Final = 0x4A
TEXT_CATEGORY: Final = 0x4B
_INLAND: Final = 0x50
_SEA: Final = 0x52
_COAST: Final = 0x54
_SEVERAL_COASTS: Final = 0x56

LEAST_NUMBER: Final = -(1 << 13)
MOST_NUMBER: Final = (1 << 13) - 1


class UnknownDaideTokenError(ValueError):
    """Text or a number that is not a token of the vocabulary."""


def _numbered(category: int, names: str, first: int = 0) -> dict[str, int]:
    """Tokens that follow each other; `-` leaves a number out."""
    return {name: category << 8 | number for number, name in enumerate(names.split(), first) if name != "-"}


FIXED: Final = {
    **_numbered(0x40, "( )"),
    **_numbered(0x42, "AMY FLT"),
    **_numbered(0x43, "CTO CVY HLD MTO SUP VIA", 0x20),
    **_numbered(0x43, "DSB RTO", 0x40),
    **_numbered(0x43, "BLD REM WVE", 0x80),
    **_numbered(0x44, "MBV BPR CST ESC FAR HSC NAS NMB NMR NRN NRS NSA NSC NSF NSP - NSU NVR NYU YSC"),
    **_numbered(0x45, "SUC BNC CUT DSR FLD NSO RET"),
    **_numbered(0x46, "NCS - NEC - ECS - SEC - SCS - SWC - WCS - NWC"),
    **_numbered(0x47, "SPR SUM FAL AUT WIN"),
    **_numbered(
        0x48,
        "CCD DRW FRM GOF HLO HST HUH IAM LOD MAP MDF MIS NME NOT NOW OBS OFF ORD OUT PRN REJ SCO SLO SND "
        "SUB SVE THX TME YES ADM SMR",
    ),
    **_numbered(0x49, "AOA BTL ERR LVL MRT MTL NPB NPR PDA PTL RTL UNO - DSD"),
    # Two tables of press tokens are in use; they differ in FCT, FOR, FWD, NAR and CCL. This is the one of
    # most clients.
    **_numbered(
        PRESS_CATEGORY,
        "ALY AND BWX DMZ ELS EXP FCT FOR FWD HOW IDK IFF INS - OCC ORR PCE POB - PRP QRY SCD SRY SUG THK "
        "THN TRY - VSS WHT WHY XDO XOY YDO CHO BCC UNT NAR CCL",
    ),
}

OPEN: Final = FIXED["("]
CLOSE: Final = FIXED[")"]
_WORD: Final = re.compile(r"\s*(?:([()])|'((?:[^']|'')*)'|(-?\d+)|([A-Za-z][A-Za-z0-9]{2})(?![A-Za-z0-9]))")


class Vocabulary:
    """The tokens of one map: DAIDE's own, its powers and its provinces. Raises InvalidMapError.

    `powers` and `provinces` are tokens by number, `power_of` and `province_of` numbers by token. A map whose
    codes are not three letters, or mean something in DAIDE, cannot be played over it.
    """

    def __init__(self, board: Map) -> None:
        self.map = board
        self.powers = tuple(POWER_CATEGORY << 8 | number for number in range(len(board.powers)))
        self.provinces = tuple(_category(board, number) << 8 | number for number in range(len(board.codes)))
        self.numbers = dict(FIXED)
        for code, token in zip(
            (*(power.code for power in board.powers), *board.codes),
            (*self.powers, *self.provinces),
            strict=True,
        ):
            if not re.fullmatch("[A-Z]{3}", code):
                raise InvalidMapError(
                    f"{code!r}: over DAIDE powers and provinces have codes of three letters"
                )
            if code in self.numbers:
                raise InvalidMapError(f"{code!r} means something else in DAIDE, or in this map")
            self.numbers[code] = token
        self.names = {token: name for name, token in self.numbers.items()}
        self.power_of = {token: power for power, token in enumerate(self.powers)}
        self.province_of = {token: province for province, token in enumerate(self.provinces)}

    @property
    def own(self) -> list[tuple[int, str]]:
        """The powers and provinces with their tokens, as a representation message has them."""
        return [(token, self.names[token]) for token in (*self.powers, *self.provinces)]

    def knows(self, token: int) -> bool:
        """Whether it is a token at all. All numbers of the press category are, as tables of them differ."""
        return token in self.names or is_number(token) or token >> 8 == PRESS_CATEGORY or is_text(token)

    def tokens(self, text: str) -> Tokens:
        """Tokens from text: `NME ('HoldBot') ('1.0')`. Raises UnknownDaideTokenError.

        Names are read in upper or lower case; what stands between apostrophes is a token for each
        character, in which an apostrophe is doubled.
        """
        tokens: list[int] = []
        place = 0
        while place < len(text.rstrip()):
            word = _WORD.match(text, place)
            if word is None:
                raise UnknownDaideTokenError(f"{text[place : place + 20].strip()!r} begins with no token")
            bracket, quoted, number, name = word.groups()
            if quoted is not None:
                tokens += text_tokens(quoted.replace("''", "'"))
            elif number is not None:
                tokens.append(number_token(int(number)))
            else:
                token = self.numbers.get(bracket or name.upper())
                if token is None:
                    raise UnknownDaideTokenError(f"{name!r} is not a token of the map {self.map.name!r}")
                tokens.append(token)
            place = word.end()
        return tuple(tokens)

    def text(self, tokens: Sequence[int]) -> str:
        """Tokens as text that `tokens` reads again; what is not a token is shown as a number (`0x4AFF`)."""
        words: list[str] = []
        for quoted, group in groupby(tokens, is_text):
            if quoted:
                words.append("'" + read_text(tuple(group)).replace("'", "''") + "'")
                continue
            for token in group:
                name = str(number_of(token)) if is_number(token) else self.names.get(token)
                words.append(name or f"0x{token:04X}")
        spaced = ""
        for word in words:
            spaced += word if word == ")" or not spaced or spaced[-1] == "(" else f" {word}"
        return spaced


@cache
def vocabulary(board: Map) -> Vocabulary:
    """The vocabulary of a map; the same for the same map. Raises InvalidMapError."""
    return Vocabulary(board)


def _category(board: Map, province: int) -> int:
    terrain = board.terrain[province]
    if terrain is Terrain.LAND:
        group = _INLAND
    elif terrain is Terrain.SEA:
        group = _SEA
    else:
        group = _SEVERAL_COASTS if board.coasts[province] else _COAST
    return group + (province in board.centres)


def number_token(number: int) -> int:
    """A whole number as a token: 14 bits, two's complement. Raises UnknownDaideTokenError."""
    if not LEAST_NUMBER <= number <= MOST_NUMBER:
        raise UnknownDaideTokenError(f"{number}: DAIDE's numbers go from {LEAST_NUMBER} to {MOST_NUMBER}")
    return number & 0x3FFF


def is_number(token: int) -> bool:
    """Whether a token is a whole number."""
    return 0 <= token <= 0x3FFF


def number_of(token: int) -> int:
    """The whole number that a token is."""
    return token - 0x4000 if token & 0x2000 else token


def is_text(token: int) -> bool:
    """Whether a token is a character of text."""
    return token >> 8 == TEXT_CATEGORY and token & 0xFF < 0x80


def text_tokens(text: str) -> Tokens:
    """Text as tokens; what is not ASCII becomes `?`."""
    return tuple(TEXT_CATEGORY << 8 | byte for byte in text.encode("ascii", "replace"))


def read_text(tokens: Sequence[int]) -> str:
    """The text of tokens that are characters."""
    return "".join(chr(token & 0x7F) for token in tokens)


def bracketed(*tokens: int) -> Tokens:
    """Tokens in a pair of parentheses."""
    return (OPEN, *tokens, CLOSE)
