"""examples/hex.toml is played, by shorter searches: programs in HTP, a Python player, ACADEMY and all."""

from pathlib import Path

from academy.store import event_log
from academy.store.library_store import Store
from referees.api import Termination
from referees.hex import Hex
from tests.arena.cli.command import arena
from tests.referees.hex.games import played

EXAMPLE = Path(__file__).parents[2] / "examples" / "hex.toml"


def test_the_example_is_played_and_learnt_from(tmp_path: Path) -> None:
    control = tmp_path / "hex.toml"
    text = EXAMPLE.read_text()
    shorter = text.replace("rounds = 2", "rounds = 1\ncheck_players = false").replace(
        "playouts 200", "playouts 10"
    )
    assert shorter.count("playouts 10") == 2 and "rounds = 1" in shorter
    everybody = '"random", "quick", "slow", "scholar", "master"'
    assert everybody in shorter
    control.write_text(shorter.replace(everybody, '"random", "quick", "scholar"'))
    done = arena("run", control)
    assert done.returncode == 0, done.stdout + done.stderr
    game = Hex.from_settings({"board_size": 7, "swap": True})
    records = sorted((tmp_path / "hex.games").iterdir())
    assert len(records) == 3
    for record in records:
        ((_, moves, *_),) = game.read_records(record.read_bytes())
        outcome = game.outcome(played(game, " ".join(moves))[0])
        assert outcome is not None and outcome.termination is Termination.SCORE
        assert f"RE[{outcome.summary}]" in record.read_text()
    with Store(tmp_path / "hex.academy", read_only=True) as academy:
        events, _ = academy.read(event_log.read_page, 1000, game_id=game.spec().game_id)
    reports = [event.contest_reported.report for event in events if event.HasField("contest_reported")]
    assert len(reports) == 3
    assert all(len(ply.board) == 49 for report in reports for ply in report.plies)
