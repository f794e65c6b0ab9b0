"""A position in a game of WarLight, and what has just happened, as values."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from referees.warlight.orders import Order

NEUTRAL: Final = 0
UNSEEN: Final = 3


class Deployed(NamedTuple):
    """Armies were placed. `seen` tells of this and the other events whether the opponent could see it."""

    seat: int
    to: int
    asked: int
    sent: int
    seen: bool


class Transferred(NamedTuple):
    """Armies went from a territory to another of the same owner."""

    seat: int
    source: int
    to: int
    asked: int
    sent: int
    seen: bool


class Attacked(NamedTuple):
    """Armies attacked `defenders` armies `against` an owner."""

    seat: int
    source: int
    to: int
    asked: int
    sent: int
    against: int
    defenders: int
    killed: int
    lost: int
    captured: bool
    seen: bool


class RefusedOrder(NamedTuple):
    """An order did nothing, for a reason; a `sound` one could have, had the opponent not been first."""

    seat: int
    order: Order
    why: str
    sound: bool = False
    seen: bool = False


Event = Deployed | Transferred | Attacked | RefusedOrder


@dataclass(frozen=True, slots=True)
class WarPosition:
    """A standing between two turns.

    `turn` is the number of the turn to come, from 1. `owners` has for each territory of the map, by its
    index, NEUTRAL, a seat, or UNSEEN in what a seat may see; `armies` likewise, 0 where unseen. `seed`
    is the game's, 0 in what a seat may see. `events` are those of the turn before, in which `first`
    had the first move (0: the turn had a coin for each pair of orders).
    """

    turn: int
    owners: bytes
    armies: tuple[int, ...]
    seed: int
    events: tuple[Event, ...] = ()
    first: int = 0
