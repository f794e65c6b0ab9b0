"""Go as a search sees it: eyes, sensible moves and playouts."""

import random

import pytest

from clients.bots.go_search import GoSearchGame, is_eye, playout, sensible_moves
from clients.bots.strength import Strength
from referees.go import BLACK, PASS, WHITE, Board, Go


def stones(diagram: str) -> bytes:
    return bytes(".xo".index(letter) for letter in diagram if letter in ".xo")


@pytest.mark.parametrize(
    ("diagram", "point", "eye"),
    [
        (".x. x.x .x.", 4, True),  # all corners empty
        (".xo x.x .x.", 4, True),  # one foreign corner inside the board
        (".xo x.x .xo", 4, False),
        (".x. x.o .x.", 4, False),
        (".x. xx. ...", 0, True),  # in the corner of the board
        (".x. xo. ...", 0, False),
    ],
)
def test_an_eye_is_not_filled(diagram: str, point: int, eye: bool) -> None:
    assert is_eye(Board(3, stones(diagram)), BLACK, point) == eye


def test_a_playout_ends_with_a_winner_and_tells_the_movers_points() -> None:
    chance = random.Random(5)
    for _ in range(20):
        score, (own, foreign) = playout(Board(5), BLACK, 12, 0.5, chance)
        assert score in (0.0, 1.0)
        assert 12 in own
        assert all(0 <= point < 25 for point in own | foreign)


@pytest.mark.parametrize(("more", "score"), [(-0.5, 1.0), (0.0, 0.5), (0.5, 0.0)])
@pytest.mark.parametrize("mover", [BLACK, WHITE])
def test_a_playout_that_nobody_wins_is_half_a_win(mover: int, more: float, score: float) -> None:
    # All is the mover's, with two eyes and the point that it plays on; so all 25 points are.
    board = Board(5, bytes(0 if point in (0, 2, 24) else mover for point in range(25)))
    komi = 25 + more if mover == BLACK else -25 - more
    assert playout(board, mover, 24, komi, random.Random(1))[0] == score


def test_a_search_counts_an_equal_score_as_the_referee_does() -> None:
    # Black gets all nine points or loses.
    game = GoSearchGame(Go.from_settings({"board_size": 3, "komi": 9}), random.Random(1))
    scores = {game.playout(game.referee.start(0)).scores for _ in range(50)}
    assert scores == {(0.5, 0.5), (0.0, 1.0)}


def test_more_playouts_beat_fewer_and_both_beat_chance() -> None:
    referee = Go.from_settings({"board_size": 5, "komi": 0.5})
    chance = random.Random(3)
    strong = Strength("monte-carlo", playouts=40).thinker(referee, chance)
    weak = Strength("random").thinker(referee, chance)
    wins = 0
    for game in range(8):
        sides = (strong, weak) if game % 2 == 0 else (weak, strong)
        position = referee.start(0)
        for _ in range(120):
            if not referee.to_move(position):
                break
            move = sides[position.mover - 1].think(referee, position).candidates[0].move
            position = referee.play(position, {position.mover: move})
        wins += sides[referee.adjudicate(position).winners[0] - 1] is strong
    assert wins >= 7


def test_where_nothing_is_sensible_the_bot_passes() -> None:
    referee = Go.from_settings({"board_size": 3, "komi": 0.5})
    position = referee.start(0)
    for move in ("A2", "pass", "B2", "pass", "C2", "pass", "B1", "pass", "B3", "pass"):
        position = referee.play(position, {position.mover: referee.read_move(position, 0, move)})
    assert position.mover == BLACK
    assert sensible_moves(referee, position) == []
    for method in ("random", "monte-carlo"):
        thinker = Strength(method, playouts=5).thinker(referee, random.Random(1))
        assert thinker.think(referee, position).candidates[0].move == PASS
