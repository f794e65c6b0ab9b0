"""What both tuners have in common: games of a candidate against the opponent."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from arena.control.parameters import Parameter, describe
from arena.control.plans import CandidatePlan
from arena.jobs import PlayerSetup
from arena.selection.parameter_tree import Path
from arena.selection.selector import ChangedCompetition, CompletedGame, Fixture, game_seed

MATCHUP: Final = "candidates"
SEATS: Final = 2


@dataclass(frozen=True)
class CandidateGames:
    """Makes the games of a tuner."""

    plan: CandidatePlan
    opponent: PlayerSetup
    parameters: Sequence[Parameter]
    seed: int

    def game(
        self, game_id: str, code: str, values: Sequence[Any], opening: int, path: Path | None = None
    ) -> Fixture:
        """A game of the candidate called `code`; its seat is drawn from the game's seed."""
        seed = game_seed(self.seed, game_id)
        seat = random.Random(seed).randint(1, SEATS) if self.plan.seat is None else self.plan.seat
        candidate = self.plan.make(code, values)
        setups = (candidate, self.opponent) if seat == 1 else (self.opponent, candidate)
        detail = {"values": [repr(value) for value in values]}
        return Fixture(
            game_id=game_id,
            matchup=MATCHUP,
            players=tuple(setup.name for setup in setups),
            seed=seed,
            setups=setups,
            opening=opening,
            remarks=(f"Candidate parameters: {describe(self.parameters, values)}",),
            detail=json.dumps(detail if path is None else {"path": path, **detail}),
        )


def points(game: CompletedGame, opponent: str) -> float | None:
    """The candidate's points: 1, ½ or 0; None for an unknown result."""
    winners = [game.players[seat - 1] for seat in game.outcome.winners]
    if not winners:
        return None
    return sum(winner != opponent for winner in winners) / len(winners)


def same_values(stored: Sequence[str], values: Sequence[Any], game_id: str) -> None:
    """Raise ChangedCompetition if a game was played with other values than its candidate has now."""
    now = [repr(value) for value in values]
    if list(stored) != now:
        raise ChangedCompetition(
            f"game {game_id} was played with the parameters {', '.join(stored)}, by the control file they "
            f"would now be {', '.join(now)}; put the parameters and the seed back as they were"
        )
