"""The bots as Python players of the arena."""

import re
from pathlib import Path

import pytest

from arena.jobs import GameJob, PlayerSetup
from arena.match.game import play
from clients.bots.diplomacy.in_process import WrongGameError, hold
from referees.hex import Hex


@pytest.mark.parametrize("factory", ["hold", "random_legal", "tactical"])
def test_a_bot_in_process_plays_a_game_of_the_arena_to_its_end(factory: str) -> None:
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
    with pytest.raises(WrongGameError, match="'hex': these bots play Diplomacy"):
        hold(Hex.from_settings({"board_size": 4}), 1, 0)  # type: ignore[arg-type]


def test_the_bot_of_ones_own_that_the_document_shows_plays_a_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = (Path(__file__).parents[4] / "docs" / "tutorials" / "diplomacy.md").read_text(encoding="utf-8")
    match = re.search(r"This is all of `(\w+)\.py`.*?```python\n(.*?)```", document, re.DOTALL)
    assert match is not None
    (tmp_path / f"{match[1]}.py").write_text(match[2], encoding="utf-8")
    (command,) = re.findall(rf'command = "({match[1]}:\w+)"', document)
    player = PlayerSetup("own", (command,), protocol="python", working_directory=str(tmp_path))
    job = GameJob("1", "diplomacy", {"year_limit": 3, "aoa": False}, (player,) * 7, seed=1)
    result = play(job)
    assert result.outcome is not None and not result.warnings
