"""Games between bots, played by the referee alone."""

from collections.abc import Sequence

from clients.bots.diplomacy.bot import Bot
from clients.bots.diplomacy.in_process import choose_orders
from referees.diplomacy import Diplomacy
from referees.diplomacy.game import GamePosition

POWERS = 7


def play(seats: Sequence[Bot], **settings: object) -> list[GamePosition]:
    """Every position of a game, the last one first decided. Whatever is illegal raises IllegalMoveError."""
    rules = Diplomacy.from_settings(settings)
    positions = [rules.start(0)]
    while to_move := rules.to_move(positions[-1]):
        moves = {seat: choose_orders(positions[-1], seat - 1, seats[seat - 1]) for seat in to_move}
        read = {seat: rules.read_move(positions[-1], seat, move.text) for seat, move in moves.items()}
        positions.append(rules.play(positions[-1], read))
    return positions
