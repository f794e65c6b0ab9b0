"""How strong a society becomes that learns from ACADEMY while it plays, against the same one without.

Its players consult in a share of the contests that ACADEMY learns from. After every two of these, a player
meets itself without ACADEMY, in both seats; these games teach nothing.
"""

import random
import secrets
from dataclasses import replace
from pathlib import Path
from typing import Final

from arena.academy.embedded import EmbeddedAcademy
from research.learning.contests import EVERYTHING, LESSONS, Entrant, Hall
from research.learning.games import TRIALS
from research.learning.ledger import Ledger, Piece
from research.learning.population import Population, Records

# Contests learnt from for each pair of games that measures.
APART: Final = 2


def live(name: str, share: float, contests: int, piece: Piece, ledger: Ledger, data: Path) -> None:
    """Let a society play, from where it was interrupted, until the time is up.

    `share` is the part of the contests learnt from in which its players consult, 0.0 to 1.0.
    """
    folder = data / piece.series / name / f"society-{share:g}"
    folder.mkdir(parents=True, exist_ok=True)
    records = Records(folder / "contests")
    population = Population(name, TRIALS[name], piece.series, records)
    server = EmbeddedAcademy(folder / "academy", folder / "server.log")
    try:
        hall = Hall(population.trial.referee(), server.start(), LESSONS["all"])
        try:
            if records.reports and not hall.knows(records.reports[-1].contest.contest_id):
                hall.teach(records.reports[-1])
            society = _Society(population, records, hall, share, piece)
            for number in range(1, contests + 1):
                if number > len(records.reports):
                    society.learn(number)
                if number % APART == 0:
                    society.measure(number, ledger)
                if piece.over:
                    return
        finally:
            hall.close()
    finally:
        server.close()


class _Society:
    def __init__(
        self, population: Population, records: Records, hall: Hall, share: float, piece: Piece
    ) -> None:
        self._population, self._records, self._hall = population, records, hall
        self._share, self._piece = share, piece

    def _entrants(self, number: int, chance: random.Random) -> list[Entrant]:
        """Two players, with what they may ask ACADEMY for."""
        elos = self._population.elos(number - 1)
        consult = chance.random() < self._share
        return [
            Entrant(
                self._population.players[player],
                self._population.trial.strength(self._population.school.population[player]),
                elos[player],
                EVERYTHING if consult else (),
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

    def measure(self, number: int, ledger: Ledger) -> None:
        """Let a player meet itself without ACADEMY, in both seats, after this number of contests."""
        key = {**self._piece.key(self._population.name), "share": self._share}
        if ledger.pairs("society", **key, number=number):
            return
        level = random.Random(f"{self._piece.series}/{number}").choice(self._population.school.population)
        elo = self._population.levels(number)[level]
        plain = Entrant("without", self._population.trial.strength(level), elo)
        asking = replace(plain, name="with", libraries=EVERYTHING)
        points = 0.0
        for seat, entrants in enumerate(((asking, plain), (plain, asking)), 1):
            seed = f"{self._piece.series}/society/{self._population.name}/{number}"
            contest_id = f"{seed}/{self._share:g}/{seat}/{secrets.token_hex(4)}"
            points += self._hall.meet(contest_id, entrants, seed, _no_clock).score(seat)
        ledger.add(kind="society", **key, number=number, level=level, points=points)


def _no_clock() -> float:
    return 0.0
