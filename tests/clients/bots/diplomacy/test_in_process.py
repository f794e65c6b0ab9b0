"""The bots as Python players of the arena."""

import pytest

from arena.jobs import GameJob, PlayerSetup
from arena.match import play
from clients.bots.diplomacy.in_process import WrongGame, hold
from referees.hex import Hex


@pytest.mark.parametrize("factory", ["hold", "random_legal", "tactical"])
def test_it_plays_a_game_of_the_arena_to_its_end(factory: str) -> None:
    player = PlayerSetup(
        name=factory, protocol="python", command=(f"clients.bots.diplomacy.in_process:{factory}",)
    )
    result = play(
        GameJob(
            game_id="1",
            game="diplomacy",
            settings={"year_limit": 3, "aoa": False},
            players=(player,) * 7,
            seed=1,
        )
    )
    assert result.outcome is not None
    assert not result.warnings


def test_another_game_is_refused_by_name() -> None:
    with pytest.raises(WrongGame, match="'hex': these bots play Diplomacy"):
        hold(Hex.from_settings({"board_size": 4}), 1, 0)  # type: ignore[arg-type]
