"""Settings of a game, as people read them; the store's tests read its description back."""

import pytest

from academy.v1 import game_pb2
from academy.wire.games import unusual_settings


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "all are the usual ones"),
        ({"opening_capacity": 1_000, "pattern_value_limit": 0.33}, "all are the usual ones"),
        ({"endgame_capacity": 1_000_000, "consult_share": 0.5}, "endgame_capacity=1000000 consult_share=0.5"),
        ({"evaluation": True, "local_weights": False}, "evaluation=true"),
    ],
)
def test_settings_other_than_the_usual_ones_are_named_as_the_command_takes_them(
    settings: dict[str, float], words: str
) -> None:
    assert unusual_settings(game_pb2.LibrarySettings(**settings)) == words  # type: ignore[arg-type]
