"""Names of openings in the listing of a tree, where a package knows them."""

import pytest

from academy.cli.opening_names import namer_of, names_of
from academy.v1 import pattern_pb2

GAME = "diplomacy-standard"


def node(number: int, parent: int, move: str) -> pattern_pb2.OpeningNodeRecord:
    return pattern_pb2.OpeningNodeRecord(node_id=number, parent_id=parent, move=move)


NODES = [
    node(0, 0, ""),
    node(1, 0, "player 3"),
    node(2, 1, "A PAR - BUR, F BRE - MAO, A MAR S A PAR - BUR"),
    node(5, 2, "[A BUR, F MAO, A MAR] A BUR - BEL, F MAO - POR, A MAR - SPA"),
    node(3, 1, "A PAR - PIC, F BRE - MAO, A MAR - SPA"),
    node(9, 8, "its parent is not listed"),
]


def test_a_game_s_openings_are_named_by_an_installed_package() -> None:
    assert names_of(GAME, [], NODES) == {1: "France", 2: "Maginot Opening", 3: "Picardy Opening"}


@pytest.mark.parametrize(
    ("beginning", "first"), [(["player 3"], 1), (["player 3", "A PAR - PIC, F BRE - MAO, A MAR - SPA"], 4)]
)
def test_a_listing_may_begin_anywhere(beginning: list[str], first: int) -> None:
    names = names_of(GAME, beginning, NODES[first:])
    assert names[NODES[first].node_id] == ("France" if first == 1 else "Picardy Opening")


def test_other_games_have_no_names() -> None:
    assert namer_of("go-9x9") is None
    assert names_of("go-9x9", [], NODES) == {}
    assert names_of(GAME, [], []) == {}
