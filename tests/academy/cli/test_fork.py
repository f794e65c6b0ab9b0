"""A changed game begins with the libraries of the old one, and goes its own way."""

from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from academy.store.tokens import Role
from academy.v1 import contests_pb2
from tests.academy.cli.conftest import PATTERNS, pointed_at, run
from tests.academy.cli.test_transfer import known
from tests.academy.service import examples
from tests.academy.service.running import serving


def test_a_fork_has_all_that_the_game_knows_learns_alone_and_survives_replays(tmp_path: Path) -> None:
    data, copy = tmp_path / "data", tmp_path / "copy"
    with serving(data) as server:
        academy = pointed_at(server)
        game = examples.tiny_go("go")
        game.settings.opening_capacity = 50
        server.admin().contests.RegisterGame(contests_pb2.RegisterGameRequest(game=game))
        server.register(examples.hexagons("hex"))
        examples.teach(server, "go", "taught", PATTERNS)
        for number, moves in enumerate((["c3", "a1"], ["c3", "b2", "d4"])):
            server.report(examples.report(examples.contest(f"line/{number}", "go"), moves))
        forked = academy("fork", "go", "--as", "go-nokomi").out
        assert "begins with 4 patterns, 0 tesujis" in forked
        # As the statistics count them: without the position at the start.
        nodes = academy("statistics", "go", "--json").json()["opening_nodes"]
        assert f"and {nodes} opening nodes of go" in forked
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

        server.report(examples.report(examples.contest("new/0", "go-nokomi"), ["e5", "a1"]))
        assert known(academy, "go") == before and known(academy, "go-nokomi") != before
        assert "game forked: from go" in academy("events", "go-nokomi").out
        events = academy("events", "go-nokomi", "--json").json()
        assert {len(b64decode(source)) for event in events for source in event["sources"]} == {16}

        for arguments, words in (
            (("go", "--as", "hex"), "'hex'"),
            (("go", "--as", "go"), "'go'"),
            (("chess", "--as", "chess2"), "chess"),
            (("go", "--as", "two words"), "two words"),
        ):
            refused = academy("fork", *arguments)
            assert refused.exit_code != 0 and words in refused.err
        assert academy("games", "--json").out.count("go-nokomi") == 1
    checked = run("check", "--data", data)
    assert checked.exit_code == 0, checked.out + checked.err
    assert run("backup", copy, "--data", data).exit_code == 0


def test_a_fork_made_by_mistake_is_deleted_and_a_replay_agrees(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with serving(data) as server:
        token = server.token("admin", Role.ADMIN)

        def academy(*arguments: object) -> Any:
            return run(*arguments, "--address", server.address, ACADEMY_TOKEN=token)

        server.register(examples.tiny_go("go"))
        examples.teach(server, "go", "taught", PATTERNS)
        assert "begins with 4 patterns" in academy("fork", "go", "--as", "mistake").out
        # The server knows it by now.
        assert known(academy, "mistake") == known(academy, "go")
        unsure = academy("games", "delete", "mistake")
        assert unsure.exit_code == 1 and "is a fork that holds knowledge" in unsure.err
        never = academy("games", "delete", "go", "--really")
        assert never.exit_code == 1 and "has 4 contests" in never.err

        server.open(examples.contest("c", "mistake"))
        refused = academy("games", "delete", "mistake", "--really")
        assert refused.exit_code == 1 and "has open contests" in refused.err
        assert academy("contests", "void", "c").exit_code == 0

        assert "mistake: deleted" in academy("games", "delete", "mistake", "--really").out
        assert "mistake" not in academy("games", "--json").out
        assert academy("patterns", "list", "mistake").exit_code == 1
        assert "game deleted" in academy("events").out
        # The id is free for another fork, which knows what the game knows now.
        examples.teach(server, "go", "later", [("bob", "x", 0.7)])
        assert academy("fork", "go", "--as", "mistake").exit_code == 0
        assert known(academy, "mistake") == known(academy, "go")
        assert academy("games", "delete", "mistake", "--really").exit_code == 0
    checked = run("check", "--data", data)
    assert checked.exit_code == 0 and "sound" in checked.out, checked.out + checked.err
    assert run("backup", tmp_path / "copy", "--data", data).exit_code == 0
    assert run("restore", tmp_path / "copy", "--data", tmp_path / "again").exit_code == 0
    with serving(tmp_path / "again") as server:
        games = server.admin().contests.ListGames(contests_pb2.ListGamesRequest()).games
        assert [game.game_id for game in games] == ["go"]
