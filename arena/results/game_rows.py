"""The rows of a finished game. Its moves are one value: a row for each would take longer than all the rest.

The value is a JSON array of the moves in their order. A move is an array of its seat, text, seconds,
values reported by seat (an object, or null), comment, whether an opening gave it, seconds and moves
left on its clock, number of legal moves, interaction, and board; empty values at its end are left
out. The views ARENA_Move and ARENA_MoveValue have a row for each.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Connection, select, update

from arena.jobs import Fault, GameResult, JobMove, PlayerUsage
from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.database import add, insertion
from arena.results.game_settings import SettingKeys
from referees.api import Outcome, Termination
from referees.legible_text import legible

_MICROSECONDS: Final = 6
# PostgreSQL's texts hold neither, and one of them would spoil the view of all moves.
_UNSTORABLE: Final = re.compile("[\\x00\\ud800-\\udfff]")


@dataclass(frozen=True)
class StoredMove:
    """A move as the database stores it; `values` are the reported expected values by seat.

    `clock_seconds` are left on the mover's clock (None without one), in byo-yomi for `clock_stones` moves.
    """

    seat: int
    text: str
    seconds: float
    values: Mapping[int, float]
    comment: str
    opening: bool
    clock_seconds: float | None
    clock_stones: int


def pack_moves(moves: Iterable[JobMove]) -> str:
    """The moves as one value. Raises ValueError for an expected value that is not from 0 to 1."""
    # To encode each move by itself takes twice as long.
    return json.dumps(list(map(_row, moves)), separators=(",", ":"), allow_nan=False)


def unpack_moves(value: str) -> list[StoredMove]:
    """The moves of a value."""
    moves = []
    for row in json.loads(value):
        seat, text, seconds, values, comment, opening, clock, stones = (*row, *[None] * 5)[:8]
        reported = {int(teller): float(value) for teller, value in (values or {}).items()}
        # Earlier releases stored it as it came.
        words = legible(comment or "")
        moves.append(StoredMove(seat, text, seconds, reported, words, bool(opening), clock, stones or 0))
    return moves


def _row(move: JobMove) -> tuple[Any, ...]:
    seat, text, board, legal_moves, interaction, seconds, values, comment, clock, stones, opening, *_ = move
    seconds = round(seconds, _MICROSECONDS)
    if board is None and not values and not comment and clock is None and not opening:
        return (seat, text, seconds)
    for teller, value in values.items():
        if not 0 <= value <= 1:
            raise ValueError(f"move {text!r}: seat {teller} reported {value}, values are from 0 to 1")
    more = [
        dict(values) or None,
        _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", comment) or None,
        1 if opening else None,
        clock,
        None if clock is None else stones,
        legal_moves,
        interaction,
        board,
    ]
    while more and more[-1] is None:
        more.pop()
    return (seat, text, seconds, *more)


_PROBLEMS = {Fault.NONE: 0, Fault.LATE: 1, Fault.DISCONNECTED: 2}


@dataclass(frozen=True)
class GivenOpening:
    """The opening that a game begins with: its file's name, its place there from 1, its own name or ""."""

    file: str
    number: int
    name: str


@dataclass(frozen=True)
class Entry:
    """The database's own keys of a game to come, and what it is played with.

    `players` (names), `contestants` and `clocks` (see `describe_clock`) are by seat; `opening` is None
    without one.
    """

    series_id: int
    setting: SettingKeys
    players: tuple[str, ...]
    contestants: tuple[int, ...]
    clocks: tuple[str, ...]
    opening: GivenOpening | None = None


# SAGA's Termination where nobody won more than another.
_ALL_DREW: Final = {
    Termination.AGREEMENT: 3,
    Termination.STASIS: 4,
    Termination.IMPASSE: 5,
    Termination.MOVE_LIMIT: 5,
    Termination.ADJUDICATION: 5,
}


def termination_code(outcome: Outcome, seats: int) -> int | None:
    """SAGA's Termination of any game, as `SAGA_Game` explains it; None where the result is not known."""
    survivors = seats - sum(year is not None for year in outcome.eliminated)
    match len(outcome.winners):
        case 0:
            return None
        case 1:
            return 1
        case winners if winners < survivors:
            return 2
    return _ALL_DREW.get(outcome.termination, 6)


def grades(outcome: Outcome, years: int) -> tuple[float, ...]:
    """SAGA's Grade by seat: its points, or once eliminated minus the years it missed before the last.

    Empty where nothing was counted.
    """
    eliminated = outcome.eliminated or (None,) * len(outcome.points)
    return tuple(
        points if points > 0 or year is None else float(min(0, year - (years - 1)))
        for points, year in zip(outcome.points, eliminated, strict=True)
    )


def ranks(outcome: Outcome, seats: int, years: int) -> tuple[int | None, ...]:
    """SAGA's Rank by seat: 1 + the players of higher Grade; without points, 1 + the winners above."""
    if outcome.points:
        graded = grades(outcome, years)
        return tuple(1 + sum(other > mine for other in graded) for mine in graded)
    if not outcome.winners:
        return (None,) * seats
    return tuple(1 if seat in outcome.winners else 1 + len(outcome.winners) for seat in range(1, seats + 1))


def seat_columns(outcome: Outcome, seats: int, years: int) -> list[dict[str, Any]]:
    """What SAGA_Player says of an outcome, by seat."""
    unknown = (None,) * seats
    counted = zip(
        outcome.points or unknown,
        outcome.eliminated or unknown,
        grades(outcome, years) or unknown,
        ranks(outcome, seats, years),
        strict=True,
    )
    return [
        {
            "Supplies": points,
            "Elimination": eliminated,
            "Winner": int(seat in outcome.winners),
            "Grade": grade,
            "Rank": rank,
        }
        for seat, (points, eliminated, grade, rank) in enumerate(counted, start=1)
    ]


def add_game(
    connection: Connection,
    entry: Entry,
    result: GameResult,
    total_seconds: float,
    detail: Mapping[str, Any],
) -> int:
    """Enter a game with its players and moves; `detail` holds the remaining columns of ARENA_Game.

    Raises ValueError for an expected value of a move that is not from 0 to 1.
    """
    outcome = result.outcome
    assert outcome is not None
    points, opening, seats = outcome.points, entry.opening, len(entry.players)
    years = outcome.rounds
    if years is None:
        years = max(Counter(move.seat for move in result.moves).values(), default=0)
    game_id = add(
        connection,
        saga.GAME,
        {
            "SeriesId": entry.series_id,
            "SettingId": entry.setting.setting_id,
            "Finished": _time(result.started + result.setup_seconds + result.play_seconds),
            "SetupTime": result.setup_seconds,
            "PlayTime": result.play_seconds,
            "TotalTime": total_seconds,
            "Termination": termination_code(outcome, seats),
            "Years": years,
            "Survivors": seats - sum(year is not None for year in outcome.eliminated),
            "Leaders": points.count(max(points)) if points else None,
            "Winners": len(outcome.winners),
            "MaxSupplies": max(points) if points else None,
        },
    )
    add(
        connection,
        own.GAME_DETAIL,
        {
            "GameId": game_id,
            "Summary": outcome.summary,
            "Detail": outcome.detail,
            "Termination": outcome.termination.value,
            "Started": _time(result.started),
            "StartBoard": result.start_board,
            "Arrangement": result.arrangement,
            "Record": result.record,
            "RecordExtension": result.record_extension,
            "Warnings": "\n".join(result.warnings),
            "Moves": pack_moves(result.moves),
            "Plies": len(result.moves),
            "OpeningFile": None if opening is None else opening.file,
            "OpeningNumber": None if opening is None else opening.number,
            "OpeningName": None if opening is None else opening.name,
            **detail,
        },
    )
    _add_players(connection, entry, game_id, result, outcome, years)
    return game_id


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)


def _add_players(
    connection: Connection, entry: Entry, game_id: int, result: GameResult, outcome: Outcome, years: int
) -> None:
    numbered = list(enumerate(zip(entry.players, result.usage, strict=True), start=1))
    columns = seat_columns(outcome, len(entry.players), years)
    connection.execute(
        insertion(saga.PLAYER),
        [
            {
                "GameId": game_id,
                "PowerId": entry.setting.powers[seat - 1],
                "ContestantId": entry.contestants[seat - 1],
                "Disorder": _disorder(usage, seat, result.moves),
                "Problem": _PROBLEMS.get(usage.fault),
                "Cpu": usage.cpu_seconds,
                **columns[seat - 1],
            }
            for seat, (_, usage) in numbered
        ],
    )
    connection.execute(
        insertion(own.SEAT),
        [
            {
                "GameId": game_id,
                "Seat": seat,
                "PowerId": entry.setting.powers[seat - 1],
                "Name": name,
                "Fault": usage.fault.value,
                "Remark": usage.remark,
                "WallSeconds": usage.wall_seconds,
                "OwnMoves": usage.own_moves,
                "Result": _result(outcome, seat),
                "PeakMemoryBytes": usage.peak_memory_bytes,
                "EngineName": usage.engine_name,
                "EngineDescription": usage.engine_description,
                "Clock": entry.clocks[seat - 1],
            }
            for seat, (name, usage) in numbered
        ],
    )


def _disorder(usage: PlayerUsage, seat: int, moves: Sequence[JobMove]) -> int | None:
    """The turns before a player's problem, None without one: the game's, or its own where they alternate."""
    if not _PROBLEMS.get(usage.fault):
        return None
    own_moves = sum(move.seat == seat and not move.stand_in for move in moves)
    return own_moves if usage.turns is None else usage.turns


def _result(outcome: Outcome, seat: int) -> str:
    """How a seat fared, in a word."""
    if not outcome.winners:
        return "unknown"
    if seat not in outcome.winners:
        return "loss"
    return "win" if len(outcome.winners) == 1 else "draw"


def note_engine_name(connection: Connection, contestant_id: int, reported: str) -> None:
    """Note what a contestant's program calls itself: `name:version`."""
    name, _, version = reported.partition(":")
    client = select(saga.CONTESTANT.c.ClientId).filter_by(ContestantId=contestant_id).scalar_subquery()
    known = update(saga.CLIENT).where(saga.CLIENT.c.ClientId == client)
    connection.execute(known.values(Name=name, Version=version))
