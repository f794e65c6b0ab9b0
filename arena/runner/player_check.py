"""Starting a player to see whether it would play: the checks before a competition's first game."""

import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from arena.jobs import CHECK_GAME_ID, PlayerSetup
from arena.match.game_seeds import seat_seed
from arena.players.clock import TimeIsUpError, alarm
from arena.players.player import PlayerTimeoutError, Seating
from arena.players.process_tree import ending_descendants
from arena.players.protocols import player_for
from referees.api import Referee

# What protocols pass on of what a player alone may see; the others hand over the referee's view itself.
_PASSED_ON: Final[Mapping[str, str]] = {
    "gtp": "GTP sends an engine its colour with its first move, others' moves whole, and nothing of its view",
    "grpc": "a player that dials in receives its view as ACADEMY's board, and no moves but its own",
}


class CheckedPlayer(NamedTuple):
    """What a player calls itself, what it did wrong that would not have stopped a game, and if it scores."""

    description: str
    warnings: tuple[str, ...] = ()
    scores: bool = False


def hidden_from(setup: PlayerSetup, rules: Referee[Any, Any]) -> str:
    """What a protocol cannot pass on to its player in a game that hides something; empty if it can."""
    hides = type(rules).view is not Referee.view
    if not hides or setup.protocol not in _PASSED_ON:
        return ""
    return f"player {setup.name}: {rules.name} hides things from players: {_PASSED_ON[setup.protocol]}"


def check_player(
    setup: PlayerSetup,
    rules: Referee[Any, Any],
    quiet: bool,
    settings: Mapping[str, Any] | None = None,
    academy: bool = False,
) -> CheckedPlayer:
    """Start a player, bring it to the beginning of a game, and end it.

    A player that shows only by a move that it works is asked for the first move.

    The `settings` that the referee was made of are for players that receive them. With `academy` there is a
    warning of a player that cannot learn of its contests.

    Players know a check by GOMILL_GAME_ID, which is `startup-check`. Their standard error goes to
    ours, against their settings, or nowhere if `quiet`. Only for the main thread. Raises PlayerError
    or InvalidPlayerParametersError.
    """
    with ending_descendants():
        return _checked(setup, rules, quiet, settings or {}, academy)


def _checked(
    setup: PlayerSetup, rules: Referee[Any, Any], quiet: bool, settings: Mapping[str, Any], academy: bool
) -> CheckedPlayer:
    seed = secrets.randbits(63)
    first = rules.start(seed)
    seat = rules.to_move(first)[0]
    view = rules.view(first, seat)
    player = player_for(
        Seating(
            setup=replace(setup, discard_stderr=quiet),
            seat=seat,
            label=setup.name,
            referee=rules,
            game_id=CHECK_GAME_ID,
            seed=seat_seed(seed, 1),
            environment={"GOMILL_GAME_ID": CHECK_GAME_ID},
            settings=settings,
            players=(setup.name,) * rules.seats,
            first_view=view,
        )
    )
    try:
        try:
            # Programs are only launched by it, but a Python player may do anything.
            with alarm(setup.start_seconds):
                player.start()
        except TimeIsUpError:
            raise PlayerTimeoutError(
                f"player {setup.name}: not ready within {setup.start_seconds:.3g} s"
            ) from None
        player.set_up()
        scores = player.can_score()
        # A run asks engines only what the ringmaster asks: the first move may take them minutes.
        if not (quiet and setup.protocol == "gtp"):
            if rules.arranger() is not None:
                player.arranged(view)
            player.rehearse(first, view)
        if academy and (why := player.without_academy()):
            player.warnings.append(why)
    finally:
        player.close()
    return CheckedPlayer(player.description or player.name, tuple(player.warnings), scores)
