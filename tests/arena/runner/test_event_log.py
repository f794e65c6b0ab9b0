"""The event log: one line an event, whatever is in it."""

from pathlib import Path

import pytest

from arena.runner.event_log import EventLog


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("Victoria", "client=Victoria"),
        ("Vic toria", 'client="Vic toria"'),
        ("Zoë 将棋", 'client="Zoë 将棋"'),
        ("\x1b[2J", r"client=\x1b[2J"),
        ("a\nb", r"client=a\nb"),
        ("a\rb\x07", r"client=a\rb\x07"),
        ("\u202eb", r"client=\u202eb"),
        ("\udcff", r"client=\udcff"),
        (OSError("\x9b2J"), r"client=\x9b2J"),
    ],
)
def test_an_event_is_one_line_that_can_be_printed(tmp_path: Path, value: object, written: str) -> None:
    path = tmp_path / "events.log"
    with EventLog(path) as log:
        log.add("client came", client=value)
        log.add("over")
    first, second = path.read_text("utf-8").split("\n")[:2]
    assert first.endswith(f'event="client came" {written}')
    assert second.endswith("event=over")
