"""The bots as Python players of the arena: `command = "clients.bots.diplomacy.in_process:random_legal"`."""

from collections.abc import Callable

from clients.bots.diplomacy.bot import Bot
from clients.bots.diplomacy.bots import bot
from referees.diplomacy import Diplomacy, Phase
from referees.diplomacy.game import GamePosition, survivors
from referees.diplomacy.power_orders import PowerOrders

Chooser = Callable[[GamePosition], str]


class WrongGameError(ValueError):
    """A game that is not Diplomacy."""


def hold(referee: Diplomacy, seat: int, seed: int) -> Chooser:
    """A Python player that never moves."""
    return seat_bot(referee, seat, bot("hold", _seed(seat, seed)))


def random_legal(referee: Diplomacy, seat: int, seed: int) -> Chooser:
    """A Python player that gives legal orders at random."""
    return seat_bot(referee, seat, bot("random", _seed(seat, seed)))


def tactical(referee: Diplomacy, seat: int, seed: int) -> Chooser:
    """A Python player that fights."""
    return seat_bot(referee, seat, bot("tactical", _seed(seat, seed)))


def _seed(seat: int, seed: int) -> str:
    """Powers do not share their chance."""
    return f"{seed}/{seat}"


def seat_bot(referee: Diplomacy, seat: int, player: Bot) -> Chooser:
    """What a factory of the arena returns for a bot in a seat. Raises WrongGameError."""
    if not isinstance(referee, Diplomacy):
        raise WrongGameError(f"the game {referee.name!r}: these bots play Diplomacy")

    def choose(view: GamePosition) -> str:
        return written(view, seat - 1, player).text

    return choose


def written(game: GamePosition, power: int, player: Bot) -> PowerOrders:
    """What a bot writes for a phase: its orders, and a draw of all survivors where it wants one."""
    position = game.position
    draw = None
    if position.phase is Phase.MOVES and len(survivors(game)) > 1 and player.draws(position, power):
        draw = frozenset[int]()
    return PowerOrders.of(position, player.orders(position, power), draw)
