"""Contests that nobody reports, from the command line."""

from pathlib import Path
from typing import Any

import pytest

from academy.store.tokens import Role
from academy.v1 import consultation_pb2, contests_pb2
from tests.academy.cli.conftest import Academy, CommandResult, pointed_at, run
from tests.academy.service import examples
from tests.academy.service.running import serving


@pytest.fixture
def left(tmp_path: Path):  # type: ignore[no-untyped-def]
    """The command line pointed at a server with three open contests and a reported one."""
    with serving(tmp_path / "data") as server:
        server.register(examples.tiny_go("go"))
        for number in range(4):
            contest = examples.contest(f"cup/{number}", "go")
            server.open(contest)
        server.report(examples.report(contest, ["c3"], first="DRAW"))
        yield pointed_at(server)


def ids(left: Any, *options: str) -> list[str]:
    return [
        contest["contest_id"] for contest in left("contests", "list", *options, "--json").json()["contests"]
    ]


def test_open_contests_are_listed_with_players_and_age(left: Any) -> None:
    lines = [line.strip("│").split("│") for line in left("contests", "list").out.splitlines() if "│" in line]
    rows = [[cell.strip() for cell in cells] for cells in lines]
    assert [(*row[:4], row[5]) for row in rows] == [
        (f"cup/{number}", "arena", "go", "ann - bob", "0.0") for number in range(3)
    ]


def test_open_contests_are_listed_in_pages(left: Any) -> None:
    first = left("contests", "list", "--limit", "2", "--json").json()
    token = first["next_page_token"]
    assert [contest["contest_id"] for contest in first["contests"]] == ["cup/0", "cup/1"]
    assert ids(left, "--limit", "2", "--page", token) == ["cup/2"]
    assert f"more with --page {token}" in left("contests", "list", "--limit", "2").out


def test_contests_are_voided_by_hand(left: Any) -> None:
    assert left("contests", "void", "cup/0").out == "cup/0: void, 0 proposals dropped\n"
    (ended,) = left("contests", "void", "cup/2", "cup/2", "--json").json()
    assert (ended["contest_id"], ended["state"]) == ("cup/2", "CONTEST_STATE_VOID")
    assert ids(left, "go") == ["cup/1"]
    assert left("statistics", "go", "--json").json()["contests"] == 1


@pytest.mark.parametrize(
    ("contest_id", "words"),
    [
        ("cup/3", "contest 'cup/3' is reported already; what was learnt from it stays"),
        ("cup/9", "`academy contests list` shows the open contests [NOT_FOUND, UNKNOWN_CONTEST]"),
        ("no blanks", "without blanks"),
    ],
)
def test_no_contest_is_voided_if_one_cannot_be(left: Any, contest_id: str, words: str) -> None:
    result = left("contests", "void", "cup/0", contest_id)
    assert result.exit_code == 1
    assert words in result.err and len(result.err.splitlines()) == 1
    assert ids(left) == ["cup/0", "cup/1", "cup/2"]


def test_a_contest_that_is_void_is_not_voided_again(left: Any) -> None:
    left("contests", "void", "cup/0")
    assert "contest 'cup/0' is void already" in left("contests", "void", "cup/0").err


def test_only_admins_list_open_contests(academy: Academy, running: Any) -> None:
    result = academy("contests", "list", "--token", running.token("cup", Role.ARENA))
    assert result.exit_code == 1 and "use an admin's token" in result.err


@pytest.fixture
def two(tmp_path: Path):  # type: ignore[no-untyped-def]
    """The command line pointed at a server with two arenas, both with an open contest `cup/1`."""
    with serving(tmp_path / "data") as server:
        for name in ("spring", "autumn"):
            arena = server.client(server.token(name, Role.ARENA)).contests
            arena.RegisterGame(contests_pb2.RegisterGameRequest(game=examples.tiny_go("go")))
            contest = examples.contest("cup/1", "go")
            arena.OpenContest(contests_pb2.OpenContestRequest(contest=contest))
            arena.ReportContest(examples.report(examples.contest("cup/2", "go"), ["c3"]))
        yield pointed_at(server)


def test_a_contest_of_one_of_several_arenas_is_voided_by_its_name(two: Any) -> None:
    result = two("contests", "void", "cup/1")
    assert result.exit_code == 1 and "'spring', 'autumn'" in result.err
    assert two("contests", "void", "cup/1", "--arena", "autumn").exit_code == 0
    (left,) = two("contests", "list", "--json").json()["contests"]
    assert left["arena"] == "spring"


def test_the_questions_of_a_contest_are_shown_by_ply_to_its_arena_and_admins(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        for name in ("spring", "autumn"):
            arena = server.client(server.token(name, Role.ARENA)).contests
            arena.RegisterGame(contests_pb2.RegisterGameRequest(game=examples.tiny_go("go")))
            request = contests_pb2.OpenContestRequest(contest=examples.contest("cup/1", "go"))
            ticket = arena.OpenContest(request).tickets[1]
            if name == "autumn":
                question = consultation_pb2.LookUpOpeningRequest(
                    game_id="go", contest_id="cup/1", player=2, moves=["c3"]
                )
                server.client(ticket).consultation.LookUpOpening(question)
            arena.ReportContest(examples.report(request.contest, ["c3", "a1"]))

        def ask(name: str, role: Role, *options: str) -> CommandResult:
            where = {"ACADEMY_ADDRESS": str(server.address), "ACADEMY_TOKEN": server.token(name, role)}
            return run("contests", "questions", "cup/1", *options, **where)

        both = ask("admin", Role.ADMIN)
        assert both.exit_code == 1 and "'spring', 'autumn'" in both.err
        for shown in (ask("admin", Role.ADMIN, "--arena", "autumn"), ask("autumn", Role.ARENA)):
            rows = [[cell.strip() for cell in line.split("│")] for line in shown.out.splitlines()]
            assert ["2", "1", "1: -"] in [row[1:4] for row in rows]
        assert all(
            seat["opening_questions"] == 0 for seat in ask("spring", Role.ARENA, "--json").json()["seats"]
        )
        assert ask("ann", Role.BOT).exit_code == 1


def test_the_questions_of_a_contest_say_which_seats_were_not_allowed_to_ask(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        server.register(examples.tiny_go("go"))
        for contest_id, share in (("free", 1.0), ("alone", 0.0)):
            contest = examples.contest(contest_id, "go")
            contest.fair_use.consult_share = share
            server.open(contest)
        academy = pointed_at(server)
        words = "drawn to play without consulting (consult_share 0): seats 1 and 2"
        assert academy("contests", "questions", "alone").out.splitlines()[-1] == words
        assert "consult_share" not in academy("contests", "questions", "alone", "--json").out
        assert "consult_share" not in academy("contests", "questions", "free").out


def test_arenas_are_linked_and_allowed_from_the_command_line(two: Any) -> None:
    assert "NAME@autumn" in two("arenas", "list").out
    linked = two("arenas", "link", "autumn", "spring", "--json").json()
    assert linked.get("namespace", "") == ""
    assert two("arenas", "unlink", "autumn", "--json").json()["namespace"] == "autumn"
    assert two("arenas", "allow", "autumn", "spring", "--json").json()["acts_for"] == ["spring"]
    assert "spring" not in str(two("arenas", "forbid", "autumn", "spring", "--json").json().get("acts_for"))
    result = two("arenas", "link", "winter", "spring")
    assert result.exit_code == 1 and "no arena 'winter'" in result.err


def test_what_players_did_is_shown(two: Any) -> None:
    players = two("statistics", "go", "--players", "--json").json()
    assert {player["player"] for player in players} == {"ann", "bob", "ann@autumn", "bob@autumn"}
    assert "ann@autumn" in two("statistics", "go", "--players").out
