"""One game: its libraries at a glance, its players, its rules of learning, its latest contests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from academy.v1 import history_pb2
from academy.wire.games import read_spec
from web.academy_service import AcademyService, GameFigures
from web.charts import Curve, Scale, draw_curves
from web.pages.home import MEASURES, describe_board
from web.pages.known_contests import arena_games, list_contests, newest_contests
from web.query import Query, check_game_id, link
from web.rendering import render
from web.replay import seat_names

__all__ = ["show_game"]

_SETTINGS: Final = {
    "max_merged_cells": "Cells that a merge may change",
    "prune_below": "Lines are pruned below the value",
    "prune_factor": "What pruning multiplies a value by",
    "forget_after": "Contests until an unused pattern counts half (0: never)",
    "max_submissions_per_contest": "Patterns that a player may propose in a contest",
    "analysed_patterns": "Patterns that ACADEMY itself cuts for each player of a contest",
    "least_information": "Bits that a pattern must say at least",
    "removed_days": "Days for which what was removed can be restored",
}
_LEAST_POINTS: Final = 2
_GROWING: Final = {
    "Openings": "opening_nodes",
    "Middle game": "middle_game_patterns",
    "Endgame": "endgame_patterns",
    "Tesujis": "tesujis",
}


@dataclass(frozen=True)
class _Library:
    title: str
    size: int
    capacity: int
    about: str
    address: str


async def show_game(request: Request, academy: AcademyService) -> Response:
    """Show a game."""
    Query(request.query_params, ())
    game_id = check_game_id(request.path_params["game_id"])
    described = await academy.game(game_id)
    spec = read_spec(described.game)
    figures = await academy.figures(described.game)
    players = await academy.players(game_id)
    growth = await academy.growth(game_id)
    curves = _curves_of(growth)
    contests = list_contests(await newest_contests(academy, game_id), await arena_games(request))
    context = {
        "game_id": game_id,
        "board": describe_board(spec.geometry),
        "spec": spec,
        "seats": seat_names(spec),
        "statistics": figures.statistics,
        "libraries": _libraries(figures),
        "players": players,
        "growth": _draw_growth(growth, curves),
        "growing": [(curve.number, curve.name) for curve in curves],
        "rated": any(player.elo is not None for player in players),
        "contests": contests,
        "measures": _measures(figures),
        "settings": [
            (meaning, f"{getattr(figures.statistics.settings, name):g}")
            for name, meaning in _SETTINGS.items()
        ],
        "rules": figures.statistics.settings,
    }
    return render(request, "game.html", context)


def _curves_of(points: Sequence[history_pb2.GrowthPoint]) -> list[Curve]:
    """The sizes of the libraries that have held something."""
    return [
        Curve(number, [(point.contests, getattr(point, name)) for point in points], title)
        for number, (title, name) in enumerate(_GROWING.items(), 1)
        if any(getattr(point, name) for point in points)
    ]


def _draw_growth(points: Sequence[history_pb2.GrowthPoint], curves: Sequence[Curve]) -> Markup | None:
    """The curves from contest to contest; None while there is nothing to see."""
    if len(points) < _LEAST_POINTS:
        return None
    most = max((size for curve in curves for _, size in curve.points), default=1)
    last = points[-1].contests
    scale = Scale(last, 0, most, pattern="{:,.0f}", ends=("", f"contest {last:,}"))
    return draw_curves(curves, scale, "The sizes of the libraries from contest to contest")


def _libraries(figures: GameFigures) -> list[_Library]:
    statistics, settings = figures.statistics, figures.statistics.settings
    path = f"/games/{figures.game.game_id}"
    return [
        _Library(
            "Openings",
            statistics.opening_nodes,
            settings.opening_capacity,
            f"positions, down to ply {statistics.opening_depth}",
            link(f"{path}/openings"),
        ),
        _Library(
            "Middle game",
            statistics.middle_game_patterns,
            settings.middle_game_capacity,
            "patterns of moves that raised the mover's expectation",
            link(f"{path}/patterns"),
        ),
        _Library(
            "Endgame",
            statistics.endgame_patterns,
            settings.endgame_capacity,
            "patterns of the last fifth of contests",
            link(f"{path}/patterns", {"library": "endgame"}),
        ),
        _Library(
            "Tesujis",
            statistics.tesujis,
            settings.tesuji_capacity,
            "surroundings of cells, with how much strong players like to move there",
            link(f"{path}/tesujis"),
        ),
    ]


def _measures(figures: GameFigures) -> list[tuple[str, str, str, int]]:
    rows = []
    for name, measure in MEASURES.items():
        known = figures.measures.measures.get(name)
        if known is not None:
            value = measure.pattern.format(known.value) if known.HasField("value") else "not known"
            rows.append((measure.title, value, measure.meaning, known.contests))
    return rows
