"""MARS: series of games whose players are drawn by weight, play count or success."""

import json
import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from arena.control.changed_settings import abridge
from arena.control.plans import MarsSeries, MarsSetting
from arena.control.settings import Scope
from arena.output import count_text
from arena.ratings.moving_averages import MovingAverages
from arena.selection.matchups import Numbering
from arena.selection.selector import CompletedGame, Fixture, Selector, check_terms, game_seed
from referees.api import Outcome


class NoPlayersLeftError(LookupError):
    """Too few contestants are left for a game."""


class Form:
    """What the games so far say of the contestants: plays, clones counted each, and moving averages."""

    def __init__(self) -> None:
        self.plays: Counter[str] = Counter()
        self._averages: dict[str, MovingAverages] = {}

    def averages(self, name: str) -> MovingAverages:
        """A contestant's averages."""
        return self._averages.get(name, MovingAverages())

    def take(self, players: Sequence[str], outcome: Outcome) -> None:
        """Take in a completed game."""
        for seat, name in enumerate(players, start=1):
            self.plays[name] += 1
            self._averages[name] = self.averages(name).after(outcome, seat, len(players))


class Mars(Selector):
    """Plays the series of a mission.

    Game n of a series is `SERIES_n`. A game that was void or interrupted is played again with the same
    line-up, so that players that hang rarely are not favoured. A player that does not start is inhibited:
    it is in no new line-up any more. A series that has begun is frozen: its rule, contestants and settings
    may not change, while its weight, state and number of games may.
    """

    # A bot that the machine did not let start would else pay for it with its averages.
    reruns_hung_games = True

    def __init__(self, mission: Sequence[MarsSeries], seats: int, seed: int = 0) -> None:
        self._series = {series.name: series for series in mission}
        self._seats = seats
        self._seed = seed
        self._numbers = {series.name: Numbering(series.games) for series in mission}
        self._terms = {series.name: _terms(series) for series in mission}
        # What a pure series goes by is its own; the others go by all games of the mission.
        self._mission = Form()
        self._own = {series.name: Form() for series in mission}
        self._inhibited: set[tuple[str, str]] = set()
        self._short: dict[str, str] = {}
        self._ghosts: set[str] = set()

    @property
    def total(self) -> int | None:
        """The games of all series: those played, and those that are still to be; None without an end."""
        total = 0
        for name, series in self._series.items():
            if not self._may_run(series):
                total += self._numbers[name].completed
            elif series.games is None:
                return None
            else:
                total += max(series.games, self._numbers[name].completed)
        return total

    @property
    def description(self) -> str:
        """The rule of each series with its arguments."""
        return "mars " + "; ".join(f"{name}: {series_text(series)}" for name, series in self._series.items())

    @property
    def finished(self) -> bool:
        """Whether all series that may run have all their games."""
        running = [name for name, series in self._series.items() if self._may_run(series)]
        return all(self._numbers[name].finished for name in running) and (
            bool(running) or not self.excluded.matchups
        )

    @property
    def short(self) -> str:
        """Which series cannot go on, because too few players are left."""
        reasons = dict.fromkeys(sorted(self.excluded.matchups), "it is left out") | self._short
        return "; ".join(f"series {name}: {why}" for name, why in reasons.items())

    @property
    def ghosts(self) -> Sequence[str]:
        """Series with games that have left the control file."""
        return sorted(self._ghosts)

    def next_game(self) -> Fixture | None:
        """The next game of a series drawn by weight."""
        while weights := {
            name: series.weight
            for name, series in self._series.items()
            if self._may_run(series) and self._numbers[name].open and name not in self._short
        }:
            given = sum(numbers.given for numbers in self._numbers.values())
            name = draw(weights, random.Random(game_seed(self._seed, f"mission/{given}")))
            try:
                return self._new_game(self._series[name])
            except NoPlayersLeftError as error:
                self._short[name] = str(error)
        return None

    def completed(self, game: CompletedGame) -> None:
        """Take in a result. Raises CompetitionChangedError."""
        name, number = self._parse(game.game_id)
        if name in self._series:
            self._check_frozen(name, game.detail)
            self._numbers[name].complete(number)
            self._own[name].take(game.players, game.outcome)
        else:
            self._ghosts.add(name)
        self._mission.take(game.players, game.outcome)

    def resume(self, game_id: str, players: Sequence[str], detail: str) -> Fixture | None:
        """The game of this id, with the players it had."""
        name, number = self._parse(game_id)
        if name not in self._series or not detail:
            return None
        series = self._series[name]
        stale = not self._may_run(series) or not self._numbers[name].wants(number)
        setting = _setting_named(series, json.loads(detail)["setting"])
        if stale or setting is None or not set(players) <= set(series.contestants) - self._barred(setting):
            return None
        self._check_frozen(name, detail)
        self._numbers[name].give(number)
        fixture = self._fixture(series, number, tuple(players), setting)
        # Its attempts so far are stored under the id it had, however many digits ids have now.
        return replace(fixture, game_id=game_id)

    def dropped(self, fixture: Fixture) -> None:
        """Give the game's number out again, with another line-up."""
        self._numbers[fixture.matchup].take_back(self._parse(fixture.game_id)[1])

    def inhibit(self, player: str, variant: str) -> bool:
        """Put the player in no new line-up for games of this variant."""
        self._inhibited.add((player, variant))
        return True

    def _barred(self, setting: MarsSetting) -> set[str]:
        game = setting.game
        inhibited = {player for player, variant in self._inhibited if variant == game.rules().spec().game_id}
        return inhibited | self.excluded.players

    def _may_run(self, series: MarsSeries) -> bool:
        return _is_open(series) and series.name not in self.excluded.matchups

    def readmit(self, scope: Scope, name: str) -> None:
        """Give out games of a player or a series again, also of series that lacked the player."""
        super().readmit(scope, name)
        self._short.clear()

    def report_lines(self) -> list[str]:
        """Each series: its rule, its games, and the plays and averages of its contestants."""
        lines: list[str] = []
        for name, series in self._series.items():
            games = count_text(self._numbers[name].completed, series.games)
            state = "" if _is_open(series) else " (complete)" if series.complete else " (weight 0)"
            lines.append(f"series {name}{state}: {games} games")
            lines.append(f"  {series_text(series)}")
            if name in self._short:
                lines.append(f"  {self._short[name]}")
            width = max(map(len, series.contestants))
            lines.append(f"  {'':{width}}  plays  strength  tenacity   fitness")
            form = self._form(series)
            barred = set.intersection(*map(self._barred, series.settings))
            for contestant in series.contestants:
                averages = form.averages(contestant)
                left_out = contestant in self.excluded.players
                state = "  left out" if left_out else "  inhibited" if contestant in barred else ""
                lines.append(
                    f"  {contestant:{width}} {form.plays[contestant]:6d} {averages.strength:9.3f} "
                    f"{averages.tenacity:9.3f} {averages.fitness:9.3f}{state}"
                )
        return lines

    def _form(self, series: MarsSeries) -> Form:
        return self._own[series.name] if series.pure else self._mission

    def _new_game(self, series: MarsSeries) -> Fixture:
        numbers = self._numbers[series.name]
        number = numbers.lowest_open
        chance = random.Random(
            game_seed(self._seed, f"{series.name}_{number}/line-up/{len(self._inhibited)}")
        )
        setting, players = self._draw(series, chance)
        numbers.give(number)
        return self._fixture(series, number, players, setting)

    def _draw(self, series: MarsSeries, chance: random.Random) -> tuple[MarsSetting, tuple[str, ...]]:
        """A setting, and a line-up of those who may play in it.

        Raises NoPlayersLeftError without any.
        """
        left = {setting.name: setting.weight for setting in series.settings}
        while True:
            setting = _setting_named(series, draw(left, chance))
            assert setting is not None
            try:
                barred = self._barred(setting)
                form = self._form(series)
                return setting, choose_line_up(series, self._seats, form, chance, barred)
            except NoPlayersLeftError:
                del left[setting.name]
                if not any(left.values()):
                    raise

    def _fixture(
        self, series: MarsSeries, number: int, players: tuple[str, ...], setting: MarsSetting
    ) -> Fixture:
        return Fixture(
            game_id=f"{series.name}_{self._numbers[series.name].text(number)}",
            matchup=series.name,
            players=players,
            seed=game_seed(self._seed, f"{series.name}_{number}"),
            game=setting.game,
            opening=number,
            detail=json.dumps({"setting": setting.name, "terms": self._terms[series.name]}),
        )

    def _parse(self, game_id: str) -> tuple[str, int]:
        name, _, number = game_id.rpartition("_")
        if not name or not (number.isascii() and number.isdigit()):
            raise self.foreign(game_id)
        return name, int(number)

    def _check_frozen(self, name: str, detail: str) -> None:
        stored = json.loads(detail).get("terms") if detail else None
        # Games of earlier releases have check sums in its place.
        if stored is not None:
            check_terms(stored, self._terms[name], f"series[{name}]")


def series_text(series: MarsSeries) -> str:
    """A series' selector as SAGA keeps it: the rule and its arguments."""
    parts: list[str] = [series.selector]
    if series.selector == "slow-knockout":
        parts.append(f"by={series.by}")
    if series.kinds:
        parts.append(f"kinds={'+'.join(map(str, series.kinds))}")
    else:
        parts.append(f"clones={'yes' if series.clones else 'no'}")
    parts.append(f"contestants={_weighted(series.contestants)}")
    parts.append("settings=" + ",".join(f"{setting.name}*{setting.weight:g}" for setting in series.settings))
    return " ".join(parts)


def _weighted(weights: Mapping[str, float]) -> str:
    """Names with their weights."""
    return ",".join(f"{name}*{weight:g}" for name, weight in weights.items())


def _setting_named(series: MarsSeries, name: str) -> MarsSetting | None:
    return next((setting for setting in series.settings if setting.name == name), None)


def _is_open(series: MarsSeries) -> bool:
    return series.weight > 0 and not series.complete


def _terms(series: MarsSeries) -> dict[str, str]:
    """What may not change once the series has begun, as its control file says it."""
    return {
        "selector": series.selector,
        "by": series.by,
        "clones": "true" if series.clones else "false",
        "kinds": " + ".join(map(str, series.kinds)) or "none",
        "pure": "true" if series.pure else "false",
        "contestants": abridge(_weighted(series.contestants)),
        "settings": abridge("; ".join(map(_setting_text, series.settings))),
    }


def _setting_text(setting: MarsSetting) -> str:
    game = " ".join(f"{name}={value}" for name, value in setting.game.terms.items() if name != "name")
    return f"{setting.name}*{setting.weight:g} {setting.game.name} {game}"


def choose_line_up(
    series: MarsSeries,
    seats: int,
    form: Form,
    chance: random.Random,
    barred: Collection[str] = (),
) -> tuple[str, ...]:
    """The players of a game by seat. Raises NoPlayersLeftError."""
    able = {name: weight for name, weight in series.contestants.items() if weight > 0 and name not in barred}
    wanted = len(series.kinds) if series.kinds else seats
    distinct = bool(series.kinds) or not series.clones
    if len(able) < (wanted if distinct else 1):
        raise NoPlayersLeftError(
            f"{len(able)} contestants are left, a game needs {wanted if distinct else 1}"
        )
    chosen: list[str] = []
    while len(chosen) < wanted:
        left = {name: weight for name, weight in able.items() if not (distinct and name in chosen)}
        chosen.append(_choose(series, left, form, chance, first=not chosen))
    if series.kinds:
        counts = list(series.kinds)
        chance.shuffle(counts)
        chosen = [name for name, count in zip(chosen, counts, strict=True) for _ in range(count)]
    chance.shuffle(chosen)
    return tuple(chosen)


def draw(weights: Mapping[str, float], chance: random.Random) -> str:
    """A name by relative weight; all alike if every weight is 0."""
    names = list(weights)
    if not any(weights.values()):
        return chance.choice(names)
    return chance.choices(names, [weights[name] for name in names])[0]


def _choose(
    series: MarsSeries, weights: Mapping[str, float], form: Form, chance: random.Random, first: bool
) -> str:
    if series.selector == "slow-knockout":
        success = {name: getattr(form.averages(name), series.by) for name in weights}
        return draw({name: weight * success[name] for name, weight in weights.items()}, chance)
    if series.selector == "least-played" and first:
        fewest = min(form.plays[name] for name in weights)
        weights = {name: weight for name, weight in weights.items() if form.plays[name] == fewest}
    return draw(weights, chance)
