"""Every game keeps the laws of referees."""

import pytest

from referees.conformance import check_referee
from referees.openspiel.game_string import playable
from tests.referees.openspiel.games import judge_of

VARIANTS = (
    "amazons(board_size=6)",
    "breakthrough(rows=5,columns=4)",
    "checkers(rows=8,columns=10)",
    "clobber(rows=3,columns=3)",
    "clobber(rows=3,columns=4)",
    "connect_four(rows=4,columns=12)",
    "go(board_size=5,komi=0.5)",
    "gomoku(size=6,wrap=True)",
    "gomoku(dims=3,size=4)",
    "havannah(board_size=3)",
    "havannah(board_size=3,swap=True)",
    "hex(num_rows=3,num_cols=4)",
    "hex(board_size=4,swap=True)",
    "misere(game=tic_tac_toe())",
    "mnk(m=4,n=3,k=3)",
    "nim(pile_sizes=3;4;5)",
    "y(board_size=5)",
)


@pytest.mark.parametrize("game", playable())
def test_every_game_keeps_the_laws(game: str) -> None:
    report = check_referee(judge_of(game), games=1, max_plies=20)
    assert report.plies > 4


@pytest.mark.parametrize("game", VARIANTS)
def test_variants_keep_the_laws_to_their_ends(game: str) -> None:
    report = check_referee(judge_of(game), games=1, max_plies=200)
    assert report.finished > 0
