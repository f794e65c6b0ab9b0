"""A changed game begins with the libraries of the old one, and goes its own way."""

from pathlib import Path
from typing import Any

import pytest

from academy.store.tokens import Role
from academy.v1 import contests_pb2
from tests.academy.cli.conftest import PATTERNS, run, run_in_a_process
from tests.academy.cli.test_transfer import known
from tests.academy.service import examples
from tests.academy.service.running import serving


def test_a_fork_has_all_that_the_game_knows_learns_alone_and_survives_replays(tmp_path: Path) -> None:
    data, copy = tmp_path / "data", tmp_path / "copy"
    with serving(data) as server:
        token = server.token("admin", Role.ADMIN)

        def academy(*arguments: object) -> Any:
            return run(*arguments, ACADEMY_ADDRESS=str(server.address), ACADEMY_TOKEN=token)

        arena = server.arena()
        game = examples.tiny_go("go")
        game.settings.opening_capacity = 50
        server.admin().contests.RegisterGame(contests_pb2.RegisterGameRequest(game=game))
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=examples.hexagons("hex")))
        examples.teach(server, "go", "taught", PATTERNS)
        for number, moves in enumerate((["c3", "a1"], ["c3", "b2", "d4"])):
            arena.contests.ReportContest(examples.report(examples.contest(f"line/{number}", "go"), moves))
        assert "begins with 4 patterns, 0 tesujis" in academy("fork", "go", "--as", "go-nokomi").out
        assert "was forked from go before" in academy("fork", "go", "--as", "go-nokomi").out
        assert known(academy, "go-nokomi") == known(academy, "go")
        before = known(academy, "go")
        assert academy("settings", "go-nokomi", "--json").json()["opening_capacity"] == 50
        statistics = academy("statistics", "go-nokomi", "--json").json()
        assert not int(statistics.get("contests", 0))
        ratings = server.admin().contests.GetRatings
        for name in ("go", "go-nokomi"):
            (ann,) = ratings(contests_pb2.GetRatingsRequest(game_id=name, players=["ann"])).ratings
            assert ann.elo == pytest.approx(1500, abs=200)

        arena.contests.ReportContest(examples.report(examples.contest("new/0", "go-nokomi"), ["e5", "a1"]))
        assert known(academy, "go") == before and known(academy, "go-nokomi") != before
        assert "game forked: from go" in academy("events", "go-nokomi").out

        for arguments, words in (
            (("go", "--as", "hex"), "'hex'"),
            (("go", "--as", "go"), "'go'"),
            (("chess", "--as", "chess2"), "chess"),
            (("go", "--as", "two words"), "two words"),
        ):
            refused = academy("fork", *arguments)
            assert refused.exit_code != 0 and words in refused.err
        assert academy("games", "--json").out.count("go-nokomi") == 1
    checked = run_in_a_process("check", "--data", data)
    assert checked.exit_code == 0, checked.out + checked.err
    assert run_in_a_process("backup", copy, "--data", data).exit_code == 0
