"""The sample Hex bots, as engines in HTP and as thinkers."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clients.bots.hex import HexEngine
from clients.bots.hex_thinking import MonteCarloHexThinker, RandomHexThinker, playout, surrounded
from clients.bots.thinking import Thinker
from referees.hex import BLACK, SWAP, WHITE, Board, Hex, HexPosition
from referees.hex.board import COLOUR
from tests.referees.hex.games import played


@pytest.fixture
def engine() -> HexEngine:
    return HexEngine("bot", MonteCarloHexThinker(10, random.Random(1)), academy=None, contest_id="")


def said(engine: HexEngine, *commands: str) -> tuple[str, str]:
    """The answer to the last of some commands."""
    answer = ("", "")
    for command in commands:
        name, *arguments = command.split()
        answer = engine.answer(name, arguments)
    return answer


def position_after(moves: str, **options: object) -> tuple[Hex, HexPosition]:
    game = Hex.from_settings({"board_size": 5, **options})
    return game, played(game, moves)[0]


@pytest.mark.parametrize(
    ("commands", "answer"),
    [
        (["boardsize 1"], ("?", "unacceptable size")),
        (["boardsize 5 99"], ("?", "")),
        (["boardsize x"], ("?", "a number is needed, not 'x'")),
        (["boardsize 5 y"], ("?", "a number is needed, not 'y'")),
        (["boardsize"], ("?", "a number is needed, not ''")),
        (["boardsize 4 3", "play b d3"], ("=", "")),
        (["boardsize 4 3", "play b a4"], ("?", "invalid color or coordinate")),
        (["play b a1", "play w a1"], ("?", "illegal move")),
        (["play green a1"], ("?", "invalid color or coordinate")),
        (["play b a1", "play b a2"], ("=", "")),
        (["play b a1", "play w swap-pieces"], ("?", "illegal move")),
        (["param_game allow_swap 1", "play b c1", "play w swap-pieces", "play w c1"], ("=", "")),
        (["param_game allow_swap 1", "play b c1", "play w swap-pieces", "play b a3"], ("?", "illegal move")),
        (
            ["param_game allow_swap 1", "boardsize 5 6", "play b c1", "play w swap-pieces"],
            ("?", "illegal move"),
        ),
        (["param_game allow_swap 1", "boardsize 5 6", "boardsize 5", "play b c1", "play w swap"], ("=", "")),
        (["param_game allow_swap 1", "param_game"], ("=", "\n[bool] allow_swap 1")),
        (["param_game allow_swap maybe"], ("?", "'allow_swap maybe': ")),
        (["param_game game_time 3"], ("?", "'game_time 3': ")),
        (["boardsize 2", "play b a1", "final_score"], ("=", "cannot score")),
        (["boardsize 2", "play b a1", "play b a2", "final_score"], ("=", "B+")),
        (["boardsize 2", "play b a1", "play b a2", "genmove w"], ("=", "resign")),
        (["boardsize 2", "play b a1", "play w b1", "genmove b"], ("=", "a2")),
        (["boardsize 2", "play b b1", "all_legal_moves"], ("=", "a1 a2 b2")),
        (["undo"], ("?", "cannot undo")),
        (["boardsize 2", "play b b1", "genmove w", "undo", "undo", "all_legal_moves"], ("=", "a1 b1 a2 b2")),
        (["genmove b", "undo", "academy-expected_value"], ("?", "no move generated yet")),
        (["param_game allow_swap 1", "play b c1", "play w swap", "undo", "play w c1"], ("?", "illegal move")),
        (["param_game allow_swap 1", "play b c1", "play w swap", "undo", "play w swap"], ("=", "")),
        (["academy-expected_value"], ("?", "no move generated yet")),
    ],
)
def test_commands(engine: HexEngine, commands: list[str], answer: tuple[str, str]) -> None:
    status, text = said(engine, *commands)
    assert status == answer[0]
    assert text.startswith(answer[1])


def test_the_board_is_shown_as_it_slants(engine: HexEngine) -> None:
    _, shown = said(engine, "boardsize 4 3", "play b d1", "play w a3", "showboard")
    assert shown.splitlines() == [
        "",
        "   a  b  c  d",
        " 1\\.  .  .  B\\1",
        "  2\\.  .  .  .\\2",
        "   3\\W  .  .  .\\3",
        "      a  b  c  d",
    ]


WORDS = st.one_of(
    st.sampled_from(
        ["b", "white", "a1", "z26", "swap-pieces", "resign", "allow_swap", "nan", "1", "2", "3", "-1"]
    ),
    st.text(max_size=5),
)
COMMANDS = st.sampled_from(
    HexEngine("", RandomHexThinker(random.Random(1)), None, "").answer("list_commands", [])[1].split()
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.one_of(COMMANDS, st.text(max_size=5)), st.lists(WORDS, max_size=3)), max_size=8))
def test_whatever_is_said_each_line_is_answered(lines: list[tuple[str, list[str]]]) -> None:
    engine = HexEngine("bot", RandomHexThinker(random.Random(1)), academy=None, contest_id="")
    for command, arguments in lines:
        status, answer = engine.answer(command, arguments)
        assert status in "=?"
        assert "\n\n" not in answer


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
    thinker = MonteCarloHexThinker(playouts, random.Random(1))
    game, position = position_after("c1 a1 c2 b1 c3 d1 c4 a5")
    wins = thinker.think(game, position)
    assert {game.move_text(each.move) for each in wins.candidates} == {"b5", "c5"}
    assert wins.value == 1.0
    game, position = position_after("c1 a1 c2 b1 c3 b5 c4")
    assert [game.move_text(each.move) for each in thinker.think(game, position).candidates] == ["c5"]


def test_a_strong_first_stone_is_swapped_and_a_weak_one_is_not() -> None:
    thinker = MonteCarloHexThinker(400, random.Random(2))
    game, centre = position_after("c3", swap=True)
    assert thinker.think(game, centre).candidates[0].move == SWAP
    game, corner = position_after("a1", swap=True)
    assert thinker.think(game, corner).candidates[0].move != SWAP


def test_the_first_stone_is_weak_where_it_could_be_swapped() -> None:
    thinker = MonteCarloHexThinker(400, random.Random(2))
    centre = 12
    for swap, expected in ((False, True), (True, False)):
        game, start = position_after("", swap=swap)
        best = [each.move for each in thinker.think(game, start).candidates[:5]]
        assert (centre in best) == expected


def winner(game: Hex, black: Thinker[Hex, HexPosition, int], white: Thinker[Hex, HexPosition, int]) -> int:
    position = game.start(0)
    while game.to_move(position):
        thinker = black if position.mover == BLACK else white
        position = game.play(position, {position.mover: thinker.think(game, position).candidates[0].move})
    return position.winner


def test_playouts_beat_chance() -> None:
    game = Hex.from_settings({"board_size": 6})
    strong = MonteCarloHexThinker(40, random.Random(3))
    weak = RandomHexThinker(random.Random(4))
    assert [winner(game, strong, weak) for _ in range(5)] == [BLACK] * 5
    assert [winner(game, weak, strong) for _ in range(5)] == [WHITE] * 5


def test_a_random_player_makes_every_move_also_the_swap() -> None:
    game, position = position_after("c3", swap=True)
    thinker = RandomHexThinker(random.Random(1))
    first = {thinker.think(game, position).candidates[0].move for _ in range(500)}
    assert first == set(game.legal_moves(position, WHITE))


def test_stones_are_known_without_what_they_are_linked_to() -> None:
    _, position = position_after("a1 e5")
    around = surrounded(position.cells, 5, 5)
    assert len(around) == 49
    assert [around[8], around[40], around[1], around[7]] == [BLACK, WHITE, BLACK, WHITE]
    assert position.cells[0] != position.cells[0] & COLOUR
