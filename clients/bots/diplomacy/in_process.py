"""The bots as Python players of the arena: `command = "clients.bots.diplomacy.in_process:random_legal"`."""

from collections.abc import Callable
from functools import partial

from clients.bots.diplomacy.bot import Bot
from clients.bots.diplomacy.bots import bot
from referees.diplomacy import Diplomacy, Phase
from referees.diplomacy.game import GamePosition, survivors
from referees.diplomacy.power_orders import PowerOrders

Chooser = Callable[[GamePosition], str]


class WrongGameError(ValueError):
    """A game that is not Diplomacy."""


def seat_bot(referee: Diplomacy, seat: int, player: Bot) -> Chooser:
    """What a factory of the arena returns for a bot in a seat. Raises WrongGameError."""
    if not isinstance(referee, Diplomacy):
        raise WrongGameError(f"the game {referee.name!r}: these bots play Diplomacy")

    def choose(view: GamePosition) -> str:
        return choose_orders(view, seat - 1, player).text

    return choose


def choose_orders(game: GamePosition, power: int, player: Bot) -> PowerOrders:
    """Have a bot choose for a phase: its orders, and a draw of all survivors where it wants one."""
    position = game.position
    draw = None
    if position.phase is Phase.MOVES and len(survivors(game)) > 1 and player.draws(position, power):
        draw = frozenset[int]()
    return PowerOrders.of(position, player.orders(position, power), draw)


def _bot_player(name: str, referee: Diplomacy, seat: int, seed: int) -> Chooser:
    # Powers do not share their chance.
    return seat_bot(referee, seat, bot(name, f"{seed}/{seat}"))


hold, random_legal, tactical = (partial(_bot_player, name) for name in ("hold", "random", "tactical"))
