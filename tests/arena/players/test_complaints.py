"""What is reported of a bot's faults: equal ones once with their number, grave ones always."""

from arena.players.lines import MAX_COMPLAINTS, Complaints


def test_equal_complaints_are_one_line_with_their_number() -> None:
    complaints = Complaints()
    for turn in (1, 2, 2, 7):
        complaints.add(turn, "a line was dropped: 'x'")
    complaints.add(7, "a line was dropped: 'y'")
    assert complaints.lines() == [
        "turn 1: a line was dropped: 'x' (4 times, the last in turn 7)",
        "turn 7: a line was dropped: 'y'",
    ]


def test_grave_complaints_are_reported_after_any_others() -> None:
    complaints = Complaints()
    for turn in range(1, 2 * MAX_COMPLAINTS + 1):
        complaints.add(turn, f"complaint {turn}")
    complaints.add(101, "complaint 1")
    complaints.add_grave(102, "no answer within 2 s", "late")
    complaints.add_grave(103, "no answer within 1.5 s", "late")
    complaints.add_grave(104, "passes for the rest", "gone")
    lines = complaints.lines()
    assert lines[0] == "turn 1: complaint 1 (2 times, the last in turn 101)"
    assert lines[MAX_COMPLAINTS:] == [
        "turn 102: no answer within 2 s (2 times, the last in turn 103)",
        "turn 104: passes for the rest",
        f"{MAX_COMPLAINTS} more warnings, of other kinds",
    ]


def test_a_complaint_is_cut() -> None:
    complaints = Complaints()
    complaints.add(1, "x" * 10_000)
    assert len(complaints.lines()[0]) < 400
