"""Every competitor meets every other one, in both colours by turns."""

import re
from collections.abc import Sequence
from itertools import combinations
from typing import Final

from arena.selection.selector import Fixture, Selector, UnknownFixture, game_seed
from referees.api import Outcome

_GAME_ID: Final = re.compile(r"([A-Z]{1,2}v[A-Z]{1,2})_(\d+)")


def letters(place: int) -> str:
    """A competitor's letters in the cross-table by place from 0: A to Z, then AA to ZZ."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if place < 26:
        return alphabet[place]
    return alphabet[(place - 26) // 26] + alphabet[(place - 26) % 26]


class AllPlayAll(Selector):
    """The pair with the fewest games given out plays next; among equals, the first in definition order.

    `rounds` is the number of games of each pair, None for no end. Game n of a pair (from 0) is
    `AvB_n`, padded with zeros to the longest number of the competition; in odd games the colours
    are swapped. Games are for two, as in Gomill's ringmaster.
    """

    def __init__(self, competitors: Sequence[str], rounds: int | None, seed: int = 0) -> None:
        self._competitors = tuple(competitors)
        self._rounds = rounds
        self._seed = seed
        self._width = 0 if rounds is None else len(str(rounds - 1))
        places = combinations(range(len(competitors)), 2)
        self._pairs = {f"{letters(i)}v{letters(j)}": (competitors[i], competitors[j]) for i, j in places}
        self._given: dict[str, set[int]] = {matchup: set() for matchup in self._pairs}
        self._lowest_open = dict.fromkeys(self._pairs, 0)

    @property
    def total(self) -> int | None:
        """The games of all pairs, None without a number of rounds."""
        return None if self._rounds is None else self._rounds * len(self._pairs)

    @property
    def description(self) -> str:
        """The kind, its rounds and its competitors."""
        rounds = "unlimited" if self._rounds is None else str(self._rounds)
        return f"all-play-all rounds={rounds} competitors={','.join(self._competitors)}"

    def next_game(self) -> Fixture | None:
        """The lowest number not yet given out of the pair with the fewest games given out."""
        open_pairs = [
            matchup
            for matchup in self._pairs
            if self._rounds is None or len(self._given[matchup]) < self._rounds
        ]
        if not open_pairs:
            return None
        matchup = min(open_pairs, key=lambda pair: len(self._given[pair]))
        number = self._lowest_open[matchup]
        self._take(matchup, number)
        return self._fixture(matchup, number)

    def completed(self, game_id: str, outcome: Outcome) -> None:
        """Note that the game needs not be given out. Raises UnknownFixture."""
        self._take(*self._parse(game_id))

    def _parse(self, game_id: str) -> tuple[str, int]:
        found = _GAME_ID.fullmatch(game_id)
        if found is None or found[1] not in self._pairs:
            raise UnknownFixture(f"game {game_id!r} is none of this competition's: {self.description}")
        return found[1], int(found[2])

    def _take(self, matchup: str, number: int) -> None:
        given = self._given[matchup]
        given.add(number)
        while self._lowest_open[matchup] in given:
            self._lowest_open[matchup] += 1

    def _fixture(self, matchup: str, number: int) -> Fixture:
        # The number alone names the seed, so that more rounds, with longer ids, change no game.
        seed = game_seed(self._seed, f"{matchup}_{number}")
        first, second = self._pairs[matchup]
        players = (first, second) if number % 2 == 0 else (second, first)
        return Fixture(f"{matchup}_{number:0{self._width}d}", matchup, players, seed)
