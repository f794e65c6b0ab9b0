"""Starting players to see whether they would play: the checks before a competition's first game."""

import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from arena.control import plans
from arena.control.settings import Control, ControlError
from arena.jobs import CHECK_GAME_ID, PlayerSetup
from arena.match.game_seeds import seat_seed
from arena.output import say
from arena.players.clock import TimeIsUpError, alarm
from arena.players.player import InvalidPlayerParametersError, PlayerError, PlayerTimeoutError, Seating
from arena.players.process_tree import ending_descendants
from arena.players.protocols import added_protocols, player_for
from arena.results.series import Series
from arena.runner.event_log import EventLog
from arena.runner.options import RunOptions
from arena.runner.stopping import StopRequests
from arena.runner.void_games import DIALS_IN
from arena.selection.kinds import players_to_check
from arena.selection.selector import Selector
from referees.api import Referee
from referees.legible_text import indented

# What protocols pass on of what a player alone may see; the others hand over the referee's view itself.
_PASSED_ON: Final[Mapping[str, str]] = {
    "gtp": "GTP sends an engine its colour with its first move, others' moves whole, and nothing of its view",
    "grpc": "a player that dials in receives its view as ACADEMY's board, and no moves but its own",
}


class CheckedPlayer(NamedTuple):
    """What a player calls itself, what it did wrong that would not have stopped a game, and if it scores."""

    description: str
    warnings: tuple[str, ...]
    scores: bool


def hidden_from(setup: PlayerSetup, rules: Referee[Any, Any]) -> str:
    """What a protocol cannot pass on to its player in a game that hides something; empty if it can."""
    if not rules.hides or setup.protocol not in _PASSED_ON:
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
        try:
            return _checked(setup, rules, quiet, settings or {}, academy)
        except InvalidPlayerParametersError as error:
            raise InvalidPlayerParametersError(f"player {setup.name}: {error}") from error


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


def check_players(
    control: Control,
    quiet: bool,
    tell: Callable[[str], None],
    spared: Collection[tuple[str, str]] = (),
    may_fail: Callable[[PlayerSetup], bool] = lambda setup: False,
) -> None:
    """Start each competitor once and bring it to the beginning of a game.

    `spared` are pairs of a player and a variant that are not checked. Raises PlayerError for the first
    player that does not get there and may not fail, InvalidPlayerParametersError, and ControlError where
    players are to score and none of them does.
    """
    silent: list[str] = []
    scorers = 0
    for setup, game in players_to_check(control):
        if (setup.name, game.rules().spec().game_id) in spared:
            continue
        try:
            checked = _check_in_game(setup, game, control, quiet, tell)
        except PlayerError as failure:
            if may_fail(setup):
                tell(f"warning: {failure}; others play on")
                continue
            # Players that dial in write it where they run.
            if quiet and setup.command:
                failure.add_note("(`arena check` shows what players write to their standard error)")
            raise
        if checked is not None:
            scorers += checked.scores
            if game.scorer == "players" and not checked.scores:
                silent.append(setup.name)
    if silent and not scorers and not spared:
        raise ControlError(
            f'game.scorer: "players" are to score, but none of {", ".join(silent)} does '
            "(by GTP's final_score, unless reliable_scorer is false): "
            'write scorer = "internal", and the referee counts'
        )
    if len(silent) > 1:
        tell(f"warning: {', '.join(silent)} do not score: among them, games that are counted have no result")


def _check_in_game(
    setup: PlayerSetup, game: plans.GameSettings, control: Control, quiet: bool, tell: Callable[[str], None]
) -> CheckedPlayer | None:
    """Check a player and report the result; None for one that is not checked. Raises PlayerError."""
    rules = game.rules()
    if remark := hidden_from(setup, rules):
        tell(f"warning: {remark}")
    if setup.protocol in added_protocols():
        tell(f"player {setup.name} dials in for each game: it is not checked")
        return None
    tell(f"checking player {setup.name}")
    checked = check_player(setup, rules, quiet, game.located, control.academy is not None)
    for warning in checked.warnings:
        tell(f"warning: {warning}")
    if not checked.warnings:
        # A program that speaks lines has no name.
        tell(": ".join(filter(None, (f"player {setup.name} works", indented(checked.description)))))
    return checked


def players_spared(
    control: Control, selector: Selector, series: Series, options: RunOptions
) -> set[tuple[str, str]]:
    """Which players, each with a game, are not started before the games."""
    players = [(setup, game.rules().spec().game_id) for setup, game in players_to_check(control)]
    spared: set[tuple[str, str]] = set()
    if not options.readmit:
        for player, variant in series.inhibited():
            # A new selector does not know them yet.
            if selector.inhibit(player, variant):
                spared.add((player, variant))
        excluded = {
            exclusion.name
            for exclusion in series.exclusions()
            if exclusion.scope == "player" and exclusion.readmitted is None
        }
        spared |= {(setup.name, game_id) for setup, game_id in players if setup.name in excluded}
    if selector.drops_void_games:
        # They come and go while it runs.
        spared |= {(setup.name, game_id) for setup, game_id in players if setup.protocol in DIALS_IN}
    return spared


def check_at_startup(
    control: Control, quiet: bool, log: EventLog, stopping: StopRequests, spared: Collection[tuple[str, str]]
) -> None:
    """Check the players of a run that are not `spared`, if its control file wants it. Raises PlayerError."""

    def tell(text: str) -> None:
        log.add(text)
        stopping.look()

    absent = {name for name, _ in spared}
    count = sum(setup.name not in absent for setup, _ in players_to_check(control))
    if not control.check_players:
        if not quiet:
            say(f"skipping {count} player checks")
        return
    if not quiet:
        say(f"checking {count} players")
    check_players(
        control,
        quiet=True,
        tell=tell,
        spared=spared,
        # Its games show what becomes of it.
        may_fail=lambda setup: setup.protocol in DIALS_IN or control.on_void != "halt",
    )
