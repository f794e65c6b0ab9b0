"""Who sits where in a game, and what each player is told of it before it starts."""

from typing import Any

from arena.jobs import GameJob
from arena.match.game_seeds import seat_seed
from arena.match.recorder import labels
from arena.players.clock import Clock
from arena.players.player import Seating
from arena.players.transcript import Transcript
from referees.api import Referee


def seatings(
    job: GameJob, rules: Referee[Any, Any], first: Any, slot: int | None, transcript: Transcript | None
) -> list[Seating]:
    """The seats of a game that begins with the position `first`; players see the `slot` as GOMILL_SLOT."""
    called = labels([player.name for player in job.players])
    return [
        Seating(
            setup=setup,
            seat=seat,
            label=label,
            referee=rules,
            game_id=job.game_id,
            seed=job.seat_seeds[seat - 1] if job.seat_seeds else seat_seed(job.seed, seat),
            environment=_environment(job, rules, seat, slot),
            log_path=job.log_path,
            transcript=transcript,
            clock=None if setup.time_control is None else Clock(setup.time_control),
            settings=job.settings,
            players=tuple(called),
            first_view=rules.view(first, seat),
        )
        for seat, (setup, label) in enumerate(zip(job.players, called, strict=True), start=1)
    ]


def _environment(job: GameJob, rules: Referee[Any, Any], seat: int, slot: int | None) -> dict[str, str]:
    environment = {"GOMILL_GAME_ID": job.game_id}
    if slot is not None:
        environment["GOMILL_SLOT"] = str(slot)
    if job.academy is not None:
        environment["ACADEMY_ADDRESS"] = job.academy.address
        environment["ACADEMY_CONTEST"] = job.academy.contest_id
        environment["ACADEMY_GAME"] = rules.spec().game_id
        environment["ACADEMY_PLAYER"] = str(seat)
        environment["ACADEMY_TOKEN"] = job.academy.tickets[seat - 1]
        if job.academy.tls_ca is not None:
            environment["ACADEMY_TLS_CA"] = job.academy.tls_ca
    return environment
