"""The rules of WarLight for two players: blind orders, fog, and a limit of turns."""

import random
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, Self

from academy.knowledge.boards import Board
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import NodeSymmetry
from referees.api import (
    GameRecord,
    IllegalMoveError,
    InvalidSettingError,
    Outcome,
    RecordedGame,
    Referee,
    Termination,
)
from referees.dialogues import LineDialogue
from referees.drawing import Drawing
from referees.warlight import ai_challenge_2, record, view_text
from referees.warlight.ai_challenge_2 import ChallengeLines
from referees.warlight.maps import InvalidMapError, WarMap, is_file, load_map, map_names, mirror_of, northern
from referees.warlight.orders import MAX_ORDERS, AttackTransfer, Deploy, Orders, orders_text, read_orders
from referees.warlight.position import (
    MIRROR,
    NEUTRAL,
    WarPosition,
    geometry,
    to_board,
    view,
)
from referees.warlight.settings import WarSettings
from referees.warlight.turn import SEATS, TurnResult

# Measured with simple bots: some 60 to 170 turns, between good ones 20 to 60.
USUAL_TURNS: Final = 80


class WarLight(Referee[WarPosition, Orders]):
    """WarLight under given settings (see `WarSettings`).

    Both seats move at once. A move is all orders of a seat for a turn. Orders that cannot be carried
    out do nothing, so every list of orders is legal; `WarPosition.events` says what each has done.
    """

    name: ClassVar[str] = "warlight"

    def __init__(self, settings: WarSettings) -> None:
        self.settings = settings
        try:
            self.map: Final[WarMap] = load_map(settings.map)
        except InvalidMapError as error:
            raise InvalidSettingError("map", str(error)) from None
        self.mirror: Final = mirror_of(self.map)
        self._index = self.map.index
        self._geometry = geometry(self.map)
        self._spec = self._describe()
        at_most = len(self.map.territories) // 2
        if settings.starts > at_most:
            raise InvalidSettingError(
                "starts", f"{settings.starts}: on this map each seat can have {at_most}"
            )

    @classmethod
    def from_settings(cls, settings: Mapping[str, object]) -> Self:
        """Make a referee. Raises InvalidSettingError."""
        return cls(WarSettings.read(settings))

    @classmethod
    def settings_of(cls, game_id: str) -> Mapping[str, object] | None:
        """The map, where it is one of those that come with the game and no other setting is named."""
        kind, dash, board = game_id.partition("-")
        return {"map": board} if kind == "warlight" and dash and board in map_names() else None

    @classmethod
    def names_file(cls, setting: str, value: str) -> bool:
        """Whether a setting names a map's file."""
        return setting == "map" and is_file(value)

    def longest_game(self) -> int:
        """Two plies for every turn."""
        return len(SEATS) * self.settings.turn_limit

    def spec(self) -> GameSpec:
        """One game for each map and each set of rules; on a mirrored map both seats' chances are alike."""
        return self._spec

    def _describe(self) -> GameSpec:
        mirrored = self.mirror is not None
        return GameSpec(
            game_id=self.settings.game_id(self.map.name),
            geometry=self._geometry,
            symmetric=mirrored,
            reversal=MIRROR if mirrored else "identity",
            node_symmetries=() if self.mirror is None else (NodeSymmetry(MIRROR, self.mirror),),
            expected_length=2.0 * min(USUAL_TURNS, self.settings.turn_limit),
            simultaneous=True,
        )

    def start(self, seed: int) -> WarPosition:
        """Random territories for seat 1 and their images for seat 2; on other maps as many random ones."""
        chance = random.Random(f"{seed} start")
        size, count = len(self.map.territories), self.settings.starts
        if self.mirror is None:
            dealt = chance.sample(range(size), 2 * count)
            starts = dealt[:count], dealt[count:]
        else:
            dealt = chance.sample(northern(self.map), count)
            starts = dealt, [self.mirror[at] for at in dealt]
        owners = bytearray([NEUTRAL]) * size
        armies = [self.settings.neutral_armies] * size
        for seat, own in zip(SEATS, starts, strict=True):
            for at in own:
                owners[at], armies[at] = seat, self.settings.start_armies
        return WarPosition(1, bytes(owners), tuple(armies), seed)

    def to_move(self, position: WarPosition) -> tuple[int, ...]:
        """Both seats, until one has no territory or the last turn is over."""
        return () if self._is_over(position) else SEATS

    def _is_over(self, position: WarPosition) -> bool:
        return position.turn > self.settings.turn_limit or not all(seat in position.owners for seat in SEATS)

    def legal_moves(self, position: WarPosition, seat: int) -> None:
        """None: there are too many to list."""
        return

    def check(self, position: WarPosition, seat: int, move: Orders) -> None:
        """Raises IllegalMoveError: out of turn, too many orders, or not a list of orders."""
        if self._is_over(position):
            raise IllegalMoveError("the game is over")
        if seat not in SEATS:
            raise IllegalMoveError(f"there is no seat {seat}: WarLight has two")
        if not isinstance(move, tuple) or not all(
            isinstance(order, Deploy | AttackTransfer) for order in move
        ):
            raise IllegalMoveError(f"{move!r:.80} is not a list of orders")
        if len(move) > MAX_ORDERS:
            raise IllegalMoveError(f"{len(move)} orders: at most {MAX_ORDERS} can be given in a turn")

    def play(self, position: WarPosition, moves: Mapping[int, Orders]) -> WarPosition:
        """The position after a turn. Raises IllegalMoveError."""
        if sorted(moves) != list(SEATS):
            raise IllegalMoveError(f"orders of the seats {sorted(moves)}: both seats move at once")
        for seat, orders in moves.items():
            self.check(position, seat, orders)
        chance = random.Random(f"{position.seed} turn {position.turn}")
        settings = self.settings
        turn = TurnResult(self.map, settings.combat, settings.income, settings.move_order, position, chance)
        return turn.play(moves)

    def income(self, position: WarPosition, seat: int) -> int:
        """The armies that a seat can deploy: the base income and the bonuses it owns all of."""
        return self.map.income(position.owners, seat, self.settings.income)

    def territories(self, position: WarPosition, seat: int) -> tuple[int, int]:
        """How many territories and how many armies a seat has."""
        armies = [n for owner, n in zip(position.owners, position.armies, strict=True) if owner == seat]
        return len(armies), sum(armies)

    def outcome(self, position: WarPosition) -> Outcome | None:
        """The only owner of territories wins; after the last turn who has more of them, then more armies."""
        return self.adjudicate(position) if self._is_over(position) else None

    def adjudicate(self, position: WarPosition) -> Outcome:
        """Count territories, then armies."""
        counts = {seat: self.territories(position, seat) for seat in SEATS}
        points = tuple(float(counts[seat][0]) for seat in SEATS)
        rounds = position.turn - 1
        eliminated = tuple(None if counts[seat][0] else rounds for seat in SEATS)
        most = max(counts.values())
        winners = tuple(seat for seat in SEATS if counts[seat] == most)
        detail = f"after turn {rounds}: " + " to ".join(
            f"{territories} territories with {armies} armies" for territories, armies in counts.values()
        )
        summary = self.seat_name(winners[0]) + " wins" if len(winners) == 1 else "draw"
        return Outcome(winners, Termination.SCORE, summary, points, detail, eliminated)

    def view(self, position: WarPosition, seat: int) -> WarPosition:
        """Own territories, their neighbours, and the orders of the last turn that could be seen."""
        return view(self.map, position, seat, fog=self.settings.fog)

    def view_text(self, view: WarPosition) -> str:
        """What a seat sees as JSON (docs/reference/warlight.md): the board's letters have no armies."""
        return view_text.write(view)

    def read_view(self, text: str) -> WarPosition:
        """Read such a view. Raises UnreadableViewError."""
        return view_text.read(text, len(self.map.territories))

    def board(self, position: WarPosition, seat: int) -> Board:
        """Seat 1's territories are `x` and `b`, seat 2's `o` and `w`, what a seat cannot see is `+`."""
        return to_board(self._geometry, position, self.settings.stack_armies)

    def drawing(self, position: WarPosition) -> Drawing:
        """The map, with bonuses as areas, armies as numbers, and the orders of the turn before."""
        # Only pictures need layouts, and those numpy.
        from referees.warlight import picture

        return picture.draw(self.map, position)

    def interaction(self, position: WarPosition) -> bool:
        """Whether territories of the two seats touch."""
        owners = position.owners
        return any({owners[first], owners[second]} == {1, 2} for first, second in self.map.edges)

    def move_text(self, move: Orders) -> str:
        """`Deploy 5 on 4; AttackTransfer 6 from 4 to 7`, or `pass`."""
        return orders_text(move)

    def read_move(self, position: WarPosition, seat: int, text: str) -> Orders:
        """Read orders and put them in canonical order. Raises UnreadableMoveError."""
        return self.canonical(position, seat, read_orders(text))

    def canonical(self, position: WarPosition, seat: int, orders: Orders) -> Orders:
        """The same orders in the order that openings are known by, to the same effect.

        Deploys come first; if all can be carried out in full there is one for each territory, by ids.
        Attacks and transfers stay in the order in which they were given, for it matters.
        """
        deploys: Orders = tuple(order for order in orders if isinstance(order, Deploy))
        moves = tuple(order for order in orders if not isinstance(order, Deploy))
        sums: dict[int, int] = {}
        for order in deploys:
            sums[order.to] = sums.get(order.to, 0) + order.armies
        if (
            all(order.armies > 0 for order in deploys)
            and all(to in self._index and position.owners[self._index[to]] == seat for to in sums)
            and sum(sums.values()) <= self.income(position, seat)
        ):
            deploys = tuple(Deploy(armies, to) for to, armies in sorted(sums.items()))
        return deploys + moves

    def record(self, game: GameRecord) -> str:
        """The game as JSON (docs/reference/warlight.md)."""
        positions = [self.start(game.seed)]
        for first, second in zip(game.moves[::2], game.moves[1::2], strict=True):
            positions.append(self.play(positions[-1], {first.seat: first.move, second.seat: second.move}))
        return record.write(self.map, self.mirror, self.settings, positions, game)

    def read_records(self, content: bytes) -> Sequence[RecordedGame]:
        """The orders of a record, or of a list of records, in the order of turns and seats."""
        return record.read(content, self.map.name, self.settings, self.start)

    def dialogue(self, protocol: str) -> LineDialogue[WarPosition] | None:
        """`lines` is the challenge's own dialogue, `lines:ai-challenge-2` that of theaigames."""
        if protocol == "lines":
            return ChallengeLines(self.map)
        if protocol == f"lines:{ai_challenge_2.NAME}":
            return ai_challenge_2.AiChallenge2(self.map, self.settings, self.mirror)
        return None
