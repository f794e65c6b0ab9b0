"""Which patterns occur on a position, as the answer to a consultation.

Placements are on the board as the player whose value it is would see it playing first: for player 2
of a symmetric game (and for the opponent of player 1) the board and its colours are reversed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from academy.knowledge.boards import Board
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.matching.matches import Matches
from academy.service.ranked import Ranked, Wish
from academy.service.written_answers import WrittenAnswer, each_written, positions_written
from academy.store.game_records import library_to_proto


@dataclass(frozen=True, slots=True)
class PatternQuestion:
    """What is asked about a position.

    At most `matches_each` placements of one pattern are told, so that others have room among `max_matches`;
    `player_elo` is the asking player's, None outside a contest.
    """

    board: Board
    player: int
    both_players: bool
    max_matches: int
    matches_each: int
    player_elo: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PatternCall:
    """The positions that one call asks about, and the patterns that it asks for.

    All questions are about both players, or none is.
    """

    spec: GameSpec
    ranked: Ranked
    libraries: Sequence[Library]
    questions: Sequence[PatternQuestion]

    @property
    def both_players(self) -> bool:
        """Whether placements of either player are asked for."""
        return self.questions[0].both_players

    def wishes(self, questions: Sequence[PatternQuestion]) -> list[Wish]:
        """What is to be matched for some of the questions."""
        libraries = [library_to_proto(library) for library in self.libraries]
        return [self._wish(question, libraries) for question in questions]

    def _wish(self, question: PatternQuestion, libraries: Sequence[int]) -> Wish:
        spec, board = self.spec, question.board
        if question.player != 1 and spec.symmetric and spec.players == 2:
            board = spec.reversed_board(board)
        only = 0 if spec.symmetric or question.both_players else question.player
        selection = self.ranked.selection(libraries, question.player_elo, only)
        both = question.both_players and spec.symmetric
        return Wish(board, selection, question.max_matches, question.matches_each, both)

    def answered(self) -> WrittenAnswer:
        """Write the answer, a MatchPatternsResponse without cells.

        Raises InvalidBoard for a board of another geometry.
        """
        match = self.ranked.match
        return self.written([match(*wish) for wish in self.wishes(self.questions)])

    def written(self, found: Sequence[Matches]) -> WrittenAnswer:
        """Write the answer, once all questions are matched."""
        return positions_written(self.ranked, found, self.for_opponent(found))

    def for_opponent(self, found: Sequence[Matches]) -> list[NDArray[np.bool_]]:
        """Which of the placements found for all questions are the opponent's; nothing if nobody asks."""
        if not self.both_players:
            return []
        if self.spec.symmetric:
            return [matches.reversed for matches in found]
        return [
            self.ranked.players.take(matches.places) != question.player
            for matches, question in zip(found, self.questions, strict=True)
        ]


def answered_together(calls: Sequence[PatternCall]) -> list[WrittenAnswer]:
    """Answer each call, in less time than one by one.

    Raises InvalidBoard for a board of another geometry, and answers none then.
    """
    alike: dict[tuple[Ranked, bool], list[int]] = {}
    for number, call in enumerate(calls):
        alike.setdefault((call.ranked, call.both_players), []).append(number)
    answers: dict[int, WrittenAnswer] = {}
    for (ranked, _), numbers in alike.items():
        some = [calls[number] for number in numbers]
        if len(some) == 1:
            # Written by itself it takes 20 us less.
            answers[numbers[0]] = some[0].answered()
            continue
        matches = iter(ranked.match_each([wish for call in some for wish in call.wishes(call.questions)]))
        found = [list(islice(matches, len(call.questions))) for call in some]
        flags = [
            each for call, of_call in zip(some, found, strict=True) for each in call.for_opponent(of_call)
        ]
        answers |= zip(numbers, each_written(ranked, found, list(flags)), strict=True)
    return [answers[number] for number in range(len(calls))]
