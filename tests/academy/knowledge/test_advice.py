"""What all that is known of moves adds up to."""

from random import Random

import numpy as np
import pytest

from academy.knowledge.advice import (
    CandidateMove,
    above_mean,
    pattern_log_odds,
    states_after,
    with_all_changes,
)
from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.cells import State
from academy.knowledge.spec import GameSpec, Placement
from referees.api import referee

FOUR = SquareGeometry(1, 4)


def weight_of(*values: float, proposers: int = 4) -> float:
    """What patterns of these values say of a move, beside another one that has none."""
    moves_of = np.zeros(len(values), dtype=np.intp)
    votes = np.full(len(values), proposers, dtype=np.uint32)
    with_them, without = pattern_log_odds(2, moves_of, np.array(values), votes).tolist()
    assert without == 0.0
    return float(with_them)


@pytest.mark.parametrize(
    ("values", "sign"), [((), 0), ((0.9,), 1), ((0.1,), -1), ((0.5,), 0), ((0.9, 0.1), 0), ((1.0, 0.1), 1)]
)
def test_patterns_are_weighed_against_each_other(values: tuple[float, ...], sign: int) -> None:
    weight = weight_of(*values)
    assert (weight > 1e-9) - (weight < -1e-9) == sign


def test_a_pattern_of_more_proposers_says_more() -> None:
    assert weight_of(0.9) > weight_of(0.9, proposers=1) > 0.0


def test_no_value_is_believed_to_be_certain() -> None:
    assert weight_of(1.0) == pytest.approx(weight_of(0.98)) == pytest.approx(-weight_of(0.0))


def test_patterns_that_say_the_same_do_not_add_up() -> None:
    assert weight_of(*[0.9] * 100) < 3.0 * weight_of(*[0.9] * 5)


def test_moves_that_are_all_as_good_get_nothing() -> None:
    assert above_mean([3.0, 3.0]).tolist() == [0.0, 0.0]
    assert above_mean([]).tolist() == []


def board(letters: str) -> Board:
    return Board.from_letters(FOUR, letters)


@pytest.mark.parametrize(
    ("after", "cell", "places"),
    [
        # A piece put down, alone, with a capture, and with pieces turned over.
        ("xo-x", 3, True),
        ("x--x", 3, True),
        ("xx-x", 3, True),
        # A piece moved, one that came twice, and a pass.
        ("-ox-", 2, False),
        ("xoxx", 2, False),
        ("xo--", None, False),
        # An adversary's piece taken from afar.
        ("x---", None, False),
    ],
)
def test_where_a_move_goes_follows_from_what_it_changes(after: str, cell: int | None, places: bool) -> None:
    before, then = board("xo--"), board(after)
    cells = zip(before.states, then.states, strict=True)
    changes = [(place, new) for place, (old, new) in enumerate(cells) if old != new]
    move = CandidateMove.of_changes(before, changes, 1)
    assert (move.cell, move.places) == (cell, places)
    states = states_after(before, [move])
    assert states is not None and states.tobytes() == then.states


def test_the_board_after_a_cell_is_known_where_a_move_changes_no_other() -> None:
    before = board("xo--")
    plain = CandidateMove.to_cells([2], GameSpec("four", FOUR), 2)[0]
    states = states_after(before, [plain])
    assert states is not None and states.tobytes() == board("xoo-").states
    turning = CandidateMove.to_cells([2], GameSpec("four", FOUR, placement=Placement.OUTFLANKING), 2)[0]
    assert (turning.cell, turning.places) == (2, True)
    assert states_after(before, [plain, turning]) is None


def test_where_pieces_go_from_cell_to_cell_no_board_follows_from_a_cell() -> None:
    spec = GameSpec("four", FOUR, move_forms=("#-#", "#x#[x#]"))
    before = board("x--o")
    moves = CandidateMove.to_cells([1], spec, 1)
    assert states_after(before, with_all_changes(moves, before, spec, 1)) is None


@pytest.mark.parametrize("self_capture", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_board_after_a_cell_is_that_of_the_game_where_chains_are_taken(
    seed: int, self_capture: bool
) -> None:
    rules = referee("go").from_settings({"board_size": 5, "komi": 0.5, "self_capture": self_capture})
    spec, position, chance, captures, of_own = rules.spec(), rules.start(0), Random(seed), 0, 0
    for _ in range(60):
        (player,) = rules.to_move(position) or (0,)
        if not player:
            break
        before = rules.board(position, 1)
        legal = {rules.move_text(move): move for move in rules.legal_moves(position, player) or ()}
        played = {
            cell: rules.board(rules.play(position, {player: legal[name]}), 1)
            for cell, name in enumerate(spec.cell_names)
            if name in legal
        }
        moves = CandidateMove.to_cells(played, spec, player)
        states = states_after(before, with_all_changes(moves, before, spec, player))
        assert states is not None
        assert [row.tobytes() for row in states] == [after.states for after in played.values()]
        captures += any(
            after.states.count(State.EMPTY) >= before.states.count(State.EMPTY) for after in played.values()
        )
        of_own += any(after.states[cell] == State.EMPTY for cell, after in played.items())
        position = rules.play(position, {player: chance.choice([*legal.values()])})
    assert captures and bool(of_own) == self_capture


@pytest.mark.parametrize("seed", range(2))
def test_the_board_after_a_cell_is_that_of_the_game_where_pieces_turn_others_over(seed: int) -> None:
    rules = referee("openspiel").from_settings({"game": "othello"})
    spec, position, chance, compared = rules.spec(), rules.start(0), Random(seed), 0
    while to_move := rules.to_move(position):
        (player,) = to_move
        before, legal = rules.board(position, 1), list(rules.legal_moves(position, player) or ())
        for move in legal:
            after = rules.board(rules.play(position, {player: move}), 1)
            cells = [
                cell for cell, state in enumerate(before.states) if state == State.EMPTY != after.states[cell]
            ]
            moves = CandidateMove.to_cells(cells, spec, player)
            states = states_after(before, with_all_changes(moves, before, spec, player))
            # A pass goes to no cell.
            assert states is not None
            assert [row.tobytes() for row in states] == [after.states for _ in cells]
            compared += len(cells)
        position = rules.play(position, {player: chance.choice(legal)})
    assert compared > 100


def test_moves_that_say_what_they_take_stay_as_they_are() -> None:
    spec = GameSpec("go", SquareGeometry(2, 2), placement=Placement.CAPTURING)
    before = Board.from_letters(spec.geometry, "ox--")
    move = CandidateMove.of_changes(before, [(2, State.FIRST_SOLDIER)], 1)
    plain, a_pass = CandidateMove.to_cells([2], spec, 1)[0], CandidateMove(None, False, None)
    assert with_all_changes([move], before, spec, 1) == [move]
    *unchanged, known = with_all_changes([move, a_pass, plain], before, spec, 1)
    assert unchanged == [move, a_pass]
    assert known.changes == ((2, State.FIRST_SOLDIER), (0, State.EMPTY))
