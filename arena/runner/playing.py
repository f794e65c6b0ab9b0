"""The games of a run, once its workers are started: all else is opened, used and closed here."""

import secrets
from collections.abc import Callable, Collection
from contextlib import ExitStack, closing
from functools import partial

from arena.control import plans
from arena.control.settings import Control, ControlError
from arena.jobs import PlayerSetup
from arena.match.game_seeds import SAFE_SEED
from arena.output import say
from arena.players.player import PlayerError
from arena.players.protocols import added_protocols
from arena.reports.assembly import assemble
from arena.reports.text import text_report
from arena.results.database import ResultsDatabase
from arena.results.registration import Heading, SeriesHeading
from arena.results.run_lock import lock_competition
from arena.results.series import Series
from arena.runner.competition import Competition, RunResources
from arena.runner.event_log import EventLog
from arena.runner.files import CompetitionFiles
from arena.runner.first_ratings import settle_first_ratings
from arena.runner.game_jobs import JobMaker, setting_of
from arena.runner.listeners import open_listeners
from arena.runner.options import Ended, RunOptions
from arena.runner.player_check import CheckedPlayer, check_player, hidden_from
from arena.runner.remote_players import remote_players
from arena.runner.stopping import StopRequests
from arena.runner.void_games import DIALS_IN
from arena.selection.kinds import players_to_check, selector_for
from arena.selection.mars import series_text
from arena.selection.selector import Selector
from arena.terminal.choosing import display_for
from arena.workers.interface import Workers
from arena.workers.local_workers import LocalWorkers
from referees.legible_text import indented


def notes(control: Control) -> list[str]:
    """What the user of a control file should know of its rules before its games are believed."""
    remarks = []
    if control.disputes == "believe":
        remarks.append(
            "a player that answers a move with 'illegal move' is believed, and its opponent forfeits: that "
            "is the rule of Gomill's ringmaster, whose control file this is (ACADEMY takes such games as "
            "void; in a control file in TOML the referee's verdict stands)"
        )
    small = control.seed is not None and control.seed < SAFE_SEED
    if small and any(game.rules().hides for _, game in players_to_check(control)):
        remarks.append(
            f"competition.seed = {control.seed}: players can guess so small a seed, and with it know what "
            "the game hides from them, and its dice; leave it out, or take a large random one, such as "
            f"{SAFE_SEED + secrets.randbelow(2**63 - SAFE_SEED)}"
        )
    return remarks


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
        tell(f"player {setup.name} works: {indented(checked.description)}")
    return checked


def play_games(
    control: Control, files: CompetitionFiles, options: RunOptions, stopping: StopRequests, workers: Workers
) -> Ended:
    """Play a competition's games, whose lock the caller holds, as `run` says."""
    with ExitStack() as stack:
        database = stack.enter_context(closing(ResultsDatabase.open(files.results)))
        stack.enter_context(lock_competition(database, files.name))
        opened = None
        if control.league is not None:
            from arena.league.database import LeagueDatabase
            from arena.runner.league import enter_players, with_members_versions

            opened = stack.enter_context(closing(LeagueDatabase.open(control.league)))
            control = with_members_versions(control, opened)
        heading = _heading(control, files, selector_for(control))
        series = Series.register(database, heading)
        log = stack.enter_context(EventLog(files.log))
        tell = log.add if options.quiet else say
        for note in notes(control):
            tell(f"note: {note}")
        control = stack.enter_context(
            remote_players(control, tell, log.add, files.tokens, insecure=options.insecure)
        )
        control = stack.enter_context(open_listeners(control, tell, log.add))
        selector = selector_for(control)
        jobs = JobMaker(control, files, options.log_protocol)
        jobs.read_all_openings()
        session = None
        # What only some competitions have is loaded for these.
        if control.academy is not None:
            from arena.academy.session import AcademySession

            session = AcademySession(control.academy, control.game.rules().spec(), files.academy_log, tell)
            stack.callback(session.close)
            session.check_fair_use(control.fair_use)
        spared = _spared(control, selector, series, options)
        if isinstance(workers, LocalWorkers):
            _startup_checks(control, options.quiet, log, stopping, spared)
        else:
            # Players need not be installed here.
            tell("players are not checked here: `arena check --on ADDRESS` checks them on the nodes")
        if options.readmit:
            series.readmit()
        league, in_league = None, None
        if opened is not None:
            from arena.league.source import competition_named
            from arena.runner.league import LeagueDelivery, ratings_in

            control, in_league = enter_players(control, opened), partial(ratings_in, opened)
            league = LeagueDelivery(opened, database, competition_named(database, files.name))
            stack.callback(league.stop)

        settle = partial(settle_first_ratings, series=series, in_league=in_league, session=session, tell=tell)
        control = settle(control)
        with display_for(options.quiet) as display:
            resources = RunResources(files, series, log, stopping, workers, session, display, league)
            competition = Competition(control, selector, jobs, resources)
            series.describe(heading)
            if isinstance(control.plan, plans.StandingPlan):
                from arena.runner.roster import Roster, follow_players
                from arena.selection.standing import Standing

                assert isinstance(selector, Standing)

                def enter(control: Control) -> Control:
                    if opened is not None:
                        control = enter_players(with_members_versions(control, opened), opened)
                    series.describe(_heading(control, files, selector))
                    return settle(control)

                follow_players(selector, Roster(control, enter, log.add), competition, opened)
            end = competition.run(options.max_games)
        files.write_report(text_report(assemble(control, files.name, series)))
        return Ended(end, series.outbox.count_waiting(), league is None or league.complete)


def _spared(
    control: Control, selector: Selector, series: Series, options: RunOptions
) -> set[tuple[str, str]]:
    """Which players, each with a game, are not started before the games."""
    players = [(setup, game.rules().spec().game_id) for setup, game in players_to_check(control)]
    inhibited = () if options.readmit else series.inhibited()
    spared = {pair for pair in inhibited if selector.inhibit(*pair)}
    if not options.readmit:
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


def _startup_checks(
    control: Control, quiet: bool, log: EventLog, stopping: StopRequests, spared: Collection[tuple[str, str]]
) -> None:
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


def _heading(control: Control, files: CompetitionFiles, selector: Selector) -> Heading:
    mission = control.plan.series if isinstance(control.plan, plans.MarsPlan) else ()
    return Heading(
        name=files.name,
        kind=control.kind,
        description=control.description,
        selector=selector.description,
        games=selector.total,
        setting=setting_of(control.game),
        players=[control.players[name] for name in control.competitors],
        ordered=isinstance(control.plan, plans.AllPlayAllPlan),
        own_settings=control.own_settings,
        series=list(map(_series_heading, mission)),
    )


def _series_heading(series: plans.MarsSeries) -> SeriesHeading:
    games = [(setting.game, setting.weight) for setting in series.settings]
    return SeriesHeading(
        name=series.name,
        selector=series_text(series),
        games=series.games,
        weight=series.weight,
        pure=series.pure,
        complete=series.complete,
        notes=series.notes,
        contestants=series.contestants,
        settings=[setting_of(game, weight) for game, weight in games],
    )
