"""Small games of every kind, as a referee would describe them, and how to write events for them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

from academy.knowledge.boards import GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.contests import Contestant, ContestReport, Ply, Proposal, Result
from academy.knowledge.patterns import Pattern
from academy.knowledge.settings import Library
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import SQUARE, NodeSymmetry
from academy.knowledge.text import read_cells
from academy.knowledge.votes import Vote, VoteTally

WIN, DRAW, LOSS = Result.WIN, Result.DRAW, Result.LOSS

GO = GameSpec(
    "go-5x5",
    SquareGeometry(5, 5),
    symmetries=tuple(SQUARE),
    cell_names=tuple(f"{column}{row}" for row in (5, 4, 3, 2, 1) for column in "ABCDE"),
    expected_length=30.0,
)
DRAUGHTS = GameSpec(
    "draughts",
    SquareGeometry(4, 4),
    reversal="rotate_180",
    cell_names=tuple(str(number) for number in range(1, 17)),
)
HEX = GameSpec(
    "hex-4x4",
    HexGeometry(4, 4),
    symmetries=("identity", "rotate_180"),
    reversal="transpose",
    cell_names=tuple(f"{column}{row}" for row in (1, 2, 3, 4) for column in "abcd"),
)
# A triangle whose corners may change places, and a node beside it.
MAP = GameSpec(
    "map",
    GraphGeometry(("PAR", "BUR", "MAR", "iles-d'or"), ((0, 1), (1, 2), (0, 2), (2, 3))),
    players=3,
    symmetric=False,
    symmetries=("identity", "swap"),
    node_symmetries=(NodeSymmetry("swap", (1, 0, 2, 3)),),
)
DIPLOMACY = GameSpec(
    "diplomacy", GraphGeometry(("PAR", "BUR")), players=3, symmetric=False, simultaneous=True
)
GAMES = (GO, DRAUGHTS, HEX, MAP)


def cells(text: str, spec: GameSpec = GO) -> Pattern:
    """A pattern from its rows, written with `/` between them: `x - / - o`."""
    return read_cells("\n".join(row.strip() for row in text.split("/")), spec.geometry)


def tally_of(*votes: tuple[float, float], first: int = 1) -> VoteTally:
    """Votes of different players, given as (Elo, value)."""
    return VoteTally(
        tuple(
            Vote.of(f"player {number}", elo, value, number)
            for number, (elo, value) in enumerate(votes, first)
        )
    )


def cast(*votes: Vote) -> VoteTally:
    """Votes cast one after another."""
    return reduce(VoteTally.cast, votes, VoteTally())


def contest(
    moves: Sequence[str] = (),
    results: tuple[Result, ...] = (WIN, LOSS),
    *,
    elos: Sequence[float] = (1500.0, 1500.0),
    names: Sequence[str] = ("ann", "bob"),
    values: Mapping[int, Mapping[int, float]] | None = None,
    proposals: tuple[Proposal, ...] = (),
) -> ContestReport:
    """A contest in which players took turns. `values` are by ply, from 1.

    Proposers stated the values that they propose, where `values` has no others.
    """
    players = len(results)
    report = ContestReport(
        "c",
        tuple(Contestant(name, elo) for name, elo in zip(names, elos, strict=True)),
        tuple(
            Ply((number - 1) % players + 1, move, values=(values or {}).get(number, {}))
            for number, move in enumerate(moves, 1)
        ),
        results,
        proposals,
    )
    return telling(report, *proposals)


def with_boards(report: ContestReport, boards: Mapping[int, bytes]) -> ContestReport:
    """The report with the states of some boards, by ply from 1."""
    plies = (replace(ply, states=boards.get(number, b"")) for number, ply in enumerate(report.plies, 1))
    return replace(report, plies=tuple(plies))


def telling(report: ContestReport, *proposals: Proposal) -> ContestReport:
    """The report with the proposals' values stated on their plies, and those before on the moves before.

    Values of the report stay.
    """
    plies = list(report.plies)
    for proposal in proposals:
        previous = proposal.ply - len(report.results)
        for number, value in ((proposal.ply, proposal.value), (previous, proposal.value_before)):
            if value is not None and 1 <= number <= len(plies):
                ply = plies[number - 1]
                plies[number - 1] = replace(ply, values={proposal.seat: value, **ply.values})
    return replace(report, plies=tuple(plies))


def endgame(pattern: Pattern, value: float, *, seat: int = 1, ply: int = 1) -> Proposal:
    """A proposal for the endgame library."""
    return Proposal(seat, Library.ENDGAME, pattern, ply, value)


def tesuji(pattern: Pattern, before: float | None, value: float, *, seat: int = 1, ply: int = 3) -> Proposal:
    """A proposal for the middle-game library; by default for the first player's second move."""
    return Proposal(seat, Library.MIDDLE_GAME, pattern, ply, value, before)
