"""Every competitor meets every other one, in both colours by turns."""

import re
from collections.abc import Sequence
from itertools import combinations
from typing import Final

from arena.selection.numbering import Numbering
from arena.selection.selector import CompletedGame, Fixture, Selector, UnknownFixture, game_seed

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
        places = combinations(range(len(competitors)), 2)
        self._pairs = {f"{letters(i)}v{letters(j)}": (competitors[i], competitors[j]) for i, j in places}
        self._numbers = {matchup: Numbering(rounds) for matchup in self._pairs}

    @property
    def total(self) -> int | None:
        """The games of all pairs, None without a number of rounds."""
        return None if self._rounds is None else self._rounds * len(self._pairs)

    @property
    def description(self) -> str:
        """The kind, its rounds and its competitors."""
        rounds = "unlimited" if self._rounds is None else str(self._rounds)
        return f"all-play-all rounds={rounds} competitors={','.join(self._competitors)}"

    @property
    def finished(self) -> bool:
        """Whether every pair has played its rounds."""
        return all(numbers.finished for numbers in self._numbers.values())

    def next_game(self) -> Fixture | None:
        """The lowest number not yet given out of the pair with the fewest games given out."""
        matchups = [matchup for matchup, numbers in self._numbers.items() if numbers.open]
        if not matchups:
            return None
        matchup = min(matchups, key=lambda matchup: self._numbers[matchup].given)
        return self._fixture(matchup, self._numbers[matchup].next())

    def completed(self, game: CompletedGame) -> None:
        """Note that the game needs not be given out. Raises UnknownFixture."""
        matchup, number = self._parse(game.game_id)
        self._numbers[matchup].complete(number)

    def resume(self, game_id: str, players: Sequence[str], detail: str) -> Fixture | None:
        """The game of this id; None when fewer rounds are wanted now. Raises UnknownFixture."""
        matchup, number = self._parse(game_id)
        if not self._numbers[matchup].wants(number):
            return None
        self._numbers[matchup].give(number)
        return self._fixture(matchup, number)

    def _parse(self, game_id: str) -> tuple[str, int]:
        found = _GAME_ID.fullmatch(game_id)
        if found is None or found[1] not in self._pairs:
            raise UnknownFixture(f"game {game_id!r} is none of this competition's: {self.description}")
        return found[1], int(found[2])

    def _fixture(self, matchup: str, number: int) -> Fixture:
        # The number alone names the seed, so that more rounds, with longer ids, change no game.
        seed = game_seed(self._seed, f"{matchup}_{number}")
        first, second = self._pairs[matchup]
        players = (first, second) if number % 2 == 0 else (second, first)
        game_id = f"{matchup}_{self._numbers[matchup].text(number)}"
        return Fixture(game_id, matchup, players, seed, opening=number // 2)
