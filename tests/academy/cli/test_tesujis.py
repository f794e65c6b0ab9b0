"""What a game learnt of cells to move to, for people: printed, exported, edited, imported."""

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from academy.cli import library_tables
from academy.store.codec.games import spec_to_proto
from academy.v1 import contests_pb2, game_pb2, libraries_pb2, pattern_pb2
from referees.api import referee
from tests.academy.cli.conftest import Academy, pointed_at
from tests.academy.cli.test_printing import printed_in_columns
from tests.academy.service import examples
from tests.academy.service.examples import beside_each_other, teach_tesujis
from tests.academy.service.running import Running, serving
from tests.academy.service.test_proposals import PAIR, between, submitted, tesuji


def played(game: str, server: Running, contests: int) -> str:
    """Random contests of a game of OpenSpiel, by its own rules; returns ACADEMY's name of it."""
    rules = referee("openspiel").from_settings({"game": game})
    spec = rules.spec()
    described = spec_to_proto(spec)
    described.settings.tesuji_capacity = 60
    server.register(described)
    for number in range(contests):
        random, position = Random(number), rules.start(0)
        report = contests_pb2.ReportContestRequest(
            contest=examples.contest(f"{game}/{number}", spec.game_id, elos=(1500.0, 1500.0)),
            results=[contests_pb2.RESULT_WIN, contests_pb2.RESULT_LOSS],
            start_board=rules.board(position, 1).letters,
        )
        while seats := rules.to_move(position):
            move = random.choice(list(rules.legal_moves(position, seats[0]) or ()))
            position = rules.play(position, {seats[0]: move})
            board = rules.board(position, 1).letters
            report.plies.add(player=seats[0], move=rules.move_text(move), board=board)
        server.report(report)
    return spec.game_id


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("tesujis") / "data") as running:
        yield running


@pytest.fixture(scope="module")
def academy(server: Running) -> Academy:
    return pointed_at(server)


def test_tesujis_are_drawn_the_strongest_first(server: Running, academy: Academy) -> None:
    teach_tesujis(server, "drawn")
    shown = academy("tesujis", "drawn", "--limit", 3)
    assert shown.exit_code == 0, shown.err
    assert "drawn: 3 of" in shown.out and "*" in shown.out and "more with --page" in shown.out
    pages, token = [], ""
    while True:
        page = academy(
            "tesujis", "drawn", "--limit", 20, *(["--page", token] if token else []), "--json"
        ).json()
        pages += page["tesujis"]
        token = page.get("next_page_token", "")
        if not token:
            break
    strengths = [tesuji["strength"] for tesuji in pages]
    assert strengths == sorted(strengths, reverse=True) and len(pages) == page["total_size"] > 20
    avoided = academy("tesujis", "drawn", "--order", "weight", "--json").json()["tesujis"]
    weights = [tesuji["weight_millionths"] for tesuji in avoided]
    assert weights == sorted(weights) and weights[0] == min(tesuji["weight_millionths"] for tesuji in pages)
    refused = academy("tesujis", "drawn", "--order", "value")
    assert refused.exit_code == 1 and "one of strength, weight" in refused.err
    first = pages[0]
    assert first["signature"]["proposers"] == int(first["offered"])


def test_where_tesujis_are_off_the_list_says_so_and_how_to_switch_them_on(
    server: Running, academy: Academy
) -> None:
    teach_tesujis(server, "off")
    assert "tesujis are off" not in academy("tesujis", "off").out
    academy("settings", "off", "tesuji_capacity=0")
    remedy = "academy settings off tesuji_capacity=1000"
    kept = f"tesujis are off; these are kept, and nobody is given them: {remedy}"
    assert academy("tesujis", "off").out.splitlines()[-1] == kept
    assert "tesujis are off" not in academy("tesujis", "off", "--json").out


def test_a_game_that_can_learn_no_tesujis_is_not_offered_a_setting_that_it_refuses(
    server: Running, academy: Academy
) -> None:
    draughts = examples.tiny_go("draughts")
    draughts.move_forms[:] = ["*-*"]
    server.register(draughts)
    assert academy("tesujis", "draughts").out.splitlines()[-1] == "tesujis are off: this game can learn none"
    assert "can learn none" in academy("settings", "draughts", "tesuji_capacity=1000").err


@pytest.mark.parametrize(
    ("game", "form"),
    [("go", "text"), ("connect_four", "text"), ("othello", "binary")],
)
def test_tesujis_move_to_an_empty_server_and_advise_there_as_here(
    server: Running, academy: Academy, tmp_path: Path, game: str, form: str
) -> None:
    if game == "go":
        name = f"go-{form}"
        teach_tesujis(server, name)
        contest = examples.contest(f"{name}/pair", name)
        submitted(server.open(contest)[1], contest.contest_id, tesuji(PAIR, ply=4))
        server.report(between(contest))
    else:
        name = played(game, server, 6)
    first, second = tmp_path / "first", tmp_path / "second"
    assert academy("export", name, "--to", first, "--format", form).exit_code == 0
    with serving(tmp_path / "elsewhere") as empty:
        at_empty = pointed_at(empty)
        assert at_empty("games", "create", first).exit_code == 0
        done = at_empty("import", name, first)
        assert done.exit_code == 0, done.err
        assert at_empty("export", name, "--to", second, "--format", form).exit_code == 0
        here, there = (place.store.follow().refresh(name).tesujis for place in (server, empty))
        assert here == there and len(here) > 20
        assert len(here.proposed) == (game == "go")
        if game != "go":
            assert len(set((here.codes >> 32 & 63).tolist())) > 1
        # The same again: counts add up, what they say stays.
        assert at_empty("import", name, first, "--again").exit_code == 0
        twice = empty.store.follow().refresh(name).tesujis
        assert (twice.offered == 2 * here.offered).all() and twice.values.tolist() == here.values.tolist()
        assert at_empty("import", name, first, "--replace").exit_code == 0
        assert empty.store.follow().refresh(name).tesujis == here
    assert first.read_bytes() == second.read_bytes()


def test_a_tesuji_that_stands_twice_is_refused_by_both_lines(
    server: Running, academy: Academy, tmp_path: Path
) -> None:
    teach_tesujis(server, "twice")
    lines = academy("export", "twice", "--library", "middle-game").out.splitlines()
    first = lines.index("% library tesujis") + 2
    last = next(number for number, line in enumerate(lines) if number > first and line.startswith("<"))
    file = tmp_path / "twice.txt"
    again = [*lines[: last + 1], *lines[first - 1 : last + 1], *lines[last + 1 :]]
    file.write_text("\n".join(again))
    refused = academy("import", "twice", file)
    shown = " ".join(refused.err.split())
    assert refused.exit_code
    assert re.search(rf"line {last + 3}, column 1: the same as in line {first + 1}: leave one", shown), shown


@pytest.fixture(scope="module")
def edited(server: Running, academy: Academy) -> str:
    """The text of a game, to be edited."""
    teach_tesujis(server, "edited")
    return academy("export", "edited", "--library", "middle-game").out


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ("*", "-", "line 11, column 1: 0 cells are '*'"),
        ("*", "b", "letter 'b' is none of - x o + # * _"),
        ("% offered", "% bid", "'bid' must be one of player, place, turned, taken"),
        ("chosen", "refused", "'refused' must be one of"),
        ("% player 1", "% player 2", "tesujis of this game are kept for player 1"),
        ("% uses", "% place 7\n% uses", "place 7: tesujis of this shape have [None]"),
        ("% uses", "% player 1\n% uses", "'player' stands here for the second time"),
        ("weight -", "weight -9", "a weight beyond 8"),
        ("% offered ", "% offered 9999999999999", ": counted more than 100,000,000,000 times"),
        ("% uses 0 successes 0", "% uses 3 successes 5", "uses 3, successes 5: more successes than uses"),
        ("% library tesujis", "% library tesuji", "there are opening, middle-game, endgame, tesujis"),
        ("\n< ", "\n< 9", "is not the proposers of the pattern"),
    ],
)
def test_text_that_no_tesuji_could_have_is_refused_by_line(
    server: Running, academy: Academy, edited: str, tmp_path: Path, before: str, after: str, complaint: str
) -> None:
    request = libraries_pb2.GetStatisticsRequest(game_id="edited")
    assert before in edited
    file = tmp_path / "edited.txt"
    file.write_text(edited.replace(before, after, 1))
    refused = academy("import", "edited", file)
    assert refused.exit_code and complaint in " ".join(refused.err.split()) and "line " in refused.err
    assert server.admin().libraries.GetStatistics(request).tesujis


def test_one_proposed_tesuji_is_deleted_by_its_code_and_restored(server: Running, academy: Academy) -> None:
    teach_tesujis(server, "mended")
    contest = examples.contest("mended/pair", "mended")
    submitted(server.open(contest)[1], contest.contest_id, tesuji(PAIR, ply=4))
    server.report(between(contest))
    listed = "tesujis", "mended", "--limit", 1_000
    before = academy(*listed, "--json").json()["tesujis"]
    (proposed,) = [tesuji for tesuji in before if int(tesuji["code"]) >= 2**62]
    code = proposed["code"]
    assert str(code) in academy(*listed).out

    done = academy("tesujis", "delete", "mended", code)
    assert "mended: tesuji deleted" in done.out and str(code) in done.out
    left = academy(*listed, "--json").json()["tesujis"]
    assert [tesuji for tesuji in before if tesuji not in left] == [proposed]
    again = academy("tesujis", "delete", "mended", code)
    assert again.exit_code == 1
    assert f"mended has no tesuji of code {code}; `academy tesujis mended` lists their codes" in again.err
    assert "UNKNOWN_TESUJI" in again.err
    log = academy("events", "mended", "--changes").out
    for words in (f"tesuji deleted: {code},", "admin", " / ".join(proposed["cells"].splitlines())):
        assert words in log
    assert "tesuji deleted" in academy("removals", "list", "mended").out

    undo = re.search(r"undo it with: academy (removals restore mended \d+)", done.out)
    assert undo is not None
    assert "mended: 1 tesuji and 0 weights restored" in academy(*undo[1].split()).out
    assert academy(*listed, "--json").json()["tesujis"] == before
    assert "1 tesuji " in academy("events", "mended", "--limit", 1).out

    printed = academy("tesujis", "delete", "mended", code, "--json").json()
    assert printed["tesuji"] == proposed and printed["removal"] > 0


def test_a_tesuji_that_was_learnt_again_stays_as_it_is_and_the_undo_says_so(
    server: Running, academy: Academy
) -> None:
    teach_tesujis(server, "again")
    listed = "tesujis", "again", "--limit", 1_000, "--json"
    # Nothing around: each contest has it.
    code = min(tesuji["code"] for tesuji in academy(*listed).json()["tesujis"])
    removal = academy("tesujis", "delete", "again", code, "--json").json()["removal"]
    played = examples.contest("again/later", "again", elos=(1500.0, 1500.0))
    server.report(beside_each_other(played, Random(0)))
    learnt = academy(*listed).json()["tesujis"]
    assert code in [tesuji["code"] for tesuji in learnt]
    undone = academy("removals", "restore", "again", removal)
    assert undone.out == (
        "again: nothing restored: what was removed is known again, and stays as it is now\n"
    )
    assert academy(*listed).json()["tesujis"] == learnt


def test_a_terminal_of_80_columns_shows_a_proposed_tesuji_and_its_code_whole() -> None:
    record = pattern_pb2.TesujiRecord(
        code=2**63 - 1, cells="x - # - - - x\n- - - * - - -", player=1, offered=123_456, chosen=12_345
    )
    narrow = printed_in_columns(80, library_tables.tesujis_table("go", [record], game_pb2.Game()))
    assert str(2**63 - 1) in narrow and all(line in narrow for line in record.cells.splitlines())


def test_a_turned_drawing_is_the_same_tesuji(server: Running, academy: Academy, tmp_path: Path) -> None:
    game = examples.tiny_go("turned")
    game.settings.tesuji_capacity = 10
    server.register(game)
    figures = "% player 1\n% offered 10 chosen 4 elos 15000 weight 0.5 gradient 1\n"
    for cells, offered in (
        ("o - -\n- * x\n- - -", [10]),
        # Turned by half, then mirrored.
        ("- - -\nx * -\n- - o", [20]),
        ("- x -\n- * -\n- - o", [30]),
        ("- x -\n- * o\n- - -", [30, 10]),
    ):
        file = tmp_path / "one.txt"
        file.write_text(f"% academy text 1\n% library tesujis\n{figures}{cells}\n")
        done = academy("import", "turned", file)
        assert "1 tesuji," in done.out, done.err
        known = academy("tesujis", "turned", "--json").json()["tesujis"]
        assert [int(tesuji["offered"]) for tesuji in known] == offered


def test_a_game_without_empty_cells_to_move_to_takes_no_tesujis(
    server: Running, academy: Academy, tmp_path: Path
) -> None:
    ring: game_pb2.Game = examples.ring("ring")
    server.register(ring)
    file = tmp_path / "ring.txt"
    file.write_text("% academy text 1\n% library tesujis\n% player 1\n% offered 1\n*\n")
    refused = academy("import", "ring", file)
    assert refused.exit_code and "two players in turn" in " ".join(refused.err.split())
