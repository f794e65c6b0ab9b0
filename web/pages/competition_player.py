"""A player of a competition: its rating over time, its results, its games, and what it did at ACADEMY."""

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from arena.v1 import competitions_pb2
from web.academy_service import AcademyService, PlayerFigures
from web.arena_service import ArenaService
from web.charts import Curve, draw_curves, rating_scale
from web.failures import PageError
from web.game_view import seconds_of
from web.pages.arena_links import name_of, player_address
from web.pages.competitions import likely_elo
from web.pages.finished_games import FILTERS, ListedGames, list_games
from web.query import Query, link
from web.rendering import render

__all__ = ["show_player"]


async def show_player(request: Request, arena: ArenaService) -> Response:
    """Show the player `player` of the competition `name`: its rating over time, its results and its games."""
    query = Query(request.query_params, ("name", *FILTERS))
    name, player = name_of(query), query.text("player")
    competition = await arena.competition(name)
    standings = await arena.standings(name)
    line = next((standing for standing in standings.standings if standing.player == player), None)
    if line is None:
        why = f"{player[:80]!r} has no line in the table of {name}."
        raise PageError(404, "No such player", why, "Choose one from the competition's table.")
    history = await arena.history(name, player)
    curve = next((known.elo for known in history.players if known.player == player), None)
    chart = None
    if curve is not None and len(curve.games) > 1:
        points = list(zip(curve.games, curve.values, strict=True))
        drawn = [Curve(1, points, likely=likely_elo(line))]
        scale = rating_scale(drawn, history.games, ("first game", f"game {history.games:,}"))
        chart = draw_curves(drawn, scale, f"Live Elo of {player} from game to game")
    against = sorted(
        (pair for pair in standings.pairs if pair.player == player),
        key=lambda pair: -(pair.score.wins + pair.score.draws + pair.score.losses),
    )
    listed = await list_games(
        arena, competition, query, "/competition/player", {"name": name, "player": player}
    )
    own_links = {"won": "outcome=won", "lost": "outcome=lost", "faults": "faults=yes"}
    context = {
        "competition": competition,
        "competition_address": link("/competition", {"name": name}),
        "player": player,
        "line": line,
        "place": 1 + list(standings.standings).index(line),
        "cpu": f"{seconds_of(line.mean_cpu):.2f} s" if line.HasField("mean_cpu") else "",
        "chart": chart,
        "against": [(pair, player_address(name, pair.opponent)) for pair in against],
        "only": {what: f"{player_address(name, player)}&{words}#games" for what, words in own_links.items()},
        "listed": listed,
        "contributed": await _contributed(
            request.app.state.sign_in.academy_for(request), arena, name, player, listed
        ),
    }
    return render(request, "competition_player.html", context)


@dataclass(frozen=True)
class _Contributed:
    """What a player did at ACADEMY in the game of the competition, and its page there."""

    figures: PlayerFigures
    address: str


async def _contributed(
    academy: AcademyService | None, arena: ArenaService, name: str, player: str, listed: ListedGames
) -> _Contributed | None:
    """Look up what the player did at ACADEMY; None where that is not known, or not for the visitor."""
    played = next((game for game, _ in listed.games if player in _names(game)), None)
    if academy is None or played is None:
        return None
    contest_id = (await arena.game(name, played.game_id)).contest_id
    if not contest_id:
        return None

    async def ask() -> _Contributed | None:
        # ACADEMY may know the player by another name: that of an arena's namespace.
        contest = await academy.contest(contest_id)
        at_academy = contest.players[_names(played).index(player)]
        identity = at_academy.identity or at_academy.name
        known = await academy.player(identity)
        in_game = next((figures for figures in known if figures.statistics.game_id == contest.game_id), None)
        return _Contributed(in_game, link("/contributor", {"name": identity})) if in_game else None

    return await academy.extras.get("player", ask)


def _names(game: competitions_pb2.Game) -> list[str]:
    return [player.name for player in game.players]
