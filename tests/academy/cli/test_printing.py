"""What is printed cannot command the terminal, whatever older data hold."""

from academy.cli import contest_tables, event_table, library_tables, printing
from academy.store.library_text.writing import write_text
from academy.v1 import contests_pb2, events_pb2, pattern_pb2

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


def test_an_exported_text_holds_no_control_characters() -> None:
    text = "".join(write_text("go", nodes=[ROOT, NODE]))
    assert r'"E5\u001b[2J\u009b1m"' in text and text.isprintable()


def test_a_recommended_move_is_printed_as_it_is() -> None:
    seat = contests_pb2.SeatConsultations(player=1, opening_questions=1, opening_plies=[0])
    move = seat.opening_answers.add()
    console = printing.console()
    for move.move in ("[red]x", "E5[/b]", ESCAPE):
        with console.capture() as capture:
            console.print(contest_tables.questions_table([seat]))
        assert f"0: {move.move}".replace("\x1b", r"\u001b").replace("\x9b", r"\u009b") in capture.get()
