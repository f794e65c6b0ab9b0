"""Full libraries of Go on 19x19, positions to ask about, and contests to report."""

import random
from collections.abc import Iterator
from typing import Final

from academy.knowledge.boards import Board
from academy.knowledge.cells import State
from academy.knowledge.patterns import Pattern
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import SQUARE
from academy.knowledge.text import write_cells
from academy.store.codec.games import spec_to_proto
from academy.store.game_registration import RegisterGame
from academy.store.library_import import ImportLibraries
from academy.store.library_store import Store
from academy.store.tokens import CreateToken, Role
from academy.v1 import consultation_pb2, contests_pb2, pattern_pb2
from benchmarks.matching import PLAIN
from benchmarks.pattern_libraries import GO, SIZE, go_position, library

COLUMNS: Final = "ABCDEFGHJKLMNOPQRST"
FULL: Final = {Library.MIDDLE_GAME: 1_000, Library.ENDGAME: 5_000}
OPENINGS: Final = 1_000
MATCHES: Final = 64
FIRST: Final = "go-0000"
_LETTERS: Final = {State.EMPTY: "-", State.FIRST_SOLDIER: "x", State.SECOND_SOLDIER: "o"}


def go(game_id: str) -> GameSpec:
    """Go on 19x19."""
    names = tuple(f"{column}{SIZE - row}" for row in range(SIZE) for column in COLUMNS)
    return GameSpec(game_id, GO.geometry, symmetries=tuple(SQUARE), cell_names=names, expected_length=240.0)


def records() -> dict[Library, list[pattern_pb2.PatternRecord]]:
    """Patterns cut out of random games, with three votes each."""
    chance = random.Random(2024)
    patterns, _ = library(GO, sum(FULL.values()), *PLAIN)
    drawn = iter(patterns.items())
    return {name: [_record(chance, *next(drawn)) for _ in range(count)] for name, count in FULL.items()}


def _record(chance: random.Random, number: int, pattern: Pattern) -> pattern_pb2.PatternRecord:
    votes = [
        pattern_pb2.Vote(
            player=f"player {voter}",
            elo_hundredths=chance.randrange(100_000, 200_000),
            value_millionths=chance.randrange(1_000_000),
        )
        for voter in chance.sample(range(50), 3)
    ]
    cells = write_cells(pattern, GO.geometry)
    return pattern_pb2.PatternRecord(pattern_id=number + 1, cells=cells, player=1, votes=votes)


def openings(seed: int = 2024) -> list[pattern_pb2.OpeningNodeRecord]:
    """A tree of lines of ten moves."""
    chance = random.Random(seed)
    names = go("go").cell_names
    nodes = [_node(0, 0, "", 0)]
    children: dict[tuple[int, str], int] = {}
    while len(nodes) <= OPENINGS:
        parent = 0
        for depth, move in enumerate(chance.sample(names[:60], 10), 1):
            if (parent, move) not in children:
                children[parent, move] = len(nodes)
                nodes.append(_node(len(nodes), parent, move, depth))
            parent = children[parent, move]
    return nodes


def _node(number: int, parent: int, move: str, depth: int) -> pattern_pb2.OpeningNodeRecord:
    return pattern_pb2.OpeningNodeRecord(
        node_id=number,
        parent_id=parent,
        move=move,
        depth=depth,
        mover=0 if not depth else 2 - depth % 2,
        visits=2,
        wins=[1, 1],
        draws=[0, 0],
        losses=[1, 1],
        value_millionths=[1_000_000, 1_000_000],
        values=0,
        elo_hundredths=0 if not depth else 300_000,
    )


def teach(store: Store, game_id: str = FIRST, share: float = 1.0) -> str:
    """Register a game with a share of full libraries, with openings where it has all; return its id."""
    patterns = {name: library[: int(share * len(library))] for name, library in records().items()}
    nodes = openings() if share == 1.0 else []
    store.run(RegisterGame(spec_to_proto(go(game_id)), "benchmark"))
    store.run(ImportLibraries(game_id, patterns, nodes, False, "benchmark"))
    return game_id


def tokens(store: Store) -> tuple[str, str]:
    """Make the tokens of a bot, which may ask outside of contests, and of an arena."""
    _, bot = store.run(CreateToken("bot", Role.ANALYST))
    _, arena = store.run(CreateToken("arena", Role.ARENA))
    return bot, arena


def reports(game_id: str, count: int, first: int = 0) -> Iterator[contests_pb2.ReportContestRequest]:
    """Contests of 60 plies with their boards; each is another one."""
    chance = random.Random(first)
    names = go(game_id).cell_names
    for number in range(first, first + count):
        board = bytearray(b"-" * SIZE * SIZE)
        plies = []
        for ply, cell in enumerate(chance.sample(range(SIZE * SIZE), 60)):
            board[cell] = b"xo"[ply % 2]
            plies.append(contests_pb2.Ply(player=1 + ply % 2, move=names[cell], board=board.decode()))
        yield contests_pb2.ReportContestRequest(
            contest=contests_pb2.Contest(
                contest_id=f"benchmark/{number}",
                game_id=game_id,
                players=[contests_pb2.ContestPlayer(name=name, elo=1500.0) for name in ("ann", "bob")],
            ),
            plies=plies,
            results=[contests_pb2.RESULT_WIN, contests_pb2.RESULT_LOSS],
            termination="score",
        )


def boards(count: int, seed: int = 7) -> Iterator[str]:
    """Middle-game positions as letters."""
    chance = random.Random(seed)
    for _ in range(count):
        yield letters(go_position(chance))


def successor_questions(
    game_id: str, count: int, moves: int
) -> list[consultation_pb2.MatchSuccessorsRequest]:
    """What bots ask before they move: a position, and a stone on each of some empty cells of it."""
    return [
        consultation_pb2.MatchSuccessorsRequest(
            game_id=game_id,
            position=consultation_pb2.Position(board=board, player=1),
            moves=[
                consultation_pb2.CandidateMove(cells=[cell], letters="x")
                for cell in [cell for cell, letter in enumerate(board) if letter == "-"][:moves]
            ],
            max_matches=MATCHES,
        )
        for board in boards(count)
    ]


def after_moves(
    question: consultation_pb2.MatchSuccessorsRequest, most: int
) -> consultation_pb2.MatchPatternsRequest:
    """The same, asked by the positions after the first moves."""
    shown = []
    for move in question.moves[:most]:
        board = list(question.position.board)
        board[move.cells[0]] = move.letters
        shown.append("".join(board))
    return consultation_pb2.MatchPatternsRequest(
        game_id=question.game_id,
        positions=[consultation_pb2.Position(board=board, player=1) for board in shown],
        max_matches=question.max_matches,
    )


def letters(board: Board) -> str:
    """A board as a consultation writes it."""
    return "".join(_LETTERS[State(state)] for state in board.states)


def questions(game_id: str, count: int, positions: int = 1) -> list[consultation_pb2.MatchPatternsRequest]:
    """What bots ask: `positions` at a time, the 64 strongest matches on each."""
    drawn = boards(min(count * positions, 64))
    shown = list(drawn)
    return [
        consultation_pb2.MatchPatternsRequest(
            game_id=game_id,
            positions=[
                consultation_pb2.Position(board=shown[(number * positions + place) % len(shown)], player=1)
                for place in range(positions)
            ],
            max_matches=MATCHES,
        )
        for number in range(count)
    ]
