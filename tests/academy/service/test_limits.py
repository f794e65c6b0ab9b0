"""Limits on what one caller, call and message may ask; through a real channel."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest

from academy.v1 import consultation_pb2, contests_pb2, game_pb2
from tests.academy.service import examples
from tests.academy.service.examples import EMPTY, position
from tests.academy.service.running import Client, Running, as_refused, limited, refusal
from tests.waiting import until

GAMES = contests_pb2.ListGamesRequest()


@pytest.mark.threat("flood")
def test_a_caller_who_asks_too_fast_learns_when_to_come_again(tmp_path: Path) -> None:
    # On a slow machine, too, the next question comes before another one is allowed.
    with limited(tmp_path, questions_per_second=0.001, question_burst=3.0) as academy:
        hasty, other = academy.bot("hasty"), academy.bot("other")
        for _ in range(3):
            hasty.contests.ListGames(GAMES)

        refused = refusal(lambda: hasty.contests.ListGames(GAMES))

        assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "RATE_EXCEEDED")
        assert refused.metadata == {"questions_per_second": "0.001", "question_burst": "3.0"}
        assert refused.retry_after is not None and 0 < refused.retry_after <= 1_000
        other.contests.ListGames(GAMES)


def test_every_position_of_a_call_counts_as_a_question(tmp_path: Path) -> None:
    with limited(tmp_path, questions_per_second=1.0, question_burst=10.0) as academy:
        academy.register(examples.tiny_go("go"))
        request = consultation_pb2.MatchPatternsRequest(game_id="go", positions=[position(EMPTY)] * 8)
        bot = academy.bot("batches")
        bot.consultation.MatchPatterns(request)

        assert refusal(lambda: bot.consultation.MatchPatterns(request)).reason == "RATE_EXCEEDED"
        bot.contests.ListGames(GAMES)


def test_a_call_has_as_many_positions_and_matches_as_the_limits_say_and_no_more(tmp_path: Path) -> None:
    with limited(tmp_path, positions_per_call=3, matches_per_call=6, matches_per_position=5) as academy:
        academy.register(examples.tiny_go("go"))
        bot = academy.bot("batches")

        def match(positions: int, most: int) -> str:
            request = consultation_pb2.MatchPatternsRequest(
                game_id="go", positions=[position(EMPTY)] * positions, max_matches=most
            )
            try:
                bot.consultation.MatchPatterns(request)
            except grpc.RpcError as error:
                return as_refused(error).metadata["field"]
            return ""

        assert [match(3, 2), match(1, 5)] == ["", ""]
        assert [match(0, 1), match(4, 1), match(1, 6), match(3, 3)] == [
            *["positions"] * 2,
            *["max_matches"] * 2,
        ]


def count_answers(ask: Callable[[], Any]) -> int:
    """How often a question is answered until its caller has asked too much, up to 100 times."""
    for answers in range(100):
        try:
            ask()
        except grpc.RpcError as error:
            assert as_refused(error).reason == "RATE_EXCEEDED"
            return answers
    return 100


def test_advice_counts_as_more_questions_the_more_cells_it_compares(tmp_path: Path) -> None:
    with limited(tmp_path, questions_per_second=0.001, question_burst=12.0) as academy:
        academy.register(examples.tiny_go("go"))
        for name, cells, answers in (("few", range(16), 6), ("many", range(17), 4)):
            request = consultation_pb2.AdviseRequest(game_id="go", position=position(EMPTY), cells=cells)
            bot = academy.bot(name)
            assert count_answers(partial(bot.consultation.Advise, request)) == answers


def test_weights_count_as_more_questions_the_more_there_are(tmp_path: Path) -> None:
    with limited(tmp_path, questions_per_second=0.001, question_burst=60.0) as academy:
        game = examples.tiny_go("go")
        game.settings.MergeFrom(
            game_pb2.LibrarySettings(evaluation=True, evaluation_patterns=5_000, local_weights=True)
        )
        examples.teach_moves(academy, game)
        records = len(academy.store.follow().refresh("go").evaluation)
        assert records > 128
        request = consultation_pb2.DownloadWeightsRequest(game_id="go", player=1)
        bot = academy.bot("reader")
        answers = count_answers(lambda: bot.consultation.DownloadWeights(request))
        assert answers == 60 // (1 + records // 128)


@pytest.mark.parametrize("size", [4 * 1024 * 1024 + 1, 16 * 1024 * 1024])
@pytest.mark.threat("bad_input")
def test_a_message_that_is_too_large_is_refused_and_the_connection_stays(academy: Running, size: int) -> None:
    client = academy.bot("large")
    request = consultation_pb2.LookUpOpeningRequest(game_id="x" * size)

    refused = refusal(lambda: client.consultation.LookUpOpening(request))

    assert refused.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "4194304" in refused.message
    client.contests.ListGames(GAMES)


@pytest.mark.threat("bad_input")
def test_metadata_that_is_too_large_is_refused(academy: Running) -> None:
    client = academy.client()
    metadata = (("authorization", "Bearer " + "x" * 100_000),)

    with pytest.raises(grpc.RpcError) as caught:
        client.contests.ListGames(GAMES, metadata=metadata)

    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    academy.bot("after").contests.ListGames(GAMES)


def test_bytes_that_are_not_a_message_are_refused(academy: Running) -> None:
    call: Any = academy.bot("garbage").channel.unary_unary("/academy.v1.ContestService/ListGames")

    refused = refusal(lambda: call(b"\xff\xff\xff"))

    assert (refused.code, refused.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED_MESSAGE")
    academy.bot("garbage").contests.ListGames(GAMES)


@pytest.mark.threat("bad_input")
def test_a_bots_large_messages_count_before_they_are_read(tmp_path: Path) -> None:
    with limited(tmp_path, questions_per_second=0.1, question_burst=600.0) as academy:
        bot = academy.bot("large")
        call: Any = bot.channel.unary_unary("/academy.v1.ContestService/ListGames")
        rubbish = b"\xff" * 4_000_000

        assert refusal(lambda: call(rubbish)).reason == "MALFORMED_MESSAGE"
        assert refusal(lambda: call(rubbish)).reason == "RATE_EXCEEDED"
        bot.contests.ListGames(GAMES)
        # Nor on a stream, which ends.
        full = consultation_pb2.PlayRequest(
            patterns=consultation_pb2.MatchPatternsRequest(libraries=[examples.ENDGAME] * 4_000_000)
        )
        assert refusal(lambda: list(bot.consultation.Play(iter([full])))).reason == "RATE_EXCEEDED"
        # The arena's reports are as large as contests are long.
        call = academy.arena().channel.unary_unary("/academy.v1.ContestService/ListGames")
        for _ in range(3):
            assert refusal(lambda: call(rubbish)).reason == "MALFORMED_MESSAGE"


@pytest.mark.threat("flood")
def test_long_lists_of_moves_count_by_their_length(tmp_path: Path) -> None:
    with limited(tmp_path, questions_per_second=1e-6, question_burst=30.0) as academy:
        bot = academy.bot("long")
        listed = consultation_pb2.LookUpOpeningRequest(game_id="none", moves=["A1"] * 10_000)

        assert refusal(lambda: bot.consultation.LookUpOpening(listed)).reason == "UNKNOWN_GAME"
        assert refusal(lambda: bot.consultation.LookUpOpening(listed)).reason == "RATE_EXCEEDED"


@pytest.mark.threat("held_places")
def test_no_number_of_bots_keeps_arenas_and_admins_out(tmp_path: Path) -> None:
    with limited(tmp_path, concurrent_calls=16) as academy:
        done = threading.Event()

        def nothing() -> Iterator[Any]:
            done.wait(90)
            yield from ()

        idle = [academy.bot(f"idle {number}").consultation.Play(nothing()) for number in range(14)]
        until(lambda: academy.playing() == len(idle))
        refused = refusal(lambda: academy.bot("late").contests.ListGames(GAMES))
        assert (refused.reason, refused.metadata) == ("TOO_MANY_CALLS", {"limit": "14"})
        academy.arena().contests.ListGames(GAMES)
        academy.admin().contests.ListGames(GAMES)
        done.set()


def test_four_waves_of_calls_are_held_to_the_limit(tmp_path: Path) -> None:
    with limited(tmp_path, concurrent_calls=4) as academy:
        academy.register(examples.tiny_go("go"))
        clients = [academy.bot(f"bot {number}") for number in range(12)]
        request = consultation_pb2.MatchPatternsRequest(game_id="go", positions=[position(EMPTY)] * 200)

        def ask(client: Client) -> str:
            try:
                client.consultation.MatchPatterns(request)
            except grpc.RpcError as error:
                return as_refused(error).reason
            return "answered"

        for _ in range(4):
            with ThreadPoolExecutor(12) as threads:
                answers = list(threads.map(ask, clients))
            assert set(answers) <= {"answered", "TOO_MANY_CALLS"}
            assert answers.count("answered") >= 4


def test_an_unknown_caller_holds_no_place_while_its_message_is_on_the_way(tmp_path: Path) -> None:
    with limited(tmp_path, concurrent_calls=1) as academy:
        done = threading.Event()

        def never_sent() -> Iterator[bytes]:
            done.wait(90)
            yield b""

        # Headers come, the message does not: a call like this could wait for ever.
        call: Any = academy.client().channel.stream_unary("/academy.v1.ContestService/ListGames")
        refused = refusal(lambda: call(never_sent(), timeout=180))
        done.set()

        assert refused.code is grpc.StatusCode.UNAUTHENTICATED
