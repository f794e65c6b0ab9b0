"""A program that plays Diplomacy at an arena: legal orders by chance. Arguments: address, player's name."""

import random
import sys
from collections.abc import Callable

from clients.connection import Connection
from clients.remote_game import Game, GameTurn
from clients.remote_play import dial_in
from referees.diplomacy import Diplomacy


def new_game(game: Game) -> Callable[[GameTurn], str]:
    judge, chance = Diplomacy.from_settings(game.settings), random.Random(game.seat)
    standing, known = judge.start(game.seed), 0

    def choose(turn: GameTurn) -> str:
        nonlocal standing, known
        while known < len(turn.moves):
            seats = judge.to_move(standing)
            latest = dict(turn.moves[known : known + len(seats)])
            known += len(seats)
            standing = judge.play(
                standing, {seat: judge.read_move(standing, seat, latest[seat]) for seat in seats}
            )
        return judge.move_text(judge.random_move(standing, game.seat, chance))

    return choose


if __name__ == "__main__":
    dial_in(Connection(sys.argv[1]), sys.argv[2], new_game)
