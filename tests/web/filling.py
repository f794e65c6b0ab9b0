"""Contests that fill an ACADEMY: random games of real referees, and games that wish the pages ill."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from academy.knowledge.patterns import grid_pattern
from academy.knowledge.text import write_cells
from academy.v1 import contests_pb2, libraries_pb2, pattern_pb2, proposals_pb2
from academy.wire.games import game_message
from referees.api import Referee, referee
from tests.academy.service import examples
from tests.academy.service.examples import ENDGAME, contest, report
from tests.academy.service.running import Client, Running

GO = "go-5x5"
HEX = "hex-4x4"
DRAUGHTS = "draughts-english"
DIPLOMACY = "diplomacy-standard"
RING = "ring"
HOSTILE = "hostile"
HOSTILE_NAME = "<script>alert('name')</script>"
HOSTILE_MOVE = '"><img src=x onerror=alert(1)>'
SEEDS: Mapping[str, tuple[str, dict[str, object]]] = {
    GO: ("go", {"board_size": 5, "komi": 0.5}),
    HEX: ("hex", {"board_size": 4}),
    DRAUGHTS: ("draughts", {"variant": "english"}),
}


def judge_of(game_id: str) -> Referee[Any, Any]:
    name, settings = SEEDS[game_id]
    return referee(name).from_settings(settings)


def random_line(judge: Referee[Any, Any], seed: int, plies: int) -> tuple[list[str], list[str]]:
    """The moves of a random game as opening trees write them, and the boards after them."""
    chance, position = random.Random(seed), judge.start(0)
    moves: list[str] = []
    boards: list[str] = []
    while len(moves) < plies and (seats := judge.to_move(position)):
        move = judge.random_move(position, seats[0], chance)
        moves.append(judge.opening_move(position, seats[0], move))
        position = judge.play(position, {seats[0]: move})
        boards.append(judge.board(position, 1).letters)
    return moves, boards


def fill(academy: Running) -> None:
    """Register the games and report contests of them."""
    arena = academy.arena()
    spec_of_diplomacy = referee("diplomacy").from_settings({}).spec()
    games = [
        *(game_message(judge_of(game_id).spec()) for game_id in SEEDS),
        game_message(spec_of_diplomacy),
        examples.ring(RING),
        examples.hunt(HOSTILE),
    ]
    for game in games:
        if game.game_id in (GO, HEX):
            game.settings.tesuji_capacity = 60
        arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=game))
    for game_id in SEEDS:
        for number in range(12):
            _report_random(academy, game_id, number)
    _teach(academy)
    import_patterns(academy, HEX, ["x -", "x o", "- x\n - -", "o -\n - x"])
    import_patterns(academy, DRAUGHTS, ["x +\n+ x", "- +\n+ o\n- +"])
    played = contest("ring/1", RING, ("ann", "bob", "cid"), (1500.0, 1400.0, 1300.0))
    results = [contests_pb2.RESULT_WIN, contests_pb2.RESULT_LOSS, contests_pb2.RESULT_LOSS]
    plies = [contests_pb2.Ply(player=seat, move=f"go {seat}") for seat in (1, 2, 3)]
    arena.contests.ReportContest(
        contests_pb2.ReportContestRequest(contest=played, plies=plies, results=results, termination="score")
    )
    powers = [f"power-{seat}" for seat in range(1, 8)]
    played = contest("diplomacy/1", DIPLOMACY, powers, [1000.0] * 7)
    plies = [contests_pb2.Ply(player=seat, move=f"opening {seat}") for seat in range(1, 8)]
    results = [contests_pb2.RESULT_WIN, *[contests_pb2.RESULT_LOSS] * 6]
    arena.contests.ReportContest(
        contests_pb2.ReportContestRequest(contest=played, plies=plies, results=results, termination="score")
    )
    _report_hostile(academy)


def fill_little(academy: Running) -> None:
    """Register the game of Go alone, with patterns and proposals of three players, and a hostile game."""
    for game in (game_message(judge_of(GO).spec()), examples.hunt(HOSTILE)):
        academy.arena().contests.RegisterGame(contests_pb2.RegisterGameRequest(game=game))
    _report_random(academy, GO, 0)
    _report_random(academy, GO, 2)
    _teach(academy)
    _report_hostile(academy)


def import_patterns(academy: Running, game_id: str, cells: Sequence[str]) -> None:
    """Put patterns into a game's endgame library."""
    vote = pattern_pb2.Vote(player="ann", elo_hundredths=150_000, value_millionths=900_000, event=1)
    records = [
        libraries_pb2.ImportLibraryRequest(
            pattern=pattern_pb2.PatternRecord(
                game_id=game_id, library=ENDGAME, pattern_id=number, cells=text, player=1, votes=[vote]
            )
        )
        for number, text in enumerate(cells, 1_000)
    ]
    header = libraries_pb2.ImportLibraryRequest(header=libraries_pb2.ImportHeader(game_id=game_id))
    academy.admin().libraries.ImportLibrary(iter([header, *records]))


def _report_random(academy: Running, game_id: str, number: int) -> None:
    moves, boards = random_line(judge_of(game_id), number // 2, 14)
    played = contest(f"{game_id}/{number}", game_id, ("ann", "bob"), (1500.0, 1450.0))
    values = [0.5 + 0.03 * (ply % 7) for ply in range(len(moves))]
    first = ("WIN", "LOSS", "DRAW")[number % 3]
    academy.arena().contests.ReportContest(report(played, moves, boards, first=first, values=values))


def _teach(academy: Running) -> None:
    """Patterns of one stone in the middle, by three players: Black draws, so that values move to 0.5."""
    go = judge_of(GO)
    spec, start = go.spec(), go.start(0)
    board = go.board(go.play(start, {1: go.read_move(start, 1, "C3")}), 1).letters
    empty, first = 1, 2
    shapes = [
        [
            (row, column, first if (row, column) == (2, 2) else empty)
            for row in range(5)
            for column in range(5)
        ],
        [(0, column, first if column == 2 else empty) for column in range(5)],
        [(row, column, first if row == column == 1 else empty) for row in range(3) for column in range(3)],
    ]
    for number, shape in enumerate(shapes):
        played = contest(f"taught/{number}", GO, (f"teacher-{number}", "pupil"), (1700.0, 1500.0))
        ticket = (
            academy.arena().contests.OpenContest(contests_pb2.OpenContestRequest(contest=played)).tickets[0]
        )
        cells = write_cells(grid_pattern(shape), spec.geometry)
        propose(academy.client(ticket), played.contest_id, cells)
        academy.arena().contests.ReportContest(report(played, ["C3"], [board], first="DRAW", values=[0.9]))


def propose(player: Client, contest_id: str, cells: str) -> None:
    proposal = proposals_pb2.NewProposal(library=ENDGAME, cells=cells, ply=1, value=0.9)
    player.proposals.SubmitProposals(
        proposals_pb2.SubmitProposalsRequest(contest_id=contest_id, proposals=[proposal])
    )


def _report_hostile(academy: Running) -> None:
    played = contest("hostile/1", HOSTILE, (HOSTILE_NAME, "bob"))
    arena = academy.arena()
    ticket = arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=played)).tickets[0]
    propose(academy.client(ticket), played.contest_id, "x - -\n- - -\n- - -")
    arena.contests.ReportContest(report(played, [HOSTILE_MOVE], ["x--------"], values=[0.9]))
