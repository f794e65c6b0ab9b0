"""A report as plain values for other programs.

The keys are stable: later versions may add some, but rename and drop none. Times are seconds or ISO
8601 in UTC, sizes bytes, chances 0 to 1; what is not known is null.
"""

from collections.abc import Mapping
from typing import Any

from arena.reports.contents import Report
from arena.reports.tally import MatchupTally
from arena.results.standings import PlayerStanding


def json_report(report: Report) -> Mapping[str, Any]:
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
        "voids": report.voids,
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
        "duration": _duration(report),
    }


def _player(report: Report, player: PlayerStanding) -> Mapping[str, Any]:
    facts = report.players[player.name]
    estimate = report.ratings.estimates.get(player.name) if report.ratings else None
    usage = facts.usage
    return {
        "name": player.name,
        "description": facts.description,
        "games": player.score.games,
        **vars(player.score),
        "points": player.points,
        "forfeits": player.forfeits,
        "elo": round(player.elo, 2),
        "likeliest_elo": None if estimate is None else round(estimate.elo, 2),
        "elo_error": None if estimate is None or estimate.error is None else round(estimate.error, 2),
        "elo_imagined": None if estimate is None else estimate.imagined,
        "daide_score": round(facts.daide_score, 6),
        "skill": None
        if report.ratings
        else {"mu": round(facts.skill.mu, 4), "sigma": round(facts.skill.sigma, 4)},
        "mean_cpu_seconds": player.mean_cpu,
        "mean_wall_seconds": None if usage is None else usage.wall_seconds,
        "peak_memory_bytes": None if usage is None else usage.peak_memory_bytes,
        "faults": 0 if usage is None else usage.faults,
    }


def _superiority(report: Report) -> list[Mapping[str, Any]]:
    if report.ratings is None:
        return []
    names = list(report.ratings.estimates)
    chances = (
        (name, other, report.ratings.superiority(name, other))
        for place, name in enumerate(names)
        for other in names[place + 1 :]
    )
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
                "seats": {
                    str(seat): {"games": counts.games, "wins": counts.wins}
                    for seat, counts in sorted(tally.seats.items())
                },
            }
            for tally in matchup.tallies.values()
        ],
        "games": matchup.total,
        "wanted": matchup.wanted,
        "unknown": matchup.unknown,
        "in_control_file": matchup.game is not None,
    }


def _duration(report: Report) -> Mapping[str, Any] | None:
    if report.duration is None:
        return None
    return {
        "first_started": report.duration.first_started.isoformat(timespec="seconds") + "Z",
        "last_finished": report.duration.last_finished.isoformat(timespec="seconds") + "Z",
        "setup_seconds": report.duration.setup_seconds,
        "play_seconds": report.duration.play_seconds,
        "total_seconds": report.duration.total_seconds,
    }
