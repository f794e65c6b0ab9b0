"""What a player with ACADEMY has, and what is left out or lifted in the ablations."""

from dataclasses import dataclass
from typing import Final

from academy.knowledge.settings import Library, LibrarySettings
from benchmarks.learning.leniency import Rule

EVERYTHING: Final = frozenset(Library)


@dataclass(frozen=True)
class Condition:
    """The libraries that are asked, and the rules of fair use that are lifted.

    `lessons` names what ACADEMY learns under: conditions with the same lessons share their libraries. Where
    the asking player is not `rated`, ACADEMY is told an Elo of 0, and withholds nothing from him.
    """

    title: str
    lessons: str = "all"
    libraries: frozenset[Library] = EVERYTHING
    lifted: frozenset[Rule] = frozenset()
    rated: bool = True


CONDITIONS: Final = {
    "full": Condition("everything"),
    "openings": Condition("openings only", libraries=frozenset({Library.OPENING})),
    "middle-game": Condition("middle-game only", libraries=frozenset({Library.MIDDLE_GAME})),
    "endgame": Condition("endgame only", libraries=frozenset({Library.ENDGAME})),
    "specific": Condition("generalisation off", lessons="specific"),
    "equal": Condition("Elo weighting off", lessons="equal"),
    "unrated": Condition("nothing withheld", rated=False),
    "openings-always": Condition("openings always", lifted=frozenset({Rule.OPENINGS})),
    "patterns-always": Condition("patterns always", lifted=frozenset({Rule.PATTERNS})),
    "unlimited": Condition("fair use off", lifted=frozenset(Rule)),
}
LESSONS: Final = {
    "all": LibrarySettings(analysed_patterns=10),
    "specific": LibrarySettings(analysed_patterns=10, max_merged_cells=0),
    # Everybody's Elo is told as the same.
    "equal": LibrarySettings(analysed_patterns=10),
}
