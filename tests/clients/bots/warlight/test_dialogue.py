"""The bot's side of the dialogue."""

from io import StringIO

import pytest

from clients.bots.warlight.dialogue import ME, OPPONENT, Dialogue, DialogueBrokenError
from referees.warlight.ai_challenge_2 import ChallengeLines
from referees.warlight.maps import protocol_lines
from referees.warlight.orders import Deploy
from referees.warlight.position import NEUTRAL, UNSEEN
from referees.warlight.rules import WarLight

MAP = ["Map", "TerritoryDefinition 3 A 7", "TerritoryDefinition 7 B 3", "EndMap"]


@pytest.mark.parametrize("seat", [1, 2])
def test_a_standing_is_heard_as_the_referee_shows_it(seat: int) -> None:
    rules = WarLight.from_settings({"map": "double_small"})
    seen = rules.view(rules.start(4), seat)
    lines = [*protocol_lines(rules.map), *ChallengeLines(rules.map).standing(seen, seat), "GameOver"]

    dialogue = Dialogue(lines)
    (heard,) = dialogue.turns()

    assert dialogue.map.regions == rules.map.regions
    known = {seat: ME, 3 - seat: OPPONENT, NEUTRAL: NEUTRAL, UNSEEN: UNSEEN}
    assert heard.owners == bytes(known[owner] for owner in seen.owners)
    assert heard.armies == seen.armies


def test_orders_are_answered_up_to_end() -> None:
    output = StringIO()
    dialogue = Dialogue(MAP, output)
    dialogue.answer([Deploy(5, 3)], 0.25)
    dialogue.answer([])
    assert output.getvalue() == "Deploy 5 on 3\nacademy-expected_value 0.2500\nend\nend\n"


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (["Turn x"], "'Turn x': 'Turn N' or 'GameOver' was expected"),
        (
            ["Turn 1", "Territory 4 ownedBy You withArmies 1", "EndStanding"],
            "not a row of a standing on this map",
        ),
        (
            ["Turn 1", "Territory 3 ownedBy Me withArmies 1", "EndStanding"],
            "not a row of a standing on this map",
        ),
        (["Turn 1", "Territory 3 ownedBy You"], "not a row of a standing"),
        (["Turn 1", "Territory 3 ownedBy You withArmies 1"], "the input ended before 'EndStanding'"),
    ],
)
def test_what_the_dialogue_does_not_have_is_named(lines: list[str], complaint: str) -> None:
    with pytest.raises(DialogueBrokenError, match=complaint):
        list(Dialogue([*MAP, *lines]).turns())


def test_a_missing_map_is_named() -> None:
    with pytest.raises(DialogueBrokenError, match="the input ended before 'EndMap'"):
        Dialogue(MAP[:2])
