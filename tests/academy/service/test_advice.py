"""Advice: which cells a bot should rather move to, and what fair use lets it ask."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random

import pytest

from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.tesujis.surroundings import surroundings
from academy.v1 import consultation_pb2, libraries_pb2
from academy.wire.games import read_spec
from clients import Connection
from clients.academy import Academy
from clients.connection import AcademyRefusedError
from clients.responses import Advice
from clients.seat import Seat
from tests.academy.service import examples
from tests.academy.service.examples import (
    EMPTY,
    SIZE,
    beside_each_other,
    board,
    contest,
    position,
    teach,
    teach_tesujis,
)
from tests.academy.service.running import Client, Running, limited, refusal

LOW = 0.2


def advise(
    client: Client,
    game_id: str,
    where: consultation_pb2.Position,
    cells: Sequence[int] = (),
    contest_id: str = "",
) -> consultation_pb2.AdviseResponse:
    return client.consultation.Advise(
        consultation_pb2.AdviseRequest(game_id=game_id, contest_id=contest_id, position=where, cells=cells)
    )


MIDDLE = board("-----", "-----", "--o--", "-----", "-----")


def test_cells_that_strong_players_would_choose_are_advised(academy: Running) -> None:
    teach_tesujis(academy, "advised")
    answer = advise(academy.bot("reader"), "advised", position(MIDDLE), [7, 0])
    assert answer.log_odds[0] > 0.3 and answer.log_odds[1] == -answer.log_odds[0]
    assert answer.tesujis == 2
    request = libraries_pb2.GetStatisticsRequest(game_id="advised")
    known = academy.admin().libraries.GetStatistics(request).tesujis
    assert known == len(academy.store.follow().refresh("advised").tesujis) > 10

    # Without cells all empty ones are compared, row by row; cells that look alike get the same.
    everywhere = advise(academy.bot("reader"), "advised", position(MIDDLE))
    assert len(everywhere.log_odds) == SIZE * SIZE - 1
    assert len({everywhere.log_odds[cell] for cell in (7, 11, 12, 16)}) == 1
    assert max(everywhere.log_odds) == everywhere.log_odds[7]


def test_advice_is_what_the_table_of_tesujis_says(academy: Running) -> None:
    game = teach_tesujis(academy, "exact")
    around = surroundings(read_spec(game))
    assert around is not None
    table = academy.store.follow().refresh("exact").tesujis
    states = Board.from_letters(SquareGeometry(SIZE, SIZE), MIDDLE)
    cells = [3, 7, 24]
    for player in (1, 2):
        expected = table.advise(around.of_cells(states, cells, player)).log_odds.tolist()
        answer = advise(academy.bot("reader"), "exact", position(MIDDLE, player), cells)
        assert list(answer.log_odds) == pytest.approx(expected, rel=1e-6)


def test_a_game_without_tesujis_says_nothing(academy: Running) -> None:
    academy.register(examples.tiny_go("none"))
    answer = advise(academy.bot("reader"), "none", position(MIDDLE), [7, 0])
    assert (list(answer.log_odds), answer.tesujis) == ([0.0, 0.0], 0)


@pytest.mark.parametrize("player", [1, 2, 3])
def test_moves_of_more_than_two_players_are_not_compared(academy: Running, player: int) -> None:
    academy.register(examples.ring("ring"))
    where = position("-----", player)
    for cells in ([], [0, 3]):
        answer = advise(academy.bot("reader"), "ring", where, cells)
        assert answer == consultation_pb2.AdviseResponse()
    moves = [consultation_pb2.CandidateMove(cells=[1], letters="x")]
    request = consultation_pb2.AdviseRequest(
        game_id="ring", position=where, moves=moves, opening=consultation_pb2.AdviseOpening()
    )
    answer = academy.bot("reader").consultation.Advise(request)
    assert answer.opening_asked and not answer.moves_asked


def test_a_report_changes_the_next_answer(academy: Running) -> None:
    game_id = "fresh"
    teach_tesujis(academy, game_id, contests=1)
    bot = academy.bot("reader")
    before = advise(bot, game_id, position(MIDDLE), [7, 0])
    academy.report(beside_each_other(contest("fresh/new", game_id), Random(77)))
    assert advise(bot, game_id, position(MIDDLE), [7, 0]) != before


def test_a_stream_answers_and_goes_on_after_a_refusal(academy: Running) -> None:
    teach_tesujis(academy, "streamed")
    ann = academy.open(contest("streamed/1", "streamed"))[0]
    questions = [
        consultation_pb2.AdviseRequest(
            game_id="streamed",
            contest_id="streamed/1",
            position=position(MIDDLE, expected_value=value),
            cells=[7, 0],
        )
        for value in (0.9, LOW)
    ]
    answers = list(
        ann.consultation.Play(
            consultation_pb2.PlayRequest(request_id=number, advice=request)
            for number, request in enumerate(questions)
        )
    )
    assert answers[0].refusal.reason == "VALUE_NOT_LOW"
    assert answers[1].advice == advise(
        ann, "streamed", position(MIDDLE, expected_value=LOW), [7, 0], "streamed/1"
    )


class TestFairUse:
    def test_only_low_expectations_are_answered(self, academy: Running) -> None:
        teach_tesujis(academy, "low")
        ann = academy.open(contest("low/1", "low"))[0]
        for value in (None, 0.34):
            where = position(MIDDLE, expected_value=value)
            assert refusal(partial(advise, ann, "low", where, [7], "low/1")).reason == "VALUE_NOT_LOW"
        assert advise(ann, "low", position(MIDDLE, expected_value=0.33), [7, 0], "low/1").tesujis == 2

    def test_a_claim_that_the_arena_hears_otherwise_is_noticed(self, academy: Running) -> None:
        teach_tesujis(academy, "claims")
        played = contest("claims/1", "claims")
        ann = academy.open(played)[0]
        where = position(EMPTY, expected_value=0.1)
        where.plies = 0
        advise(ann, "claims", where, [7], "claims/1")
        academy.report(beside_each_other(played, Random(1)))
        request = libraries_pb2.ListPlayerStatisticsRequest(game_id="claims", player="ann")
        (known,) = academy.admin().libraries.ListPlayerStatistics(request).players
        assert (known.claims, known.false_claims) == (1, 1)

    def test_knowledge_of_far_weaker_players_is_left_out(self, academy: Running) -> None:
        teach_tesujis(academy, "weak", elo=1500.0)
        strong = academy.open(contest("weak/1", "weak", elos=(1700.0, 1699.0)))
        where = position(MIDDLE, expected_value=LOW)
        answer = advise(strong[0], "weak", where, [7, 0], "weak/1")
        assert (list(answer.log_odds), answer.tesujis) == ([0.0, 0.0], 0)
        where.player = 2
        assert advise(strong[1], "weak", where, [7, 0], "weak/1").tesujis == 2

    def test_uses_are_counted_with_the_contests_result(self, academy: Running) -> None:
        teach_tesujis(academy, "uses")
        played = contest("uses/1", "uses")
        ann = academy.open(played)[0]
        for _ in range(2):
            advise(ann, "uses", position(MIDDLE, expected_value=LOW), [7, 0], "uses/1")
        academy.report(beside_each_other(played, Random(1)))
        table = academy.store.follow().refresh("uses").tesujis
        assert (table.uses.sum(), table.successes.sum()) == (2, 2)

    def test_analysis_outside_a_contest_has_an_allowance(self, tmp_path: Path) -> None:
        with limited(tmp_path, patterns_outside_contests_per_hour=1) as academy:
            academy.register(examples.tiny_go("allowance"))
            teach(academy, "allowance", "taught", [("ann", "x x x", 0.9), ("bob", "x - x\nx - x", 0.9)])
            bot = academy.bot("scraper")
            row = position(board("o o - - -", "-----", "-----", "-----", "-----"))
            first = advise(bot, "allowance", row, [2, 20])
            assert first.patterns == 1
            # What was seen in this hour may be seen again; more may not.
            assert advise(bot, "allowance", row, [2, 20]) == first
            box = position(board("o - o - -", "o - - - -", "-----", "-----", "-----"))
            refused = refusal(partial(advise, bot, "allowance", box, [7, 20]))
            assert (refused.reason, refused.metadata["returned"]) == ("ANALYSIS_EXCEEDED", "1")


@pytest.mark.parametrize(
    ("cells", "field"), [([25], "cells[0]"), ([7, 12], "cells[1]"), ([7, 0, 7], "cells[2]")]
)
def test_cells_off_the_board_taken_or_twice_are_refused(
    academy: Running, cells: list[int], field: str
) -> None:
    academy.register(examples.tiny_go("bad"))
    refused = refusal(partial(advise, academy.bot("reader"), "bad", position(MIDDLE), cells))
    assert (refused.reason, refused.metadata["field"]) == ("INVALID_FIELD", field)


def test_where_pieces_move_from_cell_to_cell_a_question_must_name_the_moves(academy: Running) -> None:
    game = examples.tiny_go("moved")
    game.move_forms[:] = ["@#-@#"]
    academy.register(game)
    refused = refusal(partial(advise, academy.bot("reader"), "moved", position(MIDDLE)))
    assert (refused.reason, refused.metadata["field"]) == ("INVALID_FIELD", "moves")
    assert "pieces move from cell to cell" in refused.message


class TestClient:
    def test_the_client_library_asks_for_advice_in_a_call_and_on_a_stream(self, academy: Running) -> None:
        teach_tesujis(academy, "client")
        played = contest("client/1", "client")
        player, _ = academy.open(played)
        seat = Seat("client", SquareGeometry(SIZE, SIZE), 1, "client/1")
        here = Board.from_letters(seat.geometry, MIDDLE)
        with Academy(Connection(str(academy.address), player.token)) as bot:
            advice = bot.advise(seat, here, [7, 0], LOW)
            assert advice.log_odds[0] > 0.3 > advice.log_odds[1]
            assert advice.cells == (7, 0)
            with bot.stream() as stream:
                assert stream.advise(seat, here, [7, 0], LOW) == advice
                everywhere = stream.advise(seat, here, expected_value=LOW)
            best, cell = max(zip(everywhere.log_odds, everywhere.cells, strict=True))
            assert cell in (7, 11, 13, 17) and best > 0.3
            assert bot.advise(seat, here, [7, 0], 0.5) == Advice()
            with pytest.raises(AcademyRefusedError, match="empty cell"):
                bot.advise(seat, here, [12], LOW)
