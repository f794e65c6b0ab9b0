"""Patterns light up where they lie, for either player and for the opponent."""

import random
import re

import pytest

from academy.knowledge.cells import Code
from academy.knowledge.text import read_cells
from academy.v1 import consultation_pb2
from clients.responses import pattern_matches
from tests.academy.service.running import Running
from tests.web.filling import DRAUGHTS, GO, HEX, judge_of
from tests.web.visiting import Visitor


@pytest.mark.parametrize("game_id", [GO, HEX, DRAUGHTS])
@pytest.mark.parametrize("player", [1, 2])
def test_lit_cells_hold_what_the_pattern_accepts(academy: Running, game_id: str, player: int) -> None:
    judge, chance = judge_of(game_id), random.Random(game_id)
    spec, position, positions = judge.spec(), judge.start(0), []
    for _ in range(10):
        seat = judge.to_move(position)[0]
        position = judge.play(position, {seat: judge.random_move(position, seat, chance)})
        positions.append(judge.board(position, 1))
    answer = academy.admin().consultation.MatchPatterns(
        consultation_pb2.MatchPatternsRequest(
            game_id=game_id,
            positions=[consultation_pb2.Position(board=board.letters, player=player) for board in positions],
            both_players=True,
            include_cells=True,
        )
    )
    checked = 0
    for board, matches in zip(positions, pattern_matches(answer), strict=True):
        for match in matches:
            lit = match.covered_cells(spec, player)
            codes = read_cells(match.cells, spec.geometry).codes
            inside = len(codes) - sum(code == Code.OFF_BOARD for code in codes)
            assert len(lit) >= sum(code not in (Code.OFF_BOARD, Code.ANYTHING) for code in codes) <= inside
            # What stands on the lit cells, in the colours of the side that the pattern speaks for.
            turned = (player == 2) != match.for_opponent
            seen = spec.reversed_board(board) if turned else board
            cells = [spec.reversed_cells[cell] if turned else cell for cell in lit]
            states = sorted(seen.states[cell] for cell in cells)
            assert _fits(states, [code for code in codes if code != Code.OFF_BOARD])
            checked += 1
    assert checked


def _fits(states: list[int], codes: list[int]) -> bool:
    """Whether single pieces of the pattern are among the states as often as the pattern wants them."""
    single = (Code.EMPTY, Code.FIRST_SOLDIER, Code.SECOND_SOLDIER)
    return all(states.count(code) >= codes.count(code) for code in single)


def test_a_pasted_board_shows_its_patterns_and_lights_the_chosen_one(pages: Visitor) -> None:
    board = "-" * 12 + "x" + "-" * 12
    plain = pages.get(f"/games/{GO}/position?board={board}")
    chosen = pages.get(f"/games/{GO}/position?board={board}&show=1")

    assert 'class="at lit' not in plain.text and 'data-match="1"' in plain.text
    assert 'class="at lit' in chosen.text
    assert "teacher" in pages.get(plain.link("/patterns/endgame/")).words


def test_blanks_and_lines_of_a_pasted_board_do_not_matter(pages: Visitor) -> None:
    rows = "-----%0D%0A%20-----%0A--x--%0A-----%0A-----%0A"
    answer = pages.get(f"/games/{GO}/position?board={rows}")

    assert answer.status == 200 and 'data-match="1"' in answer.text


def test_a_wrong_board_comes_back_in_its_form(pages: Visitor) -> None:
    answer = pages.get(f"/games/{GO}/position?board=xxxxxx-")

    assert answer.status == 400 and "7 letters" in answer.words
    assert "xxxxx\nx-" in answer.text


def test_other_players_and_libraries_are_asked_as_the_form_says(pages: Visitor) -> None:
    board = "-" * 12 + "o" + "-" * 12
    black = pages.get(f"/games/{GO}/position?board={board}")
    white = pages.get(f"/games/{GO}/position?board={board}&player=2")
    other = pages.get(f"/games/{GO}/position?board={board}&opponent=yes")
    middle = pages.get(f"/games/{GO}/position?board={board}&player=2&library=middle-game")

    assert 'data-match="1"' not in black.text and 'data-match="1"' in white.text
    assert "for the opponent" in other.words and 'data-match="1"' not in middle.text


def test_a_played_line_shows_its_openings_and_what_each_move_changes(pages: Visitor) -> None:
    start = pages.get(f"/games/{GO}/position")
    looked_at = pages.get(f"/games/{GO}/position?look=C3")
    after = pages.get(f"/games/{GO}/position?m=C3")

    assert "contests came here" in start.words and "25 moves" not in start.words
    assert "What C3 changes It completes" in looked_at.words
    # What Black's move completes lies on the board that Black asks about after it.
    assert "White to move" in after.words
    assert 'data-match="1"' in pages.get(f"/games/{GO}/position?m=C3&player=1").text


def test_moves_of_draughts_are_compared_by_the_boards_after_them(pages: Visitor) -> None:
    page = pages.get(f"/games/{DRAUGHTS}/position")

    assert "7 moves" in page.words and re.search(r"[+−]\d+ patterns by", page.words)
    chosen = pages.get(page.link("from="))
    assert "Moves from there:" in chosen.words


def test_a_line_together_with_a_board_is_refused(pages: Visitor) -> None:
    answer = pages.get(f"/games/{GO}/position?m=C3&board={'-' * 25}")

    assert answer.status == 400 and "both a board and a line" in answer.words
