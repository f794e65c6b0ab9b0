"""The moves of a position side by side: the opening tree's figures, ACADEMY's advice, changed patterns."""

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from academy.knowledge.boards import Board
from academy.v1 import consultation_pb2, pattern_pb2
from clients.responses import PatternMatch, successor_matches
from clients.seat import candidate_move
from web.academy_service import AcademyService
from web.failures import PageError

__all__ = ["Candidate", "Comparison", "compare", "list_candidates"]

# The matches that are counted for each move: more say nothing that a person would read.
_MOST_COUNTED: Final = 64
_MOST_SHOWN: Final = 240
_MATCHES_EACH: Final = 8
# Where no move gains so much, advice tells nothing apart.
_LEAST_GAIN: Final = 0.005
_Moves = Mapping[str, consultation_pb2.CandidateMove]


@dataclass(frozen=True)
class Comparison:
    """What ACADEMY says of the moves in a position.

    Attributes:
        changed: The cells that each move changes.
        gains: By move how much more its mover may expect than of the moves on average, in an even position;
            empty where ACADEMY has learnt nothing that tells them apart.
        tesujis: How many tesujis that rests on.
        patterns: How many patterns it rests on.
        contests: How many contests taught the evaluation that it rests on.
        completed: By move how many patterns lie on the board after it that did not before.
        ended: By move how many do not any more.
        best: By move the value of the strongest pattern that it completes.
        shown: What the one move that is looked at changes; None without one.
    """

    changed: Mapping[str, Sequence[int]]
    gains: Mapping[str, float]
    tesujis: int
    patterns: int
    contests: int
    completed: Mapping[str, int]
    ended: Mapping[str, int]
    best: Mapping[str, float]
    shown: tuple[Sequence[PatternMatch], Sequence[PatternMatch]] | None = None


_NOTHING: Final = Comparison({}, {}, 0, 0, 0, {}, {}, {})


async def compare(
    academy: AcademyService,
    game_id: str,
    position: consultation_pb2.Position,
    boards: Mapping[str, Board],
    libraries: Sequence[pattern_pb2.Library.ValueType],
    looked_at: str,
) -> Comparison:
    """Ask ACADEMY to compare moves by the boards after them. Raises PageError.

    Of the move `looked_at`, "" for none, the patterns themselves are returned.
    """
    moves = {
        text: move
        for text, after in boards.items()
        if (move := candidate_move(position.board, after.letters)).cells
    }
    if not moves:
        return _NOTHING
    question = consultation_pb2.AdviseRequest(game_id=game_id, position=position, moves=moves.values())
    advice, counted, shown = await asyncio.gather(
        academy.ask(academy.consultation.Advise, question),
        _successors(academy, game_id, position, moves, libraries),
        _looked_at(academy, game_id, position, moves.get(looked_at), libraries),
    )
    counts = successor_matches(counted)
    gained = zip(moves, counts.gained, counted.moves.gained_totals, strict=True)
    best = {text: matches[0].value for text, matches, _ in gained if matches}
    return Comparison(
        {text: list(move.cells) for text, move in moves.items()},
        _gains(moves, advice.log_odds),
        advice.tesujis,
        advice.patterns,
        advice.evaluation_contests,
        dict(zip(moves, counted.moves.gained_totals, strict=True)),
        {text: len(lost) for text, lost in zip(moves, counts.lost, strict=True)},
        best,
        shown,
    )


async def _looked_at(
    academy: AcademyService,
    game_id: str,
    position: consultation_pb2.Position,
    move: consultation_pb2.CandidateMove | None,
    libraries: Sequence[pattern_pb2.Library.ValueType],
) -> tuple[Sequence[PatternMatch], Sequence[PatternMatch]] | None:
    """The patterns that one move completes, and those that it ends, with their cells."""
    if move is None:
        return None
    answer = await _successors(academy, game_id, position, {"": move}, libraries, cells=True)
    matches = successor_matches(answer)
    return matches.gained[0], matches.lost[0]


def _gains(moves: _Moves, log_odds: Sequence[float]) -> dict[str, float]:
    gains = {text: 1 / (1 + math.exp(-added)) - 0.5 for text, added in zip(moves, log_odds, strict=False)}
    return gains if any(abs(gain) >= _LEAST_GAIN for gain in gains.values()) else {}


async def _successors(
    academy: AcademyService,
    game_id: str,
    position: consultation_pb2.Position,
    moves: _Moves,
    libraries: Sequence[pattern_pb2.Library.ValueType],
    *,
    cells: bool = False,
) -> consultation_pb2.MatchSuccessorsResponse:
    return await academy.ask(
        academy.consultation.MatchSuccessors,
        consultation_pb2.MatchSuccessorsRequest(
            game_id=game_id,
            position=position,
            moves=moves.values(),
            libraries=libraries,
            max_matches=_MOST_SHOWN if cells else _MOST_COUNTED,
            max_matches_each=_MATCHES_EACH,
            include_cells=cells,
        ),
    )


@dataclass(frozen=True)
class Candidate:
    """A move of the list.

    Attributes:
        text: The move.
        same: Other spellings of it under the position's symmetries.
        rank: Its place among those that the opening tree has; 0 for one that it does not have.
        known: The opening tree's figures of it; None for none.
        gain: How much more it promises than the moves on average; None where that is not known.
        completed: How many patterns it completes; None where that is not known.
        ended: How many it ends.
        best: The value of the strongest pattern that it completes; None without one.
        cells: The cells that it changes.
        address: Where the position after it is.
        look: Where the patterns are that it changes.
        chosen: Whether these are shown.
    """

    text: str
    same: Sequence[str]
    rank: int
    known: consultation_pb2.OpeningStatistics | None
    gain: float | None
    completed: int | None
    ended: int
    best: float | None
    cells: Sequence[int]
    address: str
    look: str
    chosen: bool


def list_candidates(
    known: Sequence[consultation_pb2.OpeningMove],
    legal: Sequence[str],
    compared: Comparison | PageError | None,
    addresses: Callable[[str], tuple[str, str]],
    looked_at: str,
) -> list[Candidate]:
    """Return the moves in one list: those that the opening tree has, then those that are advised most.

    `compared` is None where ACADEMY was not asked, or why it did not answer. `addresses` gives where the
    position after a move is, and what it changes.
    """
    facts = compared if isinstance(compared, Comparison) else _NOTHING

    def listed(text: str, rank: int, move: consultation_pb2.OpeningMove | None) -> Candidate:
        address, look = addresses(text)
        return Candidate(
            text,
            [] if move is None else [same for same in move.equivalents if same != text],
            rank,
            None if move is None else move.statistics,
            facts.gains.get(text),
            facts.completed.get(text),
            facts.ended.get(text, 0),
            facts.best.get(text),
            facts.changed.get(text, ()),
            address,
            look if text in facts.changed else "",
            text == looked_at,
        )

    spelt = {text for move in known for text in (move.move, *move.equivalents)}
    others = [listed(text, 0, None) for text in dict.fromkeys(legal) if text not in spelt]
    others.sort(key=lambda move: (-(move.gain or 0.0), -(move.completed or 0), -(move.best or 0.0)))
    return [listed(move.move, rank, move) for rank, move in enumerate(known, 1)] + others
