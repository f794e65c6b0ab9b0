"""Copies of a game hold what it holds."""

from pathlib import Path

from academy.knowledge.settings import Library
from academy.store.library_store import Store
from benchmarks.load import full_game
from benchmarks.load.copied_games import copied


def test_a_copy_has_the_patterns_of_the_game(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        original = full_game.teach(store, share=0.01)
    copied(tmp_path, original, ["go-0001", "go-0002"])
    with Store(tmp_path) as store:
        follower = store.follow()
        first, *others = [follower.refresh(name) for name in (original, "go-0001", "go-0002")]
        held = [set(game.libraries[Library.ENDGAME]) for game in (first, *others)]
        assert len(held[0]) == 50 and held == [held[0]] * 3
        assert [game.spec.game_id for game in others] == ["go-0001", "go-0002"]
