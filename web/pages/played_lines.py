"""A line that is played on a board: the position after it, and the cells to click on for the next move."""

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, ParamSpec, Protocol, TypeVar

from academy.knowledge.spec import GameSpec
from academy.v1 import consultation_pb2
from web.drawing import CellLink
from web.replay import NoBoardError, ReplayedLine, replay

__all__ = [
    "Addresses",
    "Chosen",
    "KnownMove",
    "ReplayThreads",
    "board_after",
    "cells_of_move",
    "cells_to_click",
    "choose",
    "known_moves",
    "line_replays",
]

# The moves of the list that have a disc on the board; further ones show on hover, else discs would hide it.
_MOST_DISCS: Final = 8
Given = ParamSpec("Given")
Value = TypeVar("Value")


class ReplayThreads:
    """Threads that play moves again, `most` at once: others' pages go on beside these."""

    def __init__(self, most: int) -> None:
        self._room = asyncio.Semaphore(most)

    async def run(self, play: Callable[Given, Value], *given: Given.args, **named: Given.kwargs) -> Value:
        """Return what a function returns, or raise what it raises."""
        await self._room.acquire()
        playing = asyncio.create_task(asyncio.to_thread(play, *given, **named))
        playing.add_done_callback(self._end)
        # A thread plays on when who waits for it leaves: it keeps its place until it ends.
        return await asyncio.shield(playing)

    def _end(self, playing: "asyncio.Task[Any]") -> None:
        self._room.release()
        if not playing.cancelled():
            # Nobody may be left to hear of a failure.
            playing.exception()


line_replays: Final = ReplayThreads(2)


class Addresses(Protocol):
    """Where a page leads from its line."""

    def after(self, move: str) -> str:
        """Return the address after one more move."""

    def choosing(self, cell: int | None) -> str:
        """Return the address of the same line where a cell is chosen, whose move ends elsewhere."""


@dataclass(frozen=True)
class KnownMove:
    """A move that the opening tree has, with its place in the list, from 1.

    `label` is what is known of it, for those who do not see the board.
    """

    rank: int
    label: str


@dataclass(frozen=True)
class Chosen:
    """A cell, if one is chosen, that was clicked on because moves begin there.

    `moves` are these, with their addresses; `back` is the address without the choice.
    """

    cell: int | None
    moves: Sequence[tuple[str, str]] = ()
    back: str = ""


async def board_after(spec: GameSpec, moves: tuple[str, ...], player: int) -> tuple[ReplayedLine | None, str]:
    """Return the position after a line, or None and why it cannot be shown.

    In games of more than two it is as `player` sees it.
    """
    try:
        return await line_replays.run(replay, spec, moves, player), ""
    except NoBoardError as error:
        return None, str(error)


def choose(line: Addresses, cell: int | None, replayed: ReplayedLine | None) -> Chosen:
    """Return the moves that begin on a cell and end on another one."""
    if cell is None or replayed is None:
        return Chosen(None)
    moves = [
        (text, line.after(text)) for text, (begins, ends) in replayed.ways.items() if begins == cell != ends
    ]
    return Chosen(cell, moves, line.choosing(None))


def cells_of_move(spec: GameSpec, replayed: ReplayedLine | None, text: str) -> Sequence[int]:
    """Return the cells where a move begins and ends; none where its text does not say."""
    if text in spec.cell_names:
        return (spec.cell_names.index(text),)
    return tuple(dict.fromkeys(replayed.ways.get(text, ()))) if replayed is not None else ()


def known_moves(listed: Sequence[consultation_pb2.OpeningMove]) -> dict[str, KnownMove]:
    """Return the moves that the opening tree has, by each of their spellings."""
    return {
        text: KnownMove(rank, f"value {move.statistics.value:.2f} in {move.statistics.visits} contests")
        for rank, move in reversed(list(enumerate(listed, 1)))
        for text in (move.move, *move.equivalents)
    }


def cells_to_click(
    spec: GameSpec,
    line: Addresses,
    replayed: ReplayedLine,
    known: Mapping[str, KnownMove],
    chosen: int | None,
) -> dict[int, CellLink]:
    """Return where a click on each cell leads.

    `chosen` is the cell where the move begins; None before one was chosen.
    """
    return _of_ways(line, replayed, known, chosen) | _of_named_cells(spec, line, replayed, known)


def _of_named_cells(
    spec: GameSpec, line: Addresses, replayed: ReplayedLine, known: Mapping[str, KnownMove]
) -> dict[int, CellLink]:
    """Moves that are named by one cell, the known ones with their places in the list."""
    cells = {name: cell for cell, name in enumerate(spec.cell_names)}
    links = {
        cells[text]: CellLink(line.after(text), f"play {text}", known=False)
        for text in replayed.legal
        if text in cells
    }
    with_disc: dict[int, str] = {}
    for text, move in known.items():
        if text in cells and move.rank <= _MOST_DISCS:
            # Its mirror images show on hover too.
            with_disc.setdefault(move.rank, text)
    for text, move in sorted(known.items(), key=lambda item: -item[1].rank):
        if text in cells:
            rank = move.rank if with_disc.get(move.rank) == text else 0
            address, label = line.after(text), f"{text}: {move.label}"
            links[cells[text]] = CellLink(address, label, known=rank > 0, rank=rank)
    return links


def _of_ways(
    line: Addresses, replayed: ReplayedLine, known: Mapping[str, KnownMove], chosen: int | None
) -> dict[int, CellLink]:
    """Moves that cells' names do not say: where one begins, then where it ends."""
    ranks = {text: move.rank for text, move in known.items() if move.rank <= _MOST_DISCS}

    def place(text: str) -> float:
        return ranks.get(text, math.inf)

    links: dict[int, CellLink] = {}
    # The best of several moves on a cell comes last and stays; the list below the board has them all.
    for text in sorted(replayed.ways, key=place, reverse=True):
        begins, ends = replayed.ways[text]
        if begins == ends:
            address, label = line.after(text), f"play {text}"
            links[ends] = CellLink(address, label, known=text in ranks, rank=ranks.get(text, 0))
        elif chosen is None:
            address, label = line.choosing(begins), f"moves from here, such as {text}"
            links[begins] = CellLink(address, label, known=text in ranks, rank=ranks.get(text, 0))
        elif begins == chosen:
            address, label = line.after(text), f"play {text}"
            links[ends] = CellLink(address, label, rank=ranks.get(text, 0))
    return links
