"""Games unlike Go can be checked too: simultaneous moves, moves that are not listed, maps."""

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import pytest

from academy.knowledge.boards import Board, GraphGeometry
from academy.knowledge.cells import State
from academy.knowledge.spec import GameSpec
from academy.knowledge.symmetries import NodeSymmetry
from referees.api import (
    GameRecord,
    IllegalMoveError,
    InvalidSettingError,
    Outcome,
    Referee,
    Termination,
    UnreadableMoveError,
)
from referees.conformance import NonConformingRefereeError, UnlistedMovesError, check_referee

RING = ("north", "east", "south", "west")
STATES = bytes((State.EMPTY, State.FIRST_SOLDIER, State.SECOND_SOLDIER))


@dataclass(frozen=True)
class Claims:
    """A ring of four lands: 0 is nobody's, 1 is player 1's, 2 everybody else's."""

    owners: tuple[int, ...]
    rounds: int = 0


class RingGame(Referee[Claims, int]):
    """Each seat claims a land; one claimed twice at once stays as it is. Most lands after 3 rounds win."""

    name = "ring"
    simultaneous = True
    players = 3
    listed = True
    turn = NodeSymmetry("turn", (1, 2, 3, 0))

    @classmethod
    def from_settings(cls, settings: Mapping[str, object]) -> Self:
        if settings:
            raise InvalidSettingError(next(iter(settings)), "the ring has no settings")
        return cls()

    def spec(self) -> GameSpec:
        geometry = GraphGeometry(RING, ((0, 1), (1, 2), (2, 3), (3, 0)))
        return GameSpec(
            "ring", geometry, self.players, False, simultaneous=self.simultaneous, cell_names=RING
        )

    def start(self, seed: int) -> Claims:
        return Claims(tuple(random.Random(seed).choices((0, 1, 2), k=4)))

    def to_move(self, position: Claims) -> tuple[int, ...]:
        return () if position.rounds == 3 else tuple(range(1, self.players + 1))

    def legal_moves(self, position: Claims, seat: int) -> Sequence[int] | None:
        return range(4) if self.listed else None

    def check(self, position: Claims, seat: int, move: int) -> None:
        if seat not in self.to_move(position) or move not in range(4):
            raise IllegalMoveError("no claim")

    def play(self, position: Claims, moves: Mapping[int, int]) -> Claims:
        owners = list(position.owners)
        for seat, land in moves.items():
            if list(moves.values()).count(land) == 1:
                owners[land] = min(seat, 2)
        return Claims(tuple(owners), position.rounds + 1)

    def outcome(self, position: Claims) -> Outcome | None:
        if position.rounds < 3:
            return None
        counts = [position.owners.count(1), position.owners.count(2), 0][: self.players]
        return Outcome(
            (counts.index(max(counts)) + 1,), Termination.SCORE, "counted", tuple(map(float, counts))
        )

    def board(self, position: Claims, seat: int) -> Board:
        return Board(self.spec().geometry, bytes(STATES[owner] for owner in position.owners))

    def move_text(self, move: int) -> str:
        return RING[move]

    def read_move(self, position: Claims, seat: int, text: str) -> int:
        if text not in RING:
            raise UnreadableMoveError(text)
        return RING.index(text)

    def record(self, game: GameRecord) -> str:
        return json.dumps([move.text for move in game.moves])


class UnlistedRing(RingGame):
    listed = False


class TurningRing(RingGame):
    """One player claims lands one after another; the ring may be turned."""

    simultaneous = False
    players = 1

    def spec(self) -> GameSpec:
        geometry = GraphGeometry(RING, ((0, 1), (1, 2), (2, 3), (3, 0)))
        turns = [NodeSymmetry(f"turn {by}", tuple((node + by) % 4 for node in range(4))) for by in (1, 2, 3)]
        return GameSpec(
            "turning-ring",
            geometry,
            1,
            symmetric=False,
            symmetries=("identity", *(turn.name for turn in turns)),
            node_symmetries=tuple(turns),
            cell_names=RING,
        )

    def start(self, seed: int) -> Claims:
        return Claims((0, 0, 0, 0))


class TurningRingWithAHome(TurningRing):
    def start(self, seed: int) -> Claims:
        return Claims((1, 0, 0, 0))


def test_simultaneous_games_of_three_are_checked() -> None:
    report = check_referee(RingGame.from_settings({}), games=10)
    assert (report.finished, report.plies) == (10, 30)
    assert report.checks["symmetry"] == 0


def test_unlisted_moves_need_somebody_to_choose_them() -> None:
    ring = UnlistedRing.from_settings({})
    with pytest.raises(UnlistedMovesError, match="ring does not list"):
        check_referee(ring)
    report = check_referee(ring, games=5, choose=lambda position, seat, chance: chance.randrange(4))
    assert report.finished == 5
    with pytest.raises(NonConformingRefereeError, match="legal moves: IllegalMoveError: no claim"):
        check_referee(ring, choose=lambda position, seat, chance: 4)


def test_symmetries_of_maps_are_checked() -> None:
    assert check_referee(TurningRing.from_settings({}), games=5).checks["symmetry"] == 20
    with pytest.raises(NonConformingRefereeError, match="symmetry") as raised:
        check_referee(TurningRingWithAHome.from_settings({}), games=5)
    assert raised.value.law == "symmetry"


class MappedRing(TurningRing):
    """The ring with edges of one's own."""

    edges: tuple[tuple[int, ...], ...] = ()

    def spec(self) -> GameSpec:
        return replace(super().spec(), geometry=GraphGeometry(RING, self.edges))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (((0, 1), (1, 2), (2, 3), (3, 0), (0, 1)), "the edge 'north' - 'east' is listed twice"),
        (((0, 1), (1, 0)), "the edge 'east' - 'north' is listed twice: list it once, in either direction"),
        (((0, 1),), "symmetry 'turn 1' takes the edge 'north' - 'east' to 'east' - 'south', which do not"),
        (((0, 4),), "edge (0, 4): its two ends must be different nodes by their places, 0 to 3"),
        (((2, 2),), "edge (2, 2): its two ends must be different nodes"),
        ((RING[:2],), "edge ('north', 'east'): its two ends must be different nodes by their places, 0 to 3"),
    ],
)
def test_wrong_edges_of_a_map_break_the_law_of_the_spec(
    edges: tuple[tuple[int, ...], ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MappedRing, "edges", edges)
    with pytest.raises(NonConformingRefereeError, match=f"^spec: .*{re.escape(message)}"):
        check_referee(MappedRing.from_settings({}), games=1)
