"""Random games go on GNU Go's board as on ours, and it finds the same moves legal."""

import random

import pytest

from referees.go import BLACK, PASS, WHITE, Go
from tests.referees.go.gnugo import Gnugo, needs_gnugo

LETTERS = {BLACK: "black", WHITE: "white"}


@needs_gnugo
@pytest.mark.parametrize(
    ("size", "options", "settings"),
    [
        (5, ["--allow-all-suicide"], {}),
        (9, ["--allow-all-suicide"], {}),
        (7, ["--forbid-suicide"], {"self_capture": False}),
        (
            5,
            ["--forbid-suicide", "--positional-superko"],
            {"self_capture": False, "ko": "positional_superko"},
        ),
        (13, ["--allow-all-suicide"], {}),
    ],
)
def test_random_games_agree_with_gnu_go(size: int, options: list[str], settings: dict[str, object]) -> None:
    game = Go.from_settings({"board_size": size, **settings})
    chance = random.Random(size)
    with Gnugo(*options) as engine:
        engine.ask(f"boardsize {size}")
        for _ in range(3):
            engine.ask("clear_board")
            now = game.start(0)
            for ply in range(2 * size * size):
                colour = LETTERS[now.mover]
                legal = [move for move in game.legal_moves(now, now.mover) if move != PASS]
                if ply % 7 == 0:
                    for point in range(size * size):
                        accepted = engine.ask(f"is_legal {colour} {game.move_text(point)}") == "1"
                        assert accepted == (point in legal), (ply, game.move_text(point))
                move = chance.choice(legal) if legal else PASS
                engine.ask(f"play {colour} {game.move_text(move)}")
                now = game.play(now, {now.mover: move})
                for seat, name in LETTERS.items():
                    ours = {game.move_text(p) for p, state in enumerate(now.stones) if state == seat}
                    assert set(engine.ask(f"list_stones {name}").split()) == ours
                if not game.to_move(now):
                    break
