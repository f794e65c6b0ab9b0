from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from tests.academy.store.examples import go_game

# How long an example takes depends on what else the machine does.
settings.register_profile("store", deadline=None, max_examples=50)
settings.load_profile("store")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An open store that knows Go on 9x9."""
    with Store(tmp_path / "data") as opened:
        opened.run(RegisterGame(go_game(), "arena"))
        yield opened
