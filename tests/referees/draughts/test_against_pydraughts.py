"""All variants against pydraughts, in random games.

Compared are moves, positions and losses. Its draw rules are others: it counts king moves where the
federations count all moves against a lone king.
"""

import random

import draughts as pydraughts
import pytest
from draughts.PDN import PDNReader

from referees.api import GameRecord, PlayedMove
from referees.draughts import VARIANTS, Draughts, DraughtsPosition
from tests.referees.draughts.placing import game, placed

GAMES = 2
BLACK, WHITE = 1, 2
NAMES = {"international": "standard"}


def number(judge: Draughts, square: int) -> int:
    """Our number of a square of pydraughts, which counts rows from White's side where names are `c3`."""
    layout = judge.settings.variant.layout
    if not layout.algebraic:
        return square
    row, place = divmod(square - 1, layout.rows // 2)
    return (layout.rows - 1 - row) * layout.rows // 2 + place + 1


def same_position(judge: Draughts, fen: str) -> DraughtsPosition:
    """The position of a FEN such as `W:W21,K5:B12`."""
    to_move, white, black = fen.split(":")
    return placed(judge, to_move, white[1:].replace(",", " "), black[1:].replace(",", " "))


def check_game(judge: Draughts, variant: str, seed: int) -> DraughtsPosition:
    chance = random.Random(seed)
    board = pydraughts.Board(variant=NAMES.get(variant, variant))
    position = judge.start(seed)
    while judge.outcome(position) is None:
        theirs = {
            (
                number(judge, move.board_move[0][0]),
                number(judge, move.board_move[-1][1]),
                frozenset(number(judge, square) for square in move.captures),
            ): move
            for move in board.legal_moves()
        }
        ours = {
            (move.squares[0], move.squares[-1], frozenset(move.captured)): move for move in position.moves
        }
        assert ours.keys() == theirs.keys(), (seed, board.fen)
        key = chance.choice(sorted(ours, key=str))
        (seat,) = judge.to_move(position)
        position = judge.play(position, {seat: ours[key]})
        board.push(theirs[key])
        assert same_position(judge, board.fen).placement == position.placement
    if not position.moves:
        assert board.winner() == (BLACK if position.white_to_move else WHITE)
    return position


@pytest.mark.parametrize("seed", range(GAMES))
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_same_moves_positions_and_losses(variant: str, seed: int) -> None:
    check_game(game(variant), variant, seed)


@pytest.mark.parametrize("variant", VARIANTS)
def test_pydraughts_reads_our_records(variant: str) -> None:
    judge = game(variant)
    position, moves, chance = judge.start(0), [], random.Random(1)
    while seats := judge.to_move(position):
        move = chance.choice(position.moves)
        moves.append(PlayedMove(seats[0], move, judge.move_text(move), comment="spoken"))
        position = judge.play(position, {seats[0]: move})
    record = GameRecord(
        "cup 1",
        "cup",
        "2026-01-31",
        ("anna", "bert"),
        moves,
        judge.outcome(position),
        0,
        ("start",),
        ("end",),
    )
    (read,) = PDNReader(pdn_text=judge.record(record)).games
    assert read.moves == [move.text for move in moves]
    assert read.variant == NAMES.get(variant, variant)
    assert read.tags["White"] == ("bert" if variant == "english" else "anna")
