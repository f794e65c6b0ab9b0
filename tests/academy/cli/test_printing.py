"""What is printed cannot command the terminal, whatever older data hold."""

import pytest
from rich.console import Console
from rich.table import Table

from academy.cli import contest_tables, event_table, library_tables, printing
from academy.knowledge.evaluation_features import FIRST_PATTERN
from academy.store.library_text.writing import write_text
from academy.v1 import consultation_pb2, contests_pb2, events_pb2, game_pb2, pattern_pb2
from academy.wire.names import visible
from tests.academy.service import examples
from tests.academy.store.examples import export

ESCAPE = "E5\x1b[2J\x9b1m"
NODE = pattern_pb2.OpeningNodeRecord(
    node_id=1, move=ESCAPE, depth=1, mover=1, visits=1, wins=[1], draws=[0], losses=[0], value_millionths=[1]
)

ROOT = pattern_pb2.OpeningNodeRecord(visits=1, wins=[1], draws=[0], losses=[0], value_millionths=[1])


def test_moves_and_words_are_printed_without_their_control_characters() -> None:
    report = contests_pb2.ReportContestRequest(termination=ESCAPE)
    event = events_pb2.Event(actor=ESCAPE, contest_reported=events_pb2.ContestReported(report=report))
    console = printing.console()
    with console.capture() as capture:
        console.print(library_tables.openings_table("Openings", [NODE]))
        console.print(event_table.events_table([event]))
    printed = capture.get()
    assert printed.count(r"E5\u001b[2J\u009b1m") == 3
    assert all(letter.isprintable() or letter == "\n" for letter in printed)


def test_whole_numbers_of_settings_are_printed_with_all_digits() -> None:
    settings = game_pb2.LibrarySettings(opening_capacity=1_000_000, prune_below=0.25, evaluation=True)
    settings.elo_margin = 9_999_999
    table = printed_in_columns(200, library_tables.settings_table("go", settings))
    assert all(value in table for value in ("1000000", "9999999", "0.25", "true", "false"))
    fair_use = library_tables.games_fair_use_table([game_pb2.Game(game_id="go", settings=settings)])
    assert "9999999" in printed_in_columns(200, fair_use)


@pytest.mark.parametrize("name", [ESCAPE, "[/a1]", "[red]a1"])
def test_a_cells_name_is_printed_as_it_is_but_for_control_characters(name: str) -> None:
    game = game_pb2.Game(game_id="named", players=2, symmetric=True, symmetries=["identity"])
    game.reversal, game.expected_length = "identity", 60.0
    game.geometry.square.rows = game.geometry.square.columns = 5
    game.cell_names.extend([f"{name}{cell}" for cell in range(25)])
    tesuji = pattern_pb2.TesujiRecord(code=5, cells="-*-", place=0)
    weights = consultation_pb2.DownloadWeightsResponse()
    weights.evaluation.codes.append(FIRST_PATTERN)
    weights.evaluation.millionths.append(1)
    for table in (
        library_tables.tesujis_table("Tesujis", [tesuji], game),
        library_tables.weights_table(game, weights, 1),
    ):
        assert f"{visible(name)}0" in printed_in_columns(200, table)


def test_an_event_of_another_server_without_positions_ends_no_list_of_events() -> None:
    event = events_pb2.Event(openings_analysed=events_pb2.OpeningsAnalysed())
    assert "openings analysed: 0 positions" in printed_in_columns(200, event_table.events_table([event]))


@pytest.mark.parametrize("game_id", ["go-19x19-komi-7.5", "openspiel-breakthrough-6x6-of-the-club"])
def test_a_terminal_of_80_columns_shows_whole_ids_and_headings_of_games(game_id: str) -> None:
    game = examples.tiny_go(game_id)
    settings = game_pb2.LibrarySettings(opening_capacity=1_000_000, elo_margin=0, consult_share=0.5)
    game.settings.MergeFrom(settings)
    narrow = printed_in_columns(80, library_tables.games_table([game]))
    assert "…" not in narrow
    for word in ("game", "players", "middle-game", "endgame", "1,000,000"):
        assert word in narrow
    assert game_id in first_column(narrow)
    fair_use = printed_in_columns(80, library_tables.games_fair_use_table([game]))
    assert "…" not in fair_use and game_id in first_column(fair_use)


def test_a_terminal_of_80_columns_cuts_no_id_of_an_open_contest() -> None:
    contest = contests_pb2.Contest(
        contest_id="cup/2026-11-28/AvB_17", arena="cup", game_id="go-19x19-komi-7.5"
    )
    contest.players.add(name="gnugo")
    contest.players.add(name="pachi")
    narrow = printed_in_columns(80, contest_tables.contests_table([contest], now=0.0))
    assert "…" not in narrow and contest.contest_id in first_column(narrow)
    fair_use = printed_in_columns(80, contest_tables.contests_fair_use_table([contest]))
    assert "…" not in fair_use and contest.contest_id in first_column(fair_use)


def printed_in_columns(width: int, table: Table) -> str:
    console = Console(width=width)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def first_column(printed: str) -> str:
    """The texts of the first column of the rows, put together where a row has several lines."""
    return "".join(line.split("│")[1].strip() for line in printed.splitlines() if line.startswith("│"))


def test_an_exported_text_holds_no_control_characters() -> None:
    text = "".join(write_text(export(game_pb2.Game(game_id="go"), nodes=[ROOT, NODE])))
    assert r'"E5\u001b[2J\u009b1m"' in text and text.isprintable()


def test_one_thing_is_counted_as_one() -> None:
    assert [printing.counted(count, "tesuji") for count in (0, 1, 2_000)] == [
        "0 tesujis",
        "1 tesuji",
        "2,000 tesujis",
    ]
    assert [printing.counted(count, "ply", "plies") for count in (1, 2)] == ["1 ply", "2 plies"]


def test_what_players_got_is_printed_by_kind() -> None:
    seat = contests_pb2.SeatConsultations(
        player=1, pattern_questions=2, tesuji_ids=[3, 4], evaluation=True, weights=True
    )
    seat.patterns.add(pattern_ids=[7])
    answer = contests_pb2.PatternAnswer(patterns=1, tesujis=2, evaluation=True, best_cell=5)
    seat.questions.add(plies=2, value=0.2, answer=answer)
    seat.questions.add(plies=4, value=0.1, answer=contests_pb2.PatternAnswer(patterns=0))
    asked, got = (
        list(map(str, column.cells)) for column in contest_tables.questions_table([seat]).columns[-2:]
    )
    assert asked == ["2 (0.20): 1 pattern, 2 tesujis, evaluation, best cell 5; 4 (0.10): nothing"]
    assert got == ["1 pattern, 2 tesujis, evaluation, weights"]


def test_a_recommended_move_is_printed_as_it_is() -> None:
    seat = contests_pb2.SeatConsultations(player=1, opening_questions=1, opening_plies=[0])
    move = seat.opening_answers.add()
    console = printing.console()
    for move.move in ("[red]x", "E5[/b]", ESCAPE):
        with console.capture() as capture:
            console.print(contest_tables.questions_table([seat]))
        assert f"0: {move.move}".replace("\x1b", r"\u001b").replace("\x9b", r"\u009b") in capture.get()


def test_no_reader_of_json_rounds_a_tesujis_code() -> None:
    codes = [2**53, 2**53 + 1]
    shown = [printing.as_json(pattern_pb2.TesujiRecord(code=code))["code"] for code in codes]
    assert shown == [codes[0], str(codes[1])]
