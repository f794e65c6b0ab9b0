"""A Swiss tournament: in each round, players of like scores meet."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from arena.control.changed_settings import REMEDY
from arena.control.plans import SwissPlan
from arena.control.settings import Scope
from arena.selection.matchups import letters
from arena.selection.selector import (
    CompetitionChangedError,
    CompletedGame,
    Fixture,
    Selector,
    check_terms,
    game_seed,
)

_GAME_ID: Final = re.compile(r"r(\d+)_([A-Z]{1,2}v[A-Z]{1,2})_(\d+)")


class Swiss(Selector):
    """Pairs a round when all games of the one before are completed.

    A game won is a point, a draw half a point; an unknown result is half a point for both, so that it
    harms neither. With an odd number of players the last without a bye yet has one, worth winning all its
    games. Equal scores are ranked by the sum of the opponents' scores (Buchholz), then in the order of the
    competitors, which is also the seeding of the first round. No two meet again where that can be
    avoided. Game n of a pairing in round r is `rR_AvB_N`; seats are swapped in odd games, and the first
    seat goes to the player that had it less often.

    A player that is left out loses the games of its round that have no result yet, and is not paired any
    more. When a whole pairing is left out, these games are worth half a point to both.
    """

    def __init__(self, plan: SwissPlan, seed: int = 0) -> None:
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
        self._begin_round()

    @property
    def total(self) -> int:
        """The games of all rounds, without those of who is left out."""
        to_come = 0 if self.short else max(0, self._plan.rounds - self._round)
        return self._games_begun + to_come * (len(self._active) // 2) * self._plan.games

    @property
    def short(self) -> str:
        """Why no round can be paired any more."""
        if self._round <= self._plan.rounds and len(self._active) < 2 and not self._open:
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
        if self._check(game) > self._plan.rounds or game.game_id in self._decided:
            return
        if game.game_id not in self._open:
            raise CompetitionChangedError(
                f"competition: game {game.game_id!r} is none of round {self._round} of the control file's: "
                f"{self.description}; {REMEDY}"
            )
        self._waiting.pop(game.game_id, None)
        del self._open[game.game_id]
        winners = [game.players[seat - 1] for seat in game.outcome.winners] or list(game.players)
        self._share(winners)
        if not self._open:
            self._begin_round()

    def exclude(self, scope: Scope, name: str) -> None:
        """Decide the round's games of a player or a pairing; a player is not paired any more."""
        round_is_on = bool(self._open)
        if scope == "player":
            super().exclude(scope, name)
        for game_id, fixture in list(self._open.items()):
            if scope == "player" and name in fixture.players:
                self._share([other for other in fixture.players if other not in self.excluded.players])
            elif scope == "matchup" and name == fixture.matchup:
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
        if not self._open and not self.finished:
            self._round -= 1
            self._begin_round()

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
        over = min(self._round - 1, self._plan.rounds)
        width = max(map(len, self._places))
        lines = [f"Swiss, {over} of {self._plan.rounds} rounds over", f"{'':>{width + 4}}  points Buchholz"]
        for rank, name in enumerate(self.ranking(), start=1):
            bye = " (bye)" if name in self._byes else ""
            left = " (left out)" if name in self.excluded.players else ""
            lines.append(
                f"{rank:3d} {name:<{width}}  {self.score(name):6g} {self.buchholz(name):8g}{bye}{left}"
            )
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
        pairings = pair(ranking, self.score, lambda player, other: frozenset((player, other)) in self._met)
        if bye is not None:
            self._byes.append(bye)
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
            detail=json.dumps(self._terms()),
        )

    def _terms(self) -> dict[str, object]:
        # There may be hundreds of competitors, too many to be stored with every game.
        names = hashlib.sha256("\n".join(self._plan.competitors).encode()).hexdigest()[:8]
        competitors = f"{len(self._plan.competitors)} players (check sum {names})"
        return {"games": self._plan.games, "competitors": competitors}

    def _check(self, game: CompletedGame) -> int:
        """The game's round. Raises CompetitionChangedError."""
        match = _GAME_ID.fullmatch(game.game_id)
        if match is None:
            raise self.foreign(game.game_id)
        if game.detail:
            check_terms(json.loads(game.detail), self._terms())
        return int(match[1])


# Pairings without any rematch can take long to find, and need not exist.
_MAX_TRIES: Final = 20_000

Met = Callable[[str, str], bool]


def pair(ranking: Sequence[str], scores: Callable[[str], float], met: Met) -> list[tuple[str, str]]:
    """Pair an even number of players, given the best first, without rematches where that is possible.

    Among players of one score the upper half meets the lower half, as in chess; those without an opponent
    there meet the next best. Where there must be rematches, as many of the best as possible have none.
    """
    search = _Search(met)
    pairs = search.pairs(tuple(ranking), scores)
    return pairs if pairs is not None else _with_rematches(ranking, scores, met)


class _Search:
    """Looks for a pairing without rematches, going back where it must."""

    def __init__(self, met: Met) -> None:
        self._met = met
        self._tries = 0

    def pairs(self, players: tuple[str, ...], scores: Callable[[str], float]) -> list[tuple[str, str]] | None:
        """Depth-first without recursion: hundreds of players would be too deep for it."""
        pairs: list[tuple[str, str]] = []
        open_choices: list[tuple[tuple[str, ...], list[str]]] = [(players, self._choices(players, scores))]
        while open_choices:
            left, choices = open_choices[-1]
            if not left:
                return pairs
            if not choices:
                open_choices.pop()
                if pairs:
                    pairs.pop()
                continue
            self._tries += 1
            if self._tries > _MAX_TRIES:
                return None
            opponent = choices.pop(0)
            pairs.append((left[0], opponent))
            rest = tuple(player for player in left[1:] if player != opponent)
            open_choices.append((rest, self._choices(rest, scores)))
        return None

    def _choices(self, players: tuple[str, ...], scores: Callable[[str], float]) -> list[str]:
        if not players:
            return []
        return [other for other in preferred(players, scores) if not self._met(players[0], other)]


def preferred(players: Sequence[str], scores: Callable[[str], float]) -> list[str]:
    """The opponents of the first of the players, the most fitting first."""
    first, *others = players
    alike = [other for other in others if scores(other) == scores(first)]
    half = len(alike) // 2
    return alike[half:] + alike[:half][::-1] + others[len(alike) :]


def _with_rematches(
    ranking: Sequence[str], scores: Callable[[str], float], met: Met
) -> list[tuple[str, str]]:
    left, pairs = list(ranking), []
    while left:
        choices = preferred(left, scores)
        opponent = next((other for other in choices if not met(left[0], other)), choices[0])
        pairs.append((left[0], opponent))
        left = [player for player in left[1:] if player != opponent]
    return pairs
