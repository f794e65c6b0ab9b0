"""Settings that could never teach anything are refused when an admin or an arena gives them."""

from dataclasses import replace

import pytest

from academy.knowledge.boards import GraphGeometry, SquareGeometry
from academy.knowledge.learnable import check_learnable
from academy.knowledge.settings import InvalidSettingsError, LibrarySettings
from academy.knowledge.spec import GameSpec

from .games import DIPLOMACY, DRAUGHTS, GO, HEX, MAP

TESUJIS = LibrarySettings(tesuji_capacity=100)
EVALUATION = LibrarySettings(evaluation=True)
PATTERNS = LibrarySettings(evaluation_patterns=500)
CUTS = LibrarySettings(analysed_patterns=5)
MANCALA = GameSpec("mancala", GraphGeometry(("nowhere",), ()))
SMALL = GameSpec("go-2x2", SquareGeometry(2, 2))
CHECKERS = replace(DRAUGHTS, move_forms=("#-#", "#x#[x#]"))
# Pieces are put first, and go from cell to cell later.
MORRIS = replace(DRAUGHTS, move_forms=("#", "#-#", "pass"))


@pytest.mark.parametrize(
    ("spec", "settings", "why"),
    [
        (CHECKERS, TESUJIS, "tesuji_capacity 100: draughts can learn none: its moves go from cell to cell"),
        (DIPLOMACY, TESUJIS, "two players who move in turn; leave it at 0"),
        (MAP, TESUJIS, "two players"),
        (GameSpec("chess", GraphGeometry(("nowhere",), ())), TESUJIS, "square and hexagonal boards"),
        (MANCALA, PATTERNS, "evaluation_patterns 500: mancala can learn none: they are cut on"),
        (DIPLOMACY, PATTERNS, "evaluation_patterns 500: diplomacy can learn none"),
        (SMALL, PATTERNS, "evaluation_patterns 500: go-2x2 can learn none"),
        (DIPLOMACY, EVALUATION, "evaluation true: diplomacy can learn none"),
        (DIPLOMACY, CUTS, "analysed_patterns 5: diplomacy can learn none"),
        (MAP, CUTS, "analysed_patterns 5: map can learn none"),
    ],
)
def test_a_setting_without_effect_is_refused_and_says_why(
    spec: GameSpec, settings: LibrarySettings, why: str
) -> None:
    for before in (None, LibrarySettings()):
        with pytest.raises(InvalidSettingsError, match=why):
            check_learnable(settings, spec, before)
    # What earlier programs let in does not stand in the way of another change, and can be switched off.
    check_learnable(replace(settings, forget_after=7), spec, settings)
    check_learnable(LibrarySettings(), spec, settings)


@pytest.mark.parametrize("spec", [GO, HEX, DRAUGHTS, MORRIS])
def test_games_that_may_put_pieces_can_have_all_that_is_learnt(spec: GameSpec) -> None:
    check_learnable(replace(TESUJIS, analysed_patterns=5, evaluation=True, evaluation_patterns=500), spec)
