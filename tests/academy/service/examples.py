"""Small games to serve, and contests of them."""

from collections.abc import Sequence
from random import Random

from academy.knowledge.boards import GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import SQUARE
from academy.store.codec.games import spec_to_proto
from academy.v1 import consultation_pb2, contests_pb2, game_pb2, pattern_pb2, proposals_pb2
from tests.academy.service.running import Client, Running

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


def propose(
    player: Client, contest_id: str, cells: str, value: float, ply: int = 1
) -> proposals_pb2.Proposal:
    """Propose a pattern for the endgame."""
    proposal = proposals_pb2.NewProposal(library=ENDGAME, cells=cells, ply=ply, value=value)
    request = proposals_pb2.SubmitProposalsRequest(contest_id=contest_id, proposals=[proposal])
    (answer,) = player.proposals.SubmitProposals(request).proposals
    return answer


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
    for number, (proposer, cells, value) in enumerate(proposals):
        played = contest(f"{contest_id}-{number}", game_id, (proposer, "teacher"), (elo, elo))
        propose(academy.open(played)[0], played.contest_id, cells, value)
        academy.report(report(played, ["c3"], first="DRAW", values=[value]))


def position(board: str, player: int = 1, expected_value: float | None = None) -> consultation_pb2.Position:
    """A position to ask about."""
    return consultation_pb2.Position(board=board, player=player, expected_value=expected_value)


def board(*rows: str) -> str:
    """Rows as one board."""
    return "".join(row.replace(" ", "") for row in rows)


def beside_each_other(played: contests_pb2.Contest, random: Random) -> contests_pb2.ReportContestRequest:
    """A contest of ten moves, each on a cell beside the one before."""
    cells = [random.randrange(SIZE * SIZE)]
    while len(cells) < 10:
        row, column = divmod(cells[-1], SIZE)
        near = [
            r * SIZE + c
            for r, c in ((row, column + 1), (row, column - 1), (row + 1, column), (row - 1, column))
            if 0 <= r < SIZE and 0 <= c < SIZE and r * SIZE + c not in cells
        ]
        free = [cell for cell in range(SIZE * SIZE) if cell not in cells]
        cells.append(random.choice(near or free))
    letters = [EMPTY]
    for place, cell in enumerate(cells):
        letters.append(letters[-1][:cell] + "xo"[place % 2] + letters[-1][cell + 1 :])
    names = [f"{'abcde'[cell % SIZE]}{SIZE - cell // SIZE}" for cell in cells]
    request = report(played, names, letters[1:], values=[0.5] * 10)
    request.start_board = EMPTY
    return request


def teach_moves(academy: Running, game: game_pb2.Game, contests: int = 8, elo: float = 1500.0) -> None:
    """Register a game, and report contests whose players move right beside the last move."""
    academy.register(game)
    for number in range(contests):
        played = contest(f"{game.game_id}/taught-{number}", game.game_id, elos=(elo, elo))
        academy.report(beside_each_other(played, Random(number)))


def teach_tesujis(academy: Running, game_id: str, contests: int = 12, elo: float = 1500.0) -> game_pb2.Game:
    """Make a game of contests whose players nearly always move right beside the last move."""
    game = tiny_go(game_id)
    game.settings.tesuji_capacity = 1_000
    teach_moves(academy, game, contests, elo)
    return game


def teach_weights(
    academy: Running, game_id: str, *, open_to_players: bool = True, elo: float = 1500.0
) -> game_pb2.Game:
    """Make a game with tesujis and an evaluation, after eight contests."""
    game = tiny_go(game_id)
    game.settings.MergeFrom(
        game_pb2.LibrarySettings(
            tesuji_capacity=500,
            evaluation=True,
            evaluation_patterns=2_000,
            local_weights=open_to_players,
        )
    )
    teach_moves(academy, game, elo=elo)
    return game


def download_weights(
    client: Client, game_id: str, contest_id: str = "", known: str = "", player: int = 1
) -> consultation_pb2.DownloadWeightsResponse:
    """Ask for the weights, of which those of a revision are known."""
    return client.consultation.DownloadWeights(
        consultation_pb2.DownloadWeightsRequest(
            game_id=game_id, contest_id=contest_id, player=player, known_revision=known
        )
    )
