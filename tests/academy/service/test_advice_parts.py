"""All that one question for advice brings together: the book, tesujis, patterns, the evaluation."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
import pytest

from academy.knowledge.advice import ENOUGH_CONTESTS
from academy.knowledge.boards import Board, SquareGeometry
from academy.service.advice import MoveAdvice, moves_to_compare
from academy.service.answers import PatternQuestion
from academy.service.game_cache import CachedGame
from academy.store.codec.games import spec_to_proto
from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from academy.v1 import consultation_pb2, contests_pb2, game_pb2
from academy.wire.games import read_spec
from clients import Connection
from clients.academy import Academy
from clients.local_weights import LocalWeights
from clients.seat import Seat
from referees.api import referee
from tests.academy.service import examples
from tests.academy.service.examples import (
    EMPTY,
    SIZE,
    beside_each_other,
    board,
    contest,
    position,
    report,
    teach,
    teach_moves,
    teach_tesujis,
)
from tests.academy.service.running import Client, Running, refusal
from tests.academy.service.test_ranking import SPEC, shelf

LOW = 0.2

GEOMETRY = SquareGeometry(SIZE, SIZE)


def ask(
    client: Client,
    game_id: str,
    where: consultation_pb2.Position,
    cells: Sequence[int] = (),
    *,
    contest_id: str = "",
    line: Sequence[str] | None = None,
    moves: Sequence[consultation_pb2.CandidateMove] = (),
) -> consultation_pb2.AdviseResponse:
    request = consultation_pb2.AdviseRequest(
        game_id=game_id,
        contest_id=contest_id,
        position=where,
        cells=cells,
        moves=moves,
        opening=None if line is None else consultation_pb2.AdviseOpening(moves=line),
        include_ids=True,
    )
    return client.consultation.Advise(request)


def put(cell: int, letter: str = "x") -> consultation_pb2.CandidateMove:
    return consultation_pb2.CandidateMove(cells=[cell], letters=letter)


class TestBook:
    def test_each_part_has_its_own_fair_use(self, academy: Running) -> None:
        teach_tesujis(academy, "both")
        for number in range(6):
            academy.report(report(contest(f"both/book-{number}", "both"), ["c3", "c4"]))
        ann = academy.open(contest("both/1", "both"))[0]
        there = partial(ask, ann, "both", contest_id="both/1")
        both = there(position(EMPTY, expected_value=LOW), [7, 0], line=[])
        assert (both.opening_asked, both.moves_asked, both.consultations) == (True, True, 1)
        assert both.book.move == "c3" and both.book.visits >= 6 and len(both.log_odds) == 2

        # The next is due four own moves later; the other part goes on.
        moves_only = there(position(EMPTY, expected_value=LOW), [7, 0], line=["c3", "c4"])
        assert (moves_only.opening_asked, moves_only.moves_asked) == (False, True)
        assert not moves_only.HasField("book") and moves_only.log_odds == both.log_odds

        # And the book is answered where too much is expected to compare moves.
        line = ["c3", "c4", "a1", "a2", "b1", "b2", "d1", "d2"]
        book_only = there(position(EMPTY, expected_value=0.8), [7, 0], line=line)
        assert (book_only.opening_asked, book_only.moves_asked) == (True, False)
        assert not book_only.log_odds and book_only.consultations == 2
        line += ["e1", "e2"]
        refused = refusal(partial(there, position(EMPTY, expected_value=0.8), [7, 0], line=line))
        assert refused.reason == "FAIR_USE_EXCEEDED"
        assert refusal(partial(there, position(EMPTY), [7, 0])).reason == "VALUE_NOT_LOW"

    @pytest.mark.parametrize("value", [1.01, -0.01, float("nan")])
    def test_an_expected_value_beyond_0_to_1_is_refused_with_the_book_and_without(
        self, academy: Running, value: float
    ) -> None:
        name = f"value-{value}"
        academy.register(examples.tiny_go(name))
        ann = academy.open(contest(name, name))[0]
        lines: tuple[list[str] | None, ...] = ([], None)
        for line in lines:
            where = position(EMPTY, expected_value=value)
            refused = refusal(partial(ask, ann, name, where, [7, 0], contest_id=name, line=line))
            assert (refused.reason, refused.metadata["field"]) == (
                "INVALID_RECORD",
                "position.expected_value",
            )

    def test_a_question_that_is_left_out_is_not_counted(self, academy: Running) -> None:
        academy.register(examples.tiny_go("uncounted"))
        ann = academy.open(contest("uncounted/1", "uncounted"))[0]
        there = partial(ask, ann, "uncounted", contest_id="uncounted/1")
        wrong = refusal(partial(there, position("-", expected_value=LOW), line=[]))
        assert wrong.metadata["field"] == "position.board"
        answer = there(position("", expected_value=LOW), line=[])
        assert answer.consultations == 1 and not answer.HasField("book")

    def test_a_bot_holds_the_line_that_the_answer_brought(self, academy: Running) -> None:
        game = examples.tiny_go("held")
        game.settings.opening_plies_ahead = 6
        academy.register(game)
        for number in range(8):
            played = report(contest(f"held/book-{number}", "held"), ["c3", "c4", "b2", "d4"])
            academy.report(played)
        player, _ = academy.open(contest("held/1", "held"))
        seat = Seat("held", GEOMETRY, 1, "held/1")
        here = Board.from_letters(GEOMETRY, EMPTY)
        with Academy(Connection(str(academy.address), player.token)) as bot:
            first = bot.advise(seat, here, line=[])
            assert first.book is not None and first.book.move == "c3" and first.opening_asked
            second = bot.advise(seat, here, line=["c3", "c4"])
            assert second.book is not None and second.book.move == "b2" and not second.opening_asked
            assert bot.book_move(seat, ["c3", "c4"], 1) == second.book
            assert bot.advise(seat, here, line=["c3", "a1"]).book is None


class TestMoves:
    def test_a_move_is_good_that_goes_where_the_opponent_would_have_good_patterns(
        self, academy: Running
    ) -> None:
        academy.register(examples.tiny_go("patterns"))
        teach(academy, "patterns", "patterns/1", [(name, "x x x", 0.9) for name in "abcd"])
        where = position(board("o o - - -", "-----", "-----", "-----", "- - - x x"))
        answer = ask(academy.bot("reader"), "patterns", where, [2, 12, 22])
        # One's own row of three says nothing: the value of a pattern is that of where it was seen.
        assert answer.log_odds[0] > 0.1 > answer.log_odds[1] == answer.log_odds[2]
        assert (answer.patterns, answer.tesujis, list(answer.pattern_ids)) == (1, 0, [1])
        assert sum(answer.log_odds) == pytest.approx(0.0, abs=1e-6)

        # The same for the other player, and for moves by what they change.
        swapped = position(where.board.translate(str.maketrans("xo", "ox")), player=2)
        assert ask(academy.bot("reader"), "patterns", swapped, [2, 12, 22]).log_odds == answer.log_odds
        by_change = ask(academy.bot("reader"), "patterns", where, moves=[put(2), put(12), put(22)])
        assert by_change.log_odds == answer.log_odds and not (by_change.cells or answer.cells)

    def test_a_move_that_goes_nowhere_is_as_good_as_usual(self, academy: Running) -> None:
        teach_tesujis(academy, "passing")
        answer = ask(
            academy.bot("reader"),
            "passing",
            position(board("-----", "-----", "--o--", "-----", "-----")),
            moves=[put(7), consultation_pb2.CandidateMove(), put(0)],
        )
        assert answer.log_odds[0] > answer.log_odds[1] == 0.0 > answer.log_odds[2]
        assert len(answer.tesuji_ids) == answer.tesujis == 2

    def test_advice_adds_up_tesujis_and_evaluation(self, academy: Running) -> None:
        game = examples.tiny_go("sum")
        game.settings.MergeFrom(
            game_pb2.LibrarySettings(
                tesuji_capacity=500, evaluation=True, evaluation_patterns=2_000, local_weights=True
            )
        )
        academy.register(game)
        where = position(board("-----", "-----", "--o--", "-----", "-----"))
        reader = academy.bot("reader")
        for number in range(ENOUGH_CONTESTS):
            if number == ENOUGH_CONTESTS - 1:
                assert ask(reader, "sum", where, [7, 0]).evaluation_contests == 0
            played = contest(f"sum/{number}", "sum")
            academy.report(beside_each_other(played, Random(number)))
        answer = ask(reader, "sum", where, [7, 0, 20])
        assert answer.evaluation_contests == ENOUGH_CONTESTS
        request = consultation_pb2.DownloadWeightsRequest(game_id="sum", player=1)
        weights = LocalWeights(read_spec(game), reader.consultation.DownloadWeights(request))
        here = Board.from_letters(GEOMETRY, where.board)
        for player, piece, sign in ((1, "x", 1), (2, "o", -1)):
            where.player = player
            answer = ask(reader, "sum", where, [7, 0, 20])
            after = [
                Board.from_letters(GEOMETRY, where.board[:cell] + piece + where.board[cell + 1 :])
                for cell in (7, 0, 20)
            ]
            worth = sign * np.array(weights.log_odds(after, 3 - player))
            expected = np.array(weights.advise(here, [7, 0, 20], player)) + worth - worth.mean()
            assert list(answer.log_odds) == pytest.approx(expected.tolist(), abs=1e-5)
        # In a contest it leaves out what weaker players taught.
        elo = academy.store.follow().refresh("sum").evaluation.elo
        players = academy.open(contest("sum/strong", "sum", elos=(elo + 200, elo + 199)))
        where.expected_value = LOW
        for player, taught in ((1, 0), (2, ENOUGH_CONTESTS)):
            where.player = player
            answer = ask(players[player - 1], "sum", where, [7, 0], contest_id="sum/strong")
            assert answer.evaluation_contests == taught

    def test_advice_leaves_out_an_evaluation_of_pieces_and_moves_alone(self, academy: Running) -> None:
        game = examples.tiny_go("pieces")
        game.settings.MergeFrom(game_pb2.LibrarySettings(evaluation=True))
        teach_moves(academy, game, ENOUGH_CONTESTS)
        answer = ask(academy.bot("reader"), "pieces", position(EMPTY), [7, 0])
        assert (answer.evaluation_contests, list(answer.log_odds)) == (0, [0.0, 0.0])

    def test_a_move_that_takes_pieces_is_worth_as_much_by_its_cell_as_by_its_board(
        self, academy: Running
    ) -> None:
        game = examples.tiny_go("takes")
        game.placement = game_pb2.PLACEMENT_CAPTURING
        game.settings.MergeFrom(game_pb2.LibrarySettings(evaluation=True, evaluation_patterns=2_000))
        teach_moves(academy, game, ENOUGH_CONTESTS)
        where = position(board("o----", "x----", "--o--", "-----", "-----"))
        reader = academy.bot("reader")
        by_cell = ask(reader, "takes", where, [1, 7, 24])
        takes = consultation_pb2.CandidateMove(cells=[1, 0], letters="x-")
        by_board = ask(reader, "takes", where, moves=[takes, put(7), put(24)])
        assert by_cell.evaluation_contests and len(set(by_cell.log_odds)) == 3
        assert list(by_cell.log_odds) == list(by_board.log_odds)

    def test_admins_read_patterns_tesujis_and_evaluation_apart(self, academy: Running) -> None:
        game = examples.tiny_go("apart")
        game.settings.MergeFrom(
            game_pb2.LibrarySettings(tesuji_capacity=500, evaluation=True, evaluation_patterns=2_000)
        )
        teach_moves(academy, game, ENOUGH_CONTESTS)
        teach(academy, "apart", "apart/proposed", [(name, "x x x", 0.9) for name in "abcd"])
        played = contest("apart/asked", "apart")
        ann, _ = academy.open(played)
        where = position(board("o o - - -", "-----", "-----", "-----", "- - - x x"), expected_value=LOW)
        where.plies = 0
        answer = ask(ann, "apart", where, [2, 12, 22], contest_id="apart/asked")
        assert answer.patterns and answer.tesujis and answer.evaluation_contests
        ended = report(played, ["c3", "c4"], values=[LOW, 0.5])
        academy.report(ended)

        request = contests_pb2.GetConsultationsRequest(contest_id="apart/asked")
        seat, other = academy.admin().contests.GetConsultations(request).seats
        numbers = [number for got in seat.patterns for number in got.pattern_ids]
        assert numbers == list(answer.pattern_ids)
        assert sorted(seat.tesuji_ids) == sorted(answer.tesuji_ids)
        assert seat.evaluation and not seat.weights and not (other.tesuji_ids or other.evaluation)
        (question,) = seat.questions
        kept = question.answer
        assert (kept.patterns, kept.tesujis, kept.evaluation) == (answer.patterns, answer.tesujis, True)
        assert kept.best_cell == (2, 12, 22)[int(np.argmax(answer.log_odds))]

    def test_of_moves_that_are_all_as_good_none_is_kept_as_the_best(self, academy: Running) -> None:
        academy.register(examples.tiny_go("even"))
        played = contest("even/1", "even")
        ann, _ = academy.open(played)
        where = position(EMPTY, expected_value=LOW)
        where.plies = 0
        assert set(ask(ann, "even", where, [2, 12], contest_id="even/1").log_odds) == {0.0}
        academy.report(report(played, ["c3", "c4"], values=[LOW, 0.5]))
        request = contests_pb2.GetConsultationsRequest(contest_id="even/1")
        (question,) = academy.admin().contests.GetConsultations(request).seats[0].questions
        assert question.HasField("answer") and not question.answer.HasField("best_cell")

    def test_without_candidates_those_are_compared_that_learning_compares(self, academy: Running) -> None:
        spec = referee("openspiel").from_settings({"game": "connect_four"}).spec()
        academy.register(spec_to_proto(spec))
        letters = "-" * 35 + "x" + "-" * 6
        answer = ask(academy.bot("reader"), spec.game_id, position(letters, player=2))
        assert list(answer.cells) == [28, 36, 37, 38, 39, 40, 41]
        assert len(answer.log_odds) == 7

    def test_without_candidates_either_player_has_those_that_turn_pieces_over(self, academy: Running) -> None:
        spec = referee("openspiel").from_settings({"game": "othello"}).spec()
        academy.register(spec_to_proto(spec))
        letters = "-" * 27 + "ox" + "-" * 6 + "xo" + "-" * 27
        for player, cells in ((1, [19, 26, 37, 44]), (2, [20, 29, 34, 43])):
            answer = ask(academy.bot("reader"), spec.game_id, position(letters, player=player))
            assert list(answer.cells) == cells

    def test_on_a_map_of_two_all_empty_nodes_are_compared(self, academy: Running) -> None:
        game = examples.ring("map")
        game.players = 2
        academy.register(game)
        assert list(ask(academy.bot("reader"), "map", position("x-o--")).cells) == [1, 3, 4]

    def test_a_cell_in_mid_air_is_refused(self, academy: Running) -> None:
        spec = referee("openspiel").from_settings({"game": "connect_four"}).spec()
        academy.register(spec_to_proto(spec))
        reader = academy.bot("reader")
        where = position("-" * 35 + "x" + "-" * 6, player=2)
        assert len(ask(reader, spec.game_id, where, [28, 36]).log_odds) == 2
        refused = refusal(partial(ask, reader, spec.game_id, where, [28, 29]))
        assert (refused.reason, refused.metadata["field"]) == ("INVALID_FIELD", "cells[1]")
        assert "the lowest empty cell of its column" in refused.message

    def test_moves_without_their_board_are_refused(self, academy: Running) -> None:
        academy.register(examples.tiny_go("boardless"))
        reader = academy.bot("reader")
        ask_boardless = partial(ask, reader, "boardless", position(""), line=[])
        assert ask_boardless().opening_asked
        assert refusal(partial(ask_boardless, line=None)).metadata["field"] == "position.board"
        for question in (partial(ask_boardless, [1]), partial(ask_boardless, moves=[put(2)])):
            refused = refusal(question)
            assert (refused.reason, refused.metadata["field"]) == ("INVALID_FIELD", "position.board")

    def test_a_line_beyond_the_limit_is_refused_by_its_field(self, academy: Running) -> None:
        academy.register(examples.tiny_go("endless"))
        line = ["c3"] * 10_001
        refused = refusal(partial(ask, academy.bot("reader"), "endless", position(EMPTY), line=line))
        assert (refused.reason, refused.metadata["field"]) == ("INVALID_FIELD", "opening.moves")

    def test_cells_and_moves_together_are_refused(self, academy: Running) -> None:
        academy.register(examples.tiny_go("twice"))
        reader = academy.bot("reader")
        refused = refusal(partial(ask, reader, "twice", position(EMPTY), [1], moves=[put(2)]))
        assert (refused.reason, refused.metadata["field"]) == ("INVALID_FIELD", "cells")
        refused = refusal(partial(ask, reader, "twice", position(EMPTY), moves=[put(25)]))
        assert refused.metadata["field"] == "moves[0].cells"


@pytest.mark.parametrize("removed", [range(30), range(30, 60), range(60)])
def test_patterns_that_leave_while_an_answer_waits_change_nothing_of_it(
    tmp_path: Path, removed: Sequence[int]
) -> None:
    with Store(tmp_path / "data") as store:
        store.run(RegisterGame(spec_to_proto(SPEC), "arena"))
        view = store.follow().refresh(SPEC.game_id)
    where = Board.from_letters(SPEC.geometry, board("-----", "-xo--", "--o--", "-x---", "-----"))
    question = PatternQuestion(where, 1, False, 20, 16)

    def advised(leaving: Sequence[int]) -> tuple[list[float], list[int], object]:
        patterns = shelf(Random(5), 60, 3)
        moves = moves_to_compare(SPEC, where, 1, [], [])
        advice = MoveAdvice(CachedGame(view, patterns, 0), question, moves)
        search = advice.search()
        search.add(advice.replies)
        # As by another call, which has its turn now.
        for number in leaving:
            patterns.remove(number)
        advice.add_patterns(search)
        return advice.log_odds.tolist(), list(advice.patterns), advice.uses

    undisturbed = advised([])
    assert any(undisturbed[0]) and undisturbed[1]
    assert advised(removed) == undisturbed
