"""Hex as a search sees it: bridges, decisive moves, the swap."""

import random

import pytest

from clients.bots.hex_search import playout, surrounded
from clients.bots.strength import RandomThinker
from clients.bots.thinking import Thinker
from clients.bots.tree_search import TreeSearchThinker
from referees.hex import BLACK, SWAP, WHITE, Board, Hex, HexPosition
from referees.hex.board import COLOUR
from tests.referees.hex.games import played


def position_after(moves: str, **options: object) -> tuple[Hex, HexPosition]:
    game = Hex.from_settings({"board_size": 5, **options})
    return game, played(game, moves)[0]


def test_a_playout_fills_the_board_and_the_referee_agrees_who_won() -> None:
    chance = random.Random(5)
    for rows, columns in [(2, 2), (5, 5), (4, 7), (11, 11)] * 10:
        first = chance.choice(
            [cell for cell, stone in enumerate(surrounded(bytes(rows * columns), rows, columns)) if not stone]
        )
        stones = bytearray(surrounded(bytes(rows * columns), rows, columns))
        winner = playout(stones, columns, BLACK, first, chance)
        width = columns + 2
        inside = [stones[row * width + 1 : (row + 1) * width - 1] for row in range(1, rows + 1)]
        board = Board(rows, columns)
        linked = {colour for cell, colour in enumerate(b"".join(inside)) if board.play(colour, cell)}
        assert linked == {winner}
        assert stones[first] == BLACK
        assert sum(line.count(BLACK) for line in inside) == (rows * columns + 1) // 2


@pytest.mark.parametrize("intrusion", ["c1", "d1", "b3", "c3", "a5", "b5"])
def test_bridges_win_nearly_every_playout(intrusion: str) -> None:
    # Black's c2 and b4 are two cells from linking with each other, with the top and with the bottom. Other
    # bridges that arise in a playout may cost one of these.
    game, position = position_after("c2 e1 b4 e2")
    stones = surrounded(position.cells, 5, 5)
    row, column = divmod(game.read_move(position, WHITE, intrusion), 5)
    chance = random.Random(intrusion)
    won = [
        playout(bytearray(stones), 5, WHITE, (row + 1) * 7 + column + 1, chance) for _ in range(200)
    ].count(BLACK)
    assert won >= 170


@pytest.mark.parametrize("playouts", [1, 20])
def test_a_win_is_taken_and_the_opponents_prevented(playouts: int) -> None:
    thinker = TreeSearchThinker(playouts, random.Random(1))
    game, position = position_after("c1 a1 c2 b1 c3 d1 c4 a5")
    wins = thinker.think(game, position)
    assert {game.move_text(candidate.move) for candidate in wins.candidates} == {"b5", "c5"}
    assert wins.value > 0.5
    game, position = position_after("c1 a1 c2 b1 c3 b5 c4")
    assert [game.move_text(candidate.move) for candidate in thinker.think(game, position).candidates] == [
        "c5"
    ]


def test_a_strong_first_stone_is_swapped_and_a_weak_one_is_not() -> None:
    thinker = TreeSearchThinker(400, random.Random(2))
    game, centre = position_after("c3", swap=True)
    assert thinker.think(game, centre).candidates[0].move == SWAP
    game, corner = position_after("a1", swap=True)
    assert thinker.think(game, corner).candidates[0].move != SWAP


def test_the_first_stone_is_weak_where_it_could_be_swapped() -> None:
    thinker = TreeSearchThinker(400, random.Random(2))
    centre = 12
    for swap, expected in ((False, True), (True, False)):
        game, start = position_after("", swap=swap)
        best = [candidate.move for candidate in thinker.think(game, start).candidates[:5]]
        assert (centre in best) == expected


def winner(game: Hex, black: Thinker[Hex, HexPosition, int], white: Thinker[Hex, HexPosition, int]) -> int:
    position = game.start(0)
    while game.to_move(position):
        thinker = black if position.mover == BLACK else white
        position = game.play(position, {position.mover: thinker.think(game, position).candidates[0].move})
    return position.winner


def test_playouts_beat_chance() -> None:
    game = Hex.from_settings({"board_size": 6})
    strong = TreeSearchThinker(40, random.Random(3))
    weak = RandomThinker(random.Random(4))
    assert [winner(game, strong, weak) for _ in range(5)] == [BLACK] * 5
    assert [winner(game, weak, strong) for _ in range(5)] == [WHITE] * 5


def test_a_random_player_makes_every_move_also_the_swap() -> None:
    game, position = position_after("c3", swap=True)
    thinker = RandomThinker(random.Random(1))
    first = {thinker.think(game, position).candidates[0].move for _ in range(500)}
    assert first == set(game.legal_moves(position, WHITE))


def test_stones_are_known_without_what_they_are_linked_to() -> None:
    _, position = position_after("a1 e5")
    around = surrounded(position.cells, 5, 5)
    assert len(around) == 49
    assert [around[8], around[40], around[1], around[7]] == [BLACK, WHITE, BLACK, WHITE]
    assert position.cells[0] != position.cells[0] & COLOUR
