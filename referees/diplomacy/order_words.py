"""The words of an order that somebody wrote, in one spelling, whatever notation they are in.

Places become their codes, with coasts as in `STP/SC`; units `A` and `F`; what is ordered `H`, `-`, `S`, `C`,
`R`, `D` or `B`; and words that say nothing are left out. So `The army at St. Petersburg moves to Norway` is
`A STP - NWY`, and DAIDE's `(RUS FLT (STP SCS)) MTO BOT` is `F STP/SC - BOT`.
"""

import re
from functools import cache
from typing import Final, NamedTuple

from referees.diplomacy.order_spellings import SPELLINGS
from referees.diplomacy.provinces import Map

_ARROW: Final = re.compile(r"[-=]+>?|>+|[\u2010-\u2015\u2190-\u21ff\u2212\u27f5-\u27ff]")
_QUARTER: Final = r"(?:(?:NORTH|SOUTH|EAST|WEST)(?:ERN)?[ -]COAST|[NSEW]CS?)"
_COAST: Final = re.compile(rf"(?<=\w)\s*(?:/|-|\(|\s)\s*\(?({_QUARTER})(?!\w)\)?")
_BRACKETS: Final = re.compile(r"[()\[\]]")
_ARTICLE: Final = re.compile(r"\bAN?\s+(?=(?:ARMY|FLEET)\b)")


class OrderWords(NamedTuple):
    """Words in one spelling, a convoy's way left out; `by_convoy` where they say that a move goes by sea.

    `owners` are the powers that were named, each with the place of the unit that it is said to own.
    """

    words: list[str]
    by_convoy: bool
    owners: list[tuple[str, str]]


class _Names(NamedTuple):
    """How a map's places are found in a line, and the names of its powers."""

    pattern: re.Pattern[str]
    codes: dict[str, str]
    powers: frozenset[str]


@cache
def _names(board: Map) -> _Names:
    codes = {
        " ".join(re.split(r"[\s.-]+", alias)): board.codes[province]
        for alias, province in board.aliases.items()
        if not alias.isalnum()
    }
    longest_first = sorted(codes, key=len, reverse=True)
    patterns = [r"[\s.-]+".join(map(re.escape, name.split())) for name in longest_first]
    powers = frozenset(name.upper() for power in board.powers for name in (power.name, power.code))
    return _Names(re.compile(rf"\b(?:{'|'.join(patterns) or '(?!)'})\b"), codes, powers)


def order_words(board: Map, text: str) -> OrderWords:
    """Take a line apart. Words that mean nothing here are kept as they are, in upper case."""
    names = _names(board)
    line = " ".join(text.upper().split())
    line = names.pattern.sub(lambda found: names.codes[" ".join(re.split(r"[\s.-]+", found[0]))], line)
    line = _ARTICLE.sub("", line.replace(".", " "))
    line = _COAST.sub(lambda found: _coast(board, found), line)
    power, colon, rest = line.partition(":")
    owner = ""
    if colon and power.strip() in names.powers:
        owner, line = power.strip(), rest
    line = _BRACKETS.sub(" ", _ARROW.sub(" - ", line))
    spelt: list[str] = []
    owners: list[tuple[str, str]] = []
    said = line.split()
    for number, word in enumerate(said):
        following = said[number + 1] if number + 1 < len(said) else ""
        if word in names.powers and SPELLINGS.get(following) in ("A", "F"):
            owner = word
            continue
        told = word if _is_place(board, word) else SPELLINGS.get(word, word)
        place = word.partition("/")[0]
        if owner and (_is_place(board, place) or word not in SPELLINGS):
            owners += [(owner, place)] if _is_place(board, place) else []
            owner = ""
        # `moves to`, and `retreats to`.
        if told and not (told == "-" and spelt and spelt[-1] in ("-", "R")):
            spelt.append(told)
    words, by_convoy = _without_way(board, spelt, "CTO" in said)
    return OrderWords(words, by_convoy, owners)


def _coast(board: Map, found: re.Match[str]) -> str:
    quarter = found[1]
    if _is_place(board, quarter):
        return found[0]
    return f"/{quarter[0]}C"


def _is_place(board: Map, word: str) -> bool:
    return word in board.location_numbers or word in board.aliases


def _without_way(board: Map, words: list[str], by_convoy: bool) -> tuple[list[str], bool]:
    """Leave out `VIA` and the seas of a convoy's way, whether they follow it or stand between arrows."""
    if "VIA" in words:
        at = words.index("VIA")
        way = [word for word in words[at + 1 :] if word != "-"]
        if way == ["C"] or all(_is_sea(board, word) for word in way):
            words, by_convoy = words[:at], True
    while words.count("-") > 1:
        first = words.index("-")
        second = words.index("-", first + 1)
        if second != first + 2 or not _is_sea(board, words[first + 1]):
            break
        words, by_convoy = words[:first] + words[second:], True
    return words, by_convoy


def _is_sea(board: Map, word: str) -> bool:
    return _is_place(board, word) and bool(board.seas >> board.province(word) & 1)
