"""Who takes part in a standing arena: its control file is read again before each round if it has changed."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from arena.control import plans
from arena.control.control_file import read_control
from arena.control.settings import Control, ControlError
from arena.jobs import REMOTE
from arena.league.database import LeagueDatabase
from arena.ratings.bradley_terry import Strengths
from arena.runner.competition import Competition
from arena.runner.league import strengths_in
from arena.runner.remote_players import LOBBY_VARIABLE, at_service, free_competitors
from arena.selection.standing import Standing


class Roster:
    """The players of a standing arena that a service runs.

    Those who dial in may be added to the control file, taken out, or given another version while it
    runs. Other settings hold until the run ends.
    """

    def __init__(
        self, control: Control, prepare: Callable[[Control], Control], tell: Callable[[str], None]
    ) -> None:
        """`prepare` enters new players wherever a run needs them."""
        self.control = control
        self._prepare = prepare
        self._tell = tell
        # The file may have changed since it was read: the first look reads it again.
        self._seen: tuple[int, int, int] | None = None
        self._complaint = ""

    def free(self, names: Sequence[str]) -> set[str]:
        """Those players that can begin a game now."""
        return free_competitors(self.control, names)

    def hold(self, names: Sequence[str]) -> bool:
        """Whether all of these players can begin a game now, for which they are held then."""
        return set(names) <= free_competitors(self.control, names, hold=True)

    def look(self) -> Control | None:
        """The control file with its present players; None where it is as before. Raises SQLAlchemyError."""
        try:
            status = self.control.path.stat()
            state = status.st_mtime_ns, status.st_size, status.st_ino
            if state == self._seen:
                return None
            changed = read_control(self.control.path)
            if not isinstance(changed.plan, plans.StandingPlan):
                return None
            merged = self._merged(changed)
        except (ControlError, OSError) as error:
            # The next look tries again, as the error may be one of reading that passes.
            complaint = f"the changed control file can't be used, so players stay as they are: {error}"
            if complaint != self._complaint:
                self._tell(complaint)
            self._complaint = complaint
            return None
        self.control = self._prepare(merged)
        self._seen, self._complaint = state, ""
        return self.control

    def _merged(self, changed: Control) -> Control:
        """The running control file with the players of the changed one that dial in."""
        own = {name: setup for name, setup in self.control.players.items() if setup.protocol != REMOTE}
        remote = {name: setup for name, setup in changed.players.items() if setup.protocol == REMOTE}
        players = {**own, **{name: setup for name, setup in remote.items() if name not in own}}
        competitors = tuple(name for name in changed.competitors if name in players)
        plan = self.control.plan
        assert isinstance(plan, plans.StandingPlan)
        return at_service(
            replace(
                self.control,
                players=players,
                competitors=competitors,
                plan=replace(plan, competitors=competitors),
            )
        )


def follow_players(
    selector: Standing, roster: Roster, competition: Competition, league: LeagueDatabase | None
) -> None:
    """Let a standing arena see who is there and how strong, and at a service also who is new."""

    def renew() -> None:
        renewed = roster.look()
        if renewed is not None:
            competition.renew_players(renewed)
            selector.renew_competitors(renewed.competitors)

    def ratings(names: Sequence[str]) -> Strengths | None:
        if league is None:
            return None
        game = roster.control.game.rules().spec().game_id
        return strengths_in(league, game, [roster.control.players[name] for name in names])

    selector.free, selector.hold, selector.ratings = roster.free, roster.hold, ratings
    if LOBBY_VARIABLE in os.environ:
        selector.before_round = renew
