"""Contests played in this process, with or without ACADEMY."""

import random
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from academy.knowledge.settings import Library
from academy.v1 import contests_pb2
from arena.academy.client import contest_message
from clients.academy import Academy
from clients.bots.advised_player import AdvisedPlayer
from clients.bots.thinking import Thinker
from clients.seat import Seat
from referees.api import Outcome, Referee

# A game this many times as long as a usual one ends; the referee says who stands better, if anybody does.
LONGEST: Final = 4


class Skill(Protocol):
    """A maker of players for contests, as `Strength` is."""

    def thinker(self, referee: Referee[Any, Any], chance: random.Random) -> Thinker[Any, Any, Any]:
        """The player of one seat."""


class AcademyLostError(RuntimeError):
    """A player that is measured with ACADEMY went on without it."""


@dataclass(frozen=True)
class Entrant:
    """A player of one contest; it asks ACADEMY for what is in `libraries`, if anything.

    One that `remembers` compares moves by earlier answers, too.
    """

    name: str
    strength: Skill
    elo: float
    libraries: Collection[Library] = ()
    remembers: bool = False


@dataclass(frozen=True)
class Played:
    """A contest that was played: its report, its winners' seats, and the seconds each seat thought."""

    report: contests_pb2.ReportContestRequest
    winners: tuple[int, ...]
    seconds: Mapping[int, float]

    def score(self, seat: int) -> float:
        """1 for a win, one half for a draw."""
        return float(seat in self.winners) / len(self.winners)


def play(
    referee: Referee[Any, Any],
    contest_id: str,
    entrants: Sequence[Entrant],
    seed: str,
    lines: Mapping[int, Academy] | None = None,
    clock: Callable[[], float] = time.process_time,
) -> Played:
    """Play a contest; the seats of `lines` consult ACADEMY by them. `clock` says how long each thought.

    Raises AcademyLostError.
    """
    spec = referee.spec()
    scholars = {
        seat: AdvisedPlayer(
            entrant.strength.thinker(referee, random.Random(f"{seed}/{seat}")),
            referee,
            lines.get(seat) if lines else None,
            Seat(spec.game_id, spec.geometry, seat, contest_id),
            entrant.libraries,
            saves_time=True,
        )
        for seat, entrant in enumerate(entrants, 1)
    }
    for seat, entrant in enumerate(entrants, 1):
        if not entrant.remembers:
            scholars[seat].memory = None
    contest = contest_message(
        contest_id, spec, [entrant.name for entrant in entrants], [entrant.elo for entrant in entrants]
    )
    position = referee.start(0)
    report = contests_pb2.ReportContestRequest(
        contest=contest, termination="score", start_board=referee.board(position, 1).letters
    )
    moves: list[str] = []
    own_moves = dict.fromkeys(scholars, 0)
    seconds = dict.fromkeys(scholars, 0.0)
    for _ in range(int(LONGEST * spec.expected_length)):
        if not (to_move := referee.to_move(position)):
            break
        seat = to_move[0]
        legal = len(referee.legal_moves(position, seat) or ())
        began = clock()
        chosen = scholars[seat].choose(position, moves, own_moves[seat])
        seconds[seat] += clock() - began
        position = referee.play(position, {seat: chosen.move})
        moves.append(referee.move_text(chosen.move))
        own_moves[seat] += 1
        ply = report.plies.add(
            player=seat, move=moves[-1], board=referee.board(position, 1).letters, legal_moves=legal
        )
        ply.values.add(player=seat, value=chosen.value, before=scholars[seat].value_before)
    for seat in lines or ():
        if not scholars[seat].may_ask:
            raise AcademyLostError(
                f"contest {contest_id}, seat {seat}: it went on without ACADEMY; not counted"
            )
    winners = _winners(referee.outcome(position) or referee.adjudicate(position))
    report.results.extend(_result(seat, winners) for seat in (1, 2))
    return Played(report, winners, seconds)


def _winners(outcome: Outcome | None) -> tuple[int, ...]:
    return outcome.winners if outcome and outcome.winners else (1, 2)


def _result(seat: int, winners: tuple[int, ...]) -> contests_pb2.Result.ValueType:
    if seat not in winners:
        return contests_pb2.RESULT_LOSS
    return contests_pb2.RESULT_WIN if len(winners) == 1 else contests_pb2.RESULT_DRAW
