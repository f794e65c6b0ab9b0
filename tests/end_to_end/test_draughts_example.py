"""The example competition of draughts runs as it is."""

import shutil
from pathlib import Path

from referees.draughts import Draughts
from tests.arena.cli.command import arena
from tests.arena.inline_worker import games_in_this_process

EXAMPLE = Path(__file__).parents[2] / "examples" / "draughts.toml"


def test_the_example_plays_and_its_records_can_be_read(tmp_path: Path) -> None:
    control = Path(shutil.copy(EXAMPLE, tmp_path))
    with games_in_this_process():
        done = arena("run", control, "--parallel", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "the run is over: all games have been played" in done.stdout
    records = sorted(tmp_path.rglob("*.pdn"))
    assert len(records) == 6
    judge = Draughts.from_settings({"variant": "english"})
    for record in records:
        ((name, moves, *_),) = judge.read_records(record.read_bytes())
        assert name.startswith("draughts ")
        position = judge.start(0)
        for text in moves:
            (seat,) = judge.to_move(position)
            position = judge.play(position, {seat: judge.read_move(position, seat, text)})
        outcome = judge.outcome(position)
        assert outcome is not None
        assert f'[Result "{outcome.summary}"]' in record.read_text(encoding="utf-8")
