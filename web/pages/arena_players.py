"""A player of a competition: its rating over time, its results and its games."""

from starlette.requests import Request
from starlette.responses import Response

from web.arena_watch import ArenaWatch
from web.charts import Curve, Scale, draw_curves
from web.failures import PageError
from web.game_view import seconds_of
from web.pages.arena_links import name_of, player_address
from web.pages.game_lists import FILTERS, list_games
from web.query import Query, link
from web.rendering import render

__all__ = ["show_player"]


async def show_player(request: Request, arena: ArenaWatch) -> Response:
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
        scale = Scale(
            history.games,
            min(curve.values),
            max(curve.values),
            pattern="{:.0f}",
            ends=("first game", f"game {history.games:,}"),
        )
        points = list(zip(curve.games, curve.values, strict=True))
        chart = draw_curves([Curve(1, points)], scale, f"Live Elo of {player} from game to game")
    against = sorted(
        (pair for pair in standings.pairs if pair.player == player),
        key=lambda pair: -(pair.score.wins + pair.score.draws + pair.score.losses),
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
        "listed": await list_games(
            arena, competition, query, "/competition/player", {"name": name, "player": player}
        ),
    }
    return render(request, "player.html", context)
