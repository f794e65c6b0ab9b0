"""Positions of WarLight: who owns what, what a player sees of it, and the board for ACADEMY."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from academy.knowledge.boards import Board, GraphGeometry
from academy.knowledge.cells import State
from referees.warlight.maps import WarMap
from referees.warlight.orders import Order

NEUTRAL: Final = 0
UNSEEN: Final = 3


class Deployed(NamedTuple):
    """Armies were placed. `seen`, as in the other events, is whether the opponent could see it."""

    seat: int
    to: int
    ordered: int
    sent: int
    seen: bool


class Transferred(NamedTuple):
    """Armies went from a territory to another of the same owner."""

    seat: int
    source: int
    to: int
    ordered: int
    sent: int
    seen: bool


class Attacked(NamedTuple):
    """Armies attacked `defenders` armies `against` an owner."""

    seat: int
    source: int
    to: int
    ordered: int
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


def view(war_map: WarMap, position: WarPosition, seat: int, *, fog: bool) -> WarPosition:
    """The position as a seat may see it; the game's seed would give the future away.

    Without `fog` everybody sees everything else. Its events are all `seen`: whether the opponent saw an order
    tells where the opponent stands.
    """
    owners, near = position.owners, war_map.neighbours
    if fog:
        seen = {place for at, owner in enumerate(owners) if owner == seat for place in (at, *near[at])}
        owners = bytes(owner if at in seen else UNSEEN for at, owner in enumerate(owners))
    return WarPosition(
        position.turn,
        owners,
        tuple([0 if o == UNSEEN else n for o, n in zip(owners, position.armies, strict=True)]),
        0,
        tuple(
            [
                event if event.seen else event._replace(seen=True)
                for event in position.events
                if event.seat == seat or event.seen or not fog
            ]
        ),
        position.first,
    )


MIRROR = "mirror"
_FEW = {1: State.FIRST_SOLDIER, 2: State.SECOND_SOLDIER, NEUTRAL: State.EMPTY, UNSEEN: State.OFF_BOARD}
_STACK = _FEW | {1: State.FIRST_KING, 2: State.SECOND_KING}
_STATES = [bytes(states[owner] for owner in range(4)) for states in (_FEW, _STACK)]


def geometry(war_map: WarMap) -> GraphGeometry:
    """A node for each territory, `ID:NAME`, in the order of their ids."""
    return GraphGeometry(
        tuple(f"{territory.id}:{territory.name}" for territory in war_map.territories), war_map.edges
    )


def to_board(graph: GraphGeometry, position: WarPosition, stack_armies: int) -> Board:
    """A position, or what a seat sees of it; from `stack_armies` armies on a territory is a king."""
    few, stack = _STATES
    return Board(
        graph,
        bytes(
            [
                stack[owner] if armies >= stack_armies else few[owner]
                for owner, armies in zip(position.owners, position.armies, strict=True)
            ]
        ),
    )
