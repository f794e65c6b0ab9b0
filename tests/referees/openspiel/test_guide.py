"""The guide says of every game what ACADEMY learns of it."""

import re
from pathlib import Path

from referees.openspiel.boards import BOARDS
from referees.openspiel.game_string import playable

GUIDE = (Path(__file__).parents[3] / "docs" / "reference" / "games.md").read_text()
SECTION = GUIDE[GUIDE.index("### Their boards in ACADEMY") :].partition("\n## ")[0]


def test_the_table_has_all_games_with_boards() -> None:
    assert re.findall(r"^\| `(\w+)` \|", SECTION, re.MULTILINE) == sorted(BOARDS)


def test_the_list_has_all_others() -> None:
    others = re.findall(r"`(\w+)`", SECTION[SECTION.index("Of all others") : SECTION.index("- Games made")])
    assert sorted(others) == sorted(set(playable()) - set(BOARDS))
