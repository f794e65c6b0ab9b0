"""A small Go, players, and contests to report: what the store's tests tell it."""

import random
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from academy.knowledge.boards import SquareGeometry
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import SQUARE
from academy.store.codec.games import spec_to_proto
from academy.store.codec.proposals import read_proposal
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.environment import Transaction
from academy.store.library_store import Store
from academy.store.player_commands import MuteInGame, MutePlayer
from academy.store.proposal_commands import SubmitProposals
from academy.store.replica import GameView
from academy.v1 import contests_pb2, game_pb2, libraries_pb2, pattern_pb2, proposals_pb2

COLUMNS = "ABCDEFGHJ"
SIZE = 9


@cache
def go(game_id: str = "go-9x9") -> GameSpec:
    """Go on 9x9, as its referee describes it."""
    return GameSpec(
        game_id=game_id,
        geometry=SquareGeometry(SIZE, SIZE),
        symmetries=tuple(SQUARE),
        cell_names=tuple(f"{column}{SIZE - row}" for row in range(SIZE) for column in COLUMNS),
        expected_length=60.0,
    )


def go_game(game_id: str = "go-9x9") -> game_pb2.Game:
    """The same as a message."""
    return spec_to_proto(go(game_id))


def export(
    game: game_pb2.Game,
    patterns: Iterable[pattern_pb2.PatternRecord] = (),
    nodes: Iterable[pattern_pb2.OpeningNodeRecord] = (),
) -> list[libraries_pb2.ExportLibraryResponse]:
    """An export of patterns and opening nodes."""
    response = libraries_pb2.ExportLibraryResponse
    return [
        response(game=game),
        *(response(pattern=pattern) for pattern in patterns),
        *(response(node=node) for node in nodes),
    ]


def contest(
    contest_id: str, game_id: str = "go-9x9", names: Sequence[str] = ("gnugo 1", "seki")
) -> contests_pb2.Contest:
    """A contest to open."""
    return contests_pb2.Contest(
        contest_id=contest_id,
        game_id=game_id,
        players=[
            contests_pb2.ContestPlayer(name=name, elo=1500.0 + 50 * place) for place, name in enumerate(names)
        ],
    )


def report(
    contest_id: str,
    game_id: str = "go-9x9",
    *,
    plies: int = 30,
    seed: int | None = None,
    names: Sequence[str] = ("gnugo 1", "seki"),
    first_wins: bool = True,
) -> contests_pb2.ReportContestRequest:
    """A game of random moves without captures, the same for the same seed."""
    chance = random.Random(contest_id if seed is None else seed)
    cells = chance.sample(range(SIZE * SIZE), plies)
    board = ["-"] * (SIZE * SIZE)
    request = contests_pb2.ReportContestRequest(
        contest=contest(contest_id, game_id, names),
        termination="score",
        results=[contests_pb2.RESULT_WIN, contests_pb2.RESULT_LOSS][:: 1 if first_wins else -1],
    )
    names_of_cells = go().cell_names
    for number, cell in enumerate(cells, 1):
        player = 1 if number % 2 else 2
        board[cell] = "xo"[player - 1]
        request.plies.add(
            player=player,
            move=names_of_cells[cell],
            board="".join(board),
            legal_moves=SIZE * SIZE - number,
            interaction=number > 10,
        )
        value = round(chance.random(), 3)
        # Both say what they expect, and they agree.
        request.plies[-1].values.add(player=player, value=value)
        request.plies[-1].values.add(player=3 - player, value=round(1 - value, 3))
    return request


def endgame_proposal(
    request: contests_pb2.ReportContestRequest, *, seat: int = 1, back: int = 0
) -> proposals_pb2.NewProposal:
    """The 3x3 around the last move (or a move `back` plies before it), as the player in `seat` sees it."""
    ply = request.plies[len(request.plies) - 1 - back]
    (value,) = [value.value for value in ply.values if value.player == seat]
    return proposals_pb2.NewProposal(
        library=pattern_pb2.LIBRARY_ENDGAME,
        cells=window(ply.board, go().cell_names.index(ply.move)),
        ply=len(request.plies) - back,
        value=value,
    )


def marked_proposal(request: contests_pb2.ReportContestRequest) -> proposals_pb2.NewProposal:
    """A move of the first player's that gained much, and what stood two cells before it in its row."""
    cells = go().cell_names
    for number in range(3, len(request.plies) + 1, 2):
        (before,), (after,) = (
            [value.value for value in ply.values if value.player == 1]
            for ply in request.plies[number - 2 : number]
        )
        cell = cells.index(request.plies[number - 1].move)
        if after - before >= 0.2 and cell % SIZE >= 2:
            return proposals_pb2.NewProposal(
                library=pattern_pb2.LIBRARY_MIDDLE_GAME,
                cells=f"{request.plies[number - 2].board[cell - 2]} # *",
                ply=number,
                value=after,
                value_before=before,
            )
    raise ValueError(f"{request.contest.contest_id}: no move gained enough")


def submission(
    contest_id: str,
    seat: int,
    contents: Sequence[proposals_pb2.NewProposal],
    actor: str,
    game_id: str = "go-9x9",
) -> SubmitProposals:
    """What a player proposes, read as the service reads it."""
    spec = go(game_id)
    read = [
        read_proposal(content, contest_id, seat, spec, f"proposals[{place}]")
        for place, content in enumerate(contents)
    ]
    return SubmitProposals(contest_id, seat, read, actor)


def window(board: str, cell: int) -> str:
    """The 3x3 around a cell, `+` where it hangs over the edge."""
    middle_row, middle_column = divmod(cell, SIZE)

    def letter(row: int, column: int) -> str:
        return board[row * SIZE + column] if 0 <= row < SIZE and 0 <= column < SIZE else "+"

    return "\n".join(
        "".join(letter(row, column) for column in range(middle_column - 1, middle_column + 2))
        for row in range(middle_row - 1, middle_row + 2)
    )


def learn(
    store: Store, *, contests: int = 3, first: int = 0, game_id: str = "go-9x9", same_opening: bool = False
) -> None:
    """Play contests whose players propose endgame patterns, some of them again and again."""
    waiting: list[Future[Any]] = []
    for number in range(first, first + contests):
        contest_id = f"{game_id}/{number}"
        request = report(contest_id, game_id, first_wins=number % 3 > 0, plies=3 if same_opening else 30)
        if same_opening:
            # The second ply then has several continuations, and they are leaves.
            for ply, other in zip(request.plies[:2], report("same").plies, strict=False):
                ply.move = other.move
        waiting.append(store.submit(OpenContest(contest(contest_id, game_id))))
        for seat, name in ((1, "gnugo 1"), (2, "seki")):
            proposals = [endgame_proposal(request, seat=seat, back=back) for back in range(number % 4)]
            waiting.append(store.submit(submission(contest_id, seat, proposals, name, game_id)))
        waiting.append(store.submit(ReportContest(request, "arena")))
    for future in waiting:
        future.result(30)


def teach(store: Store, contest_id: str) -> bool:
    """Play a contest with a proposal; return whether its report counted."""
    request = report(contest_id, plies=20)
    store.run(OpenContest(contest(contest_id)))
    store.run(submission(contest_id, 1, [endgame_proposal(request)], "gnugo 1"))
    return store.run(ReportContest(request, "arena")).counted


def view(store: Store, game_id: str = "go-9x9") -> GameView:
    """What is known of a game now."""
    return store.follow().refresh(game_id)


def keep_notes(store: Store) -> None:
    """Have all notes become part of the store, as they do within a second; there must be some."""
    kept = store.keep_notes()
    assert kept is not None
    kept.result(60)
    assert store.keep_notes() is None


def count_keys_read(look: Callable[[], object]) -> int:
    """How many keys a look at the store goes through."""
    read, scan = 0, Transaction.scan

    def counting(self: Transaction, *arguments: Any, **options: Any) -> Iterator[tuple[bytes, bytes]]:
        nonlocal read
        for entry in scan(self, *arguments, **options):
            read += 1
            yield entry

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Transaction, "scan", counting)
        look()
    return read


def mute(store: Store, game_id: str, player: str) -> int:
    """Mute a player, also in a game; return how many of its votes that took out."""
    store.run(MutePlayer(player))
    return store.run(MuteInGame(game_id, player, "admin"))


@contextmanager
def opened_copy(source: Path, folder: Path) -> Iterator[Store]:
    """A store with a folder of its own, copied from one that nobody has open."""
    shutil.copytree(source, folder)
    with Store(folder) as store:
        yield store
