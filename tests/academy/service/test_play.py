"""Questions on a stream: the same answers as single calls, and refusals that do not end it."""

import time
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from google.rpc import code_pb2

from academy.store.tokens import CreateToken, RevokeToken, Role
from academy.v1 import consultation_pb2
from tests.academy.service import examples
from tests.academy.service.examples import EMPTY, contest, position, report, teach
from tests.academy.service.running import Playing, Running, as_refused, limited
from tests.waiting import until


@pytest.fixture(scope="module")
def taught(academy: Running) -> Running:
    """A game with a pattern and an opening."""
    academy.register(examples.tiny_go("go"))
    teach(academy, "go", "taught", [("ann", "--\n--", 0.8)])
    return academy


def opening(**fields: object) -> consultation_pb2.LookUpOpeningRequest:
    return consultation_pb2.LookUpOpeningRequest(**({"game_id": "go", "player": 1} | fields))  # type: ignore[arg-type]


def patterns(**fields: object) -> consultation_pb2.MatchPatternsRequest:
    return consultation_pb2.MatchPatternsRequest(
        **({"game_id": "go", "positions": [position(EMPTY)]} | fields)  # type: ignore[arg-type]
    )


def test_a_stream_answers_as_single_calls_do(taught: Running) -> None:
    bot = taught.bot("reader")
    playing = Playing(bot)

    first = playing.ask(request_id=7, opening=opening())
    second = playing.ask(request_id=2**63, patterns=patterns(include_cells=True))
    playing.end()

    assert (first.request_id, second.request_id) == (7, 2**63)
    assert first.opening == bot.consultation.LookUpOpening(opening())
    assert second.patterns == bot.consultation.MatchPatterns(patterns(include_cells=True))
    assert list(playing.answers) == []


def test_answers_come_in_the_order_of_the_questions(taught: Running) -> None:
    playing = Playing(taught.bot("reader"))
    for number in range(200):
        playing.send(
            request_id=number, **({"opening": opening()} if number % 3 else {"patterns": patterns()})
        )
    playing.end()

    assert [answer.request_id for answer in playing.answers] == list(range(200))


@pytest.mark.parametrize(
    ("question", "code", "reason", "metadata"),
    [
        ({}, code_pb2.INVALID_ARGUMENT, "INVALID_FIELD", {"field": "question"}),
        ({"opening": opening(game_id="chess")}, code_pb2.NOT_FOUND, "UNKNOWN_GAME", {"game_id": "chess"}),
        (
            {"opening": opening(contest_id="none")},
            code_pb2.PERMISSION_DENIED,
            "NOT_PERMITTED",
            {"contest_id": "none"},
        ),
        (
            {"patterns": patterns(positions=[position("-")])},
            code_pb2.INVALID_ARGUMENT,
            "INVALID_BOARD",
            {"field": "positions[0].board"},
        ),
    ],
)
def test_a_refusal_is_an_answer(
    taught: Running, question: dict[str, object], code: int, reason: str, metadata: dict[str, str]
) -> None:
    playing = Playing(taught.bot("reader"))

    answer = playing.ask(request_id=1, **question)
    after = playing.ask(request_id=2, opening=opening())
    playing.end()

    assert (answer.refusal.code, answer.refusal.reason) == (code, reason)
    assert answer.refusal.message
    assert dict(answer.refusal.metadata) == metadata
    assert after.opening.known


@pytest.mark.threat("leaks")
def test_fair_use_holds_on_a_stream(taught: Running) -> None:
    played = contest("stream/1", "go")
    playing = Playing(taught.open(played)[0])

    answers = [
        playing.ask(opening=opening(contest_id="stream/1", moves=moves))
        for moves in ([], [], ["a1", "b1"], ["a1", "b1", "a2", "b2", "a3", "b3", "a4", "b4"])
    ]
    taught.report(report(played, ["c3"]))
    after = playing.ask(opening=opening(contest_id="stream/1", moves=["a1"]))
    playing.end()

    assert [answer.opening.consultations or answer.refusal.reason for answer in answers] == [
        1,
        1,
        "FAIR_USE_EXCEEDED",
        2,
    ]
    assert dict(answers[2].refusal.metadata) == {"consultations": "1", "own_move": "2", "allowed": "1"}
    assert after.refusal.reason == "CONTEST_OVER"


def test_a_rate_exceeded_on_a_stream_says_when_to_ask_again(tmp_path: Path) -> None:
    with limited(tmp_path, questions_per_second=1.0, question_burst=4.0) as academy:
        academy.register(examples.tiny_go("go"))
        playing = Playing(academy.bot("hasty"))
        answers = [playing.ask(opening=opening()) for _ in range(3)]
        # On a slow machine some more pass before one is too early.
        while answers[-1].HasField("opening"):
            answers.append(playing.ask(opening=opening()))
        refusal = answers[-1].refusal
        time.sleep(float(refusal.metadata["retry_after"]))
        again = playing.ask(opening=opening())
        playing.end()

    # Opening the stream took one of four.
    assert all(answer.HasField("opening") for answer in answers[:3])
    assert (refusal.reason, refusal.code) == ("RATE_EXCEEDED", code_pb2.RESOURCE_EXHAUSTED)
    assert again.HasField("opening")


@pytest.mark.threat("held_places")
def test_an_idle_stream_is_closed_and_says_why(tmp_path: Path) -> None:
    with limited(tmp_path, idle_stream_seconds=0.2) as academy:
        sleeper = academy.bot("sleeper")
        began = time.monotonic()
        playing = Playing(sleeper)
        with pytest.raises(grpc.RpcError) as caught:
            next(playing.answers)
        playing.end()

    refused = as_refused(caught.value)
    assert (refused.code, refused.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "STREAM_IDLE")
    assert time.monotonic() - began >= 0.2


def test_stream_with_unread_answers_is_ended(tmp_path: Path) -> None:
    with limited(tmp_path, write_seconds=0.5, question_burst=1e6) as academy:
        academy.register(examples.plain("go"))
        teach(academy, "go", "taught", [("ann", "-", 0.8)])
        large = patterns(positions=[position("-" * 4_096)] * 60, max_matches=4_096, max_matches_each=4_096)

        def questions() -> Iterator[consultation_pb2.PlayRequest]:
            for number in range(100):
                yield consultation_pb2.PlayRequest(request_id=number, patterns=large)

        answers = academy.bot("slow").consultation.Play(questions())
        ended = {"method": "/academy.v1.ConsultationService/Play", "code": "DEADLINE_EXCEEDED"}
        until(lambda: academy.figure("academy_calls_total", **ended) == 1)
        # What was sent before may be read; then the stream says why it ended.
        with pytest.raises(grpc.RpcError) as caught:
            list(answers)

    assert as_refused(caught.value).reason == "ANSWER_NOT_READ"


def test_refusals_on_streams_are_counted_by_their_reasons(fresh: Running) -> None:
    playing = Playing(fresh.bot("asks in vain"))
    for _ in range(3):
        assert playing.ask(opening=opening()).refusal.reason == "UNKNOWN_GAME"
    assert playing.ask().refusal.reason == "INVALID_FIELD"
    playing.end()

    for reason, count in (("UNKNOWN_GAME", 3), ("INVALID_FIELD", 1)):
        assert fresh.figure("academy_stream_refusals_total", reason=reason) == count


@pytest.mark.threat("access")
def test_a_stream_ends_with_the_token_it_was_opened_with(taught: Running) -> None:
    token, text = taught.store.run(CreateToken("leaver", Role.BOT))
    playing = Playing(taught.client(text))
    assert playing.ask(opening=opening()).opening.known

    taught.store.run(RevokeToken(token.token_id))
    with pytest.raises(grpc.RpcError) as caught:
        playing.ask(opening=opening())
    playing.end()

    refused = as_refused(caught.value)
    assert (refused.code, refused.reason) == (grpc.StatusCode.UNAUTHENTICATED, "TOKEN_REVOKED")


def test_disconnect_ends_the_callers_tasks(taught: Running) -> None:
    playing = Playing(taught.bot("leaver"))
    playing.ask(opening=opening())
    playing.answers.cancel()
    until(lambda: not taught.playing())
    playing.end()
