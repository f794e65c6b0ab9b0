"""Asking ACADEMY for a Diplomacy bot: its power's openings, what patterns say of moves; and proposing.

Any bot can call this, over any protocol: `opening` and `wishes` before it orders, `gave`
when it has ordered, `played` after each phase, `finish` at the end. When ACADEMY does not answer, there
is no advice. `command = "clients.bots.diplomacy.advisor:tactical"` is a Python player of the arena that does:
known openings first, then the bot's own orders.
"""

import math
import random
import sys
from collections.abc import Collection, Mapping
from functools import partial
from typing import Final, Self

from academy.knowledge.boards import Board
from academy.knowledge.cells import State
from academy.knowledge.cutting import cut_around
from clients.academy import Academy
from clients.bots.academy_seat import AcademySeat, mean_value
from clients.bots.diplomacy.bot import Bot
from clients.bots.diplomacy.bots import bot
from clients.bots.diplomacy.in_process import WrongGameError, choose_orders
from clients.connection import Connection
from clients.responses import OpeningMove
from clients.seat import Seat
from referees.api import IllegalMoveError, UnreadableMoveError
from referees.diplomacy import Diplomacy, Phase, Position
from referees.diplomacy.adjustments import owners_after
from referees.diplomacy.game import GamePosition
from referees.diplomacy.openings import read_opening_move, situation
from referees.diplomacy.power_orders import PowerOrders
from referees.legible_text import legible

# How many games' worth of doubt there is about known orders.
_DOUBTS: Final = 2
# As many moves can be asked about in one question.
_MOST_MOVES: Final = 400
# Half of the centres one needs to win are worth 0.5; a twelfth more of them multiplies the odds by e.
_STEPS: Final = 12.0
_FIRST: Final = (State.FIRST_SOLDIER, State.FIRST_KING)
_SECOND: Final = (State.SECOND_SOLDIER, State.SECOND_KING)


def expected_value(position: Position, power: int) -> float:
    """What a power may expect, 0 to 1, by the centres that it would own if the year ended now."""
    count = owners_after(position).count(power)
    if not count and not position.units_of(power):
        return 0.0
    share = count / position.map.centres_to_win
    return 1.0 / (1.0 + math.exp(-_STEPS * (share - 0.5)))


class DiplomacyAdvisor(AcademySeat):
    """One power's seat at ACADEMY in one contest."""

    def __init__(
        self, academy: Academy | None, referee: Diplomacy, contest_id: str, seat: int, chance: random.Random
    ) -> None:
        spec = referee.spec()
        super().__init__(academy, Seat(spec.game_id, spec.geometry, seat, contest_id))
        self._chance = chance
        self._referee = referee
        self._power = seat - 1
        # One's own moves; None where some were made for one, and the tree cannot be asked about them.
        self._line: list[str] | None = []
        # In games of more than two everybody's own pieces are the first player's.
        self._own = _SECOND if referee.seats == seat == 2 else _FIRST
        self._plies = 0
        self._last_value: float | None = None
        # The last orders: where they were given, their ply's number, the value given before and with them.
        self._last: tuple[GamePosition, int, float | None, float] | None = None

    @classmethod
    def from_environment(
        cls, referee: Diplomacy, seat: int, environment: Mapping[str, str], chance: random.Random
    ) -> Self:
        """Join the contest that the arena names in the variables of programs, if it names one.

        Standard error gets what is wrong with it.
        """
        contest_id, academy = environment.get("ACADEMY_CONTEST", ""), None
        try:
            connection = Connection.from_environment(environment)
            academy = Academy(connection) if connection is not None and contest_id else None
        except (OSError, ValueError) as error:
            print(legible(f"playing without ACADEMY: {error}"), file=sys.stderr)
        return cls(academy, referee, contest_id, seat, chance)

    def opening(self, game: GamePosition) -> PowerOrders | None:
        """The best known orders of the power in this very situation, if they did better than their share.

        Orders known from n games are taken n times in n + 2: else what came first would be played for ever.
        Asks only where fair use allows it; orders that cannot be given here are passed over.
        """
        line = self._line
        if line is None or game.position.phase is Phase.RETREATS:
            return None
        known = self.ask(lambda academy: academy.opening(self.seat, line, len(line))) or ()
        here = situation(game.position, self._power)
        best, value, games = None, 1.0 / self._referee.seats, 0
        for opening in known:
            seen, text = read_opening_move(opening.move)
            worth = _value_of(opening)
            if seen != here or worth <= value:
                continue
            try:
                orders = self._referee.read_move(game, self.seat.player, text)
                self._referee.check(game, self.seat.player, orders)
            except (UnreadableMoveError, IllegalMoveError):
                continue
            best, value, games = orders, worth, opening.visits
        return best if self._chance.random() * (games + _DOUBTS) < games else None

    def wishes(self, game: GamePosition, value: float) -> Mapping[tuple[int, int], float]:
        """What patterns say of the power's moves: a weight, -1 to 1, for each (from, to) of provinces.

        `value` is what the power expects now: ACADEMY is asked only where that is low, as fair use wants.
        """
        position = game.position
        if not self.may_ask or position.phase is not Phase.MOVES or not self.seat.allows_patterns(value):
            return {}
        board = self._referee.board(game, self.seat.player)
        province_of = position.map.province_of
        own = {province_of[unit.location] for unit in position.units_of(self._power)}
        moves: dict[tuple[int, int], Board] = {}
        for unit in position.units_of(self._power):
            source = province_of[unit.location]
            for location in position.map.reach[unit.kind][unit.location]:
                target = province_of[location]
                if target not in own:
                    states = bytearray(board.states)
                    states[target], states[source] = states[source], State.EMPTY
                    moves[source, target] = Board(board.geometry, bytes(states))
        candidates = dict(list(moves.items())[:_MOST_MOVES])
        if not candidates:
            return {}
        after = tuple(candidates.values())
        answer = self.ask(
            lambda academy: academy.successors(self.seat, board, after, value, plies=self._plies)
        )
        if answer is None:
            return {}
        return {
            move: mean_value(gained) - value
            for move, gained in zip(candidates, answer.gained, strict=True)
            if gained
        }

    def gave(self, game: GamePosition, orders: PowerOrders, value: float) -> None:
        """Note the orders that the power gave, and the expected value that the arena gets with them."""
        seats = self._referee.to_move(game)
        ply = self._plies + seats.index(self.seat.player) + 1
        if self._line is not None:
            self._line.append(self._referee.opening_move(game, self.seat.player, orders))
        self._last = game, ply, self._last_value, value
        self._last_value = value
        if seats == (self.seat.player,):
            # What the bot did alone is not reported.
            self._plies += 1
            self._last = None

    def played(self, seats: Collection[int], game: GamePosition) -> None:
        """Note which powers have moved, and what stands then: what the own orders led to."""
        self._plies += len(seats)
        if self._last is None:
            if self.seat.player in seats:
                self._line = None
            return
        if self.academy is None:
            return
        before, ply, value_before, value = self._last
        self._last = None
        board = self._referee.board(game, self.seat.player)
        states = zip(self._referee.board(before, self.seat.player).states, board.states, strict=True)
        for province, (old, new) in enumerate(states):
            if new in self._own and old not in self._own:
                self.seat.record_move(cut_around(board, province, 1), ply, value_before, value)

    def finish(self) -> None:
        """Propose what the game taught."""
        if self._plies:
            self.tell(lambda academy: academy.propose(self.seat, self._plies))
        if self.academy is not None:
            self.academy.close()


class AdvisedBot:
    """A Python player: a bot and its seat at ACADEMY, which hears what was played."""

    def __init__(self, seat: int, player: Bot, advisor: DiplomacyAdvisor) -> None:
        self._power = seat - 1
        self._bot = player
        self._advisor = advisor
        self.told, self.ended = advisor.played, advisor.finish

    def __call__(self, view: GamePosition) -> tuple[str, float]:
        """Orders as text, and what the power expects with them."""
        value = expected_value(view.position, self._power)
        orders = self._advisor.opening(view)
        if orders is None:
            self._bot.wishes = self._advisor.wishes(view, value)
            orders = choose_orders(view, self._power, self._bot)
        self._advisor.gave(view, orders, value)
        return orders.text, value


def _seat_advised_bot(
    name: str, referee: Diplomacy, seat: int, seed: int, environment: Mapping[str, str]
) -> AdvisedBot:
    if not isinstance(referee, Diplomacy):
        raise WrongGameError(f"the game {referee.name!r}: these bots play Diplomacy")
    # Powers do not share their chance.
    own_seed = f"{seed}/{seat}"
    advisor = DiplomacyAdvisor.from_environment(referee, seat, environment, random.Random(own_seed))
    return AdvisedBot(seat, bot(name, own_seed), advisor)


random_legal, tactical = (partial(_seat_advised_bot, name) for name in ("random", "tactical"))


def _value_of(opening: OpeningMove) -> float:
    """A move's results, its expected value counting as one of them."""
    results = opening.wins + opening.draws + opening.losses
    return (opening.wins + opening.draws / 2 + opening.value) / (results + 1)
