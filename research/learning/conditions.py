"""What a player who is measured may ask ACADEMY for, by which rules, and what ACADEMY learnt from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from academy.knowledge.settings import Library, LibrarySettings

# The opening tree is learnt always; patterns are not: within fair use they gained nothing in earlier studies.
LEARNT: Final = LibrarySettings(opening_plies_ahead=6, tesuji_capacity=1_000, evaluation=True)
# The rules of fair use that conditions may change, as they are in the others.
FAIR_USE: Final[Mapping[str, float]] = {
    "opening_plies_ahead": 6,
    "pattern_value_limit": LibrarySettings().pattern_value_limit,
    "local_weights": False,
}
# A player that may ask before every move does so; a search that uses the evaluation has downloaded its
# weights.
_OPEN: Final[Mapping[str, float]] = {"local_weights": True, "pattern_value_limit": 1.0}
_OPENINGS: Final = frozenset({Library.OPENING})
_TESUJIS: Final = frozenset({Library.MIDDLE_GAME})
EVERYTHING: Final = frozenset({Library.OPENING, Library.MIDDLE_GAME})


@dataclass(frozen=True)
class Condition:
    """The libraries that are asked, the rules that are loosened, and which lessons ACADEMY had.

    Lessons are "all" contests of a population, those of one player ("own"), all and an analyst's searches
    ("analysed"), all by an ACADEMY whose evaluation has patterns ("evaluated"), or the moves and results of
    all, without the values that players expected ("silent"). A player who `remembers` compares moves by
    earlier answers of the contest, too.
    """

    title: str
    libraries: frozenset[Library] = EVERYTHING
    lessons: str = "all"
    fair_use: Mapping[str, float] = field(default_factory=dict)
    remembers: bool = False

    @property
    def rules(self) -> Mapping[str, float]:
        """The settings of fair use while this is measured."""
        return {**FAIR_USE, **self.fair_use}


CONDITIONS: Final = {
    "everything-remembered": Condition(
        "openings, tesujis that are remembered, and analysts", lessons="analysed", remembers=True
    ),
    "remembered": Condition("openings, and tesujis that are remembered", remembers=True),
    "no-openings": Condition("tesujis that are remembered, no openings", _TESUJIS, remembers=True),
    "remembered-own": Condition(
        "openings, and tesujis that are remembered, of own contests only", lessons="own", remembers=True
    ),
    "remembered-silent": Condition(
        "openings, and tesujis that are remembered, of moves and results alone",
        lessons="silent",
        remembers=True,
    ),
    "defaults": Condition(
        "openings, one node a question, and tesujis that are remembered",
        fair_use={"opening_plies_ahead": 0},
        remembers=True,
    ),
    "everything": Condition("openings, tesujis and analysts", lessons="analysed"),
    "shared": Condition("openings and tesujis"),
    "evaluated": Condition("openings, tesujis, and the evaluation's patterns", lessons="evaluated"),
    "openings": Condition("openings only", _OPENINGS),
    "analysed": Condition("openings and analysts", _OPENINGS, "analysed"),
    "one-node": Condition(
        "openings only, one node a question", _OPENINGS, fair_use={"opening_plies_ahead": 0}
    ),
    "own": Condition("openings and tesujis, of own contests only", lessons="own"),
    "open": Condition("open fair use: openings, advice before every move", fair_use=_OPEN),
    "open-no-openings": Condition(
        "open fair use: advice before every move, no openings", _TESUJIS, fair_use=_OPEN
    ),
    "open-evaluated": Condition(
        "open fair use: openings, advice before every move, the evaluation's patterns",
        lessons="evaluated",
        fair_use=_OPEN,
    ),
    "open-own": Condition(
        "open fair use: openings, advice before every move, of own contests only",
        lessons="own",
        fair_use=_OPEN,
    ),
}
