"""Small games to serve, and contests of them."""

from collections.abc import Sequence

from academy.knowledge.boards import GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import SQUARE
from academy.store.codec.games import spec_to_proto
from academy.v1 import consultation_pb2, contests_pb2, game_pb2, pattern_pb2, proposals_pb2
from tests.academy.service.running import Running

MIDDLE_GAME = pattern_pb2.LIBRARY_MIDDLE_GAME
ENDGAME = pattern_pb2.LIBRARY_ENDGAME
OPENING = pattern_pb2.LIBRARY_OPENING
SIZE = 5
EMPTY = "-" * SIZE * SIZE


def tiny_go(game_id: str) -> game_pb2.Game:
    """Go on 5x5: symmetric, all eight symmetries, cells a1 to e5 with row 5 on top."""
    return spec_to_proto(
        GameSpec(
            game_id,
            SquareGeometry(SIZE, SIZE),
            symmetries=tuple(SQUARE),
            cell_names=tuple(f"{column}{SIZE - row}" for row in range(SIZE) for column in "abcde"),
            expected_length=30.0,
        )
    )


def plain(game_id: str) -> game_pb2.Game:
    """The largest board there is, with no symmetry."""
    return spec_to_proto(GameSpec(game_id, SquareGeometry(64, 64)))


def hunt(game_id: str) -> game_pb2.Game:
    """An asymmetric game of two on 3x3: the players have different aims."""
    return spec_to_proto(GameSpec(game_id, SquareGeometry(3, 3), symmetric=False))


def ring(game_id: str) -> game_pb2.Game:
    """A game of three on five nodes in a ring."""
    nodes = tuple("ABCDE")
    edges = tuple((place, (place + 1) % 5) for place in range(5))
    return spec_to_proto(GameSpec(game_id, GraphGeometry(nodes, edges), players=3, symmetric=False))


def hexagons(game_id: str) -> game_pb2.Game:
    """Hex on 4x4."""
    return spec_to_proto(GameSpec(game_id, HexGeometry(4, 4)))


def contest(
    contest_id: str,
    game_id: str,
    names: Sequence[str] = ("ann", "bob"),
    elos: Sequence[float] = (1500.0, 1550.0),
) -> contests_pb2.Contest:
    """A contest between named players."""
    return contests_pb2.Contest(
        contest_id=contest_id,
        game_id=game_id,
        players=[
            contests_pb2.ContestPlayer(name=name, elo=elo) for name, elo in zip(names, elos, strict=False)
        ],
    )


def report(
    played: contests_pb2.Contest,
    moves: Sequence[str],
    boards: Sequence[str] = (),
    *,
    first: str = "WIN",
    values: Sequence[float] = (),
) -> contests_pb2.ReportContestRequest:
    """A contest of two that ended with `first` for the first player.

    `boards`, and `values` as the movers reported them, are by ply, from the first on.
    """
    second = {"WIN": "LOSS", "LOSS": "WIN", "DRAW": "DRAW"}[first]
    return contests_pb2.ReportContestRequest(
        contest=played,
        plies=[
            contests_pb2.Ply(
                player=1 + place % 2,
                move=move,
                board=boards[place] if place < len(boards) else "",
                values=[
                    contests_pb2.SeatValue(player=1 + place % 2, value=value)
                    for value in values[place : place + 1]
                ],
            )
            for place, move in enumerate(moves)
        ],
        results=[contests_pb2.Result.Value(f"RESULT_{result}") for result in (first, second)],
        termination="score",
    )


def teach(
    academy: Running,
    game_id: str,
    contest_id: str,
    proposals: Sequence[tuple[str, str, float]],
    elo: float = 1500.0,
) -> None:
    """Have the endgame library learn patterns: (proposer, cells, value) of a final position.

    The proposers play first and draw, so that their values move towards 0.5.
    """
    arena = academy.arena()
    for number, (proposer, cells, value) in enumerate(proposals):
        played = contest(f"{contest_id}-{number}", game_id, (proposer, "teacher"), (elo, elo))
        tickets = arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=played)).tickets
        academy.client(tickets[0]).proposals.SubmitProposals(
            proposals_pb2.SubmitProposalsRequest(
                contest_id=played.contest_id,
                proposals=[proposals_pb2.NewProposal(library=ENDGAME, cells=cells, ply=1, value=value)],
            )
        )
        arena.contests.ReportContest(report(played, ["c3"], first="DRAW", values=[value]))


def position(board: str, player: int = 1, expected_value: float | None = None) -> consultation_pb2.Position:
    """A position to ask about."""
    return consultation_pb2.Position(board=board, player=player, expected_value=expected_value)


def board(*rows: str) -> str:
    """Rows as one board."""
    return "".join(row.replace(" ", "") for row in rows)
