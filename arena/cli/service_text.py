"""Answers of a service for people: lines for a competition that goes on, and tables."""

import io
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from google.protobuf.timestamp_pb2 import Timestamp
from rich.console import Console
from rich.table import Table
from rich.text import Text

from arena.output import count_text
from arena.v1 import competitions_pb2, members_pb2, pools_pb2
from referees.legible_text import legible

_WIDTH: Final = 140


def event_lines(event: competitions_pb2.WatchCompetitionResponse) -> list[str]:
    """A finished game, the state of the competition, or a line for each move of a game in progress."""
    if event.HasField("in_progress"):
        live = event.in_progress
        return [
            _move_line(live, number, move) for number, move in enumerate(live.moves, live.moves_before + 1)
        ]
    return [_event_line(event)]


def _move_line(live: competitions_pb2.GameInProgress, number: int, move: competitions_pb2.GameMove) -> str:
    """One move of a game in progress: `game 0_3: move 12, one: C4, 0.21 s, value 0.55`."""
    name = live.players[move.seat - 1] if 0 < move.seat <= len(live.players) else f"seat {move.seat}"
    parts = [legible(move.text) or "(hidden until the end)", f"{move.time.ToMilliseconds() / 1e3:.2f} s"]
    if move.HasField("value"):
        parts.append(f"value {move.value:.2f}")
    if move.HasField("clock"):
        parts.append(f"clock {move.clock.ToMilliseconds() / 1e3:.1f} s")
    return f"game {live.game_id}: move {number}, {name}: {', '.join(parts)}"


def _event_line(event: competitions_pb2.WatchCompetitionResponse) -> str:
    if event.HasField("game"):
        game = event.game
        players = " vs ".join(player.name for player in game.players)
        winners = [player.name for player in game.players if player.winner]
        detail = f" ({game.detail})" if game.detail else ""
        match winners:
            case []:
                outcome = "result unknown"
            case [winner]:
                outcome = f"won by {winner}"
            case _:
                outcome = f"drawn by {' and '.join(winners)}"
        return f"game {game.game_id}: {players}: {game.result}{detail}, {outcome}"
    return state_line(event.competition)


def state_line(competition: competitions_pb2.Competition) -> str:
    """How a competition stands."""
    state, games = _state(competition), _games(competition)
    remark = f"; {competition.remark}" if competition.remark else ""
    return (
        f"{competition.name} ({competition.kind}, {competition.game}): {state}, {games} games played{remark}"
    )


def competitions_text(competitions: Iterable[competitions_pb2.Competition]) -> str:
    """A table of competitions."""
    rows = []
    for competition in competitions:
        remark = competition.remark.strip().rpartition("\n")[2]
        what = (competition.name, _state(competition), competition.kind, competition.game)
        rows.append((*what, _games(competition), competition.void_games, remark))
    return _table_text(rows, " name", " state", " kind", " game", "games", "void", " remark")


def players_text(players: Iterable[competitions_pb2.DialledInPlayer]) -> str:
    """A table of players that have dialled in."""
    rows = []
    for player in players:
        engine = f"{player.engine_name} {player.engine_version}".strip()
        rows.append((player.name, engine, player.games, player.games_at_once))
    return _table_text(rows, " player", " engine", "games", "at once")


def standings_text(standings: competitions_pb2.GetStandingsResponse) -> str:
    """The table of a competition, the best player first."""
    rows = []
    for line in standings.standings:
        score = line.score
        counts = (score.wins, score.draws, score.losses, score.unknown)
        cpu = f"{line.mean_cpu.ToMicroseconds() / 1e6:.2f}" if line.HasField("mean_cpu") else "-"
        after = (f"{line.points:g}", line.forfeits, f"{line.elo:.0f}", cpu)
        rows.append((line.player, sum(counts), *counts, *after))
    return _table_text(
        rows, " player", "games", "wins", "draws", "losses", "unknown", "points", "forfeits", "Elo", "CPU s"
    )


def games_text(listed: competitions_pb2.ListGamesResponse) -> str:
    """A table of games, and how many there are."""
    rows = []
    for game in listed.games:
        names = ", ".join(f"{player.name}{'*' if player.winner else ''}" for player in game.players)
        finished = f"{game.finished.ToDatetime():%Y-%m-%d %H:%M}"
        ended = (game.result, game.termination, game.move_count)
        rows.append((game.game_id, names, *ended, game.opening, finished))
    table = _table_text(rows, " game", " players", " result", " ended by", "moves", " opening", " when (UTC)")
    return f"{table}{len(listed.games)} of {listed.total} games; * won, or shared the win\n"


def _state(competition: competitions_pb2.Competition) -> str:
    name = (
        competitions_pb2.CompetitionState.Name(competition.state).removeprefix("COMPETITION_STATE_").lower()
    )
    return "cannot be used" if name == "unspecified" else name


def _games(competition: competitions_pb2.Competition) -> str:
    total = competition.games_total if competition.HasField("games_total") else None
    return count_text(competition.games_played, total)


def _table_text(rows: Iterable[Iterable[object]], *headings: str) -> str:
    """A table; a heading that begins with a blank is of text, others are of numbers."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in headings:
        text = heading.startswith(" ")
        table.add_column(heading.strip(), justify="left" if text else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(legible(str(cell))) for cell in row))
    output = io.StringIO()
    Console(file=output, width=_WIDTH, color_system=None).print(table)
    return "".join(f"{line.rstrip()}\n" for line in output.getvalue().splitlines())


def member_text(member: members_pb2.Member) -> str:
    """All about a member, a line for each thing."""
    lines = {
        "name": member.name,
        "version": member.version or "--",
        "family": member.family,
        "contact": member.contact or "--",
        "plays": ", ".join(member.games) or "all games",
        "registered": _time(member.registered),
        "token": "yes" if member.has_token else "none",
        "banned": _ban(member),
        "quota": _quota(member.quota),
    }
    return "\n".join(f"{name + ':':<12}{legible(text)}" for name, text in lines.items())


def members_text(members: Iterable[members_pb2.Member]) -> str:
    """A table of members."""
    rows = []
    for member in members:
        cells = (member.name, member.version, member.family, ", ".join(member.games) or "all games")
        more = (_time(member.registered), _ban(member), _quota(member.quota), member.contact)
        rows.append((*cells, *more))
    return _table_text(
        rows, " member", " version", " family", " plays", " registered", " banned", " quota", " contact"
    )


def invitations_text(invitations: Iterable[members_pb2.Invitation]) -> str:
    """A table of invitations."""
    rows = []
    for invitation in invitations:
        ends = "revoked" if invitation.revoked else "--"
        if invitation.HasField("expires") and not invitation.revoked:
            ends = _time(invitation.expires)
        cells = (invitation.invitation_id, invitation.name or "any name", invitation.used, invitation.uses)
        rows.append((*cells, _time(invitation.created), ends, invitation.note))
    return _table_text(rows, "number", " for", "used", "of", " created", " ends", " note")


def _ban(member: members_pb2.Member) -> str:
    if not member.HasField("ban"):
        return "no"
    until = f"until {_time(member.ban.until)}" if member.ban.HasField("until") else "for ever"
    return f"{until} ({member.ban.reason or 'no reason'})"


def _quota(quota: members_pb2.Quota) -> str:
    bounds = ((quota.games_at_once, "at once"), (quota.games_a_day, "a day"))
    return ", ".join(f"{most} games {when}" for most, when in bounds if most) or "none"


def _time(time: Timestamp) -> str:
    return f"{time.ToDatetime():%Y-%m-%d %H:%M} UTC"


def pools_text(pools: Iterable[pools_pb2.Pool]) -> str:
    """A table of pools."""
    rows = []
    for pool in pools:
        settings = pool.settings
        state = pools_pb2.PoolState.Name(pool.state).removeprefix("POOL_STATE_").lower()
        if pool.HasField("opens"):
            state += f" until {_time(pool.opens)}"
        open_for = f" for {timedelta(seconds=settings.open_for.seconds)}" if settings.schedule else ""
        remark = pool.remark.strip().rpartition("\n")[2]
        cells = (pool.name, state, settings.game, settings.settings_json, _clock(settings))
        more = (f"{settings.schedule}{open_for}" or "always", remark)
        rows.append((*cells, *more))
    return _table_text(rows, " pool", " state", " game", " settings", " clock", " schedule", " remark")


def seasons_text(seasons: Iterable[pools_pb2.Season]) -> str:
    """A table of seasons."""
    rows = [
        (season.name, _time(season.begins), _time(season.ends) if season.HasField("ends") else "--")
        for season in seasons
    ]
    return _table_text(rows, " season", " begins", " ends")


def season_text(lines: Iterable[pools_pb2.SeasonLine]) -> str:
    """The table of a game in a season."""
    rows = []
    for place, line in enumerate(lines, start=1):
        name = f"{line.player} {line.version}".strip()
        rows.append((place, name, f"{line.elo:.0f}", f"{line.error:.0f}", line.games, f"{line.points:g}"))
    return _table_text(rows, "", " player", "Elo", "+-", "games", "points")


def _clock(settings: pools_pb2.PoolSettings) -> str:
    if settings.HasField("clock"):
        main, increment = (
            part.ToMilliseconds() / 1e3 for part in (settings.clock.main, settings.clock.increment)
        )
        return f"{main:g} s + {increment:g} s"
    seconds = settings.move_time.ToMilliseconds() / 1e3 if settings.HasField("move_time") else 60
    return f"{seconds:g} s a move"
