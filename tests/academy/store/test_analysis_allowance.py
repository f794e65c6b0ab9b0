"""The patterns that a name was given in an hour outside of contests, as the store counts them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from academy.store.analysis_allowance import CountPatterns
from academy.store.errors import AnalysisExceededError
from academy.store.library_store import Store

BEGAN = 1_800_000_000.0


class Clock:
    now = BEGAN

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with Store(tmp_path / "data", clock=clock) as opened:
        yield opened


def count(store: Store, *pattern_ids: int, game: str = "go", name: str = "ann") -> float:
    return store.run(CountPatterns(name, game, pattern_ids, 4))


@pytest.mark.threat("leaks")
def test_the_patterns_of_all_games_count_together_and_each_once(store: Store) -> None:
    count(store, 1, 2)
    count(store, 2, 3)
    # Patterns of another game have numbers of their own.
    count(store, 3, game="hex")
    for game, pattern_ids in {"go": (3, 4), "hex": (1,)}.items():
        with pytest.raises(AnalysisExceededError) as refused:
            count(store, *pattern_ids, game=game)
        assert refused.value.details() == {"returned": "4", "more": "1", "limit": "4"}
    # What is refused is not counted, and what was counted is given again.
    count(store, 1, 2, 3)
    count(store, 1, 2, 3, 4, name="bob")


@pytest.mark.parametrize(
    ("later", "allowed"),
    # A clock that was set back does not make an hour longer.
    [(3_599.0, False), (3_600.0, True), (-1.0, True)],
)
def test_an_hour_begins_with_the_first_pattern(
    store: Store, clock: Clock, later: float, allowed: bool
) -> None:
    assert count(store, 1) == BEGAN
    clock.now = BEGAN + 1_000
    assert count(store, 2, 3, 4) == BEGAN
    clock.now = BEGAN + later
    if allowed:
        assert count(store, 5, 6, 7, 8) == clock.now
    else:
        with pytest.raises(AnalysisExceededError) as refused:
            count(store, 5)
        assert refused.value.retry_after == 3_600.0 - later
