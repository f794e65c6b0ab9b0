from collections.abc import Iterator
from pathlib import Path

import pytest

from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from tests.academy.store.examples import go_game


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An open store that knows Go on 9x9."""
    with Store(tmp_path / "data") as opened:
        opened.run(RegisterGame(go_game(), "arena"))
        yield opened
