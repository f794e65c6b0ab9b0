"""Diplomacy without press, as the arena plays it: all powers write orders at once."""

import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, Self

from academy.knowledge.boards import Board, GraphGeometry
from academy.knowledge.cells import State
from academy.knowledge.spec import GameSpec
from referees.api import (
    GameRecord,
    IllegalMoveError,
    Outcome,
    RecordedGame,
    Referee,
    Termination,
    VariantFacts,
)
from referees.diplomacy import record
from referees.diplomacy.adjudication import adjudicate
from referees.diplomacy.adjustments import adjustment, adjustments
from referees.diplomacy.arrows import arrows_of
from referees.diplomacy.daide.table import DaideDialogue
from referees.diplomacy.drawing import draw
from referees.diplomacy.game import GamePosition, advance, agree, begin, draw_now, survivors
from referees.diplomacy.legal import as_listed, legal_orders
from referees.diplomacy.map import UnitKind, shipped_maps
from referees.diplomacy.notation import order_text
from referees.diplomacy.openings import opening_move
from referees.diplomacy.orders import OrderKind
from referees.diplomacy.position import Phase, Position
from referees.diplomacy.power_orders import PowerOrders
from referees.diplomacy.settings import DiplomacySettings, is_file, map_id
from referees.drawing import Drawing

if TYPE_CHECKING:
    from referees.diplomacy.deepmind.policy_game import DeepMindDialogue

# Random games do not end; between players games last about ten years of four phases, most of them with
# orders of most powers.
EXPECTED_PHASES: Final = 40.0
# Two of moves, each with one of retreats, and one of builds.
PHASES_OF_A_YEAR: Final = 5


class Diplomacy(Referee[GamePosition, PowerOrders]):
    """Diplomacy under given settings (see `DiplomacySettings`).

    Seats are the powers in the order of the map. A move is all that a power writes for a phase. In a phase
    of moves every power with a unit or a centre is to move, in retreats those with dislodged units, in
    builds those with something to build or remove.
    """

    name: ClassVar[str] = "diplomacy"

    def __init__(self, settings: DiplomacySettings) -> None:
        self.settings = settings
        self.map = settings.map
        neighbours = enumerate(self.map.neighbours)
        edges = tuple(
            (province, other) for province, near in neighbours for other in near if province < other
        )
        self._geometry = GraphGeometry(self.map.codes, edges)
        self._spec = GameSpec(
            game_id=f"diplomacy-{map_id(self.map)}",
            geometry=self._geometry,
            players=len(self.map.powers),
            symmetric=False,
            cell_names=self.map.codes,
            expected_length=EXPECTED_PHASES * len(self.map.powers),
            simultaneous=True,
        )

    @classmethod
    def from_settings(cls, settings: Mapping[str, object]) -> Self:
        """Make a referee; every setting has a default. Raises InvalidSettingError."""
        return cls(DiplomacySettings.read(settings))

    @classmethod
    def settings_of(cls, game_id: str) -> Mapping[str, object] | None:
        """The map, where it is one of those that come with the game."""
        kind, dash, board = game_id.partition("-")
        return {"map": board} if kind == "diplomacy" and dash and board in shipped_maps() else None

    @classmethod
    def names_file(cls, setting: str, value: str) -> bool:
        """Whether a setting names a map's file."""
        return setting == "map" and is_file(value)

    def longest_game(self) -> int:
        """A move of each power in each of a year's five phases."""
        return PHASES_OF_A_YEAR * len(self.map.powers) * self.settings.year_limit

    def spec(self) -> GameSpec:
        """One game for each map: the provinces as a graph, without symmetries."""
        return self._spec

    def variant_facts(self) -> VariantFacts:
        """The map's centres, first year, season and powers, in DAIDE's tokens; the settings in force."""
        return VariantFacts(
            supplies=len(self.map.centres),
            first_year=self.map.first_year,
            first_season="SPR",
            settings=self.settings.in_force(),
            codes=[power.code for power in self.map.powers],
        )

    def seat_name(self, seat: int) -> str:
        """The power's name."""
        return self.map.powers[seat - 1].name

    def start(self, seed: int) -> GamePosition:
        """The map's first position; Diplomacy has no chance, so `seed` changes nothing."""
        return begin(Position.start(self.map))

    def to_move(self, position: GamePosition) -> tuple[int, ...]:
        """The seats that have something to order; none when the game is over."""
        if position.outcome is not None:
            return ()
        board = position.position
        if board.phase is Phase.MOVES:
            return tuple(power + 1 for power in survivors(position))
        if board.phase is Phase.RETREATS:
            return tuple(sorted({entry.unit.power + 1 for entry in board.dislodged}))
        return tuple(power + 1 for power, number in enumerate(adjustments(board)) if number)

    def legal_moves(self, position: GamePosition, seat: int) -> None:
        """None: the sets of orders are too many to list; `legal_orders` lists those of each unit."""
        return

    def random_move(self, position: GamePosition, seat: int, chance: random.Random) -> PowerOrders:
        """One legal order for each unit, or as many builds or removals as are due."""
        board, power = position.position, seat - 1
        orders = [chance.choice(choices) for choices in legal_orders(board, power).values()]
        if board.phase is Phase.BUILDS:
            orders = chance.sample(orders, abs(adjustment(board, power)))
        return PowerOrders.of(board, orders)

    def stand_in_move(self, position: GamePosition, seat: int) -> PowerOrders:
        """Civil disorder: no orders, so that units hold, dislodged ones disband and removals go by the rules.

        It agrees to no draw: in DAIDE's syntax a draw is what all players accept that are not eliminated.
        """
        return PowerOrders.of(position.position, ())

    def check(self, position: GamePosition, seat: int, move: PowerOrders) -> None:
        """Raises IllegalMoveError: out of turn, two orders for a unit, not its unit, too many builds, a draw.

        Orders for units of the power that cannot be carried out are refused only without `aoa`. A unit
        may be left without an order.
        """
        if seat not in self.to_move(position):
            over = position.outcome is not None
            raise IllegalMoveError("the game is over" if over else f"{self.seat_name(seat)} is not to move")
        if not isinstance(move, PowerOrders):
            raise IllegalMoveError(f"{move!r} are not orders of a power")
        self._check_draw(position, seat, move.draw)
        self._check_orders(position.position, seat - 1, move)

    def _check_draw(self, position: GamePosition, seat: int, draw: frozenset[int] | None) -> None:
        if draw is None:
            return
        alive = frozenset(survivors(position))
        if position.position.phase is not Phase.MOVES:
            raise IllegalMoveError("a draw is offered with the orders of a phase of moves")
        if draw and not draw <= alive:
            dead = ", ".join(self.seat_name(power + 1) for power in sorted(draw - alive))
            raise IllegalMoveError(f"a draw with {dead}, eliminated: only survivors draw")
        if draw and draw != alive and not self.settings.pda:
            raise IllegalMoveError(
                "a draw of some of the survivors: this game is played without partial draws (pda)"
            )
        if len(draw or alive) < 2:
            raise IllegalMoveError("a draw of one power: at least two draw")

    def _check_orders(self, position: Position, power: int, move: PowerOrders) -> None:
        legal = legal_orders(position, power)
        seen: set[int] = set()
        written = move.written or [order_text(position, order) for order in move.orders]
        for order, text_of_order in zip(move.orders, written, strict=True):
            if order.kind is OrderKind.WAIVE:
                if position.phase is not Phase.BUILDS:
                    raise IllegalMoveError(f"{text_of_order}: builds are waived in phases of builds")
                continue
            province = self.map.province_of[order.location]
            if province in seen:
                raise IllegalMoveError(f"{text_of_order}: a second order for {self.map.codes[province]}")
            seen.add(province)
            if province not in legal:
                raise IllegalMoveError(
                    f"{text_of_order}: {self.seat_name(power + 1)} has nothing to order there"
                )
            if not self.settings.aoa and as_listed(self.map, order) not in legal[province]:
                raise IllegalMoveError(f"{text_of_order}: the unit cannot be ordered so")
        due = abs(adjustment(position, power))
        if position.phase is Phase.BUILDS and len(move.orders) > due:
            raise IllegalMoveError(f"{', '.join(written)}: {len(move.orders)} orders, and only {due} are due")

    def play(self, position: GamePosition, moves: Mapping[int, PowerOrders]) -> GamePosition:
        """The game after a phase. A draw that every survivor offers ends it, and no order is carried out.

        Raises IllegalMoveError, also where the move of a seat is missing.
        """
        seats = self.to_move(position)
        if tuple(sorted(moves)) != seats:
            raise IllegalMoveError(f"moves of the seats {sorted(moves)}: to move are {list(seats)}")
        for seat, move in moves.items():
            self.check(position, seat, move)
        if position.position.phase is Phase.MOVES:
            drawn = agree(position, [move.draw for move in moves.values()])
            if drawn is not None:
                return drawn
        orders = {seat - 1: move.orders for seat, move in moves.items()}
        return advance(position, adjudicate(position.position, orders, self.settings.choices), self.settings)

    def outcome(self, position: GamePosition) -> Outcome | None:
        """How the game ended; `points` are supply centres."""
        return position.outcome

    def adjudicate(self, position: GamePosition) -> Outcome | None:
        """A game that was stopped is a draw of all survivors."""
        return position.outcome or draw_now(position, Termination.ADJUDICATION, "stopped")

    def board(self, position: GamePosition, seat: int) -> Board:
        """Who stands in each province: armies are soldiers, fleets kings.

        The first player's are those of the power that asks; on a map for two, those of the first power
        for both. Dislodged units are left out.
        """
        first = seat - 1 if len(self.map.powers) > 2 else 0
        states = bytearray([State.EMPTY]) * len(self.map.codes)
        for unit in position.position.units:
            army = unit.kind is UnitKind.ARMY
            if unit.power == first:
                state = State.FIRST_SOLDIER if army else State.FIRST_KING
            else:
                state = State.SECOND_SOLDIER if army else State.SECOND_KING
            states[self.map.province_of[unit.location]] = state
        return Board(self._geometry, bytes(states))

    def drawing(self, position: GamePosition) -> Drawing:
        """The map with its units, the owners of supply centres, and the orders of the phase before."""
        return draw(position.position, () if position.last is None else arrows_of(position.last))

    def interaction(self, position: GamePosition) -> bool:
        """Whether a unit could be ordered to where another power's unit stands or could be ordered to."""
        reached: dict[int, int] = {}
        for unit in position.position.units:
            here = 1 << self.map.province_of[unit.location]
            reached[unit.power] = (
                reached.get(unit.power, 0) | here | self.map.reach_mask[unit.kind][unit.location]
            )
        seen = 0
        for mask in reached.values():
            if seen & mask:
                return True
            seen |= mask
        return False

    def move_text(self, move: PowerOrders) -> str:
        """`A MAR S A PAR - BUR, A PAR - BUR, F BRE - MAO`: orders by province, then a draw."""
        return move.text

    def opening_move(self, position: GamePosition, seat: int, move: PowerOrders) -> str:
        """The orders in their situation, without a draw; see `referees.diplomacy.openings`."""
        return opening_move(position.position, seat - 1, move.orders)

    def read_move(self, position: GamePosition, seat: int, text: str) -> PowerOrders:
        """Read a power's orders, separated by commas, in any notation. Raises UnreadableMoveError."""
        return PowerOrders.read(position.position, text, self.settings.choices.lenient_coasts)

    def dialogue(self, protocol: str) -> "DeepMindDialogue | DaideDialogue | None":
        """`daide`: for bots of the DAIDE servers. `policy`: for DeepMind's, on the standard map.

        Raises InvalidMapError for a map that cannot be sent in DAIDE's messages.
        """
        if protocol == "daide":
            return DaideDialogue(self.settings)
        if protocol != "policy" or self.map.name != "standard":
            return None
        # Only games of policies need arrays.
        from referees.diplomacy.deepmind.policy_game import DeepMindDialogue

        return DeepMindDialogue(self)

    def record(self, game: GameRecord) -> str:
        """The game as JSON: every phase with its position, orders, results and reasons."""
        return record.write(game, self.settings, self.start(game.seed), self.to_move, self.play)

    def read_records(self, content: bytes) -> Sequence[RecordedGame]:
        """The game of a record, so that it can be taken up where it ended."""
        return record.read(content, self.settings)
