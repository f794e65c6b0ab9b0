"""A report put together from the control file and the database."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Final

from arena.control.plans import AllPlayAllPlan, GameSettings, GauntletPlan, MarsPlan, MarsSeries, PlayoffPlan
from arena.control.schema import TUNERS
from arena.control.settings import Control
from arena.jobs import Fault
from arena.ratings.places import RatedBy, places_of
from arena.ratings.pot_scores import pot_scores
from arena.reports.contents import CandidateFaults, CompetitionReport, PlayerFacts
from arena.reports.replay import inform_selector
from arena.reports.tally import MatchupTally, tally, unplanned_tallies
from arena.results.database import ResultsError
from arena.results.first_ratings import with_first_ratings
from arena.results.games import FinishedGame
from arena.results.registration import CompetitionTerms
from arena.results.series_reader import LastFault, SeriesReader
from arena.results.standings import Standings
from arena.selection.cross_entropy import CrossEntropyTuner
from arena.selection.generations import Generations
from arena.selection.matchups import MatchupSelector, letters
from arena.selection.monte_carlo import MonteCarloTuner
from arena.selection.selector import CompetitionChangedError, Selector
from arena.selection.sprt import SprtMatch

if TYPE_CHECKING:
    from arena.ratings.rating_list import RatingList

# No player can be called so.
CANDIDATES: Final = "#candidates"
# How many games a report lists.
_NEWEST: Final = 200


def assemble(control: Control, name: str, series: SeriesReader) -> CompetitionReport:
    """All that is known of a competition now. Works while it runs.

    Games that are not those of the control file as it is now are reported without it, and with the reason.
    """
    with series.at_one_moment():
        return _assemble(control, name, series)


def _assemble(control: Control, name: str, series: SeriesReader) -> CompetitionReport:
    games, terms = list(series.finished_games()), series.terms()
    first_ratings = series.first_ratings()
    control = with_first_ratings(control, first_ratings)
    selector, warning = None, ""
    try:
        terms.check(control.kind, control.game, control.own_settings)
        selector = inform_selector(control, series, games)
    except (ResultsError, CompetitionChangedError) as error:
        warning = str(error)
    game = replace(terms.game, folder=control.game.folder) if selector is None else control.game
    rules = game.rules()
    seats = [rules.seat_name(seat) for seat in range(1, rules.seats + 1)]
    if terms.kind in TUNERS:
        games = [_of_all_candidates(game, control, selector) for game in games]
    listed = () if selector is None else control.competitors
    standings = Standings(listed, control.elo, games, unranked=(CANDIDATES,))
    faults = series.last_faults()
    rated = rules.seats == 2 and terms.kind not in TUNERS
    lettered = selector is not None and isinstance(control.plan, AllPlayAllPlan | GauntletPlan)
    return CompetitionReport(
        name=name,
        kind=terms.kind,
        description=control.description,
        game=game.name,
        settings=game.settings,
        total=None if selector is None else selector.total,
        seats=seats,
        letters={name: letters(place) for place, name in enumerate(control.competitors)} if lettered else {},
        standings=standings,
        matchups=tally(_empty_tallies(control, selector, terms, games), games, terms.kind),
        players=_players(standings, games, series, faults, control.elo.by),
        ratings=likeliest_ratings(standings, control) if rated else None,
        lines=[] if selector is None else selector.report_lines(),
        voids=series.void_count(),
        excluded=[exclusion for exclusion in series.exclusions() if exclusion.readmitted is None],
        academy_reports=series.outbox.counts() if control.academy is not None else {},
        refusals=series.outbox.refusals() if control.academy is not None else {},
        proposals=series.outbox.proposals(),
        duration=series.duration(),
        first_ratings=first_ratings,
        sprt=selector.state() if isinstance(selector, SprtMatch) else None,
        tuning=selector.state() if isinstance(selector, MonteCarloTuner | CrossEntropyTuner) else None,
        descent=selector.descent() if isinstance(selector, Generations) else None,
        candidates=_candidate_faults(standings, games, faults) if terms.kind in TUNERS else None,
        warning=warning,
        newest=games[: -_NEWEST - 1 : -1],
        record_extension=rules.record_extension,
    )


def _empty_tallies(
    control: Control, selector: Selector | None, terms: CompetitionTerms, games: Sequence[FinishedGame]
) -> Sequence[MatchupTally]:
    if selector is None:
        return unplanned_tallies({game.matchup: game.game or terms.game for game in games}, games, terms.kind)
    if isinstance(control.plan, MarsPlan):
        return [_series_tally(control, series) for series in control.plan.series]
    if not isinstance(selector, MatchupSelector):
        # Who meets whom turns out as the competition goes on.
        return unplanned_tallies({game.matchup: control.game for game in games}, games, control.kind)
    titles: Mapping[str, str] = {}
    if isinstance(control.plan, PlayoffPlan):
        titles = {matchup.matchup_id: matchup.title for matchup in control.plan.matchups}
    return [
        MatchupTally(
            matchup_id,
            titles.get(matchup_id, " v ".join(group.players)),
            group.players,
            group.games,
            group.game or control.game,
        )
        for matchup_id, group in selector.groups.items()
    ]


def _series_tally(control: Control, series: MarsSeries) -> MatchupTally:
    alike = series.settings[0].game if len(series.settings) == 1 else GameSettings(control.game.name)
    return MatchupTally(series.name, f"series {series.name}", tuple(series.contestants), series.games, alike)


def _players(
    standings: Standings,
    games: Iterable[FinishedGame],
    series: SeriesReader,
    faults: Mapping[str, LastFault],
    by: RatedBy,
) -> dict[str, PlayerFacts]:
    # A run that begins does without what these load.
    from arena.ratings.skill import SkillTable

    usage, descriptions = series.player_usage(), series.player_descriptions()
    scores: defaultdict[str, float] = defaultdict(float)
    skills = SkillTable()
    for game in games:
        for name, score in zip(
            game.players, pot_scores(len(game.players), game.outcome.winners), strict=True
        ):
            scores[name] += score
        if len(game.players) > 2:
            places = places_of(game.outcome, len(game.players), by)
            skills.add(game.players, game.outcome.winners, places)
    return {
        name: PlayerFacts(
            name,
            descriptions.get(name, ""),
            usage.get(name),
            scores[name],
            skills.skill(name),
            faults.get(name),
        )
        for name in standings.order
    }


def _candidate_faults(
    standings: Standings, games: Iterable[FinishedGame], faults: Mapping[str, LastFault]
) -> CandidateFaults:
    """What the candidates did wrong; `games` are those of CANDIDATES, `faults` those of each candidate."""
    seats = [
        (game, seat)
        for game in games
        for seat, name in enumerate(game.players, start=1)
        if name == CANDIDATES
    ]
    by_kind = Counter(game.faults[seat - 1] for game, seat in seats)
    del by_kind[Fault.NONE]
    of_candidates = [fault for name, fault in faults.items() if name not in standings.order]
    return CandidateFaults(
        len(seats),
        sum(game.is_forfeited_by(seat) for game, seat in seats),
        by_kind,
        of_candidates[-1] if of_candidates else None,
    )


def likeliest_ratings(standings: Standings, control: Control) -> "RatingList":
    """The Elo that all results together make likeliest; for games of two seats."""
    from arena.ratings.rating_list import PairResult, rate

    pairs = combinations(standings.order, 2)
    scores = ((name, opponent, standings.against(name, opponent)) for name, opponent in pairs)
    results = [
        PairResult(name, opponent, score.wins, score.draws, score.losses) for name, opponent, score in scores
    ]
    began = [control.elo.first(name) for name in standings.order if name not in control.elo.fixed]
    centre = statistics.fmean(began) if began else control.elo.start
    return rate(results, centre=centre, anchors=control.elo.fixed)


def _of_all_candidates(game: FinishedGame, control: Control, selector: Selector | None) -> FinishedGame:
    """A tuner's game as one of CANDIDATES: each of them plays too little for a line of its own."""
    candidates = {name for name in game.players if "#" in name}
    if selector is not None:
        candidates = set(game.players).difference(control.competitors)
    return replace(game, players=tuple(CANDIDATES if name in candidates else name for name in game.players))
