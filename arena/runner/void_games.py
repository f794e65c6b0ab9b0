"""What follows from a void game: it is tried again, put off or lost, or somebody is left out."""

from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from typing import Any, Final

from arena.control import plans
from arena.control.settings import Control
from arena.jobs import REMOTE, Fault, GameResult, PlayerSetup
from arena.match.verdicts import Loss, decide_against
from arena.players.protocols import added_protocols
from arena.selection.selector import Fixture, Selector, original_name
from arena.selection.voids import Sequel, VoidRules
from referees.api import Referee, Termination

DIALS_IN: Final = (REMOTE, *added_protocols())


def seat_at_fault(result: GameResult) -> int | None:
    """The seat whose player made the game void, None where no player or more than one did."""
    faulty = [seat for seat, usage in enumerate(result.usage, start=1) if usage.fault is not Fault.NONE]
    return faulty[0] if len(faulty) == 1 else None


def forfeit_game(result: GameResult, rules: Referee[Any, Any], seat: int) -> GameResult:
    """A void game as one that the player of a seat has lost."""
    outcome = decide_against(rules, [Loss(seat, Termination.FORFEIT, f"forfeit: {result.void_reason}")])
    return replace(result, outcome=outcome, void_reason="")


class VoidGames:
    """Judges the void games of one run."""

    def __init__(self, control: Control, selector: Selector) -> None:
        self._control = control
        self._group = selector.void_group
        self._rules = VoidRules(
            selector.void_policy, control.void_retries, from_first=control.retries_from_first
        )
        # By player that dials in: the games in a row that it made void.
        self._failures: Counter[str] = Counter()
        # By player and game: other games that it plays do not excuse it from this one.
        self._failures_by_game: Counter[tuple[str, str]] = Counter()

    def note_completed(self, fixture: Fixture) -> None:
        """Note a finished game."""
        self._rules.completed(self._group(fixture))
        for name in map(original_name, fixture.players):
            self._failures.pop(name, None)
            self._failures_by_game.pop((name, fixture.game_id), None)

    def complaint(self, name: str, game_id: str) -> str:
        """How many games a player that dials in made void, so that it is left out."""
        in_a_row, of_game = self._failures[name], self._failures_by_game[name, game_id]
        if in_a_row < of_game:
            return f"it made game {game_id} void {of_game} times"
        return f"it made {'1 game' if in_a_row == 1 else f'{in_a_row} games in a row'} void"

    def judge(self, fixture: Fixture, culprit: PlayerSetup | None, elsewhere: Collection[str]) -> Sequel:
        """Decide what follows from a void game.

        The game of a player that dials in is put off while the player plays elsewhere, and the player is
        left out when it has failed too often. For other players the competition's rules decide.

        Args:
            fixture: The game.
            culprit: The player who is at fault; None where no player is, or several are.
            elsewhere: The control file's names of the players whose other games go on now.

        Returns:
            What follows.
        """
        if culprit is not None and culprit.protocol in DIALS_IN:
            name = original_name(culprit.name)
            if name in elsewhere:
                return Sequel.PUT_OFF
            self._failures[name] += 1
            self._failures_by_game[name, fixture.game_id] += 1
            most = max(self._failures[name], self._failures_by_game[name, fixture.game_id])
            return Sequel.LEAVE_OUT if most >= self._control.leave_out_after else Sequel.RETRY
        sequel = self._rules.void(self._group(fixture), fixture.game_id)
        if sequel is not Sequel.HALT:
            return sequel
        if self._control.on_void == "skip-matchup":
            return Sequel.SKIP
        if self._control.on_void == "forfeit" and culprit is not None and self._may_lose(culprit):
            return Sequel.FORFEIT
        return Sequel.HALT

    def _may_lose(self, player: PlayerSetup) -> bool:
        plan = self._control.plan
        if isinstance(plan, plans.TunerPlan):
            # Where their opponent fails, candidates have shown nothing.
            return player.name != plan.candidate.opponent
        return True
