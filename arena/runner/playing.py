"""The games of a run, once its workers are started: all else is opened, used and closed here."""

from contextlib import ExitStack, closing
from functools import partial

from arena.control import plans
from arena.control.settings import Control
from arena.output import say
from arena.results.database import ResultsDatabase
from arena.results.registration import Heading, SeriesHeading
from arena.results.run_lock import lock_competition
from arena.results.series import Series
from arena.runner.competition import Competition, RunResources
from arena.runner.control_notes import notes_on
from arena.runner.event_log import EventLog
from arena.runner.files import CompetitionFiles
from arena.runner.first_ratings import settle_first_ratings
from arena.runner.game_jobs import JobMaker, setting_of
from arena.runner.listeners import open_listeners
from arena.runner.options import Ended, RunOptions
from arena.runner.player_check import check_at_startup, players_spared
from arena.runner.remote_players import remote_players
from arena.runner.stopping import StopRequests
from arena.selection.kinds import selector_for
from arena.selection.selector import Selector
from arena.terminal.display import display_for
from arena.workers.interface import Workers


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
        for note in notes_on(control):
            tell(f"note: {note}")
        control = stack.enter_context(
            remote_players(control, tell, log.add, files.tokens, without_tokens=options.without_tokens)
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
        spared = players_spared(control, selector, series, options)
        if workers.has_own_players:
            on = options.on or control.workers.on
            tell(f"players are not checked here: `arena check --on {on}` checks them on the nodes")
        else:
            check_at_startup(control, options.quiet, log, stopping, spared)
        if options.readmit:
            series.readmit()
        league, in_league = None, None
        if opened is not None:
            from arena.league.source import find_source_competition
            from arena.runner.league import LeagueDelivery, ratings_in

            control, in_league = enter_players(control, opened), partial(ratings_in, opened)
            league = LeagueDelivery(opened, database, find_source_competition(database, files.name))
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
        # They load much that only reports need, and games begin without.
        from arena.reports.assembly import assemble
        from arena.reports.text import text_report

        files.write_report(text_report(assemble(control, files.name, series)))
        return Ended(end, series.outbox.count_waiting(), league is None or league.complete)


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
    from arena.selection.mars import series_text

    settings = [setting_of(setting.game, setting.weight) for setting in series.settings]
    return SeriesHeading(series, series_text(series), settings)
