"""What both tuners have in common: games of a candidate against the opponent."""

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from arena.control.parameters import Parameter, describe
from arena.control.plans import CandidatePlan
from arena.jobs import PlayerSetup
from arena.selection.parameter_tree import Path
from arena.selection.selector import ChangedCompetition, CompletedGame, Fixture, game_seed
from arena.selection.terms import check_terms

MATCHUP: Final = "candidates"
SEATS: Final = 2


@dataclass(frozen=True)
class CandidateGames:
    """Makes the games of a tuner.

    `terms` are the settings of its kind that may not change; `folder` is the control file's.
    """

    plan: CandidatePlan
    opponent: PlayerSetup
    parameters: Sequence[Parameter]
    seed: int
    terms: Mapping[str, object]
    folder: str = ""

    def game(
        self, game_id: str, code: str, values: Sequence[Any], opening: int, path: Path | None = None
    ) -> Fixture:
        """A game of the candidate called `code`; its seat is drawn from the game's seed."""
        seed = game_seed(self.seed, game_id)
        seat = random.Random(seed).randint(1, SEATS) if self.plan.seat is None else self.plan.seat
        candidate = self.plan.make(code, values)
        setups = (candidate, self.opponent) if seat == 1 else (self.opponent, candidate)
        detail = {
            "values": [repr(value) for value in values],
            "candidate": self._fingerprint(candidate),
            "terms": self._all_terms(),
        }
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

    def check_terms(self, detail: str) -> None:
        """Raise ChangedCompetition if a game was played on other terms than the control file has now."""
        if detail:
            check_terms(json.loads(detail)["terms"], self._all_terms())

    def check_candidate(self, game_id: str, detail: str, values: Sequence[Any]) -> None:
        """Raise ChangedCompetition if the candidate of a game is not what these values make now."""
        stored, now = json.loads(detail), [repr(value) for value in values]
        if stored["values"] != now:
            raise ChangedCompetition(
                f"game {game_id!r} was played with the parameters {', '.join(stored['values'])}, by the "
                f"control file they would now be {', '.join(now)}; put the parameters and the seed "
                "back as they were"
            )
        if stored["candidate"] != self._fingerprint(self.plan.make("candidate", values)):
            raise ChangedCompetition(
                f"candidate: the one of game {game_id!r} was another program or had other arguments; put its "
                "definition back, or give the changed competition a control file of its own"
            )

    def _all_terms(self) -> dict[str, object]:
        seat = "random" if self.plan.seat is None else f"seat {self.plan.seat}"
        return {**self.terms, "opponent": self.opponent.name, "candidate_seat": seat}

    def _fingerprint(self, candidate: PlayerSetup) -> str:
        startup = candidate.parameters.get("startup_commands", ())
        whole = json.dumps([candidate.command, startup, sorted(candidate.environment.items())])
        # The control file's folder may be moved.
        return hashlib.sha256(whole.replace(self.folder, "").encode()).hexdigest()[:12]


def points(game: CompletedGame, opponent: str) -> float | None:
    """The candidate's points: 1, ½ or 0; None for an unknown result."""
    winners = [game.players[seat - 1] for seat in game.outcome.winners]
    if not winners:
        return None
    return sum(winner != opponent for winner in winners) / len(winners)
