"""What a viewer shows of a game besides its board: moves, clocks, and curves of values and time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from google.protobuf.duration_pb2 import Duration
from markupsafe import Markup

from arena.v1 import competitions_pb2
from web.charts import Curve, Scale, draw_curves

__all__ = ["ListedMove", "clocks_of", "draw_charts", "list_moves", "seconds_of"]


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


def seconds_of(duration: Duration) -> float:
    """Return a duration of the protocol in seconds.

    Args:
        duration: The duration.
    """
    return duration.seconds + duration.nanos / 1e9


def list_moves(
    moves: Sequence[competitions_pb2.GameMove],
    players: Sequence[str],
    address: Callable[[int], str],
    before: int = 0,
) -> list[ListedMove]:
    """Return moves for the list beside the board.

    Args:
        moves: The moves.
        players: The players by seat.
        address: Gives the address of the board after a number of moves.
        before: How many moves came before these.
    """
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


def clocks_of(moves: Sequence[competitions_pb2.GameMove]) -> list[tuple[int, str]]:
    """Return what each seat's clock shows after some moves; nothing of seats without one.

    Args:
        moves: The moves so far.
    """
    last = {move.seat: move for move in moves if move.HasField("clock")}
    clocks = []
    for seat, move in sorted(last.items()):
        minutes, seconds = divmod(seconds_of(move.clock), 60)
        stones = f" for {move.clock_moves}" if move.clock_moves else ""
        clocks.append((seat, f"{minutes:.0f}:{seconds:04.1f}{stones}"))
    return clocks


def draw_charts(moves: Sequence[competitions_pb2.GameMove], ply: int | None) -> list[tuple[str, Markup]]:
    """Return curves of the values that the movers expected and of the time that they took, with their titles.

    Args:
        moves: The moves so far.
        ply: The move that is shown; None without a line there.
    """
    values: dict[int, list[tuple[float, float]]] = {}
    times: dict[int, list[tuple[float, float]]] = {}
    for number, move in enumerate(moves, 1):
        if move.HasField("value"):
            values.setdefault(move.seat, []).append((number, move.value))
        if move.HasField("time"):
            times.setdefault(move.seat, []).append((number, seconds_of(move.time)))
    charts = []
    ends = ("move 1", f"move {len(moves)}")
    if values:
        scale = Scale(len(moves), 0, 1, ply, (0.5,), ends=ends)
        label = "Expected values of the players, move by move"
        charts.append(("What the movers expected: 1 is a win", draw_curves(_curves(values), scale, label)))
    if times:
        longest = max(seconds for row in times.values() for _, seconds in row)
        scale = Scale(len(moves), 0, longest or 1, ply, pattern="{:.3g} s", ends=ends)
        label = "The time that the players took, move by move"
        charts.append(("The time that they took", draw_curves(_curves(times), scale, label)))
    return charts


def _curves(rows: dict[int, list[tuple[float, float]]]) -> list[Curve]:
    return [Curve(seat, points) for seat, points in sorted(rows.items())]
