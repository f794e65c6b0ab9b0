"""Candidate moves asked about in one call: what they gain and lose is what their own positions would tell."""

import random
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import grpc
import pytest

from academy.v1 import consultation_pb2, contests_pb2, libraries_pb2
from tests.academy.service import examples
from tests.academy.service.examples import contest, position, report, teach
from tests.academy.service.running import Running, limited, refusal

HERE = "x-o--" + "-xo-x" + "--x--" + "o-xo-" + "-----"
PATTERNS = [
    ("a", "-", 0.9),
    ("b", "x-\n-o", 0.8),
    ("c", "+x", 0.7),
    ("d", "xo", 0.6),
    ("e", "#1\n2#", 0.3),
]
MatchRow = tuple[int, int, int, int]
Move = consultation_pb2.CandidateMove


def move(changes: dict[int, str]) -> Move:
    return Move(cells=list(changes), letters="".join(changes.values()))


def after(board: str, changes: dict[int, str]) -> str:
    letters = list(board)
    for cell, letter in changes.items():
        letters[cell] = letter
    return "".join(letters)


def match_rows(
    matches: consultation_pb2.PositionMatches, table: consultation_pb2.PatternTable
) -> list[MatchRow]:
    numbers = [table.pattern_ids[row] for row in matches.patterns]
    return list(zip(numbers, matches.symmetries, matches.rows, matches.columns, strict=True))


def gained_by_move(answer: consultation_pb2.MatchSuccessorsResponse) -> list[list[MatchRow]]:
    gained = match_rows(answer.moves.gained, answer.patterns)
    return [gained[first:end] for first, end in pairwise([0, *answer.moves.gained_ends])]


def lost_by_move(answer: consultation_pb2.MatchSuccessorsResponse) -> list[list[int]]:
    return [list(answer.moves.lost[first:end]) for first, end in pairwise([0, *answer.moves.lost_ends])]


def some_moves(chance: random.Random, size: int, count: int) -> list[dict[int, str]]:
    """Moves of one cell, of several, and some that change nothing."""
    return [
        {cell: chance.choice("-xo") for cell in chance.sample(range(size), chance.choice((0, 1, 1, 1, 3, 8)))}
        for _ in range(count)
    ]


def question(game_id: str, moves: Sequence[Move], **more: Any) -> consultation_pb2.MatchSuccessorsRequest:
    fields: dict[str, Any] = {"position": position(HERE), "max_matches": 500, "max_matches_each": 500} | more
    return consultation_pb2.MatchSuccessorsRequest(game_id=game_id, moves=moves, **fields)


@pytest.fixture(scope="module")
def taught(academy: Running) -> Iterator[Running]:
    academy.register(examples.tiny_go("next"))
    teach(academy, "next", "next", PATTERNS)
    turned = examples.tiny_go("turned")
    turned.reversal = "rotate_180"
    academy.register(turned)
    teach(academy, "turned", "turned", PATTERNS)
    academy.register(examples.hunt("next-hunt"))
    teach(academy, "next-hunt", "next-hunt", [("a", "xo", 0.9), ("b", "-", 0.6)])
    academy.register(examples.ring("next-ring"))
    yield academy


@pytest.mark.parametrize("player", [1, 2])
@pytest.mark.parametrize(("game_id", "board"), [("next", HERE), ("turned", HERE), ("next-hunt", "xo-x-o---")])
def test_call_about_successors_equals_matching_every_position(
    taught: Running, game_id: str, board: str, player: int
) -> None:
    bot = taught.bot("reader")
    moves = some_moves(random.Random(7), len(board), 60)

    answer = bot.consultation.MatchSuccessors(
        question(game_id, [move(changed) for changed in moves], position=position(board, player))
    )
    expected_answer = bot.consultation.MatchPatterns(
        consultation_pb2.MatchPatternsRequest(
            game_id=game_id,
            positions=[
                position(shown, player) for shown in (board, *(after(board, shown) for shown in moves))
            ],
            max_matches=500,
            max_matches_each=500,
        )
    )

    before, *expected = [
        match_rows(matches, expected_answer.patterns) for matches in expected_answer.positions
    ]
    base = match_rows(answer.position, answer.patterns)
    assert base == before and answer.position.total == len(before)
    changes = zip(gained_by_move(answer), answer.moves.gained_totals, lost_by_move(answer), strict=True)
    for (gained, total, lost), there in zip(changes, expected, strict=True):
        stays = [match for entry, match in enumerate(base) if entry not in set(lost)]
        assert not set(gained) & set(base) and total == len(gained)
        assert sorted([*stays, *gained]) == sorted(there)
    if player == 1:
        # The comparison is not one of nothing with nothing.
        assert answer.moves.lost and any(answer.moves.gained_totals)


def test_limits_apply_to_the_position_and_to_each_moves_gains(taught: Running) -> None:
    bot = taught.bot("reader")
    moves = [move({cell: "x"}) for cell in range(25)] + [move(dict.fromkeys(range(25), "-"))]
    everything = bot.consultation.MatchSuccessors(question("next", moves))

    cut = bot.consultation.MatchSuccessors(question("next", moves, max_matches=5, max_matches_each=2))

    alone = consultation_pb2.MatchPatternsRequest(
        game_id="next", positions=[position(HERE)], max_matches=5, max_matches_each=2
    )
    expected_answer = bot.consultation.MatchPatterns(alone)
    assert match_rows(cut.position, cut.patterns) == match_rows(
        expected_answer.positions[0], expected_answer.patterns
    )
    assert cut.position.total == everything.position.total == expected_answer.positions[0].total
    # The last move empties the board: it gains many a place for the pattern of an empty cell.
    assert len(gained_by_move(cut)[-1]) == 2 < cut.moves.gained_totals[-1]
    kept = match_rows(cut.position, cut.patterns)
    assert cut.moves.gained_totals == everything.moves.gained_totals
    for small, large in zip(gained_by_move(cut), gained_by_move(everything), strict=True):
        assert set(small) <= set(large)
    base = match_rows(everything.position, everything.patterns)
    for few, many in zip(lost_by_move(cut), lost_by_move(everything), strict=True):
        assert {kept[entry] for entry in few} == {base[entry] for entry in many} & set(kept)


def test_cells_and_libraries_are_as_for_positions(taught: Running) -> None:
    bot = taught.bot("reader")
    moves = [move({12: "o"})]

    answer = bot.consultation.MatchSuccessors(question("next", moves, include_cells=True))
    other = bot.consultation.MatchSuccessors(question("next", moves, libraries=[examples.MIDDLE_GAME]))

    assert len(answer.patterns.cells) == len(answer.patterns.pattern_ids) > 0
    assert "x o" in answer.patterns.cells
    assert other.position.total == 0 and not other.moves.gained.patterns and not other.moves.lost


def test_a_stream_answers_as_a_call_does(taught: Running) -> None:
    bot = taught.bot("reader")
    request = question("next", [move({0: "-"}), move({1: "o", 6: "-"})])
    wrong = question("next", [])

    answers = list(
        bot.consultation.Play(
            iter(
                [
                    consultation_pb2.PlayRequest(request_id=1, successors=wrong),
                    consultation_pb2.PlayRequest(request_id=2, successors=request),
                ]
            )
        )
    )

    assert [answer.request_id for answer in answers] == [1, 2]
    assert answers[0].refusal.reason == "INVALID_FIELD" and answers[0].refusal.metadata["field"] == "moves"
    assert answers[1].successors == bot.consultation.MatchSuccessors(request)


@pytest.mark.parametrize(
    ("fields", "reason", "field", "words"),
    [
        ({"moves": []}, "INVALID_FIELD", "moves", "0 moves: 1 to 400"),
        ({"moves": [Move()] * 401}, "INVALID_FIELD", "moves", "401 moves: 1 to 400"),
        (
            {"moves": [Move(cells=range(25), letters="x" * 25)] * 328},
            "INVALID_FIELD",
            "moves",
            "8,200 changed cells in all: at most 8,192",
        ),
        (
            {"moves": [Move(), Move(cells=[3], letters="xo")]},
            "INVALID_FIELD",
            "moves[1].letters",
            "2 letters for 1 cells",
        ),
        (
            {"moves": [Move(cells=[25], letters="x")]},
            "INVALID_FIELD",
            "moves[0].cells",
            "cell 25: cells are 0 to 24",
        ),
        (
            {"moves": [Move(cells=[3, 4, 3], letters="xox")]},
            "INVALID_FIELD",
            "moves[0].cells",
            "cell 3 twice",
        ),
        ({"moves": [Move(cells=[3], letters="ä")]}, "INVALID_FIELD", "moves[0].letters", "'ä': allowed are"),
        ({"position": position("--")}, "INVALID_BOARD", "position.board", "a board of 2 letters"),
        ({"position": position(HERE, 3)}, "INVALID_FIELD", "position.player", "players 1 to 2"),
        (
            {"position": position(HERE, 1, 1.5)},
            "INVALID_RECORD",
            "position.expected_value",
            "1.5",
        ),
        ({"max_matches": 65_537}, "INVALID_FIELD", "max_matches", "at most 65,536"),
        ({"max_matches": 60_000}, "INVALID_FIELD", "max_matches", "5 position and moves"),
        ({"libraries": [examples.OPENING]}, "INVALID_RECORD", "libraries[0]", "the other two"),
    ],
)
def test_a_question_about_moves_is_refused_by_the_field_that_is_wrong(
    taught: Running, fields: dict[str, Any], reason: str, field: str, words: str
) -> None:
    bot = taught.bot("reader")
    request = question("next", **({"moves": [Move(cells=[3], letters="x")] * 4} | fields))

    refused = refusal(lambda: bot.consultation.MatchSuccessors(request))

    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, reason), refused.message
    assert refused.fields == [field]
    assert words in refused.message


def test_in_a_contest_the_position_must_be_bad_and_uses_are_counted(academy: Running) -> None:
    academy.register(examples.tiny_go("next-fair"))
    teach(academy, "next-fair", "next-fair", [("a", "xo", 0.9), ("b", "xxx", 0.8)])
    played = contest("next-fair/1", "next-fair")
    ann, _ = academy.open(played)

    def asked(value: float | None) -> consultation_pb2.MatchSuccessorsRequest:
        here = position("-" * 25, 1, value)
        return question(
            "next-fair", [move({0: "x", 1: "o"})], position=here, contest_id=played.contest_id, max_matches=0
        )

    for value in (None, 0.34):
        refused = refusal(partial(ann.consultation.MatchSuccessors, asked(value)))
        assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "VALUE_NOT_LOW")
    answer = ann.consultation.MatchSuccessors(asked(0.33))
    assert len(answer.patterns.pattern_ids) == 1 and answer.position.total == 0
    academy.report(report(played, ["c3"]))

    listing = libraries_pb2.ListPatternsRequest(game_id="next-fair", library=examples.ENDGAME)
    patterns = academy.admin().libraries.ListPatterns(listing).patterns
    # The answer had what a move would bring, too, so it was used.
    assert {pattern.cells: pattern.uses for pattern in patterns if pattern.uses} == {
        pattern.cells: 1 for pattern in patterns if pattern.pattern_id == answer.patterns.pattern_ids[0]
    }


def test_moves_count_as_questions_by_what_they_cost(tmp_path: Path) -> None:
    with limited(tmp_path, questions_per_second=1e-6, question_burst=12.0) as academy:
        academy.register(examples.tiny_go("next"))
        # 12 questions: one for the call, ten for 160 moves of one cell; then one for the call, none left.
        cheap, dear = academy.bot("cheap"), academy.bot("dear")
        single, several = move({3: "x"}), move({3: "x", 4: "o"})

        cheap.consultation.MatchSuccessors(question("next", [single] * 160))
        refused = refusal(lambda: cheap.consultation.MatchSuccessors(question("next", [single])))
        assert refused.reason == "RATE_EXCEEDED"
        dear.consultation.MatchSuccessors(question("next", [several] * 10 + [Move()] * 16))
        refused = refusal(lambda: dear.contests.ListGames(contests_pb2.ListGamesRequest()))
        assert refused.reason == "RATE_EXCEEDED"
