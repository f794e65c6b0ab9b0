"""What an admin may set, and the seed's numbers as defaults."""

import math
from typing import Any

import pytest

from academy.knowledge.settings import InvalidSettingsError, Library, LibrarySettings


def test_defaults_are_the_seeds_numbers() -> None:
    settings = LibrarySettings()
    assert {library: settings.capacity(library) for library in Library} == {
        Library.OPENING: 1_000,
        Library.MIDDLE_GAME: 1_000,
        Library.ENDGAME: 5_000,
    }
    assert (settings.max_merged_cells, settings.forget_after) == (1, 0)
    assert (settings.prune_below, settings.prune_factor) == (0.33, 0.5)
    assert settings.max_submissions_per_contest == 10


@pytest.mark.parametrize(("players", "prune_below"), [(1, 0.33), (2, 0.33), (3, 0.22), (7, 0.0943)])
def test_among_many_a_line_is_poor_below_two_thirds_of_an_even_share(
    players: int, prune_below: float
) -> None:
    settings = LibrarySettings.for_players(players)
    assert settings == LibrarySettings(prune_below=prune_below)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("opening_capacity", -1),
        ("endgame_capacity", 1_000_001),
        ("prune_below", 1.01),
        ("prune_factor", math.nan),
        ("prune_factor", math.inf),
        ("forget_after", -5),
    ],
)
def test_a_setting_out_of_its_range_is_named(name: str, value: float) -> None:
    wrong: dict[str, Any] = {name: value}
    with pytest.raises(InvalidSettingsError, match=name):
        LibrarySettings(**wrong)
