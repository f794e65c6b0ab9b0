"""A report as plain values for other programs.

The keys are stable: later versions may add some, but rename and drop none. Times are seconds or ISO
8601 in UTC, sizes bytes, chances 0 to 1; what is not known is null.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import combinations
from typing import Any

from arena.jobs import Fault
from arena.ratings.pentanomial import MatchEstimate
from arena.reports.contents import CandidateFaults, CompetitionReport
from arena.reports.descent import descent_as_json
from arena.reports.tally import MatchupTally
from arena.results.series_reader import Duration, LastFault
from arena.results.standings import PlayerStanding
from arena.selection.sprt import SprtState
from arena.selection.tuner import TuningState


def json_report(report: CompetitionReport) -> Mapping[str, Any]:
    """The whole report, ready for `json.dumps`."""
    standings = report.standings
    return {
        "name": report.name,
        "warning": report.warning or None,
        "kind": report.kind,
        "description": report.description,
        "game": report.game,
        "settings": dict(report.settings),
        "seats": list(report.seats),
        "games": standings.games,
        "total": report.total,
        "letters": dict(report.letters),
        "players": [_player(report, player) for player in standings.table()],
        "cross_table": [
            {"player": name, "opponent": opponent, **vars(standings.against(name, opponent))}
            for name in standings.order
            for opponent in standings.order
            if standings.against(name, opponent).games
        ],
        "superiority": _superiority(report),
        "matchups": [_matchup(matchup) for matchup in report.matchups],
        "lines": list(report.lines),
        "sprt": None if report.sprt is None else _sprt(report.sprt),
        "descent": None if report.descent is None else descent_as_json(report.descent),
        "tuner": None if report.tuning is None else _tuner(report.tuning),
        "candidates": None if report.candidates is None else _candidates(report.candidates),
        "voids": report.voids,
        "left_out": [
            {
                "scope": exclusion.scope,
                "name": exclusion.name,
                "reason": exclusion.reason,
                "games_finished": exclusion.games,
            }
            for exclusion in report.excluded
        ],
        "reports": dict(report.academy_reports),
        "refusals": dict(report.refusals),
        "proposals": [
            {
                "player": name or None,
                "accepted": tally.accepted,
                "dropped": tally.dropped,
                "reasons": dict(tally.reasons.most_common()),
            }
            for name, tally in report.proposals.items()
        ],
        "duration": None if report.duration is None else _duration(report.duration),
    }


def _player(report: CompetitionReport, player: PlayerStanding) -> Mapping[str, Any]:
    facts = report.players[player.name]
    estimate = report.ratings.estimates.get(player.name) if report.ratings else None
    usage, first = facts.usage, report.first_ratings.get(player.name)
    return {
        "name": player.name,
        "description": facts.description,
        "games": player.score.games,
        **vars(player.score),
        "points": player.points,
        "forfeits": player.forfeits,
        "time_losses": player.time_losses,
        "elo": round(player.elo, 2),
        "elo_at_first": None if first is None else round(first.elo, 2),
        "elo_at_first_from": None if first is None else first.source,
        "elo_at_first_game": first.game or None if first else None,
        "likeliest_elo": None if estimate is None else round(estimate.elo, 2),
        "elo_error": None if estimate is None or estimate.error is None else round(estimate.error, 2),
        "elo_imagined": None if estimate is None else estimate.imagined,
        "daide_score": round(facts.daide_score, 6),
        "skill": None
        if len(report.seats) == 2
        else {"mu": round(facts.skill.mu, 4), "sigma": round(facts.skill.sigma, 4)},
        "mean_cpu_seconds": player.mean_cpu,
        "mean_wall_seconds": None if usage is None else usage.wall_seconds,
        "peak_memory_bytes": None if usage is None else usage.peak_memory_bytes,
        **_faults(player.faults, facts.last_fault),
    }


def _candidates(candidates: CandidateFaults) -> Mapping[str, Any]:
    return {
        "games": candidates.games,
        "forfeits": candidates.forfeits,
        **_faults(candidates.by_kind, candidates.last),
        "warning": candidates.warning or None,
    }


def _faults(by_kind: Mapping[Fault, int], last: LastFault | None) -> Mapping[str, Any]:
    return {
        "faults": sum(by_kind.values()),
        "faults_by_kind": {fault.value: count for fault, count in by_kind.items()},
        "last_fault": None
        if last is None
        else {"game": last.game_id, "kind": last.fault.value, "remark": last.remark},
    }


def _superiority(report: CompetitionReport) -> list[Mapping[str, Any]]:
    if report.ratings is None:
        return []
    pairs = combinations(report.ratings.estimates, 2)
    chances = ((name, other, report.ratings.superiority(name, other)) for name, other in pairs)
    return [
        {"player": name, "over": other, "likelihood": chance if chance is None else round(chance, 6)}
        for name, other, chance in chances
    ]


def _matchup(matchup: MatchupTally) -> Mapping[str, Any]:
    return {
        "id": matchup.matchup_id,
        "title": matchup.title,
        "players": [
            {
                "name": tally.name,
                "wins": tally.wins,
                "forfeits": tally.forfeits,
                "mean_cpu_seconds": tally.mean_cpu,
                "seats": {str(seat): vars(counts) for seat, counts in sorted(tally.seats.items())},
            }
            for tally in matchup.tallies.values()
        ],
        "games": matchup.total,
        "wanted": matchup.wanted,
        "unknown": matchup.unknown,
        "in_control_file": matchup.game is not None,
    }


def _sprt(state: SprtState) -> Mapping[str, Any]:
    match = state.match
    numbers = [field.name for field in fields(MatchEstimate)]
    return {
        "player": state.first,
        "opponent": state.second,
        **vars(state.test),
        **vars(state.status),
        **{bound: round(getattr(state.status, bound), 6) for bound in ("llr", "lower", "upper")},
        "pairs": dict(zip(("0", "0.5", "1", "1.5", "2"), state.pairs, strict=True)),
        "pairs_left_out": state.left_out,
        **{name: None if match is None else _finite(getattr(match, name)) for name in numbers},
    }


def _finite(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None


def _tuner(state: TuningState) -> Mapping[str, Any]:
    def by_parameter(values: Sequence[Any]) -> Mapping[str, Any]:
        return {code: _plain(value) for code, value in zip(state.parameters, values, strict=True)}

    return {
        "games": state.games,
        "best": by_parameter(state.best),
        "best_text": state.best_text,
        "path": [{"games": step.games, "values": by_parameter(step.values)} for step in state.path],
        "place": [list(level) for level in state.place] or None,
        "distribution": {
            code: {"mean": mean, "variance": variance}
            for code, (mean, variance) in zip(state.parameters, state.distribution, strict=False)
        }
        or None,
    }


def _plain(value: Any) -> Any:
    """A parameter's value; what JSON has not, such as infinity or an object of a control file's, as text."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return value if value is None or isinstance(value, str | int) else str(value)


def _duration(duration: Duration) -> Mapping[str, Any]:
    times = (duration.first_started, duration.last_finished)
    first, last = (f"{time.isoformat(timespec='seconds')}Z" for time in times)
    return {**vars(duration), "first_started": first, "last_finished": last}
