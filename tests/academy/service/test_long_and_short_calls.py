"""Short calls are answered at once, long ones in parts; each as it would be alone."""

import asyncio
import random
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.knowledge.boards import Board, InvalidBoardError, SquareGeometry
from academy.knowledge.cells import State
from academy.knowledge.settings import Library
from academy.matching.matches import Matches
from academy.service.answers import MatchAnswer, PatternCall, PatternQuestion
from academy.service.cost import cost_of_board, cost_of_position
from academy.service.pattern_cache import RankedPatterns
from academy.service.scheduling import Answer, FairScheduler
from academy.v1 import consultation_pb2, contests_pb2
from tests.academy.service import examples
from tests.academy.service.examples import EMPTY, position, teach
from tests.academy.service.running import SECONDS, Playing, Running
from tests.academy.service.test_ranking import SPEC, STATES, shelf

LIBRARIES = (Library.MIDDLE_GAME, Library.ENDGAME)
ELSEWHERE = SquareGeometry(7, 7)


@dataclass(frozen=True, eq=False)
class Noticed(PatternCall):
    """A call that notes when its questions are looked at."""

    looked_at: list[PatternCall] = field(default_factory=list)

    def match(self, questions: Sequence[PatternQuestion]) -> list[Matches]:
        self.looked_at.append(self)
        return PatternCall.match(self, questions)


def question(
    chance: random.Random, most: int = 20, per_pattern: int = 3, both: bool = False
) -> PatternQuestion:
    board = Board(SPEC.geometry, bytes(chance.choices(STATES, k=25)))
    return PatternQuestion(board, 1, both, most, per_pattern)


@cache
def learnt(size: int) -> RankedPatterns:
    """The patterns of a game; putting them together takes longer than asking about them."""
    return shelf(random.Random(size), size, 3).ranked


def some_calls(chance: random.Random, sizes: Sequence[int]) -> list[PatternCall]:
    """Calls about two games, with limits, libraries and perspectives of their own."""
    games = [learnt(size) for size in (0, 30, 300)]
    calls = []
    for size in sizes:
        both = chance.random() < 0.3
        questions = [
            question(chance, chance.choice((1, 7, 256, 65_536)), chance.choice((1, 16)), both)
            for _ in range(size)
        ]
        libraries = chance.choice((LIBRARIES, LIBRARIES[:1], LIBRARIES[1:]))
        calls.append(PatternCall(SPEC, chance.choice(games), libraries, questions))
    return calls


def content(answer: Answer) -> tuple[bytes, list[int]]:
    return answer.message.SerializeToString(), answer.table.places.tolist()


def position_cost(call: PatternCall) -> int:
    board = cost_of_board(call.spec.geometry.size)
    return cost_of_position(board, call.questions[0].max_matches, call.questions[0].both_players)


async def together(calls: Sequence[PatternCall]) -> list[Answer]:
    scheduler = FairScheduler()
    return await asyncio.gather(*(scheduler.answer(call, "bot", position_cost(call)) for call in calls))


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.integers(1, 12), min_size=1, max_size=30))
def test_calls_in_parts_are_answered_as_whole_ones(seed: int, sizes: list[int]) -> None:
    calls = some_calls(random.Random(seed), sizes)

    answers = asyncio.run(together(calls))

    assert [content(answer) for answer in answers] == [content(call.answer()) for call in calls]


@pytest.mark.threat("flood")
def test_a_short_question_waits_for_one_part_of_what_others_ask() -> None:
    chance = random.Random(8)
    ranked = shelf(chance, 30, 1).ranked
    looked_at: list[PatternCall] = []

    def call(size: int, most: int, both: bool) -> PatternCall:
        questions = [question(chance, most, 9_999, both) for _ in range(size)]
        return Noticed(SPEC, ranked, LIBRARIES, questions, looked_at)

    flood = [call(size, most, both) for size, most, both in [(64, 1_000, True), (3, 20, False)] * 64]
    short = [call(1, 20, False) for _ in range(40)]
    scheduler = FairScheduler()

    async def ask_all() -> None:
        flooding = [
            asyncio.create_task(scheduler.answer(call, "flood", position_cost(call))) for call in flood
        ]
        await asyncio.sleep(0)
        for call in short:
            await scheduler.answer(call, "victim", position_cost(call))
        await asyncio.gather(*flooding)

    asyncio.run(ask_all())

    places = [place for place, call in enumerate(looked_at) if call in short]
    assert len(places) == len(short)
    assert all(after - before <= 3 for before, after in pairwise([0, *places]))
    assert len(looked_at) > places[-1] + 500, "the flood was over before the questions were"


def test_a_call_with_a_board_of_another_game_fails_alone() -> None:
    chance = random.Random(4)
    calls = some_calls(chance, [1] * 40)
    strange = PatternQuestion(Board(ELSEWHERE, bytes([State.EMPTY] * 49)), 1, False, 20, 3)
    for place in (0, 11, 39):
        calls[place] = replace(calls[place], questions=[question(chance), strange])
    scheduler = FairScheduler()

    async def ask_all() -> list[Answer | BaseException]:
        answers = (scheduler.answer(call, "bot", position_cost(call)) for call in calls)
        return await asyncio.gather(*answers, return_exceptions=True)

    answers = asyncio.run(ask_all())

    for place, (answer, call) in enumerate(zip(answers, calls, strict=True)):
        if place in (0, 11, 39):
            assert isinstance(answer, InvalidBoardError)
        else:
            assert isinstance(answer, MatchAnswer)
            assert content(answer) == content(call.answer())


@pytest.fixture(scope="module")
def taught(academy: Running) -> Running:
    """Two games that learnt different things."""
    for number, game_id in enumerate(("left", "right")):
        game = contests_pb2.RegisterGameRequest(game=examples.tiny_go(game_id))
        academy.arena().contests.RegisterGame(game)
        shapes = [("ann", "--\n--", 0.8), ("bob", "x-\n--", 0.6), ("cid", "xo", 0.3)]
        teach(academy, game_id, f"taught-{game_id}", shapes[: 2 + number])
    return academy


def asked_over_the_wire(count: int) -> list[consultation_pb2.MatchPatternsRequest]:
    """Questions about both games under all kinds of limits; some cannot be answered."""
    chance = random.Random(6)
    return [
        consultation_pb2.MatchPatternsRequest(
            game_id=chance.choice(("left", "right", "neither") if number % 5 == 4 else ("left", "right")),
            positions=[
                position("".join(chance.choices("-xo", k=len(EMPTY) - (chance.random() < 0.05))))
                for _ in range(chance.choice((1, 1, 1, 2, 20)))
            ],
            max_matches=chance.choice((0, 1, 5, 1_000)),
            max_matches_each=chance.choice((0, 1, 2)),
            both_players=chance.random() < 0.3,
            include_cells=chance.random() < 0.3,
        )
        for number in range(count)
    ]


def test_concurrent_bots_get_the_same_answers_as_one(taught: Running) -> None:
    questions = asked_over_the_wire(72)
    alone = Playing(taught.bot("reader"))
    expected = [alone.ask(patterns=question) for question in questions]
    alone.end()
    bots = [Playing(taught.bot("reader")) for _ in range(12)]
    calling = taught.bot("reader").consultation
    answered = [place for place, answer in enumerate(expected) if answer.HasField("patterns")]
    held = threading.Event()

    async def hold() -> None:
        held.wait(SECONDS)

    # What is sent while the server does nothing is there all at once when it goes on.
    holding = threading.Thread(target=taught.within, args=(hold(),))
    holding.start()
    for number, bot in enumerate(bots):
        for question in questions[number :: len(bots)]:
            bot.send(patterns=question)
    calls = [calling.MatchPatterns.future(questions[place]) for place in answered]
    leaving = [Playing(taught.bot("reader")) for _ in range(4)]
    for bot in leaving:
        for question in questions:
            bot.send(patterns=question)
    held.set()
    holding.join(SECONDS)
    for bot in leaving:
        bot.answers.cancel()
    for bot in bots:
        bot.end()
    streamed = [list(bot.answers) for bot in bots]

    for number, answers in enumerate(streamed):
        assert answers == expected[number :: len(bots)]
    assert [call.result() for call in calls] == [expected[place].patterns for place in answered]
    assert 0 < len(answered) < len(questions)
