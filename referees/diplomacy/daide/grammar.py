"""What a DAIDE client may say, as a grammar, and where a message breaks it.

After the "DAIDE Message Syntax". A rule is one or more ways, the first that fits is taken. `@30` before a
way: it is there from that level of press on. Words in capitals are tokens, words in `_KINDS` are kinds of
tokens, and all others are rules. `*` and `+` stand for any number of, and at least one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from referees.diplomacy.daide.tokens import CLOSE, FIXED, OPEN, Vocabulary, is_number, is_text

MAX_DEPTH: Final = 60

_RULES: Final = {
    "message": """
        NME ( text* ) ( text* )
        OBS
        IAM ( power ) ( number )
        MAP | MDF | HLO | SCO | NOW | ORD
        HST ( turn )
        SUB ( turn ) order+
        SUB order+
        NOT ( SUB order+ )
        NOT ( SUB )
        GOF
        NOT ( GOF )
        MIS
        TME ( number )
        TME
        NOT ( TME ( number ) )
        NOT ( TME )
        DRW ( power power+ )
        DRW
        NOT ( DRW ( power power+ ) )
        NOT ( DRW )
        ADM ( text* ) ( text* )
        YES ( MAP ( text+ ) )
        REJ ( MAP ( text+ ) )
        YES ( SVE ( text+ ) )
        REJ ( SVE ( text+ ) )
        REJ ( LOD ( text+ ) )
        SVE ( text+ )
        LOD ( text+ )
        HUH ( anything* )
        @10 SND ( turn ) ( power+ ) ( content )
        @10 SND ( power+ ) ( content )
    """,
    "turn": "season number",
    "unit": "( power unit_kind place )",
    "place": "province | ( province coast )",
    "order": """
        ( power WVE )
        ( unit HLD )
        ( unit MTO place )
        ( unit SUP unit MTO province )
        ( unit SUP unit )
        ( unit CVY unit CTO province )
        ( unit CTO province VIA ( province+ ) )
        ( unit RTO place )
        ( unit DSB )
        ( unit BLD )
        ( unit REM )
    """,
    "content": "press | reply",
    "press": """
        PRP ( arrangement )
        CCL ( content )
        FCT ( arrangement )
        TRY ( word* )
        @60 INS ( arrangement )
        @60 QRY ( arrangement )
        @60 SUG ( arrangement )
        @60 THK ( arrangement )
        @70 WHT unit
        @70 HOW ( province )
        @70 HOW ( power )
        @80 EXP ( turn ) ( content )
        @100 IFF ( arrangement ) THN ( press ) ELS ( press )
        @100 IFF ( arrangement ) THN ( press )
        @120 FRM ( power ) ( power+ ) ( content )
        @8000 text+
    """,
    "reply": """
        YES ( content )
        REJ ( content )
        BWX ( content )
        HUH ( anything* )
        @60 THK ( query )
        @60 FCT ( query )
        @60 IDK ( query )
        @70 IDK ( content )
        @80 SRY ( content )
        @130 WHY ( content )
        @130 POB ( content )
    """,
    "query": "@60 QRY ( arrangement ) | @60 NOT ( QRY ( arrangement ) )",
    "simple": """
        PCE ( power power+ )
        ALY ( power+ ) VSS ( power+ )
        DRW ( power power+ )
        DRW
        SLO ( power )
        NOT ( simple )
        NAR ( simple )
        @20 XDO order
        @20 DMZ ( power+ ) ( province+ )
        @40 SCD share+
        @40 OCC location+
        @90 FOR ( turn ) ( arrangement )
        @90 FOR ( ( turn ) ( turn ) ) ( arrangement )
        @110 XOY ( power ) ( power )
        @110 YDO ( power ) unit+
        @120 SND ( power ) ( power+ ) ( content )
        @120 FWD ( power+ ) ( power ) ( power )
        @120 BCC ( power ) ( power+ ) ( power )
    """,
    "arrangement": """
        simple
        NOT ( arrangement )
        NAR ( arrangement )
        @50 AND member member+
        @50 ORR member member+
        @30 AND part part+
        @30 ORR part part+
        @50 CHO ( number number ) member+
    """,
    "part": "( simple )",
    "member": "( arrangement )",
    "share": "( power province+ )",
    "location": "( power UNT place ) | unit",
    "anything": "word | ( anything* )",
}

_Kind = Callable[[Vocabulary, int], bool]
_KINDS: Final[dict[str, _Kind]] = {
    "power": lambda words, token: token in words.power_of,
    "province": lambda words, token: token in words.province_of,
    "unit_kind": lambda _, token: token >> 8 == FIXED["AMY"] >> 8,
    "coast": lambda _, token: token >> 8 == FIXED["NCS"] >> 8,
    "season": lambda _, token: token >> 8 == FIXED["SPR"] >> 8,
    "number": lambda _, token: is_number(token),
    "text": lambda _, token: is_text(token),
    "word": lambda _, token: token not in (OPEN, CLOSE),
}


class UnbalancedParenthesesError(ValueError):
    """A message whose parentheses do not match: the answer is PRN."""


class DaideSyntaxError(ValueError):
    """A message that is not a message of this level; `place` is the first token that does not fit."""

    def __init__(self, place: int) -> None:
        super().__init__(f"token {place + 1} does not fit")
        self.place = place


class _Item(NamedTuple):
    """Part of a way: a token, a kind of tokens or a rule, and how often."""

    token: int | None
    name: str
    times: str


@dataclass(frozen=True)
class _Way:
    level: int
    items: tuple[_Item, ...]


@cache
def _ways(rule: str) -> tuple[_Way, ...]:
    lines = [way for line in _RULES[rule].strip().splitlines() for way in line.split("|")]
    return tuple(_way(line.split()) for line in lines)


def _way(words: list[str]) -> _Way:
    level = int(words.pop(0)[1:]) if words[0].startswith("@") else 0
    items = []
    for word in words:
        name = word.rstrip("*+")
        items.append(_Item(FIXED.get(name), name, word[len(name) :]))
    return _Way(level, tuple(items))


def check_parentheses(tokens: Sequence[int]) -> None:
    """Raises UnbalancedParenthesesError, and DaideSyntaxError where they are deeper than anybody needs."""
    depth = 0
    too_deep: int | None = None
    for place, token in enumerate(tokens):
        depth += (token == OPEN) - (token == CLOSE)
        if depth < 0:
            raise UnbalancedParenthesesError("a closing parenthesis too much")
        if depth > MAX_DEPTH and too_deep is None:
            too_deep = place
    if depth:
        raise UnbalancedParenthesesError("a parenthesis that is not closed")
    if too_deep is not None:
        raise DaideSyntaxError(too_deep)


def check_message(words: Vocabulary, tokens: Sequence[int], level: int) -> None:
    """Hold a client's message against the grammar. Raises UnbalancedParenthesesError and DaideSyntaxError."""
    check_parentheses(tokens)
    _Matcher(words, tokens, level).match("message")


class _Matcher:
    """Matches one message, each rule at each place at most once."""

    def __init__(self, words: Vocabulary, tokens: Sequence[int], level: int) -> None:
        self._words = words
        self._tokens = tokens
        self._level = level
        self._known: dict[tuple[str, int], int | None] = {}
        self._furthest = 0

    def match(self, rule: str) -> None:
        for way in _ways(rule):
            if way.level <= self._level and self._way(way, 0) == len(self._tokens):
                return
        raise DaideSyntaxError(self._furthest)

    def _rule(self, rule: str, place: int) -> int | None:
        key = (rule, place)
        if key not in self._known:
            ends = (self._way(way, place) for way in _ways(rule) if way.level <= self._level)
            self._known[key] = next((end for end in ends if end is not None), None)
        return self._known[key]

    def _way(self, way: _Way, place: int) -> int | None:
        """Where a way ends that begins at a place; None where it does not fit."""
        for item in way.items:
            end = self._item(item, place)
            if end is None and item.times != "*":
                return None
            while end is not None:
                place = end
                end = self._item(item, place) if item.times else None
        self._furthest = max(self._furthest, place)
        return place

    def _item(self, item: _Item, place: int) -> int | None:
        if item.token is None and item.name in _RULES:
            return self._rule(item.name, place)
        self._furthest = max(self._furthest, place)
        if place == len(self._tokens):
            return None
        token = self._tokens[place]
        fits = token == item.token if item.token is not None else _KINDS[item.name](self._words, token)
        return place + 1 if fits else None


@cache
def level_of(name: str) -> int:
    """From which level of press on a token stands in press; 8000 for those that never do."""
    ways = (way for rule in _RULES if rule != "message" for way in _ways(rule))
    return min((way.level for way in ways for item in way.items if item.name == name), default=8000)
