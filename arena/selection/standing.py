"""A standing arena: rounds without end of those players that are there, who meet where a game tells most."""

import math
import re
import time
from array import array
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt

from arena.control.plans import StandingPlan
from arena.ratings.bradley_terry import PRIOR, Pairings, Strengths, likeliest
from arena.selection.selector import CompletedGame, Fixture, Selector, game_seed, original_name

# The first field is the round, the second the game of the round.
_GAME_ID: Final = re.compile(r"r(\d+)_(\d+)")
_ELO: Final = 400.0 / math.log(10.0)
# How many of the last rounds a pair does not meet again in, if there are others.
ROUNDS_APART: Final = 3
MOST_MISSED: Final = 64
# How long a round waits for players when there are too few for a game.
ROUND_SECONDS: Final = 5.0

Free = Callable[[Sequence[str]], Collection[str]]
"""Those players that are there and have room for a game."""
Ratings = Callable[[Sequence[str]], Strengths | None]
"""The likeliest ratings of players by more than this competition; None where they are not known."""


class Standing(Selector):
    """Makes up the games of a round when all games of the one before have ended.

    Players take part who are there. A player for whom no game was left comes first in the next round.
    Players meet where the game tells most: where both may win, and little is known of them, by the likeliest
    ratings of the league or, without one, of the competition; less where they met often here. A pair that met
    in one of the last rounds meets again only where there is nobody else. Seats go to the players that had
    fewer of their games there. Game n of round r is `rR_N`. A game whose player has left before it
    began comes last in its round, and is not played if the player is away then too: its opponent has waited.

    A void game is not played again. The player at fault misses the next round, and twice as many with each
    further void game in succession. Where enough are there for a game but too few of them may play, five
    seconds count as a round.
    """

    drops_void_games = True

    def __init__(self, plan: StandingPlan, seed: int = 0) -> None:
        self._plan = plan
        self._seed = seed
        self.free: Free = lambda names: names
        # Whether all players of a game that is about to begin are free; no other pool gets them then.
        self.hold: Callable[[Sequence[str]], bool] = lambda names: True
        # Asked before each round: it may bring other competitors.
        self.before_round: Callable[[], None] = lambda: None
        self._round = 0
        # Rounds with a result; and those that ended with a run, of which some have none.
        self._played: set[int] = set()
        self._interrupted: set[int] = set()
        self._waiting: deque[Fixture] = deque()
        self._open: set[str] = set()
        self.ratings: Ratings = lambda names: None
        self._met = _Meetings()
        self._points: defaultdict[tuple[str, str], float] = defaultdict(float)
        # How many games each had in each seat, from 0.
        self._seated: Counter[tuple[str, int]] = Counter()
        self._sat_out: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()
        self._missing: Counter[str] = Counter()
        self._last: deque[set[frozenset[str]]] = deque(maxlen=ROUNDS_APART)
        self._elo: dict[str, float] = {}
        self._idle_since = -math.inf

    @property
    def total(self) -> int | None:
        """Nobody knows who will be there."""
        return None

    @property
    def description(self) -> str:
        """The kind, its rounds and competitors."""
        rounds = "unlimited" if self._plan.rounds is None else str(self._plan.rounds)
        return f"standing rounds={rounds} competitors={','.join(self._plan.competitors)}"

    @property
    def finished(self) -> bool:
        """Whether the last round is over; a round that a run left before its first result does not count."""
        last = self._plan.rounds
        unplayed = len(self._interrupted - self._played)
        return last is not None and not self._open and self._round - unplayed >= last

    @property
    def expects_games(self) -> bool:
        """Whether games may come, though none can be given out now."""
        return not self.finished

    def next_game(self) -> Fixture | None:
        """The next game of this round; None while the last ones are in progress, or nobody is there."""
        if not self._waiting and not self._open and not self.finished:
            self._begin_round()
        return self._next_of_those_present() if self._waiting else None

    def _next_of_those_present(self) -> Fixture | None:
        """The next game whose players are free; players may leave and come back until all others are over."""
        present = set(self.free(list({name for fixture in self._waiting for name in fixture.players})))
        for _ in range(len(self._waiting)):
            fixture = self._waiting.popleft()
            # Other pools may have taken them meanwhile.
            if present.issuperset(fixture.players) and self.hold(fixture.players):
                return fixture
            self._waiting.append(fixture)
        if len(self._open) == len(self._waiting):
            for fixture in self._waiting:
                self._open.discard(fixture.game_id)
                self._sat_out.update(present.intersection(fixture.players))
            self._waiting.clear()
        return None

    def completed(self, game: CompletedGame) -> None:
        """Take in a result. Raises CompetitionChangedError."""
        self._played.add(self._note_round(game.game_id))
        self._open.discard(game.game_id)
        names = [original_name(name) for name in game.players]
        self._seated.update((name, seat) for seat, name in enumerate(names))
        for name in names:
            self._failures.pop(name, None)
        winners = {names[seat - 1] for seat in game.outcome.winners}
        # A game counts as one for each player, as in the league.
        weight = 1.0 / (len(names) - 1)
        for first, second in combinations(names, 2):
            self._met.add(first, second)
            if winners:
                share = 0.5 * (1 + (first in winners) - (second in winners))
                self._points[first, second] += weight * share
                self._points[second, first] += weight * (1.0 - share)

    def resume(self, game_id: str, players: Sequence[str], detail: str) -> Fixture | None:
        """An interrupted game is not played again: players that were there may have gone."""
        self._interrupted.add(self._note_round(game_id))
        return None

    def dropped(self, fixture: Fixture) -> None:
        """Note that a game of the round has ended without a result."""
        self._open.discard(fixture.game_id)

    def failed(self, player: str) -> None:
        """Have a player, at fault for a void game, miss some rounds."""
        self._failures[player] += 1
        self._missing[player] = min(MOST_MISSED, 2 ** (self._failures[player] - 1))

    def renew_competitors(self, competitors: Sequence[str]) -> None:
        """Pair these from the next round on."""
        self._plan = replace(self._plan, competitors=tuple(competitors))

    def _note_round(self, game_id: str) -> int:
        number = int(self.parts_of(game_id, _GAME_ID)[0])
        self._round = max(self._round, number)
        return number

    def _begin_round(self) -> None:
        """Have those who are there meet; without enough for a game nothing happens for some seconds."""
        now = time.monotonic()
        if now < self._idle_since + ROUND_SECONDS:
            return
        self.before_round()
        there = set(self.free(self._plan.competitors)) - self.excluded.players
        able = [name for name in self._plan.competitors if name in there and not self._missing[name]]
        if len(there) >= self._plan.seats:
            # Also where no round begins: players at fault would else wait for each other for ever.
            self._missing = +Counter({name: left - 1 for name, left in self._missing.items()})
        if len(able) < self._plan.seats:
            self._idle_since = now
            return
        self._round += 1
        groups = self._group(able)
        for number, group in enumerate(groups):
            game_id = f"r{self._round}_{number}"
            self._open.add(game_id)
            self._waiting.append(
                Fixture(
                    game_id,
                    "pool",
                    self._seat(group),
                    game_seed(self._seed, game_id),
                    opening=self._round,
                )
            )
        playing = {name for group in groups for name in group}
        self._sat_out = Counter({name: self._sat_out[name] + 1 for name in able if name not in playing})
        self._last.append({frozenset(pair) for group in groups for pair in combinations(group, 2)})

    def _seat(self, group: Sequence[str]) -> tuple[str, ...]:
        """The players by seat: each where it sat less often than elsewhere, as far as there is room."""
        excess: dict[tuple[int, int], int] = {}
        for place, name in enumerate(group):
            games = [self._seated[name, seat] for seat in range(len(group))]
            excess |= {(place, seat): len(games) * games[seat] - sum(games) for seat in range(len(group))}
        seats: dict[int, int] = {}
        for place, seat in sorted(excess, key=lambda choice: (excess[choice], choice)):
            if seat not in seats and place not in seats.values():
                seats[seat] = place
        return tuple(group[seats[seat]] for seat in range(len(group)))

    def _group(self, able: Sequence[str]) -> list[tuple[str, ...]]:
        known = self.ratings(able) or self.strengths(able)
        place = {name: number for number, name in enumerate(able)}
        often = self._met.between(able)
        apart = np.ones((len(able), len(able)), dtype=np.bool_)
        for pair in set[frozenset[str]]().union(*self._last):
            if pair <= place.keys():
                first, second = (place[name] for name in pair)
                apart[first, second] = apart[second, first] = False
        waited = np.array([self._sat_out[name] for name in able])
        groups = group_up(known, often, apart, waited, self._plan.seats)
        return [tuple(able[number] for number in group) for group in groups]

    def strengths(self, able: Sequence[str]) -> Strengths:
        """The likeliest ratings by all games of the competition; those of `able`."""
        names = list(dict.fromkeys([*able, *self._met.names]))
        place = {name: number for number, name in enumerate(names)}
        pairs = [(first, second) for first, second in self._points if place[first] < place[second]]
        pairings = Pairings(
            np.array([place[first] for first, _ in pairs], dtype=np.int64),
            np.array([place[second] for _, second in pairs], dtype=np.int64),
            np.array([self._points[pair] for pair in pairs], dtype=np.float64),
            np.array(
                [self._points[first, second] + self._points[second, first] for first, second in pairs],
                dtype=np.float64,
            ),
        )
        nobody = np.full(len(names), -1, dtype=np.int64)
        begin = np.array([self._elo.get(name, PRIOR) for name in names])
        strengths = likeliest(pairings, nobody, np.full(len(names), math.nan), begin)
        self._elo = dict(zip(names, strengths.elo.tolist(), strict=True))
        return Strengths(strengths.elo[: len(able)], strengths.error[: len(able)])


class _Meetings:
    """How often each two players have met."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._places: dict[tuple[int, int], int] = {}
        # By pair that has met; arrays, which NumPy reads at once.
        self._first, self._second, self._games = array("q"), array("q"), array("q")

    @property
    def names(self) -> Collection[str]:
        """All who have met somebody, in the order in which they came."""
        return self._numbers.keys()

    def add(self, first: str, second: str) -> None:
        """Count a game of two."""
        lower, higher = sorted(self._numbers.setdefault(name, len(self._numbers)) for name in (first, second))
        place = self._places.setdefault((lower, higher), len(self._games))
        if place == len(self._games):
            self._first.append(lower)
            self._second.append(higher)
            self._games.append(0)
        self._games[place] += 1

    def between(self, names: Sequence[str]) -> npt.NDArray[np.float64]:
        """The games of each two of these."""
        place = np.full(len(self._numbers), -1)
        for number, name in enumerate(names):
            if name in self._numbers:
                place[self._numbers[name]] = number
        first, second = place[np.array(self._first)], place[np.array(self._second)]
        both = (first >= 0) & (second >= 0)
        often = np.zeros((len(names), len(names)))
        often[first[both], second[both]] = np.array(self._games)[both]
        return often + often.T


def group_up(
    known: Strengths,
    often: npt.NDArray[np.float64],
    apart: npt.NDArray[np.bool_],
    waited: npt.NDArray[np.int64],
    seats: int = 2,
) -> list[tuple[int, ...]]:
    """The players of games, by number: those who sat out first, then those of whom least is known.

    Each takes the opponents whose game tells most. `often` has the games of each pair, `apart` whether it has
    not met lately. Some may be left, who did not sit out before. Two with fixed ratings do not meet while
    there are others: they are left, and come first in the next round.
    """
    chance = 1.0 / (1.0 + np.exp((known.elo[None, :] - known.elo[:, None]) / _ELO))
    tells = chance * (1.0 - chance) * (known.error[:, None] ** 2 + known.error[None, :] ** 2 + 1.0)
    tells = tells / (1.0 + often) + np.where(apart, 1e6, 0.0)
    fixed = known.error == 0.0
    if not fixed.all():
        tells[np.ix_(fixed, fixed)] = -1.0
    np.fill_diagonal(tells, -1.0)
    order = np.lexsort((-known.error, -waited))
    free = np.ones(len(order), dtype=np.bool_)
    groups = []
    for player in order.tolist():
        if not free[player] or free.sum() < seats:
            continue
        group = [player]
        free[player] = False
        for _ in range(seats - 1):
            information = np.where(free, tells[group].sum(axis=0), -math.inf)
            opponent = int(information.argmax())
            if information[opponent] >= 0.0:
                free[opponent] = False
                group.append(opponent)
        if len(group) == seats:
            groups.append(tuple(group))
        else:
            free[group[1:]] = True
    return groups
