"""Looking into a server's libraries from the command line, and mending them."""

import itertools
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

from academy.cli.comparison import standard_errors
from academy.service.server import ServerSettings
from academy.store.tokens import Role
from academy.v1 import consultation_pb2, game_pb2, libraries_pb2, pattern_pb2
from academy.wire.tls import Certificates
from tests.academy.cli.conftest import PATTERNS, Academy, pointed_at, run
from tests.academy.service import certificates, examples
from tests.academy.service.examples import teach_weights
from tests.academy.service.running import LOCAL, Running, serving


def test_a_token_may_be_in_a_file(running: Running, tmp_path: Path) -> None:
    file = tmp_path / "admin.token"
    file.write_text(f"{running.token('admin', Role.ADMIN)}\n")
    asking = ("games", "--address", running.address, "--token-file", file)
    # The option comes before the environment.
    assert run(*asking, ACADEMY_TOKEN="another").exit_code == 0
    for words, why in (
        ((*asking, "--token", "another"), "give --token or --token-file, not both"),
        (("games", "--token-file", tmp_path / "none"), "none: cannot be read (No such file or directory)"),
        (("games", "--token-file", __file__), "holds no token"),
    ):
        refused = run(*words)
        assert refused.exit_code == 2 and why in refused.err


def test_measures_and_fair_use_are_shown_by_one_command_each(academy: Academy) -> None:
    refused = academy("games", "list", "--measures", "--fair-use")
    assert refused.exit_code == 2 and "give --measures or --fair-use, not both" in refused.err


def test_games_are_listed_with_players_board_and_capacity(academy: Academy) -> None:
    table = academy("games")
    assert table.exit_code == 0
    assert re.search(r"go\s+│\s+2\s+│\s+5x5 squares\s+│\s+1,000", table.out)
    (game,) = academy("games", "--json").json()
    assert (game["game_id"], game["geometry"]["square"], game["symmetric"]) == (
        "go",
        {"rows": 5, "columns": 5},
        True,
    )


def test_patterns_are_drawn_beside_their_figures(academy: Academy) -> None:
    result = academy("patterns", "go", "--library", "endgame")

    assert "go, endgame: 4 of 4 patterns" in result.out
    rows = [line.split("│") for line in result.out.splitlines() if line.count("│") == 10]
    drawn = [row[2].strip() for row in rows]
    place = drawn.index("- - -")
    assert [cell.strip() for cell in rows[place][3:8]] == ["1", "1500", "0.500", "1", "0.0"]
    # The last pattern has two rows.
    assert ("- o", "+ o") in itertools.pairwise(drawn)


def test_patterns_are_listed_in_the_order_and_the_pages_asked_for(academy: Academy) -> None:
    options = ("patterns", "list", "go", "--library", "endgame", "--json")

    values = [
        pattern["signature"]["value"] for pattern in academy(*options, "--order", "value").json()["patterns"]
    ]
    assert values == sorted(values) and len(values) == 4

    first = academy(*options, "--limit", "3").json()
    second = academy(*options, "--limit", "3", "--page", first["next_page_token"]).json()
    ids = [pattern["pattern_id"] for page in (first, second) for pattern in page["patterns"]]
    assert len(set(ids)) == 4
    assert f"--page {first['next_page_token']}" in academy(
        "patterns", "go", "--library", "endgame", "--limit", "3"
    ).out.replace("\n", "")


def voted(pattern_id: int, cells: str, player: int, **votes: tuple[int, float]) -> pattern_pb2.PatternRecord:
    """A pattern with the Elo rating of each player who voted for it, and the value that they gave it."""
    record = pattern_pb2.PatternRecord(
        library=examples.ENDGAME, pattern_id=pattern_id, cells=cells, player=player
    )
    for name, (elo, value) in votes.items():
        record.votes.add(player=name, elo_hundredths=100 * elo, value_millionths=round(1e6 * value))
    return record


@pytest.fixture(scope="module")
def various(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Academy]:
    """The command line pointed at a server with patterns of different sizes, strengths and proposers."""
    with serving(tmp_path_factory.mktemp("various") / "data") as server:
        # Its players have patterns of their own.
        server.register(examples.hunt("hunt"))
        patterns = [
            voted(1, "x -", 1, ann=(1_700, 0.5)),
            voted(2, "x - o", 2, bob=(1_600, 0.9)),
            voted(3, "x o\no x", 1, ann=(1_500, 0.1), carl=(1_500, 0.1)),
            # It passes every filter, but is in the other library.
            voted(4, "x - o", 2, ann=(1_600, 0.5), bob=(1_600, 0.5)),
        ]
        patterns[-1].library = examples.MIDDLE_GAME
        messages = [
            libraries_pb2.ImportLibraryRequest(header=libraries_pb2.ImportHeader(game_id="hunt")),
            *(libraries_pb2.ImportLibraryRequest(pattern=pattern) for pattern in patterns),
        ]
        server.admin().libraries.ImportLibrary(iter(messages))
        yield pointed_at(server)


@pytest.mark.parametrize(
    ("option", "value", "patterns"),
    [
        ("--proposer", "ann", [1, 3]),
        ("--min-elo", "1600", [1, 2]),
        ("--max-elo", "1600", [2, 3]),
        ("--min-size", "3", [2, 3]),
        ("--max-size", "3", [1, 2]),
        ("--cells", "- o", [2]),
        ("--min-value", "0.5", [1, 2]),
        ("--max-value", "0.5", [1, 3]),
        ("--min-proposers", "2", [3]),
        ("--player", "2", [2]),
    ],
)
def test_each_filter_of_patterns_leaves_out_the_others(
    various: Academy, option: str, value: str, patterns: list[int]
) -> None:
    listed = various("patterns", "list", "hunt", "--library", "endgame", "--json", option, value).json()
    assert sorted(pattern["pattern_id"] for pattern in listed["patterns"]) == patterns
    assert listed["total_size"] == len(patterns)


def test_a_deleted_pattern_is_restored_with_its_votes(academy: Academy) -> None:
    listed = academy("patterns", "go", "--library", "endgame", "--json").json()["patterns"]
    pattern_id = str(listed[-1]["pattern_id"])
    where = ("go", pattern_id, "--library", "endgame")

    shown = academy("patterns", "show", *where)
    assert "Elo 1500, value" in shown.out
    assert "Deleted from go" in academy("patterns", "delete", *where).out
    gone = academy("patterns", "show", *where)
    assert (gone.exit_code, gone.err) == (
        1,
        f"academy: no pattern {pattern_id} in the endgame library of go; the pattern may be in the "
        "other library, unless it was merged into another one or removed [NOT_FOUND, UNKNOWN_PATTERN]\n",
    )
    for command in (("patterns", "show"), ("patterns", "delete"), ("history", "pattern")):
        refused = academy(*command, "go", "9999")
        assert "no pattern 9999 in the libraries of go; `academy patterns list` shows" in refused.err
        refused = academy(*command, "go", "9999", "--library", "middle-game")
        assert "no pattern 9999 in the middle-game library of go; " in refused.err
    refused = academy("patterns", "restore", "go", "9999")
    assert "no deleted pattern 9999 is kept: there is nothing to restore" in refused.err
    assert "Restored to go" in academy("patterns", "restore", *where).out
    assert academy("patterns", "show", *where, "--json").json() == listed[-1]


def test_a_pattern_that_cannot_come_back_is_not_announced_as_restored(
    academy: Academy, running: Running
) -> None:
    listed = academy("patterns", "go", "--library", "endgame", "--json").json()["patterns"]
    weakest = listed[-1]["pattern_id"]
    assert academy("patterns", "delete", "go", weakest).exit_code == 0
    assert academy("settings", "go", f"endgame_capacity={len(listed) - 1}").exit_code == 0
    refused = academy("patterns", "restore", "go", weakest)
    assert (refused.exit_code, refused.out) == (1, "")
    assert f"pattern {weakest} is not back in go, but still kept: its library is full" in refused.err
    assert academy("settings", "go", "endgame_capacity=5000").exit_code == 0

    voters = {vote["player"] for vote in listed[-1]["votes"]}
    for voter in voters:
        assert academy("players", "mute", voter, "--address", running.address).exit_code == 0
    refused = academy("patterns", "restore", "go", weakest)
    assert (refused.exit_code, refused.out) == (1, "")
    assert "or only muted players voted for it" in refused.err
    for voter in voters:
        assert academy("players", "unmute", voter, "--address", running.address).exit_code == 0
    assert "Restored to go" in academy("patterns", "restore", "go", weakest).out


def test_what_muting_took_out_is_listed_and_its_restoration_names_the_remedy(
    academy: Academy, running: Running
) -> None:
    assert academy("players", "mute", "bob", "--address", running.address).exit_code == 0
    (listed,) = academy("removals", "list", "go", "--json").json()["removals"]
    assert listed["what"] == "player muted"
    refused = academy("removals", "restore", "go", listed["event"])
    assert f"removal {listed['event']} is what muting 'bob' took out: unmute this player" in refused.err
    assert academy("players", "unmute", "bob", "--address", running.address).exit_code == 0
    assert not academy("removals", "list", "go", "--json").json()["removals"]


def test_a_pattern_is_found_by_its_number_in_whichever_library_it_is(academy: Academy) -> None:
    listed = academy("patterns", "go", "--library", "endgame", "--json").json()["patterns"]
    number = listed[-1]["pattern_id"]
    assert academy("patterns", "show", "go", number, "--json").json() == listed[-1]
    assert f"pattern {number}" in academy("history", "pattern", "go", number).out
    for act in ("delete", "restore", "show"):
        assert academy("patterns", act, "go", number, "--json").json() == listed[-1]


def test_openings_are_a_tree(academy: Academy) -> None:
    lines = [line.strip("│").split("│") for line in academy("openings", "go").out.splitlines() if "│" in line]
    moves = [(cells[0][1:].rstrip(), int(cells[1])) for cells in lines]
    # Indented below what they answer, the most played first.
    assert moves[0] == ("(start)", 7)
    assert moves[1] == ("  c3", 6)
    assert all(move.startswith("    ") for move, _ in moves[2:4])
    deeper = academy("openings", "go", "c3", "--depth", "1", "--json").json()
    assert [node["depth"] for node in deeper] == [1, 2, 2]
    assert all(
        node["visits"] >= 2 for node in academy("openings", "go", "--min-visits", "2", "--json").json()
    )


def test_the_move_that_the_book_recommends_stands_below_the_tree(academy: Academy, running: Running) -> None:
    question = consultation_pb2.LookUpOpeningRequest(game_id="go", player=1)
    book = running.admin().consultation.LookUpOpening(question).recommendation
    below = f"the book recommends {book.move}: {book.value:.3f} for its mover, the known replies considered"
    assert book.move and academy("openings", "go").out.splitlines()[-1] == below
    # After it nothing was tried often enough.
    assert "recommends" not in academy("openings", "go", "c3").out
    assert "recommends" not in academy("openings", "go", "--json").out


def test_the_log_is_listed_from_either_end(academy: Academy) -> None:
    newest = academy("events", "go", "--limit", "1", "--json").json()
    oldest = academy("events", "--oldest", "--limit", "1", "--json").json()
    assert oldest[0]["sequence"] == 1 and "game_registered" in oldest[0]
    assert newest[0]["sequence"] > 7
    assert "contest reported: lines/0 ann - bob, 2 plies, score" in academy("events", "go").out


def test_events_with_changes_leave_out_the_contests(academy: Academy) -> None:
    every, changes = (
        academy("events", "go", "--oldest", "--json", *options).json() for options in ((), ("--changes",))
    )
    assert any("contest_reported" in event for event in every)
    assert changes and changes == [event for event in every if "contest_reported" not in event]
    assert "contest reported" not in academy("events", "go", "--changes").out


def test_figures_that_are_not_known_are_named_so(academy: Academy) -> None:
    figures = academy("statistics", "go", "--json").json()
    counts = ("contests", "players", "endgame_patterns", "opening_nodes", "opening_depth")
    assert [figures[count] for count in counts] == [7, 5, 4, 6, 3]
    assert figures["measures"]["draws"] == {"value": 1.0, "contests": 7}
    assert "value" not in figures["measures"]["width"]
    # The proposers reported what they expect of one position each.
    assert "positions" in figures["measures"]["decisiveness"]
    table = academy("statistics", "go").out
    for words in ("contests counted", "positions counted", "helped players that won or drew"):
        assert words in table
    assert re.search(r"width\s+│ not known", table)


def test_prune_shows_first_what_it_would_remove(academy: Academy) -> None:
    dry = academy("prune", "go", "endgame", "--below", "1", "--dry-run")
    assert "go, endgame: 1 would be removed" in dry.out and "- - -" in dry.out
    assert academy("statistics", "go", "--json").json()["endgame_patterns"] == 4
    assert "go, opening: 0 removed" in academy("prune", "go", "opening", "--below", "0.01").out


@pytest.mark.parametrize("library", ["middle-game", "endgame"])
def test_patterns_are_not_pruned_without_a_strength(academy: Academy, library: str) -> None:
    refused = academy("prune", "go", library)
    assert refused.exit_code == 2 and f"prune {library} needs --below STRENGTH" in refused.err
    assert "go, opening:" in academy("prune", "go", "opening", "--dry-run").out


def test_settings_are_shown_and_changed(academy: Academy) -> None:
    before = academy("settings", "go", "--json").json()
    changed = academy("settings", "go", "forget_after=50", "prune_factor=0.25", "--json").json()
    assert changed == before | {"forget_after": 50, "prune_factor": 0.25}
    events = academy("events", "go").out
    assert "settings changed:" in events and "prune_factor=0.25" in events
    restored = academy("settings", "go", "forget_after=0", f"prune_factor={before['prune_factor']}")
    assert "0 records removed" in restored.out
    off = "evaluation is off: academy settings go evaluation=true"
    assert off in academy("settings", "go", "evaluation_patterns=100").out
    assert off not in academy("settings", "go", "evaluation=true").out
    assert off not in academy("settings", "go", "evaluation_patterns=200").out
    academy("settings", "go", "evaluation=false", "evaluation_patterns=0")
    twice = academy("settings", "go", "forget_after=1", "forget_after=2")
    assert twice.exit_code == 2 and "forget_after is given twice" in twice.err


def test_what_was_pruned_is_shown_with_its_undo(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        server.register(examples.tiny_go("go"))
        examples.teach(server, "go", "taught", PATTERNS)
        academy = pointed_at(server)
        pruned = academy("prune", "go", "endgame", "--below", "1")
        assert "`academy removals list go` shows what can be restored" in pruned.out
        assert "prune" in academy("removals", "list", "go").out


def test_weights_of_features_and_of_patterns_on_named_cells(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as running:
        teach_weights(running, "weighed")
        where = ("--address", str(running.address), "--token", running.token("admin", Role.ADMIN))
        shown = run("weights", "weighed", "--limit", "3", *where).out
        assert "8 contests learnt from" in shown and "each soldier ahead" in shown
        assert len(re.findall(r"(?:[a-e][1-5]:[-xo] ?){4,9}", shown)) == 3
        assert run("weights", "weighed", "--json", *where).json()["contests"] == 8
        switched = run("settings", "weighed", "local_weights=false", *where)
        assert re.search(r"local_weights\s+│\s+false", switched.out)
        running.register(checkers())
        refused = run("settings", "checkers", "tesuji_capacity=100", *where)
    assert refused.exit_code == 1 and "its moves go from cell to cell" in refused.err


def checkers() -> game_pb2.Game:
    game = examples.tiny_go("checkers")
    game.move_forms[:] = ["*-*"]
    return game


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("local_weights=1", "'1' is not true or false"),
        ("beauty=1", "NAME is one of opening_capacity"),
        ("endgame_capacty=1", "did you mean endgame_capacity?"),
        ("endgame_capacity", "write NAME=VALUE"),
        ("endgame_capacity=many", "'many' is not a whole number"),
        ("endgame_capacity=-1", "'-1' is not a whole number"),
        ("opening_plies_ahead=-1", "'-1' is not a whole number from 0 to 6"),
        ("prune_below=low", "'low' is not a number"),
    ],
)
def test_invalid_setting_is_refused(academy: Academy, change: str, words: str) -> None:
    result = academy("settings", "go", change)
    assert result.exit_code == 2
    assert words in result.err and len(result.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "environment", "exit_code", "words"),
    [
        (("statistics", "chess"), {}, 1, "game 'chess' is not registered; `academy games list` shows"),
        (
            ("games",),
            {"ACADEMY_TOKEN": ""},
            1,
            "the call has no token [UNAUTHENTICATED, TOKEN_MISSING]; give a token with "
            "--token-file, --token or ACADEMY",
        ),
        (("games",), {"ACADEMY_TOKEN": "acd_wrong"}, 1, "TOKEN_UNKNOWN"),
        (("games",), {"ACADEMY_ADDRESS": "127.0.0.1:1"}, 3, "no server answers"),
        (("games", "--address", "nowhere"), {}, 2, "write host:port"),
        (("games", "--address", "example.org:1"), {}, 2, "is another machine: give --tls-ca"),
        (("games", "--tls-ca", "missing.pem"), {}, 2, "missing.pem: cannot be read"),
        (("openings", "go", "\udcff"), {}, 2, "'\\udcff' is not text: give what is not a path in UTF-8"),
        (("games", "--tls-cert", "missing.pem"), {}, 2, "certificate and its key"),
    ],
)
def test_impossible_command_is_refused_in_one_line(
    academy: Academy, arguments: tuple[str, ...], environment: dict[str, str], exit_code: int, words: str
) -> None:
    result = academy(*arguments, **environment)

    assert result.exit_code == exit_code
    assert result.err.startswith("academy: ") and words in result.err
    assert len(result.err.splitlines()) == 1


def test_a_client_without_its_certificate_is_not_let_in(tmp_path: Path) -> None:
    authority = certificates.authority(tmp_path, "ours")
    server = certificates.signed(tmp_path, "server", authority)
    client = certificates.signed(tmp_path, "client", authority)
    settings = ServerSettings(
        address=LOCAL,
        certificates=Certificates(server.certificate, server.key, authority=authority),
    )
    with serving(tmp_path / "data", settings) as running:
        token = running.token("admin", Role.ADMIN)
        where = ("--address", f"localhost:{running.address.port}", "--token", token, "--tls-ca", authority)
        own = ("--tls-cert", client.certificate, "--tls-key", client.key)

        assert run("games", "--json", *where, *own).json() == []
        assert run("games", *where).exit_code == 3


def test_bot_learns_which_role_it_lacks(academy: Academy, running: Running) -> None:
    result = academy("patterns", "go", "--token", running.token("ann", Role.BOT))
    assert result.exit_code == 1
    assert "this token's role is bot" in result.err and "use an admin's token" in result.err


def test_an_opening_line_is_deleted_and_restored(academy: Academy) -> None:
    before = academy("openings", "go", "--json").json()
    done = academy("openings", "delete", "go", "c3")
    assert "positions deleted" in done.out
    undo = re.search(r"undo it with: academy (removals restore go \d+)", done.out)
    assert undo is not None
    assert len(academy("openings", "--json", "go").json()) < len(before)
    (listed,) = academy("removals", "list", "go", "--json").json()["removals"]
    assert (listed["what"], str(listed["event"])) == ("opening deleted", undo[1].split()[-1])
    assert "opening deleted" in academy("removals", "list", "go").out
    assert "opening positions restored" in academy(*undo[1].split()).out
    assert academy("openings", "go", "--json").json() == before

    refused = academy("openings", "delete", "go", "c3", "nothing").err
    assert "holds only the first 1 of these 2 moves" in refused and "UNKNOWN_OPENING" in refused
    refused = academy("openings", "delete", "go", "nothing").err
    assert "the opening tree does not hold the first of these moves" in refused
    assert "UNKNOWN_REMOVAL" in academy("removals", "restore", "go", "999").err


def test_who_deletes_an_opening_line_learns_that_its_contests_are_not_named_again(academy: Academy) -> None:
    assert academy("history", "opening", "go", "b2", "--json").json()["newest"]
    done = academy("openings", "delete", "go", "b2")
    assert "; which contests came to these positions is forgotten" in done.out
    undo = re.search(r"academy (removals restore go \d+);", done.out)
    assert undo is not None and academy(*undo[1].split()).exit_code == 0
    assert not academy("history", "opening", "go", "b2", "--json").json()["newest"]


def test_what_analysts_found_is_shown_apart_and_can_be_forgotten(academy: Academy, running: Running) -> None:
    before = academy("openings", "go")
    assert "searched" not in before.out
    request = libraries_pb2.AnalyseOpeningsRequest(
        game_id="go", lines=[libraries_pb2.LineAnalysis(moves=["b2"], value=0.125, budget=2_000)]
    )
    analyst = running.client(running.token("night owl", Role.ANALYST))
    assert analyst.libraries.AnalyseOpenings(request).counted == 1
    (row,) = (line for line in academy("openings", "go").out.splitlines() if "night owl" in line)
    assert "0.125" in row and "2,000 games" in row
    assert "analysed nodes" in academy("statistics", "go").out
    assert "openings analysed: b2: 0.125 by 2,000 random games" in academy("events", "go").out
    several = [
        libraries_pb2.LineAnalysis(moves=moves, value=0.5, budget=6, kind=pattern_pb2.SEARCH_KIND_PLIES)
        for moves in (["c3"], ["c3", "b2"], ["c3", "a1"])
    ]
    request = libraries_pb2.AnalyseOpeningsRequest(game_id="go", lines=several)
    assert analyst.libraries.AnalyseOpenings(request).counted == 3
    what = "openings analysed: c3: 0.500 by 6 plies of alpha-beta, and 2 more"
    assert what in academy("events", "go").out
    assert "openings analysed" not in academy("events", "go", "--changes").out
    assert "4 analyses forgotten" in academy("openings", "forget-analyses", "go", "night owl").out
    assert "0 analyses forgotten" in academy("openings", "forget-analyses", "go", "*").out
    assert academy("openings", "go").out == before.out


def test_games_are_compared_by_their_measures(academy: Academy) -> None:
    game = next(game for game in academy("games", "--measures", "--json").json() if game["game_id"] == "go")
    assert game["contests"] == 7
    draws = game["measures"]["draws"]
    # Seven draws do not make an eighth certain.
    assert (draws["value"], draws["contests"]) == (1.0, 7) and 0.1 < draws["standard_error"] < 0.15
    assert game["measures"]["first_player_score"]["standard_error"] == 0
    assert game["measures"]["length"]["standard_error"] == pytest.approx(
        game["measures"]["length_spread"]["value"] / 7**0.5
    )
    assert "value" not in game["measures"]["width"] and "standard_error" not in game["measures"]["width"]
    table = academy("games", "--measures").out
    assert re.search(r"draws\s+│\s+1 ± 0\.12 \(7\)", table) and re.search(r"width\s+│\s+not known", table)


@pytest.mark.parametrize(("wins", "draws", "losses"), [(30, 0, 10), (10, 20, 10), (1, 2, 3), (0, 0, 9)])
def test_the_first_players_score_errs_as_results_vary(wins: int, draws: int, losses: int) -> None:
    scores = [1.0] * wins + [0.5] * draws + [0.0] * losses
    answer = libraries_pb2.GetMeasuresResponse(contests=len(scores))
    answer.measures["first_player_score"].value = statistics.fmean(scores)
    answer.measures["draws"].value = draws / len(scores)
    for measure in answer.measures.values():
        measure.contests = len(scores)
    expected = statistics.pstdev(scores) / len(scores) ** 0.5
    assert standard_errors(answer)["first_player_score"] == pytest.approx(expected, abs=1e-9)
