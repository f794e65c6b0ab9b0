"""examples/diplomacy.toml is played as it stands: seven seats, two players, SAGA's tables filled."""

from pathlib import Path

from sqlalchemy import create_engine, text

from referees.diplomacy import Diplomacy
from tests.arena.cli.command import arena
from tests.arena.inline_worker import games_in_this_process

EXAMPLE = Path(__file__).parents[2] / "examples" / "diplomacy.toml"


def test_the_example_is_played_and_counted(tmp_path: Path) -> None:
    control = tmp_path / "diplomacy.toml"
    control.write_text(EXAMPLE.read_text().replace("games = 4", "games = 1"))
    with games_in_this_process():
        done = arena("run", control)
    assert done.returncode == 0, done.stdout + done.stderr
    judge = Diplomacy.from_settings({"sl": 3, "year_limit": 10})
    records = sorted((tmp_path / "diplomacy.games").iterdir())
    assert [record.name for record in records] == ["least-played_0.json", "three-and-four_0.json"]
    ends = []
    for record in records:
        ((_, moves, *_),) = judge.read_records(record.read_bytes())
        waiting, game = list(moves), judge.start(0)
        while seats := judge.to_move(game):
            game = judge.play(game, {seat: judge.read_move(game, seat, waiting.pop(0)) for seat in seats})
        assert not waiting
        assert game.outcome is not None
        ends.append((game.outcome.rounds, len(game.outcome.winners), max(game.outcome.points)))
    with create_engine(f"sqlite:///{tmp_path / 'diplomacy.results.sqlite'}").connect() as database:
        games = database.execute(
            text('SELECT "Years", "Winners", "MaxSupplies", "Termination" FROM "SAGA_Game"')
        ).all()
        variant = database.execute(text('SELECT "Supplies", "FirstYear" FROM "SAGA_Variant"')).all()
    assert sorted(row[:3] for row in games) == sorted(ends)
    assert {row.Termination for row in games} <= {1, 4, 6}
    assert variant == [(34, 1901)]
