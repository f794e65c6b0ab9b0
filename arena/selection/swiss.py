"""A Swiss tournament: in each round, players of like scores meet."""

import hashlib
import json
import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from itertools import combinations
from typing import Final

from arena.control.plans import SwissPlan
from arena.control.settings import Scope
from arena.selection.matchups import letters
from arena.selection.selector import CompletedGame, Fixture, Selector, check_terms, game_seed

_GAME_ID: Final = re.compile(r"r(\d+)_([A-Z]{1,2}v[A-Z]{1,2})_(\d+)")


class Swiss(Selector):
    """Pairs a round when all games of the one before are completed.

    A game won is a point, a draw half a point; an unknown result is half a point for both, so that it
    harms neither. With an odd number of players the last without a bye yet has one, worth winning all its
    games. Equal scores are ranked by the sum of the opponents' scores (Buchholz), then in the order of the
    competitors, which is also the seeding of the first round. No two meet again where that can be
    avoided, else those who have met least. Game n of a pairing in round r is `rR_AvB_N`; seats are swapped in
    odd games, and the first seat goes to the player that had it less often.

    A player that is left out loses the games of its round that have no result yet, and is not paired any
    more. When a whole pairing is left out, these games are worth half a point to both. It is called
    `rR_AvB`, because the same two may be paired again. Earlier versions called it `AvB`.
    """

    def __init__(self, plan: SwissPlan, seed: int) -> None:
        self._plan = plan
        self._seed = seed
        self._places = {name: place for place, name in enumerate(plan.competitors)}
        self._points: Counter[str] = Counter()
        self._byes: list[str] = []
        self._met: Counter[frozenset[str]] = Counter()
        self._first_seats: Counter[str] = Counter()
        self._round = 0
        self._pairings: dict[str, tuple[str, str]] = {}
        self._waiting: dict[str, Fixture] = {}
        self._open: dict[str, Fixture] = {}
        # Games of a player or pairing that was left out: they count as they were decided then.
        self._decided: set[str] = set()
        self._games_begun = 0
        # Games of rounds beyond those that the control file has now.
        self._uncounted = 0
        # The games of the round that have a result.
        self._over: list[str] = []
        # Before the round: who had met and sat where, the games begun; and the pairs of earlier versions.
        pairings: list[tuple[str, str]] = []
        self._before = self._met, self._first_seats, self._games_begun, pairings
        self._begin_round()

    @property
    def total(self) -> int:
        """The games of all rounds, without the games of players that are left out."""
        to_come = max(0, self._plan.rounds - self._round)
        return self._games_begun + to_come * (len(self._active) // 2) * self._plan.games

    @property
    def short(self) -> str:
        """Why no round can be paired any more."""
        if not self.finished and len(self._active) < 2:
            return f"{len(self._active)} of {len(self._places)} competitors are not left out, two are needed"
        return ""

    @property
    def _active(self) -> list[str]:
        return [name for name in self._places if name not in self.excluded.players]

    @property
    def description(self) -> str:
        """The kind, its rounds, games of a pairing and competitors."""
        plan = self._plan
        return f"swiss rounds={plan.rounds} games={plan.games} competitors={','.join(plan.competitors)}"

    @property
    def finished(self) -> bool:
        """Whether the last round is over."""
        return self._round > self._plan.rounds

    def next_game(self) -> Fixture | None:
        """The next game of this round; None while the round's last games are in progress."""
        if not self._waiting:
            return None
        return self._waiting.pop(next(iter(self._waiting)))

    def upcoming(self) -> Iterator[Fixture]:
        """The games of this round that have no result; the next round is paired by their results."""
        return iter(list(self._open.values()))

    def completed(self, game: CompletedGame) -> None:
        """Take in a result; after a round's last one, begin the next. Raises CompetitionChangedError."""
        if self._check(game) > self._plan.rounds:
            self._uncounted += 1
            return
        if game.game_id in self._decided:
            return
        if game.game_id not in self._open:
            self._pair_as_before()
        if game.game_id not in self._open:
            raise self.foreign(game.game_id, f"round {self._round} of ")
        self._waiting.pop(game.game_id, None)
        del self._open[game.game_id]
        self._over.append(game.game_id)
        winners = [game.players[seat - 1] for seat in game.outcome.winners] or list(game.players)
        self._share(winners)
        if not self._open:
            self._begin_round()

    def exclude(self, scope: Scope, name: str) -> None:
        """Decide the round's games of a player or a pairing; a player is not paired any more."""
        round_is_on = bool(self._open)
        super().exclude(scope, name)
        for game_id, fixture in list(self._open.items()):
            if scope == "player" and name in fixture.players:
                self._share([other for other in fixture.players if other not in self.excluded.players])
            elif scope == "matchup" and name in (self.void_group(fixture), fixture.matchup):
                self._share(fixture.players)
            else:
                continue
            del self._open[game_id]
            self._waiting.pop(game_id, None)
            self._decided.add(game_id)
            self._games_begun -= 1
        if round_is_on and not self._open:
            self._begin_round()

    def readmit(self, scope: Scope, name: str) -> None:
        """Pair a player again, from the next round."""
        super().readmit(scope, name)
        if not self._open:
            self._round -= 1
            self._begin_round()

    def void_group(self, fixture: Fixture) -> str:
        """The pairing of one round."""
        return fixture.game_id.rpartition("_")[0]

    def wants(self, fixture: Fixture) -> bool:
        """Whether the game is still open."""
        return fixture.game_id in self._open

    def _share(self, winners: Sequence[str]) -> None:
        for name in winners:
            self._points[name] += 2 // len(winners)

    def resume(self, game_id: str, players: Sequence[str], detail: str) -> Fixture | None:
        """The game of this id, if it belongs to the round that is on."""
        return self._waiting.pop(game_id, None)

    def score(self, name: str) -> float:
        """A player's points so far, byes included."""
        return self._points[name] / 2 + self._byes.count(name) * self._plan.games

    def buchholz(self, name: str) -> float:
        """The sum of the scores of all opponents so far."""
        return sum(
            times * self.score(other)
            for met, times in self._met.items()
            if name in met
            for other in met - {name}
        )

    def ranking(self) -> list[str]:
        """The competitors, the best first."""
        return sorted(
            self._places, key=lambda name: (-self.score(name), -self.buchholz(name), self._places[name])
        )

    def report_lines(self) -> list[str]:
        """The table, and the pairings of the round."""
        width = max(map(len, self._places))
        lines = [
            f"Swiss, {self._round - 1} of {self._plan.rounds} rounds over",
            f"{'':>{width + 4}}  points Buchholz",
        ]
        for rank, name in enumerate(self.ranking(), start=1):
            bye = " (bye)" if name in self._byes else ""
            left = " (left out)" if name in self.excluded.players else ""
            lines.append(
                f"{rank:3d} {name:<{width}}  {self.score(name):6g} {self.buchholz(name):8g}{bye}{left}"
            )
        if self._uncounted:
            lines.append(f"{self._uncounted} games of later rounds do not count here")
        if not self.finished:
            meetings = ", ".join(" v ".join(pairing) for pairing in self._pairings.values())
            lines.append(f"round {self._round}: {meetings}")
        return lines

    def _begin_round(self) -> None:
        self._round += 1
        self._pairings = {}
        if self.finished or len(self._active) < 2:
            return
        ranking = [name for name in self.ranking() if name not in self.excluded.players]
        bye: str | None = None
        if len(ranking) % 2:
            fewest = min(map(self._byes.count, ranking))
            bye = next(name for name in reversed(ranking) if self._byes.count(name) == fewest)
            ranking.remove(bye)
        pairings = pair(ranking, self.score, self._times_met)
        earlier = _with_rematches(ranking, self.score, self._times_met)
        self._before = self._met.copy(), self._first_seats.copy(), self._games_begun, earlier
        self._over.clear()
        if bye is not None:
            self._byes.append(bye)
        self._draw_up(pairings)

    def _times_met(self, player: str, other: str) -> int:
        return self._met[frozenset((player, other))]

    def _pair_as_before(self) -> None:
        """Pair the round as earlier versions did, which gave up and had rematches that could be avoided."""
        self._met, self._first_seats, self._games_begun, pairings = self._before
        self._pairings = {}
        self._draw_up(pairings)
        for game_id in self._over:
            self._open.pop(game_id, None)
            self._waiting.pop(game_id, None)

    def _draw_up(self, pairings: Sequence[tuple[str, str]]) -> None:
        """Make the games of the round."""
        for player, other in pairings:
            self._met[frozenset((player, other))] += 1
            first, second = sorted((player, other), key=lambda name: self._first_seats[name])
            self._first_seats[first] += 1
            matchup = "v".join(letters(self._places[name]) for name in (first, second))
            self._pairings[matchup] = (first, second)
        # Every pairing's first game, then every pairing's second.
        games = [(number, matchup) for number in range(self._plan.games) for matchup in self._pairings]
        fixtures = [self._fixture(matchup, number) for number, matchup in games]
        self._waiting = {fixture.game_id: fixture for fixture in fixtures}
        self._open = dict(self._waiting)
        self._games_begun += len(self._open)

    def _fixture(self, matchup: str, number: int) -> Fixture:
        first, second = self._pairings[matchup]
        game_id = f"r{self._round}_{matchup}_{number}"
        return Fixture(
            game_id=game_id,
            matchup=matchup,
            players=(first, second) if number % 2 == 0 else (second, first),
            seed=game_seed(self._seed, game_id),
            opening=(self._round - 1) * ((self._plan.games + 1) // 2) + number // 2,
            detail=json.dumps(self._terms),
        )

    @cached_property
    def _terms(self) -> dict[str, object]:
        # There may be hundreds of competitors, too many to be stored with every game.
        names = hashlib.sha256("\n".join(self._plan.competitors).encode()).hexdigest()[:8]
        competitors = f"{len(self._plan.competitors)} players (check sum {names})"
        return {"games": self._plan.games, "competitors": competitors}

    def _check(self, game: CompletedGame) -> int:
        """The game's round. Raises CompetitionChangedError."""
        number = int(self.parts_of(game.game_id, _GAME_ID)[0])
        if game.detail:
            check_terms(json.loads(game.detail), self._terms)
        return number


TimesMet = Callable[[str, str], int]


def pair(
    ranking: Sequence[str], scores: Callable[[str], float], times_met: TimesMet
) -> list[tuple[str, str]]:
    """Pair an even number of players, given the best first, without rematches where that is possible.

    Among players of one score the upper half meets the lower half, as in chess; those without an opponent
    there meet the next best. Where there must be rematches, nobody meets for a third time where that is
    possible, and so on, and the best choose first, among those whom they have met least.
    """
    known = {name: scores(name) for name in ranking}
    matching = _least_met(ranking, times_met)
    left, pairs = list(ranking), []
    while left:
        choices = preferred(left, known.__getitem__)
        choices.sort(key=partial(times_met, left[0]))
        opponent = next(other for other in choices if matching.fix(left[0], other))
        pairs.append((left[0], opponent))
        left = [player for player in left[1:] if player != opponent]
    return pairs


def _least_met(players: Sequence[str], times_met: TimesMet) -> "_Matching":
    """Everybody paired, with the smallest number of times that two of a pair have met at most."""
    most = 0
    while not (matching := _Matching(players, times_met, most)).complete():
        most += 1
    return matching


class _Matching:
    """Pairs of players who have met at most `most` times, by Edmonds' blossom algorithm; some are fixed."""

    def __init__(self, players: Sequence[str], times_met: TimesMet, most: int) -> None:
        self._unmet: dict[str, set[str]] = {player: set() for player in players}
        for first, second in combinations(players, 2):
            if times_met(first, second) <= most:
                self._unmet[first].add(second)
                self._unmet[second].add(first)
        self._opponent: dict[str, str] = {}
        self._alone = set(players)
        self._fixed: set[str] = set()

    def complete(self) -> bool:
        """Pair everybody. Returns whether that is possible."""
        return all(player in self._opponent or self._augment(player) for player in self._unmet)

    def fix(self, player: str, opponent: str) -> bool:
        """Fix a pair.

        Returns False, and leaves the pairs as they are, where the two have met too often or the others could
        then not all be paired.
        """
        if self._opponent[player] != opponent:
            if opponent not in self._unmet[player]:
                return False
            before = self._opponent.copy()
            self._alone = {self._opponent.pop(player), self._opponent.pop(opponent)}
            for left in self._alone:
                del self._opponent[left]
            self._opponent |= {player: opponent, opponent: player}
            self._fixed |= {player, opponent}
            if not self._augment(min(self._alone)):
                self._opponent = before
                self._fixed -= {player, opponent}
                return False
        self._fixed |= {player, opponent}
        return True

    def _augment(self, root: str) -> bool:
        """Find a player without an opponent one, changing others' opponents. Returns whether that worked."""
        tree = _Tree(root, self._opponent)
        while tree.open:
            player = tree.open.popleft()
            # A player that is alone comes first: mostly there is no need to look further.
            unmet = self._unmet[player]
            for other in (*(self._alone & unmet), *unmet):
                if other not in self._fixed and tree.reach(player, other):
                    tree.flip(other)
                    self._alone -= {root, other}
                    return True
        return False


class _Tree:
    """Who may change opponents so that the root has one: a search, from it on, for a player without any.

    `base` names the blossom (a ring of an odd number of players) that a player belongs to, `before` is who
    would be the new opponent of a player, and the players whose opponents are looked at next are `open`.
    """

    def __init__(self, root: str, opponent: dict[str, str]) -> None:
        self.open = deque([root])
        self._root = root
        self._opponent = opponent
        self._outer = {root}
        self._before: dict[str, str] = {}
        self._base: dict[str, str] = {}

    def reach(self, player: str, other: str) -> bool:
        """Go on from a player to one it has not met. Returns whether that one has no opponent."""
        if self._base_of(player) == self._base_of(other) or self._opponent.get(player) == other:
            return False
        if other in self._outer:
            self._contract(player, other)
        elif other not in self._before:
            self._before[other] = player
            if other not in self._opponent:
                return True
            self._add(self._opponent[other])
        return False

    def flip(self, last: str) -> None:
        """Pair everybody on the way from the root to this player with the other neighbour."""
        player: str | None = last
        while player is not None:
            before = self._before[player]
            following = self._opponent.get(before)
            self._opponent |= {player: before, before: player}
            player = following

    def _add(self, player: str) -> None:
        if player not in self._outer:
            self._outer.add(player)
            self.open.append(player)

    def _base_of(self, player: str) -> str:
        return self._base.get(player, player)

    def _contract(self, first: str, second: str) -> None:
        """Make one of all players on the two ways back to where these meet."""
        way = self._bases(first)
        base = next(place for place in self._bases(second) if place in way)
        ring: set[str] = set()
        for player, neighbour in ((first, second), (second, first)):
            while self._base_of(player) != base:
                partner = self._opponent[player]
                ring |= {self._base_of(player), self._base_of(partner)}
                self._before[player] = neighbour
                player, neighbour = self._before[partner], partner
        for player in (*self._outer, *self._before):
            if self._base_of(player) in ring:
                self._base[player] = base
                self._add(player)

    def _bases(self, player: str) -> list[str]:
        bases = [self._base_of(player)]
        while bases[-1] != self._root and bases[-1] in self._opponent:
            bases.append(self._base_of(self._before[self._opponent[bases[-1]]]))
        return bases


def preferred(players: Sequence[str], scores: Callable[[str], float]) -> list[str]:
    """The opponents of the first of the players, the most fitting first."""
    first, *others = players
    alike = [other for other in others if scores(other) == scores(first)]
    half = len(alike) // 2
    return alike[half:] + alike[:half][::-1] + others[len(alike) :]


def _with_rematches(
    ranking: Sequence[str], scores: Callable[[str], float], times_met: TimesMet
) -> list[tuple[str, str]]:
    left, pairs = list(ranking), []
    while left:
        choices = preferred(left, scores)
        opponent = next((other for other in choices if not times_met(left[0], other)), choices[0])
        pairs.append((left[0], opponent))
        left = [player for player in left[1:] if player != opponent]
    return pairs
