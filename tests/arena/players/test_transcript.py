"""What is kept of a game's protocols: each line under its sender, whatever it holds, up to a limit."""

from pathlib import Path

import pytest

from arena.players.logs import ErrorLog, Transcript


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("Deploy 5 on 3", "Deploy 5 on 3"),
        ("a\tb \u00e9 \ufffd", "a\tb \u00e9 \ufffd"),
        ("end\r>> bob: Turn 9", r"end\x0d>> bob: Turn 9"),
        ("a\x0bb\x0cc\x1cd\x85e", r"a\x0bb\x0cc\x1cd\x85e"),
        ("\x1b[2J", r"\x1b[2J"),
    ],
)
def test_no_line_of_a_player_looks_like_another_s(line: str, kept: str, tmp_path: Path) -> None:
    with Transcript(tmp_path / "log") as transcript:
        transcript.log_received("ann", line)
        transcript.log_sent("bob", "Turn 1")
    text = (tmp_path / "log").read_bytes().decode()
    assert text == f"<< ann: {kept}\n>> bob: Turn 1\n"
    assert len(text.splitlines()) == 2


def test_each_side_of_each_player_has_its_own_limit(tmp_path: Path) -> None:
    with Transcript(tmp_path / "log", limit=30) as transcript:
        for _ in range(20):
            transcript.log_received("ann", "Deploy 5 on 3")
        transcript.log_sent("ann", "Turn 1")
        transcript.log_received("bob", "end")
    assert (tmp_path / "log").read_text().splitlines() == [
        "<< ann: Deploy 5 on 3",
        "<< ann: Deploy 5 on 3",
        "<< ann: (more than fits in the log: what follows is dropped)",
        ">> ann: Turn 1",
        "<< bob: end",
    ]


def test_a_full_disk_does_not_interrupt_a_game(tmp_path: Path) -> None:
    for file in ("/dev/full", tmp_path / "log"):
        with Transcript(file) as transcript:
            transcript.log_sent("ann", "Turn 1")
            transcript.log_received("ann", "end")
    assert (tmp_path / "log").read_text() == ">> ann: Turn 1\n<< ann: end\n"


def test_control_characters_on_standard_error_are_shown(tmp_path: Path) -> None:
    log = ErrorLog(tmp_path / "log", "0_1 ann")
    log.add(b"10%\r20%\r\n\x1b[2Jtab\there\r0_1 bob: I lost")
    log.close()
    assert (tmp_path / "log").read_bytes() == (
        b"0_1 ann: 10%\\x0d20%\n0_1 ann: \\x1b[2Jtab\there\\x0d0_1 bob: I lost\n"
    )
