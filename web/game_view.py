"""What a viewer shows of a game: its players, moves and clocks, and curves of values and time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from google.protobuf.duration_pb2 import Duration
from markupsafe import Markup

from arena.v1 import competitions_pb2
from referees.drawing import Drawing
from web.charts import Curve, Scale, draw_curves
from web.drawing import DrawnBoard, is_map
from web.seating import seat_labels, seat_players, words_of_result

__all__ = [
    "ListedMove",
    "clocks_of",
    "describe_game",
    "draw_charts",
    "list_moves",
    "note_of_move",
    "seconds_of",
]

# Units of time, the longest first: some bots move within microseconds.
_UNITS: Final = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))


@dataclass(frozen=True)
class ListedMove:
    """A move of the list.

    Attributes:
        ply: Its number, from 1.
        by: Who made it.
        seat: Its seat.
        text: The move.
        seconds: The time that it took; "" where that is not known.
        value: What the mover expected; "" where it gave none.
        comment: What the mover wrote about it.
        address: Where the board after it is.
    """

    ply: int
    by: str
    seat: int
    text: str
    seconds: str
    value: str
    comment: str
    address: str


def describe_game(
    known: competitions_pb2.GetGameResponse,
    seats: Sequence[str],
    drawn: DrawnBoard | None,
    ply: int,
    address: Callable[[int], str],
) -> dict[str, Any]:
    """Return what the viewer's template shows of a game after some moves, wherever the viewer is.

    `seats` are what the game calls them, empty where that is not known.
    """
    game, drawing = known.game, drawn.drawing if drawn else None
    players = seat_labels([player.name for player in game.players], seats)
    seated = seat_players(game.players, seats, ended=not known.in_progress)
    who_won, result = words_of_result(seated, game.result)
    return {
        "game": game,
        "live": known.in_progress,
        "players": players,
        "seated": seated,
        "who_won": who_won,
        "result": result,
        "moves": list_moves(known.moves, players, address),
        "ply": ply,
        "plies": len(known.moves),
        "drawing": drawn.whole if drawn else None,
        "on_map": drawing is not None and is_map(drawing.layout),
        "caption": drawing.caption if drawing else "",
        "orders": drawing.arrows if drawing else (),
        "areas": drawing.layout.areas if drawing else (),
        "cells": drawing.layout.cells if drawing else (),
        "note": note_of_move(known.moves, ply),
        "clocks": clocks_of(known.moves[:ply]),
        "this_move": address(ply),
        "extension": known.record_extension,
    }


def seconds_of(duration: Duration) -> float:
    """Return a duration of the protocol in seconds."""
    return duration.seconds + duration.nanos / 1e9


def list_moves(
    moves: Sequence[competitions_pb2.GameMove],
    players: Sequence[str],
    address: Callable[[int], str],
    before: int = 0,
) -> list[ListedMove]:
    """Return moves for the list beside the board; `before` is how many moves came before these."""
    return [
        ListedMove(
            number,
            players[move.seat - 1] if 0 < move.seat <= len(players) else f"seat {move.seat}",
            move.seat,
            move.text or "hidden",
            f"{seconds_of(move.time):.2f} s" if move.HasField("time") else "",
            f"{move.value:.2f}" if move.HasField("value") else "",
            move.comment,
            address(number),
        )
        for number, move in enumerate(moves, before + 1)
    ]


def note_of_move(moves: Sequence[competitions_pb2.GameMove], ply: int) -> str:
    """Return a line that says which move is shown."""
    text = f": {moves[ply - 1].text or 'hidden'}" if ply else ""
    return f"Move {ply} of {len(moves)}{text}"


def clocks_of(moves: Sequence[competitions_pb2.GameMove]) -> list[tuple[int, str]]:
    """Return what each seat's clock shows after some moves; nothing of seats without one.

    Of each seat the last move that has a clock is enough.
    """
    last = {move.seat: move for move in moves if move.HasField("clock")}
    clocks = []
    for seat, move in sorted(last.items()):
        minutes, tenths = divmod(round(10 * seconds_of(move.clock)), 600)
        stones = f" for {move.clock_moves}" if move.clock_moves else ""
        clocks.append((seat, f"{minutes}:{tenths / 10:04.1f}{stones}"))
    return clocks


def draw_charts(
    moves: Sequence[competitions_pb2.GameMove], ply: int | None, drawings: Sequence[Drawing] = ()
) -> list[tuple[str, Markup]]:
    """Return curves with their titles: the values that the movers expected, their time, and how they stood.

    A line stands at the move `ply`, if there is one; `drawings` are the pictures after each number of moves.
    """
    values: dict[int, list[tuple[float, float]]] = {}
    times: dict[int, list[tuple[float, float]]] = {}
    for number, move in enumerate(moves, 1):
        if move.HasField("value"):
            values.setdefault(move.seat, []).append((number, move.value))
        if move.HasField("time"):
            times.setdefault(move.seat, []).append((number, seconds_of(move.time)))
    charts = _standings(drawings, len(moves), ply)
    ends = ("start", f"move {len(moves)}")
    if values:
        scale = Scale(len(moves), 0, 1, ply, (0.5,), ends=ends)
        label = "Expected values of the players, move by move"
        charts.append(("What the movers expected: 1 is a win", draw_curves(_curves(values), scale, label)))
    if times:
        longest = max(seconds for row in times.values() for _, seconds in row)
        unit, length = next((unit for unit in _UNITS if longest >= unit[1]), _UNITS[-1])
        measured = {seat: [(number, time / length) for number, time in row] for seat, row in times.items()}
        scale = Scale(len(moves), 0, longest / length or 1, ply, pattern=f"{{:.3g}} {unit}", ends=ends)
        label = "The time that the players took, move by move"
        charts.append(("The time that they took", draw_curves(_curves(measured), scale, label)))
    return charts


# How far curves of equal seats lie apart, as a share of the scale: the width of a line.
_APART: Final = 0.015


def _standings(drawings: Sequence[Drawing], plies: int, ply: int | None) -> list[tuple[str, Markup]]:
    """The curves of what the game is about, such as supply centres, where its pictures count it."""
    if not drawings or not drawings[0].standing:
        return []
    rows: dict[int, list[tuple[float, float]]] = {
        seat: [(0, count)] for seat, count in enumerate(drawings[0].standing, 1)
    }
    for number, (before, after) in enumerate(pairwise(drawings), 1):
        if before.standing != after.standing or number == len(drawings) - 1:
            for seat, row in rows.items():
                row += [(number, before.standing[seat - 1]), (number, after.standing[seat - 1])]
    title = drawings[0].layout.standing
    most = max(count for row in rows.values() for _, count in row)
    # Seats that have the same stand beside each other, or the last one's curve would hide the others.
    apart = _APART * most
    rows = {
        seat: [(at, count + apart * (seat - (len(rows) + 1) / 2)) for at, count in row]
        for seat, row in rows.items()
    }
    ends = (drawings[0].caption or "start", drawings[-1].caption or f"move {plies}")
    label = f"{title} of each seat, move by move"
    return [
        (title, draw_curves(_curves(rows), Scale(plies, 0, most or 1, ply, ends=ends, numbered=False), label))
    ]


def _curves(rows: dict[int, list[tuple[float, float]]]) -> list[Curve]:
    return [Curve(seat, points) for seat, points in sorted(rows.items())]
