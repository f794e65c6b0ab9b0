"""OpenSpiel's games under the arena: engines understand all moves, and the example at Othello runs."""

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspiel")

from arena.jobs import GameJob, PlayerSetup
from arena.match.game import play
from referees.api import Termination
from referees.openspiel import OpenSpiel
from tests.arena.cli.command import arena
from tests.arena.engines import python_player

EXAMPLE = Path(__file__).parents[3] / "examples" / "othello.toml"
ENGINE = (sys.executable, "-m", "clients.bots.any_game", "openspiel", "--playouts", "2", "--seed", "1")


@pytest.mark.parametrize(
    "game",
    [
        "amazons(board_size=6)",  # "X From (6, 2)"
        "chess",  # "Qh4#", and seat 2 moves first
        "dots_and_boxes",  # a player may move several times in a row
        "go(board_size=5)",  # "B a1"
        "nim",  # "pile:4, take:3;"
        "ultimate_tic_tac_toe",  # "Choose local board 5"
    ],
)
def test_engines_play_all_texts_of_moves(game: str) -> None:
    engine = PlayerSetup("mcts", (*ENGINE, "--set", f"game={game}"), start_seconds=120.0, move_seconds=120.0)
    chance = python_player("chance", "arena.players.random_moves:random_moves")
    result = play(GameJob("0_1", "openspiel", {"game": game}, (engine, chance), seed=1, move_limit=40))
    assert result.outcome is not None and not result.warnings, result
    assert result.outcome.termination in (Termination.SCORE, Termination.MOVE_LIMIT), result.outcome
    judge = OpenSpiel.from_settings({"game": game})
    ((_, moves, *_),) = judge.read_records(result.record.encode())
    assert len(moves) > 3


def test_the_example_plays_and_its_record_can_be_read(tmp_path: Path) -> None:
    control = tmp_path / EXAMPLE.name
    # Nobody looks at how well it plays.
    control.write_text(EXAMPLE.read_text().replace("--playouts 60", "--playouts 6"))
    done = arena("run", control, "--parallel", "1", "--max-games", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "the run's limit of games is reached" in done.stdout
    (record,) = (tmp_path / "othello.games").glob("*.json")
    judge = OpenSpiel.from_settings({"game": "othello"})
    ((name, moves, *_),) = judge.read_records(record.read_bytes())
    assert name.startswith("othello ")
    position = judge.start(0)
    for text in moves:
        (seat,) = judge.to_move(position)
        position = judge.play(position, {seat: judge.read_move(position, seat, text)})
    outcome = judge.outcome(position)
    assert outcome is not None and outcome.summary == json.loads(record.read_text())["result"]
