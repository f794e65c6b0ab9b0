"""A competition's part in its league: who enters it, with which Elo they begin, and games that go there."""

import math
import queue
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from arena.control.settings import Control
from arena.jobs import REMOTE, PlayerSetup
from arena.league.database import LeagueDatabase
from arena.league.estimates import estimate_all
from arena.league.members import versions_of
from arena.league.players import Entrant, enter
from arena.league.recording import begun_ratings, take_in
from arena.league.source import SourceCompetition
from arena.league.tables import PLAYER, RATING
from arena.ratings.bradley_terry import PRIOR, PRIOR_DEVIATION, VERSION_DEVIATION, Strengths
from arena.ratings.pentanomial import NORMAL_95
from arena.results.database import ResultsDatabase, reason

FIRST_PAUSE_SECONDS: Final = 0.5
LONGEST_PAUSE_SECONDS: Final = 60.0
LAST_GAMES_SECONDS: Final = 60.0
# How often a run that lasts finds the likeliest ratings, where there are new games; and how often, in a large
# league, those of all players and not only of those who have new games.
ESTIMATE_SECONDS: Final = 60.0
ESTIMATE_ALL_SECONDS: Final = 3600.0
_PRIOR_ERROR: Final = NORMAL_95 * PRIOR_DEVIATION


def with_members_versions(control: Control, league: LeagueDatabase) -> Control:
    """The control file with the versions of members, for players that dial in and have none in the file."""
    unnamed = [
        name for name, setup in control.players.items() if setup.protocol == REMOTE and not setup.version
    ]
    versions = versions_of(league, unnamed)
    players = {
        name: replace(setup, version=versions.get(name, setup.version))
        for name, setup in control.players.items()
    }
    return replace(control, players=players)


def enter_players(control: Control, league: LeagueDatabase) -> Control:
    """Enter the players of a competition into its league; return it with the Elo that the league has fixed.

    Raises ResultsError for another fixed Elo than the league's.
    """
    entrants = [
        Entrant(setup.name, setup.version, setup.family or "", control.elo.fixed.get(setup.name))
        for setup in (control.players[name] for name in control.competitors)
    ]
    with league.sole_transaction() as connection:
        entered = [enter(connection, entrant) for entrant in entrants]
    fixed = {player.name: player.anchor for player in entered if player.anchor is not None}
    return replace(control, elo=replace(control.elo, fixed={**control.elo.fixed, **fixed}))


def ratings_in(league: LeagueDatabase, game: str, players: Sequence[PlayerSetup]) -> Mapping[str, float]:
    """The league's Elo of those players that it knows in a game, or whose earlier version it knows there."""
    with league.transaction() as connection:
        return begun_ratings(connection, game, [(setup.name, setup.version) for setup in players])


def strengths_in(league: LeagueDatabase, game: str, players: Sequence[PlayerSetup]) -> Strengths | None:
    """The likeliest ratings of players in a game with their errors; None while the league is away.

    A version without an estimate is expected where the version before it is, and a newcomer at the prior.
    """
    table = PLAYER.c
    query = (
        select(table.Name, table.Version, table.Anchor, RATING.c.Elo, RATING.c.Likeliest, RATING.c.Error)
        .join_from(
            PLAYER, RATING, (RATING.c.PlayerId == table.PlayerId) & (RATING.c.Game == game), isouter=True
        )
        .where(table.Name.in_([setup.name for setup in players]))
        .order_by(table.PlayerId)
    )
    known: dict[tuple[str, str], tuple[float, float]] = {}
    earlier: dict[str, tuple[float, float]] = {}
    try:
        rows = league.rows(query)
    except SQLAlchemyError:
        return None
    for name, version, anchor, elo, rating, error in rows:
        if anchor is not None:
            known[name, version] = anchor, 0.0
        elif rating is not None:
            known[name, version] = earlier[name] = rating, error
        elif elo is not None:
            known[name, version] = elo, _PRIOR_ERROR
        else:
            known[name, version] = _expected(earlier.get(name))
    strengths = [
        known.get((setup.name, setup.version)) or _expected(earlier.get(setup.name)) for setup in players
    ]
    return Strengths(np.array([elo for elo, _ in strengths]), np.array([error for _, error in strengths]))


def _expected(earlier: tuple[float, float] | None) -> tuple[float, float]:
    """Where a newcomer, or a new version, is expected, and how surely."""
    if earlier is None:
        return PRIOR, _PRIOR_ERROR
    return earlier[0], math.hypot(earlier[1], NORMAL_95 * VERSION_DEVIATION)


class LeagueDelivery:
    """A thread of its own that takes the competition's games into the league while they are played.

    A league that is away is tried again, after pauses that grow to a minute. What is left at the end is taken
    by the next run, or by `arena league import`. What people should know of is put into `warnings`.
    """

    def __init__(
        self, league: LeagueDatabase, results: ResultsDatabase, competition: SourceCompetition
    ) -> None:
        self.warnings: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._league = league
        self._results = results
        self._competition = competition
        self._news = threading.Event()
        self._stopping = False
        self._finishing = False
        # The league has all games, and they are rated.
        self.complete = False
        self._last_warning = ""
        self._thread = threading.Thread(target=self._run, name="league", daemon=True)

    def start(self) -> None:
        """Begin to take games in; those that an earlier run left come first."""
        self._thread.start()

    def wake(self) -> None:
        """Take games in now: there is a new one."""
        self._news.set()

    def finish(self) -> bool:
        """Take in what is left and find the likeliest ratings.

        Returns whether that was done within a minute.
        """
        self._finishing = True
        self._news.set()
        self._thread.join(LAST_GAMES_SECONDS)
        return self.complete

    def stop(self) -> None:
        """End the thread after the games that it is about to store."""
        self._stopping = True
        self._news.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        pause = FIRST_PAUSE_SECONDS
        estimated = all_estimated = time.monotonic()
        while not self._stopping:
            last = self._finishing
            try:
                take_in(self._league, self._results, self._competition, lambda: not self._stopping)
                if last or time.monotonic() > estimated + ESTIMATE_SECONDS:
                    whole = last or time.monotonic() > all_estimated + ESTIMATE_ALL_SECONDS
                    estimate_all(self._league, only_new=not whole)
                    estimated = time.monotonic()
                    all_estimated = estimated if whole else all_estimated
                if last:
                    self.complete = True
                    return
                pause, wait = FIRST_PAUSE_SECONDS, None
            except SQLAlchemyError as error:
                self._warn(f"the league can't be used: {reason(error)}; trying again")
                pause = wait = min(2 * pause, LONGEST_PAUSE_SECONDS)
            # The end of a run, which waits, is not the time for long pauses.
            self._news.wait(FIRST_PAUSE_SECONDS if wait and self._finishing else wait)
            self._news.clear()

    def _warn(self, text: str) -> None:
        if text != self._last_warning:
            self._last_warning = text
            self.warnings.put(text)
