"""How strong a society becomes that learns from ACADEMY while it plays, against the same one without.

Its players consult in a share of the contests that ACADEMY learns from. After every two of these, a player
meets itself without ACADEMY, in both seats; these games teach nothing.
"""

import random
import secrets
from contextlib import closing
from dataclasses import replace
from time import monotonic
from typing import Any, Final

from arena.academy.embedded import EmbeddedAcademy
from research.contests import Entrant
from research.learning.conditions import EVERYTHING, FAIR_USE
from research.learning.experiment import Workplace
from research.learning.games import EDITIONS, PLAYER, POPULATIONS, STUDY, TRIALS
from research.learning.hall import Hall
from research.learning.ledger import Ledger
from research.learning.population import Population, Records, alone

# Contests learnt from for each pair of games that measures.
APART: Final = 2


def live(game: str, share: float, contests: int, deadline: float, workplace: Workplace) -> None:
    """Let a society play, from where it was interrupted, until the time is up.

    `share` is the part of the contests learnt from in which its players consult, 0.0 to 1.0.
    """
    folder = workplace.folder(game, POPULATIONS[0]).parent / f"{game}-society-{share:g}"
    with alone(folder), closing(EmbeddedAcademy(folder / "academy", folder / "server.log")) as server:
        records = Records(folder / "contests")
        population = Population(game, TRIALS[game], POPULATIONS[0], records)
        with closing(Hall(population.trial.referee(), server.start())) as hall:
            hall.change_settings(FAIR_USE)
            if records.reports and not hall.knows(records.reports[-1].contest.contest_id):
                hall.teach(records.reports[-1])
            society = _Society(population, records, hall, share)
            for number in range(1, contests + 1):
                if number > len(records.reports):
                    society.learn(number)
                if number % APART == 0:
                    society.measure(number, workplace)
                if monotonic() >= deadline:
                    return


def key(game: str, share: float) -> dict[str, object]:
    """What results of a society have to have in common before they may be counted together."""
    return {"study": STUDY, "game": game, "player": PLAYER, "share": share}


def measured(ledger: Ledger, game: str) -> list[dict[str, Any]]:
    """The keys of the societies that played a game: of each share, the newest study and player."""
    newest: dict[float, dict[str, Any]] = {}
    for study, player in EDITIONS:
        for line in ledger.of("society", study=study, game=game, player=player):
            newest[line["share"]] = key(game, line["share"]) | {"study": study, "player": player}
    return [newest[share] for share in sorted(newest)]


class _Society:
    def __init__(self, population: Population, records: Records, hall: Hall, share: float) -> None:
        self._population, self._records, self._hall, self._share = population, records, hall, share

    def _entrants(self, number: int, chance: random.Random) -> list[Entrant]:
        """Two players, with what they may ask ACADEMY for."""
        elos, trial = self._population.elos(number - 1), self._population.trial
        libraries = EVERYTHING if chance.random() < self._share else ()
        return [
            Entrant(
                self._population.players[player],
                trial.strength(trial.levels[player]),
                elos[player],
                libraries,
                remembers=True,
            )
            for player in chance.sample(range(len(elos)), 2)
        ]

    def learn(self, number: int) -> None:
        """Play the contest of a number, and let ACADEMY learn from it."""
        seed = f"{self._population.contest_id(number)}/society"
        entrants = self._entrants(number, random.Random(seed))
        # What is interrupted is played again, in a contest that is new to ACADEMY.
        played = self._hall.play(f"{seed}/{secrets.token_hex(4)}", entrants, seed, _no_clock)
        self._records.add(played.report)
        self._hall.teach(played.report)

    def measure(self, number: int, workplace: Workplace) -> None:
        """Let a player meet itself without ACADEMY, in both seats, after this number of contests."""
        like = key(self._population.game, self._share)
        if workplace.ledger.pairs("society", **like, number=number):
            return
        trial, seed = self._population.trial, f"{self._population.seed}/society/{number}"
        level = random.Random(seed).choice(trial.levels)
        plain = Entrant("without", trial.strength(level), self._population.levels(number)[level])
        asking = replace(plain, name="with", libraries=EVERYTHING, remembers=True)
        points = 0.0
        for seat, entrants in enumerate(((asking, plain), (plain, asking)), 1):
            contest_id = f"{seed}/{self._share:g}/{seat}/{secrets.token_hex(4)}"
            points += self._hall.meet(contest_id, entrants, seed, _no_clock).score(seat)
        workplace.ledger.add(kind="society", **like, commit=workplace.commit, number=number, points=points)


def _no_clock() -> float:
    return 0.0
