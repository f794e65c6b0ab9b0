"""What the arena tells ACADEMY, over a real socket."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import grpc
import pytest

from academy.store.codec.contests import check_report
from academy.v1 import contests_pb2
from academy.wire.games import game_message
from arena.academy import client as academy_link
from arena.academy.client import (
    MAX_LEGAL_MOVES,
    MAX_MOVE_CHARACTERS,
    AcademyClient,
    contest_message,
    contest_report,
    fitted,
    may_pass,
    misses_game,
    rejects_identity,
    void_report,
)
from arena.jobs import JobMove
from clients.connection import AcademyRefusedError, AcademyUnavailableError, Connection
from referees.api import Outcome, Termination
from referees.go import Go
from tests.academy.service.certificates import authority, signed
from tests.arena.contest_server import TOKEN, ContestServer
from tests.arena.results.examples import result

SPEC = Go.from_settings({"board_size": 9, "komi": 7.5}).spec()
CONTEST = contest_message("uuid/AvB_0/1", SPEC, ("a", "b"), (1000.0, 985.5))


@pytest.fixture
def link(server: ContestServer) -> Iterator[AcademyClient]:
    link = AcademyClient(Connection(server.address, TOKEN))
    yield link
    link.close()


def test_a_contest_from_registration_to_report(server: ContestServer, link: AcademyClient) -> None:
    assert link.register_game(SPEC)
    assert not link.register_game(SPEC)
    assert server.games["go-9x9"] == game_message(SPEC)
    assert len(link.open_contest(CONTEST)) == 2
    assert [(player.name, player.elo) for player in server.opened["uuid/AvB_0/1"].players] == [
        ("a", 1000.0),
        ("b", 985.5),
    ]
    report = contest_report(CONTEST, result())
    assert link.report(report).counted
    assert not link.report(report).counted
    assert server.reports["uuid/AvB_0/1"] == report


def test_the_report_holds_the_moves_with_boards_and_values() -> None:
    report = contest_report(CONTEST, result())
    assert (report.contest, report.void, report.termination) == (CONTEST, False, "score")
    assert report.start_board == "-" * 81
    first, second, third = report.plies
    assert (first.player, first.move, first.board[:2], first.legal_moves) == (1, "D4", "x-", 81)
    assert [(value.player, value.value) for value in second.values] == [(1, 0.5), (2, 0.5)]
    assert (third.move, third.interaction, list(third.values)) == ("pass", True, [])


def test_the_report_says_what_the_mover_expected_before() -> None:
    played = result()
    moves = (played.moves[0], played.moves[1]._replace(value_before=0.25))
    first, second = contest_report(CONTEST, replace(played, moves=moves)).plies
    assert [value.HasField("before") for value in first.values] == [False] * len(first.values)
    assert [(value.player, value.before) for value in second.values if value.HasField("before")] == [
        (second.player, 0.25)
    ]


WIN, DRAW, LOSS = contests_pb2.RESULT_WIN, contests_pb2.RESULT_DRAW, contests_pb2.RESULT_LOSS


@pytest.mark.parametrize(
    ("winners", "results"), [((1,), [WIN, LOSS]), ((2,), [LOSS, WIN]), ((1, 2), [DRAW, DRAW])]
)
def test_results_by_seat(winners: tuple[int, ...], results: list[int]) -> None:
    outcome = Outcome(winners, Termination.RESIGNATION, "B+R")
    assert list(contest_report(CONTEST, result(outcome=outcome)).results) == results


@pytest.mark.parametrize(
    ("limit", "boards", "void", "expected"),
    [
        (10_000, True, False, ""),
        (
            400,
            False,
            False,
            "of 468 bytes is larger than the 400 that ACADEMY takes: it is sent without the boards",
        ),
        (100, False, True, "without the boards too: it is sent as void"),
    ],
)
def test_a_report_too_large_for_academy_loses_its_boards_first(
    monkeypatch: pytest.MonkeyPatch, limit: int, boards: bool, void: bool, expected: str
) -> None:
    monkeypatch.setattr(academy_link, "MAX_REPORT_BYTES", limit)
    whole = contest_report(CONTEST, result())
    report, what = fitted(whole)
    assert expected in what and bool(what) is bool(expected)
    assert report.ByteSize() <= limit
    assert any(ply.board for ply in report.plies) is boards
    assert report.void is void and report.contest == CONTEST
    assert void or [ply.move for ply in report.plies] == ["D4", "E5", "pass"]
    assert all(ply.board for ply in whole.plies)


def test_more_legal_moves_than_academy_takes_are_left_out() -> None:
    counts = [MAX_LEGAL_MOVES, MAX_LEGAL_MOVES + 1, None]
    moves = tuple(JobMove(1, "D4", "-" * 81, count, False, 0.5) for count in counts)
    report = contest_report(CONTEST, result(moves=moves))
    assert [ply.legal_moves for ply in report.plies] == [MAX_LEGAL_MOVES, 0, 0]
    check_report(report, SPEC)


def test_a_move_longer_than_academy_takes_is_cut_and_still_differs_from_others() -> None:
    orders = "; ".join(["AttackTransfer 12 from 158 to 358"] * 40)
    texts = [orders, orders + "; Deploy 1 on 2", "D" * MAX_MOVE_CHARACTERS]
    moves = tuple(JobMove(1, text, "-" * 81, 0, False, 0.5) for text in texts)
    report = contest_report(CONTEST, result(moves=moves))
    sent = [ply.move for ply in report.plies]
    assert [len(move) for move in sent] == [MAX_MOVE_CHARACTERS] * 3
    assert len(set(sent)) == 3
    assert all(move.startswith("AttackTransfer 12 from 158 to 358; ") for move in sent[:2])
    assert sent[2] == texts[2]
    # The game's moves may be any text.
    check_report(report, replace(SPEC, move_forms=()))


def test_an_unknown_result_is_reported_void() -> None:
    unknown = Outcome((), Termination.MOVE_LIMIT, "?", detail="hit move limit")
    report = contest_report(CONTEST, result(outcome=unknown))
    assert report.void and not report.plies and not report.results
    assert report == void_report(CONTEST, "unknown result")


@pytest.mark.parametrize("code", ["RESOURCE_EXHAUSTED", "ABORTED", "INTERNAL", "UNKNOWN"])
def test_a_call_that_fails_may_succeed_later(server: ContestServer, link: AcademyClient, code: str) -> None:
    server.fail("RegisterGame", grpc.StatusCode[code])
    with pytest.raises(
        AcademyRefusedError, match=rf"registering the game go-9x9 at .*: as asked \[{code}\]"
    ) as failure:
        link.register_game(SPEC)
    assert failure.value.code == code
    assert may_pass(failure.value)
    assert link.register_game(SPEC)


def test_a_refusal_is_not_a_passing_failure(server: ContestServer, link: AcademyClient) -> None:
    server.fail("RegisterGame", grpc.StatusCode.ALREADY_EXISTS)
    with pytest.raises(AcademyRefusedError, match=r"as asked \[ALREADY_EXISTS\]") as refusal:
        link.register_game(SPEC)
    assert not may_pass(refusal.value) and not misses_game(refusal.value)
    with pytest.raises(AcademyRefusedError, match="opening the contest uuid/AvB_0/1") as refusal:
        link.open_contest(CONTEST)
    assert misses_game(refusal.value) and not rejects_identity(refusal.value)


def test_a_busy_server_says_when_to_ask_again(server: ContestServer, link: AcademyClient) -> None:
    server.put_off("RegisterGame", 0.25)
    with pytest.raises(AcademyRefusedError, match=r"\[RATE_EXCEEDED\]") as refusal:
        link.register_game(SPEC)
    assert may_pass(refusal.value)
    assert (refusal.value.code, refusal.value.retry_after) == ("RESOURCE_EXHAUSTED", 0.25)


def test_a_missing_server_is_unavailable(tmp_path: Path) -> None:
    link = AcademyClient(Connection(f"unix:{tmp_path}/nothing", TOKEN))
    with pytest.raises(AcademyUnavailableError) as failure:
        link.open_contest(CONTEST)
    assert failure.value.code == "UNAVAILABLE" and may_pass(failure.value)
    link.close()
    with pytest.raises(AcademyUnavailableError):
        link.open_contest(CONTEST)


def test_a_wrong_token_is_refused_and_never_shown(server: ContestServer) -> None:
    connection = Connection(server.address, "wrong-token")
    link = AcademyClient(connection)
    with pytest.raises(AcademyRefusedError) as refusal:
        link.register_game(SPEC)
    assert rejects_identity(refusal.value) and not may_pass(refusal.value)
    assert "wrong-token" not in f"{refusal.value} {connection!r}"
    link.close()


def test_tls_lets_in_only_those_who_hold_certificates(tmp_path: Path) -> None:
    ca = authority(tmp_path, "ours")
    client = signed(tmp_path, "arena", ca)
    shown = signed(tmp_path, "server", ca)
    assert shown.certificate is not None and shown.key is not None
    server = ContestServer(tmp_path)
    port = server.start_tls(shown.certificate, shown.key, ca)
    try:
        ours = Connection(f"localhost:{port}", TOKEN, ca, client.certificate, client.key)
        link = AcademyClient(ours)
        assert link.register_game(SPEC)
        link.close()
        for stranger in (
            Connection(f"localhost:{port}", TOKEN),
            Connection(f"localhost:{port}", TOKEN, ca),
        ):
            link = AcademyClient(stranger)
            with pytest.raises(AcademyUnavailableError):
                link.register_game(SPEC)
            link.close()
    finally:
        server.stop()
