"""What an admin may set, and LUDAE's numbers as defaults."""

import math
from dataclasses import replace
from typing import Any

import pytest

from academy.knowledge.boards import SquareGeometry
from academy.knowledge.settings import InvalidSettingsError, Library, LibrarySettings
from academy.knowledge.spec import GameSpec
from referees.api import referee


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
    settings = LibrarySettings.for_kind(players)
    assert settings == LibrarySettings(prune_below=prune_below)


@pytest.mark.parametrize(
    ("game", "settings", "on"),
    [
        ("go", {"board_size": 9}, {"tesuji_capacity": 1_000}),
        ("draughts", {"variant": "english"}, {"evaluation": True}),
        ("draughts", {"variant": "international"}, {"evaluation": True}),
        ("hex", {"board_size": 7}, {}),
        ("openspiel", {"game": "connect_four"}, {"tesuji_capacity": 1_000}),
        ("openspiel", {"game": "tic_tac_toe"}, {}),
        ("openspiel", {"game": "othello"}, {}),
    ],
)
def test_a_new_game_learns_what_paid_in_a_match_of_its_kind(
    game: str, settings: dict[str, Any], on: dict[str, Any]
) -> None:
    spec = referee(game).from_settings(settings).spec()
    assert LibrarySettings.for_kind(spec.players, spec.kind) == replace(LibrarySettings(), **on)


def test_a_game_whose_moves_are_not_described_has_the_seeds_numbers() -> None:
    unknown = GameSpec("unknown", SquareGeometry(8, 8))
    assert LibrarySettings.for_kind(2, unknown.kind) == LibrarySettings()


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


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("middle_game_capacity", 1.5, "a whole number"),
        ("forget_after", 0.5, "a whole number"),
        ("opening_capacity", True, "a whole number"),
        ("opening_capacity", "5", "a whole number"),
        ("evaluation", 7, "True or False"),
        ("evaluation", 1, "True or False"),
        ("prune_below", False, "a number"),
        ("prune_below", "0.5", "a number"),
    ],
)
def test_a_setting_of_another_kind_is_named_with_the_kind(name: str, value: object, rule: str) -> None:
    wrong: dict[str, Any] = {name: value}
    with pytest.raises(InvalidSettingsError, match=rf"{name} {value!r}: it must be {rule}"):
        LibrarySettings(**wrong)


def test_a_share_may_be_a_whole_number() -> None:
    assert LibrarySettings(consult_share=1, prune_below=0) == LibrarySettings(prune_below=0.0)
