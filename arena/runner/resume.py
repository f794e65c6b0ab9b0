"""What earlier runs of a competition left: their games, attempts they did not finish, missing files."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from arena.academy.contests import void_contest_report
from arena.control.settings import Control
from arena.reports.replay import replay_games
from arena.results.series import Series, UnfinishedGame
from arena.results.standings import Standings
from arena.runner.event_log import EventLog
from arena.runner.files import CompetitionFiles, history_line
from arena.selection.selector import Selector


@dataclass(frozen=True)
class TakenUp:
    """The table so far, the games that were given out and not completed, and what people should know."""

    standings: Standings
    unfinished: Sequence[UnfinishedGame]
    warnings: Sequence[str]


def resume_games(
    control: Control, files: CompetitionFiles, series: Series, selector: Selector, log: EventLog
) -> TakenUp:
    """Tell the selector of all games so far; write what files are missing; give up open attempts.

    Raises CompetitionChangedError if they are not the control file's; nothing has been changed then.
    """
    games = list(series.finished_games())
    history: list[str] = []
    excluded = series.exclusions()
    for game, remark in replay_games(selector, games, excluded, remarks=True):
        history += [history_line(game, remark), *selector.history_lines()]
    files.rewrite_history(history)
    if control.record_games:
        for record in series.records(besides=files.recorded_games()):
            if record.content:
                files.write_record(record)
    give_up_open_attempts(series, log, "the run that played it ended")
    warnings = []
    for name, variant in sorted(series.inhibited()):
        if selector.inhibit(name, variant):
            warnings.append(
                f"player {name} did not get ready in an earlier run: it is inhibited for {variant} "
                "(`arena run --readmit` lets it play again)"
            )
    warnings += [
        f"{exclusion.scope} {exclusion.name} was left out of the competition: {exclusion.reason} "
        "(`arena run --readmit` lets everybody play again)"
        for exclusion in excluded
        if exclusion.readmitted is None
    ]
    if selector.ghosts:
        names = ", ".join(selector.ghosts)
        warnings.append(f"the control file no longer has {names}; results of earlier games are kept")
    standings = Standings(control.competitors, control.elo, games, parents=selector.parents)
    return TakenUp(standings, series.unfinished_games(), warnings)


def give_up_open_attempts(
    series: Series, log: EventLog, reason: str, seconds: Mapping[str, float] | None = None
) -> None:
    """Store that the attempts whose end is not known led to nothing, and post reports of it to ACADEMY.

    `seconds` is how long they took, by game id, where more is known than the database shows.
    """
    for known in series.open_attempts():
        game_id = known.attempt.game_id
        report = void_contest_report(known.contest, "interrupted")
        lost = (seconds or {}).get(game_id, known.seconds)
        series.give_up(known.attempt, "interrupted", reason, lost, report)
        log.add("attempt interrupted", game=game_id, reason=reason)
