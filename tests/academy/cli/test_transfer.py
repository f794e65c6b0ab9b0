"""Libraries to files and back."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from academy.store.maintenance.check import check
from academy.v1 import contests_pb2, game_pb2, libraries_pb2, proposals_pb2
from tests.academy.cli.conftest import Academy, Beside, pointed_at, run
from tests.academy.service import examples
from tests.academy.service.running import Running, refusal, serving
from tests.arena.cli.command import arena


@pytest.fixture
def elsewhere(tmp_path: Path):  # type: ignore[no-untyped-def]
    """Another server that knows the game and nothing of it, and the command line pointed at it."""
    with serving(tmp_path / "elsewhere") as server:
        server.register(examples.tiny_go("go"))
        server.register(examples.hexagons("hex"))
        yield pointed_at(server)


def known(academy: Any, game: str = "go") -> tuple[Any, ...]:
    """What a server knows of the game, without the numbers it gives itself."""
    patterns = academy("patterns", game, "--library", "endgame", "--json").json()["patterns"]
    nodes = academy("openings", game, "--depth", "0", "--json").json()
    return (
        [
            (pattern["cells"], pattern["signature"], pattern["strength"], pattern["uses"])
            for pattern in patterns
        ],
        sorted(
            (node["depth"], node["move"], node["visits"], *node["wins"], *node["draws"]) for node in nodes
        ),
    )


@pytest.mark.parametrize("form", ["text", "binary"])
def test_an_export_can_be_imported_elsewhere(
    academy: Academy, elsewhere: Any, tmp_path: Path, form: str
) -> None:
    file = tmp_path / "go.library"

    assert f"{file}: " in academy("export", "go", "--to", file, "--format", form).out
    done = elsewhere("import", "go", file)

    assert done.exit_code == 0, done.err
    assert "4 patterns, 0 tesujis, 0 weights and" in done.out and "0 had no room" in done.out
    assert known(elsewhere) == known(academy)


@pytest.mark.parametrize("form", ["text", "binary"])
def test_an_import_says_what_it_leaves_out_because_only_muted_players_voted_for_it(
    academy: Academy, running: Running, tmp_path: Path, form: str
) -> None:
    file = tmp_path / "go.library"
    before = known(academy)
    assert academy("export", "go", "--to", file, "--format", form).exit_code == 0
    assert academy("players", "mute", "bob", "--address", running.address).exit_code == 0

    done = academy("import", "go", file, "--replace")

    assert "go: 3 patterns, 0 tesujis" in done.out, done.err
    assert "go: 1 pattern left out, which only muted players voted for" in done.out
    assert academy("players", "unmute", "bob", "--address", running.address).exit_code == 0
    done = academy("import", "go", file, "--replace")
    assert "go: 4 patterns" in done.out and "left out" not in done.out
    assert known(academy) == before


def test_a_file_that_is_imported_again_is_refused_with_the_remedies(
    academy: Academy, elsewhere: Any, tmp_path: Path
) -> None:
    file = tmp_path / "go.library"
    academy("export", "go", "--to", file)
    assert elsewhere("import", "go", file).exit_code == 0
    once = known(elsewhere)

    refused = elsewhere("import", "go", file)

    assert refused.exit_code == 1
    assert "were imported into 'go' before, by event" in refused.err
    assert "`--replace` empties the libraries first; `--again` counts them twice" in refused.err
    assert known(elsewhere) == once
    assert elsewhere("import", "go", file, "--again").exit_code == 0
    assert known(elsewhere) != once
    assert elsewhere("import", "go", file, "--replace").exit_code == 0
    assert known(elsewhere) == once


def test_text_is_written_to_standard_output_and_can_be_edited(
    academy: Academy, elsewhere: Any, tmp_path: Path
) -> None:
    text = academy("export", "go", "--library", "endgame").out
    assert text.startswith("% academy text 1\n% game go\n")
    file = tmp_path / "edited.txt"
    file.write_text(text.replace('"ann lee"', '"Ann Lee"'))

    assert elsewhere("import", "go", file, "--replace", "--json").json()["patterns"] == 4
    players = {
        vote["player"]
        for pattern in elsewhere("patterns", "go", "--library", "endgame", "--json").json()["patterns"]
        for vote in pattern["votes"]
    }
    assert players == {"ann", "bob", "carl", "Ann Lee"}


SILENT = """% academy text 1
% game go
% library endgame
% player 1
% vote "ann" 1600.00 0.9 4 2
% silent "weak" 0.00 0.1 5
% changed-by 00000000000000ff
x x o
"""


@pytest.mark.parametrize("form", ["text", "binary"])
def test_silent_votes_are_shown_exported_and_imported(elsewhere: Any, tmp_path: Path, form: str) -> None:
    file = tmp_path / "silent"
    file.write_text(SILENT)
    assert elsewhere("import", "go", file).exit_code == 0
    shown = elsewhere("patterns", "show", "go", "1", "--library", "endgame")
    assert "ann: Elo 1600, value 0.900\n" in shown.out
    assert "weak: Elo 0, value 0.100, silent\n" in shown.out
    assert "silent" in elsewhere("patterns", "go", "--library", "endgame").out

    file.unlink()
    elsewhere("export", "go", "--to", file, "--format", form)
    assert elsewhere("import", "go", file, "--replace").exit_code == 0
    (entry,) = elsewhere("patterns", "go", "--library", "endgame", "--json").json()["patterns"]
    assert entry["signature"]["proposers"] == 1
    assert [vote["player"] for vote in entry["silent_votes"]] == ["weak"]
    assert entry["changers"] == [255]


BOTH = """% academy text 1
% game go
% library endgame
% player 1
% vote "ann" 1600.00 0.9
% vote "bob" 1600.00 0.9
% silent "bob" 0.00 0.1
x x o

% library endgame
% player 1
% vote "carl" 1600.00 0.9
x - o
"""


@pytest.mark.parametrize("form", ["text", "binary"])
def test_a_players_silent_vote_beside_its_earlier_one_is_moved_and_exports_are_equal(
    elsewhere: Any, tmp_path: Path, form: str
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text(BOTH)
    assert elsewhere("import", "go", first).exit_code == 0
    elsewhere("export", "go", "--to", first, "--force", "--format", form)
    with serving(tmp_path / "third") as server:
        server.register(examples.tiny_go("go"))
        third = pointed_at(server)
        assert third("import", "go", first).exit_code == 0
        third("export", "go", "--to", second, "--format", form)
        shown = third("patterns", "show", "go", "1", "--library", "endgame")
    assert "bob: Elo 0, value 0.100, silent\n" in shown.out
    assert second.read_bytes() == first.read_bytes()


def test_a_binary_file_that_is_not_whole_is_refused_wherever_it_was_cut(
    academy: Academy, elsewhere: Any, tmp_path: Path
) -> None:
    file = tmp_path / "go.bin"
    academy("export", "go", "--to", file, "--format", "binary")
    whole = file.read_bytes()
    for length in (0, 1, len(whole) // 3, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:length])
        result = elsewhere("import", "go", file)
        assert result.exit_code == 1
        assert result.err.startswith(f"academy: {file}: is not an export, or not whole")
    assert elsewhere("statistics", "go", "--json").json()["endgame_patterns"] == 0


@pytest.mark.parametrize("above", [b"\n \n", b"\xef\xbb\xbf\r\n"])
def test_a_text_that_an_editor_put_a_byte_order_mark_or_blank_lines_above_is_read(
    academy: Academy, elsewhere: Any, tmp_path: Path, above: bytes
) -> None:
    file = tmp_path / "go.txt"
    file.write_bytes(above + academy("export", "go").out.encode())
    assert "is registered already" in elsewhere("games", "create", file).out
    result = elsewhere("import", "go", file)
    assert result.exit_code == 0, result.err
    assert known(elsewhere) == known(academy)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        *((content, "") for content in (b"", b"garbage", b"\xff" * 100, b"\xff" * 9 + b"\x01")),
        (b"% academy text 1\n\xff\n", ""),
        *((ends, "export") for ends in (b"\x00", bytes(10), b"\x00rest")),
        ("% my café notes\n囲碁\n".encode(), "is text, but its first line is not '% academy text 1'"),
    ],
)
def test_what_is_not_an_export_is_refused(elsewhere: Any, tmp_path: Path, content: bytes, why: str) -> None:
    file = tmp_path / "strange"
    file.write_bytes(content)
    result = elsewhere("import", "go", file)
    assert result.exit_code == 1
    assert str(file) in result.err and why in result.err and len(result.err.splitlines()) == 1


def test_another_games_export_is_refused(academy: Academy, elsewhere: Any, tmp_path: Path) -> None:
    file = tmp_path / "go.bin"
    academy("export", "go", "--to", file, "--format", "binary")
    result = elsewhere("import", "hex", file)
    assert (result.exit_code, "whose board or players differ" in result.err) == (1, True)


def test_a_file_that_cannot_be_read_or_written_is_named(academy: Academy, tmp_path: Path) -> None:
    missing = tmp_path / "missing" / "file"
    assert "cannot be written" in academy("export", "go", "--to", missing).err
    assert "cannot be read" in academy("import", "go", missing).err


def test_an_export_goes_straight_into_what_is_not_a_regular_file(academy: Academy, tmp_path: Path) -> None:
    text = academy("export", "go").out
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # Open for reading and writing, so that neither side waits for the other.
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        result = academy("export", "go", "--to", pipe)
        assert (result.exit_code, result.out) == (0, "")
        assert os.read(reader, 1 << 20).decode() == text
    finally:
        os.close(reader)
    assert pipe.is_fifo() and list(tmp_path.iterdir()) == [pipe]
    assert academy("export", "go", "--to", "/dev/null").exit_code == 0
    assert Path("/dev/null").is_char_device()


def test_an_export_through_a_link_keeps_the_link(academy: Academy, tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    link.symlink_to(file)
    assert academy("export", "go", "--to", link, "--force").exit_code == 0
    assert link.is_symlink() and file.read_text().startswith("% academy text")
    assert set(tmp_path.iterdir()) == {file, link}


def test_an_export_to_a_folder_is_refused(academy: Academy, tmp_path: Path) -> None:
    assert "Is a directory" in academy("export", "go", "--to", tmp_path).err
    assert list(tmp_path.iterdir()) == []


def test_a_failed_export_leaves_the_file_there_was(academy: Academy, tmp_path: Path) -> None:
    file = tmp_path / "kept"
    file.write_text("precious")
    assert academy("export", "chess", "--to", file, "--force").exit_code == 1
    assert file.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [file]


def simultaneous_ring(game_id: str) -> game_pb2.Game:
    """A game of three on a graph whose players move at once."""
    game = examples.ring(game_id)
    game.simultaneous = True
    game.cell_names[:] = ""
    return game


def lived(server: Running, game: game_pb2.Game) -> None:
    """Contests, patterns that leave gaps in the numbers, and settings of its own."""
    game.settings.endgame_capacity = 50
    game.settings.forget_after = 7
    players = ("ann", "bob", "carl")[: game.players]
    server.register(game)
    size = {"square": 25, "hex": 16, "graph": 5}[game.geometry.WhichOneof("shape") or ""]
    cells = "x A\n- B" if game.geometry.HasField("graph") else "x"
    for number in range(14):
        contest = examples.contest(
            f"{game.game_id}/{number}", game.game_id, players, (1500.0,) * game.players
        )
        player = server.open(contest)[number % 2]
        seat = number % 2 + 1
        report = contests_pb2.ReportContestRequest(contest=contest, termination="score")
        report.results.extend([contests_pb2.RESULT_DRAW] * game.players)
        for ply in range(12):
            mover = ply % game.players + 1
            ply_message = report.plies.add(
                player=mover, move=f"move{(number * ply) % 3}", board="x" + "-" * (size - 1)
            )
            ply_message.values.add(player=mover, value=0.25 + number / 100)
        proposals = [
            proposals_pb2.NewProposal(
                library=examples.ENDGAME, cells=cells, ply=ply, value=0.25 + number / 100
            )
            for ply in range(11, 13)
            if (ply - 1) % game.players + 1 == seat
        ]
        if proposals:
            player.proposals.SubmitProposals(
                proposals_pb2.SubmitProposalsRequest(contest_id=contest.contest_id, proposals=proposals)
            )
        server.report(report)


MAKERS = {"go": examples.tiny_go, "hex": examples.hexagons, "ring": simultaneous_ring}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server with a game of each kind, from which they move."""
    folder = tmp_path_factory.mktemp("from") / "data"
    with serving(folder) as server:
        for name, make in MAKERS.items():
            lived(server, make(name))
        yield server


@pytest.mark.parametrize("form", ["text", "binary"])
def test_a_game_moves_to_an_empty_server_and_its_next_export_is_the_same(
    first: Running, tmp_path: Path, form: str
) -> None:
    with serving(tmp_path / "to") as second:
        for name in MAKERS:
            exported, again = tmp_path / f"{name}.first", tmp_path / f"{name}.second"
            for server, file in ((first, exported), (second, again)):
                academy = pointed_at(server)
                if server is second:
                    assert f"{name}: registered" in academy("games", "create", exported).out
                    assert academy("import", name, exported).exit_code == 0
                    assert "is registered already" in academy("games", "create", exported).out
                done = academy("export", name, "--to", file, "--format", form)
                assert done.exit_code == 0, done.err
            assert again.read_bytes() == exported.read_bytes()
            known = academy("statistics", name, "--json").json()
            assert known["endgame_patterns"] and int(known["opening_nodes"]) > 3 and known["contests"] == 14
        for server in (first, second):
            assert not list(check(server.store.environment))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('{"game_id": "x", "colour": "red"}', "describes no game"),
        ("% academy text 1\n% game go\n", "has no '% description'"),
        ("garbage", "is not an export"),
        ('{"game_id": "x"}', "geometry"),
    ],
)
def test_a_game_that_is_not_described_is_not_made(
    elsewhere: Any, tmp_path: Path, content: str, complaint: str
) -> None:
    file = tmp_path / "game"
    file.write_text(content)
    result = elsewhere("games", "create", file)
    assert (result.exit_code, complaint in result.err) == (1, True), result.err


def test_what_the_arena_describes_is_registered(elsewhere: Any, tmp_path: Path) -> None:
    file = tmp_path / "hex.json"
    file.write_text(arena("describe", "hex", "--set", "board_size=7").stdout)
    assert "hex-7x7: registered, 7x7 hexagons" in elsewhere("games", "create", file).out
    assert "hex-7x7" in {game["game_id"] for game in elsewhere("games", "--json").json()}
    assert "board_size" in arena("describe", "hex", "--set", "board_size=99").stderr
    assert "nim" in arena("describe", "nim").stderr


def test_an_export_overwrites_nothing_unless_it_is_asked_to(academy: Academy, tmp_path: Path) -> None:
    file = tmp_path / "kept"
    file.write_text("precious")
    result = academy("export", "go", "--to", file)
    assert (result.exit_code, result.err) == (
        1, f"academy: {file} already exists; use --force to overwrite it\n",
    )  # fmt: skip
    assert file.read_text() == "precious"
    assert academy("export", "go", "--to", file, "--force").exit_code == 0
    assert file.read_text().startswith("% academy text")


def test_what_follows_the_end_of_an_export_is_refused(
    academy: Academy, elsewhere: Any, tmp_path: Path
) -> None:
    file = tmp_path / "go.bin"
    academy("export", "go", "--to", file, "--format", "binary")
    whole = file.read_bytes()
    file.write_bytes(whole + whole)
    result = elsewhere("import", "go", file)
    assert result.exit_code == 1 and f"more follows its end at byte {len(whole)}" in result.err


def test_a_game_that_nobody_played_is_deleted_and_its_id_free_while_a_server_runs(
    tmp_path: Path, beside: Beside
) -> None:
    data = tmp_path / "data"
    with serving(data) as server:
        games = server.arena().contests
        squat = examples.hexagons("squat")
        server.register(squat)
        with_patterns = libraries_pb2.GetStatisticsRequest(game_id="squat")
        assert server.admin().libraries.GetStatistics(with_patterns).contests == 0
        wanted = contests_pb2.RegisterGameRequest(game=examples.tiny_go("squat"))
        refused = refusal(lambda: games.RegisterGame(wanted))
        assert refused.reason == "GAME_CONFLICT" and "academy games delete squat" in refused.message

        assert "squat: deleted" in beside("games", "delete", "squat", "--data", data).out
        assert refusal(lambda: server.admin().libraries.GetStatistics(with_patterns)).reason == "UNKNOWN_GAME"
        academy = pointed_at(server)
        again = academy("games", "delete", "squat", "--address", server.address)
        assert "is not registered" in again.err

        assert games.RegisterGame(wanted).created
        examples.teach(server, "squat", "taught", [("ann", "x", 0.9)])
        assert server.admin().libraries.GetStatistics(with_patterns).endgame_patterns == 1
        used = academy("games", "delete", "squat", "--address", server.address)
        assert used.exit_code == 1 and "has 1 contests: only a game that was never played" in used.err
        log = server.admin().libraries.ListEvents(libraries_pb2.ListEventsRequest()).events
        assert [event.WhichOneof("kind") for event in log][:3] == [
            "game_registered",
            "game_deleted",
            "game_registered",
        ]
    assert "sound" in run("check", "--data", data).out
    assert run("compact", "--keep", "1", "--data", data).exit_code == 0
    assert "sound" in run("check", "--data", data).out


def test_a_servers_data_come_over_the_network_and_are_restored(
    academy: Academy, running: Running, tmp_path: Path
) -> None:
    copied = academy("backup", tmp_path / "saved", "--address", running.address)
    assert copied.exit_code == 0 and "verified" in copied.out, copied.err
    assert (tmp_path / "saved" / "data.mdb").stat().st_mode & 0o777 == 0o600
    restored = run("restore", tmp_path / "saved", "--data", tmp_path / "restored")
    assert restored.exit_code == 0, restored.err
    assert academy("backup", tmp_path / "saved", "--address", running.address).exit_code == 1
    token = running.token("ann")
    refused = academy("backup", tmp_path / "other", "--address", running.address, ACADEMY_TOKEN=token)
    assert refused.exit_code == 1 and "admin" in refused.err and not (tmp_path / "other").exists()
