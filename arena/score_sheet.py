"""What is written down of a game while it is played."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from arena.game_record import played_move, record_of
from arena.jobs import Fault, GameJob, JobMove, PlayerUsage
from arena.players.player import Choice, Cost, Player, Seating
from referees.api import Outcome, PlayedMove, Referee
from referees.legible_text import legible

_NO_VALUES: Final[Mapping[int, float]] = {}


class ScoreSheet:
    """The moves of a game, what went wrong, and what the players said at the end.

    `first` is the position before the first move. `remarks` and `warnings` go into the game's record,
    warnings into its result as well. What players say is made legible here, where it enters the results.
    """

    def __init__(
        self, job: GameJob, rules: Referee[Any, Any], seatings: Sequence[Seating], first: Any
    ) -> None:
        self._job = job
        self._rules = rules
        self._seatings = seatings
        self._played: list[PlayedMove] = []
        self._thought = [0.0] * rules.seats
        self._faults: dict[int, tuple[Fault, str, int | None]] = {}
        self._turns: int | None = 0 if rules.spec().simultaneous else None
        self.first: Any = first
        self.moves: list[JobMove] = []
        self.remarks: list[str] = []
        self.warnings: list[str] = []

    def thought(self, seat: int, seconds: float) -> None:
        """Note the time that a seat took for a move, whatever became of it."""
        self._thought[seat - 1] += seconds

    def fault(self, seat: int, fault: Fault, reason: str) -> None:
        """Note what a player did wrong."""
        self._faults[seat] = (fault, legible(reason), self._turns)

    def last_comment(self, seat: int, comment: str) -> None:
        """Note what a player said of an answer that is no recorded move."""
        if comment:
            self.remarks.append(f"last comment of {self._seatings[seat - 1].label}: {legible(comment)}")

    def scores(self, told: Mapping[int, Outcome], outcome: Outcome) -> None:
        """Note the players' counts that differ from the result."""
        self.remarks += [
            f"score of {self._seatings[seat - 1].label}: {score.summary}"
            for seat, score in told.items()
            if score.summary != outcome.summary
        ]

    def turn(
        self,
        choices: Mapping[int, tuple[Any, Choice]],
        before: Any,
        after: Any,
        *,
        opening: bool = False,
        stand_ins: Collection[int] = (),
    ) -> None:
        """Note the moves, by seat, that led from one position to the next.

        `stand_ins` are the seats whose players are gone: the referee moved for them, and for those that
        missed the turn.
        """
        if self._turns is not None:
            self._turns += 1
        described = self._job.describe_positions
        interaction = bool(self._rules.interaction(after)) if described else None
        for seat, (move, choice) in choices.items():
            text = self._rules.move_text(move)
            values = _NO_VALUES if choice.value is None else {seat: choice.value}
            comment = legible(choice.comment)
            note = JobMove(seat, text, None, None, interaction, choice.seconds, values, comment)
            clock = self._seatings[seat - 1].clock
            if clock is not None:
                note = note._replace(clock_seconds=clock.seconds, clock_stones=clock.stones)
            if choice.value is not None and choice.value_before is not None:
                if 0.0 <= choice.value_before <= 1.0:
                    note = note._replace(value_before=choice.value_before)
                else:
                    label = self._seatings[seat - 1].label
                    what = f"the value before its move, {choice.value_before!r}, is not from 0 to 1"
                    self.warnings.append(f"player {label}: {what}")
            if opening or seat in stand_ins or choice.missed is not None:
                note = note._replace(opening=opening, stand_in=not opening)
            if described:
                note = self._described(note, move, before, after)
            self.moves.append(note)
            self._played.append(played_move(note, move))

    def _described(self, note: JobMove, move: Any, before: Any, after: Any) -> JobMove:
        rules, seat = self._rules, note.seat
        legal = rules.legal_moves(before, seat)
        known_as = rules.opening_move(before, seat, move)
        return note._replace(
            board=rules.board(after, seat).letters,
            legal_moves=0 if legal is None else len(legal),
            opening_move="" if known_as == note.text else known_as,
        )

    def usage(self, players: Sequence[Player], costs: Sequence[Cost]) -> tuple[PlayerUsage, ...]:
        """What each seat used and did wrong; of a player that could not even be made nothing is known."""
        usage = []
        for index in range(self._rules.seats):
            known = index < len(players)
            cost = costs[index] if known else Cost()
            fault, remark, turns = self._faults.get(index + 1, (Fault.NONE, "", None))
            first = players[index].disorder if known else None
            if first is not None:
                turns = first.turns
                if fault is Fault.NONE:
                    fault, remark = first.cause.fault, legible(str(first.cause))
            usage.append(
                PlayerUsage(
                    cpu_seconds=cost.cpu_seconds,
                    wall_seconds=self._thought[index],
                    peak_memory_bytes=cost.peak_memory_bytes,
                    engine_name=legible(players[index].name) if known else "",
                    engine_description=legible(players[index].description) if known else "",
                    fault=fault,
                    remark=remark,
                    turns=turns,
                )
            )
        return tuple(usage)

    def record(
        self,
        outcome: Outcome | None,
        void_reason: str,
        players: Sequence[Player],
        usage: Sequence[PlayerUsage],
        started: float,
    ) -> str:
        """The game's record; empty for a void game in which nobody has moved."""
        if outcome is None and all(move.opening for move in self.moves):
            return ""
        return record_of(
            self._job,
            self._rules,
            self.first,
            self._played,
            outcome,
            usage,
            started,
            names=[legible(player.record_name) for player in players],
            before_result=self.remarks,
            after_result=[*([void_reason] if void_reason else []), *map(legible, self.warnings)],
        )
