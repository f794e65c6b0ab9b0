"""Referees that break one law each are caught, by the law's name."""

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import pytest

from academy.knowledge.boards import Board, SquareGeometry
from academy.knowledge.spec import GameSpec
from referees.api import GameRecord, IllegalMoveError, Outcome, Termination
from referees.conformance import LAWS, NonConformingRefereeError, check_referee
from referees.drawing import Drawing, Mark
from referees.go import BLACK, PASS, Go, GoPosition

CORNER = 0


class AcceptsAnySetting(Go):
    @classmethod
    def from_settings(cls, settings: Mapping[str, object]) -> Self:
        return super().from_settings(
            {name: settings[name] for name in settings if name == "board_size"} or GO
        )


class DescribesItselfAnew(Go):
    lengths = itertools.count(20)

    def spec(self) -> GameSpec:
        return replace(super().spec(), expected_length=next(self.lengths))


class HasMoreSeatsThanDescribed(Go):
    @property
    def seats(self) -> int:
        return 3

    def seat_name(self, seat: int) -> str:
        return f"seat {seat}"


class HasOneNameForAllSeats(Go):
    def seat_name(self, seat: int) -> str:
        return "player"


class LeadsBackToAnotherBoard(Go):
    @classmethod
    def settings_of(cls, game_id: str) -> Mapping[str, object]:
        return {"board_size": 3}


class StartsAtRandom(Go):
    starts = itertools.count()

    def start(self, seed: int) -> GoPosition:
        return replace(super().start(seed), mover=1 + next(self.starts) % 2)


class LetsNobodyMove(Go):
    def to_move(self, position: GoPosition) -> tuple[int, ...]:
        return ()


class LetsAStrangerMove(Go):
    def to_move(self, position: GoPosition) -> tuple[int, ...]:
        return (3,)


class LetsBothMove(Go):
    def to_move(self, position: GoPosition) -> tuple[int, ...]:
        return (1, 2)


class MovesOnAfterTheEnd(Go):
    def to_move(self, position: GoPosition) -> tuple[int, ...]:
        return (position.mover,)


class ListsTheKo(Go):
    def legal_moves(self, position: GoPosition, seat: int) -> Sequence[int]:
        return sorted({*super().legal_moves(position, seat), *range(25)})


class ListsNothing(Go):
    def legal_moves(self, position: GoPosition, seat: int) -> Sequence[int]:
        return ()


class StandsInOnTheCorner(Go):
    def stand_in_move(self, position: GoPosition, seat: int) -> int:
        return CORNER


class FailsToPlayInTheCorner(Go):
    def play(self, position: GoPosition, moves: Mapping[int, int]) -> GoPosition:
        if CORNER in moves.values():
            raise KeyError("corner")
        return super().play(position, moves)


class AcceptsOccupiedPoints(Go):
    def check(self, position: GoPosition, seat: int, move: int) -> None:
        if seat != position.mover or position.passes >= 2:
            super().check(position, seat, move)


class AcceptsMovesOutOfTurn(Go):
    def check(self, position: GoPosition, seat: int, move: int) -> None:
        super().check(position, position.mover, move)


class AcceptsMovesAfterTheEnd(Go):
    def check(self, position: GoPosition, seat: int, move: int) -> None:
        if position.passes < 2:
            super().check(position, seat, move)


class TakesNonsenseForAPass(Go):
    def read_move(self, position: GoPosition, seat: int, text: str) -> int:
        return PASS if "?" in text else super().read_move(position, seat, text)


class NamesColumnsOnly(Go):
    def move_text(self, move: int) -> str:
        return super().move_text(move)[:1]


class WritesMovesOnTwoLines(Go):
    def move_text(self, move: int) -> str:
        return super().move_text(move) + "\n"


class KnowsOpeningsByNoName(Go):
    def opening_move(self, position: GoPosition, seat: int, move: int) -> str:
        return ""


class KnowsOpeningsByLongNames(Go):
    def opening_move(self, position: GoPosition, seat: int, move: int) -> str:
        return f"move {move} " * 200


class ReadsTheNextPoint(Go):
    def read_move(self, position: GoPosition, seat: int, text: str) -> int:
        move = super().read_move(position, seat, text)
        return move if move == PASS else (move + 1) % 25


class ShowsAnotherBoard(Go):
    def board(self, position: GoPosition, seat: int) -> Board:
        return Board(SquareGeometry(5, 6), bytes([1]) * 30)


class DrawsTooFewCells(Go):
    def drawing(self, position: GoPosition) -> Drawing | None:
        drawing = super().drawing(position)
        return drawing and replace(drawing, marks=drawing.marks[:-1])


class DrawsAStrangersPiece(Go):
    def drawing(self, position: GoPosition) -> Drawing | None:
        drawing = super().drawing(position)
        return drawing and replace(drawing, marks=(Mark(3), *drawing.marks[1:]))


class TurnsItsBoard(Go):
    def drawing(self, position: GoPosition) -> Drawing | None:
        drawing = super().drawing(position)
        if drawing is None or not any(mark.seat for mark in drawing.marks):
            return drawing
        return replace(drawing, layout=replace(drawing.layout, cells=drawing.layout.cells[::-1]))


class ShowsTooFewCells(Go):
    def board(self, position: GoPosition, seat: int) -> Board:
        return Board(SquareGeometry(5, 5), bytes([1]) * 24)


class ShowsUnknownStates(Go):
    def board(self, position: GoPosition, seat: int) -> Board:
        return Board(SquareGeometry(5, 5), bytes(position.stones))


class ForbidsOnePlayerACorner(Go):
    def legal_moves(self, position: GoPosition, seat: int) -> Sequence[int]:
        return [move for move in super().legal_moves(position, seat) if (seat, move) != (2, CORNER)]

    def check(self, position: GoPosition, seat: int, move: int) -> None:
        super().check(position, seat, move)
        if (seat, move) == (2, CORNER):
            raise IllegalMoveError("not in that corner")

    def spec(self) -> GameSpec:
        return replace(super().spec(), symmetries=("identity",))


class CallsItsGameSymmetricWithASetUpStone(Go):
    def start(self, seed: int) -> GoPosition:
        return replace(super().start(seed), stones=bytes(12) + bytes([BLACK]) + bytes(12))


class ReversesWithAnotherSymmetry(Go):
    """The board is one row high: a transposition does not map it onto itself, which no spec may say."""

    def spec(self) -> GameSpec:
        flat = SquareGeometry(1, 25)
        return replace(super().spec(), geometry=flat, symmetries=("identity",), reversal="transpose")

    def board(self, position: GoPosition, seat: int) -> Board:
        return Board(SquareGeometry(1, 25), super().board(position, seat).states)


class PlaysInPlace(Go):
    def play(self, position: GoPosition, moves: Mapping[int, int]) -> GoPosition:
        after = super().play(position, moves)
        object.__setattr__(position, "stones", after.stones)
        return after


class CountsMovesForItself(Go):
    """Hidden state: after thirty moves, of whatever game, stones placed in the corner vanish."""

    played = 0

    def play(self, position: GoPosition, moves: Mapping[int, int]) -> GoPosition:
        self.played += 1
        after = super().play(position, moves)
        return after if self.played < 30 else replace(after, stones=bytes(1) + after.stones[1:])


class HidesAMineByChance(Go):
    """Chance that does not come from the seed, and shows only when a stone is put on the mine."""

    mines = itertools.cycle(range(25))

    def start(self, seed: int) -> GoPosition:
        return replace(super().start(seed), history=frozenset({bytes([next(self.mines)])}))

    def play(self, position: GoPosition, moves: Mapping[int, int]) -> GoPosition:
        after = super().play(position, moves)
        ((mine,),) = position.history
        return replace(after, stones=bytes(25)) if mine in moves.values() else after


class ForbidsOneCorner(Go):
    def legal_moves(self, position: GoPosition, seat: int) -> Sequence[int]:
        return [move for move in super().legal_moves(position, seat) if move != CORNER]

    def check(self, position: GoPosition, seat: int, move: int) -> None:
        if move == CORNER:
            raise IllegalMoveError("not in this corner")
        super().check(position, seat, move)


class ClearsTheBoardFromOneCorner(Go):
    def play(self, position: GoPosition, moves: Mapping[int, int]) -> GoPosition:
        after = super().play(position, moves)
        return replace(after, stones=bytes(25)) if CORNER in moves.values() else after


class CountsOneHalfTwice(Go):
    def outcome(self, position: GoPosition) -> Outcome | None:
        outcome = super().outcome(position)
        return outcome and replace(outcome, summary=f"{sum(position.stones[:10])}")


class LetsASpectatorWin(Go):
    def adjudicate(self, position: GoPosition) -> Outcome:
        return Outcome((3,), Termination.ADJUDICATION, "?")


class CountsPointsOfOneSeat(Go):
    def adjudicate(self, position: GoPosition) -> Outcome:
        return replace(super().adjudicate(position), points=(1.0,))


class CountsEndlessPoints(Go):
    def adjudicate(self, position: GoPosition) -> Outcome:
        return replace(super().adjudicate(position), points=(1.0, float("inf")))


class SumsUpNothing(Go):
    def adjudicate(self, position: GoPosition) -> Outcome:
        return replace(super().adjudicate(position), summary="")


class SumsUpInTwoLines(Go):
    def adjudicate(self, position: GoPosition) -> Outcome:
        return replace(super().adjudicate(position), summary="B+\n1")


class GivesGamesToTheLoser(Go):
    def won_by(self, seat: int, termination: Termination, detail: str = "") -> Outcome:
        return super().won_by(3 - seat, termination, detail)


class CannotRecordVoidGames(Go):
    def record(self, game: GameRecord) -> str:
        return super().record(game) + game.outcome.summary  # type: ignore[union-attr]


class RecordsNothing(Go):
    def record(self, game: GameRecord) -> str:
        return " "


class RecordsTheWeather(Go):
    def record(self, game: GameRecord) -> str:
        return super().record(game) + str(random.random())


GO: dict[str, object] = {"board_size": 5}
BREACHES: list[tuple[str, type[Go]]] = [
    ("settings", AcceptsAnySetting),
    ("spec", DescribesItselfAnew),
    ("spec", HasMoreSeatsThanDescribed),
    ("spec", HasOneNameForAllSeats),
    ("spec", LeadsBackToAnotherBoard),
    ("seeds", StartsAtRandom),
    ("turns", LetsNobodyMove),
    ("turns", LetsAStrangerMove),
    ("turns", LetsBothMove),
    ("turns", MovesOnAfterTheEnd),
    ("legal moves", ListsTheKo),
    ("legal moves", ListsNothing),
    ("legal moves", StandsInOnTheCorner),
    ("legal moves", FailsToPlayInTheCorner),
    ("foreign moves", AcceptsOccupiedPoints),
    ("foreign moves", AcceptsMovesOutOfTurn),
    ("foreign moves", AcceptsMovesAfterTheEnd),
    ("foreign moves", TakesNonsenseForAPass),
    ("texts", NamesColumnsOnly),
    ("texts", WritesMovesOnTwoLines),
    ("texts", ReadsTheNextPoint),
    ("texts", KnowsOpeningsByNoName),
    ("texts", KnowsOpeningsByLongNames),
    ("boards", ShowsAnotherBoard),
    ("boards", ShowsTooFewCells),
    ("boards", ShowsUnknownStates),
    ("drawings", DrawsTooFewCells),
    ("drawings", DrawsAStrangersPiece),
    ("drawings", TurnsItsBoard),
    ("reversal", CallsItsGameSymmetricWithASetUpStone),
    ("reversal", ForbidsOnePlayerACorner),
    ("spec", ReversesWithAnotherSymmetry),
    ("values", PlaysInPlace),
    ("values", CountsMovesForItself),
    ("replay", HidesAMineByChance),
    ("symmetry", ForbidsOneCorner),
    ("symmetry", ClearsTheBoardFromOneCorner),
    ("symmetry", CountsOneHalfTwice),
    ("outcomes", LetsASpectatorWin),
    ("outcomes", CountsPointsOfOneSeat),
    ("outcomes", CountsEndlessPoints),
    ("outcomes", SumsUpNothing),
    ("outcomes", SumsUpInTwoLines),
    ("outcomes", GivesGamesToTheLoser),
    ("records", CannotRecordVoidGames),
    ("records", RecordsNothing),
    ("records", RecordsTheWeather),
]


def test_every_law_has_a_referee_that_breaks_it() -> None:
    assert {law for law, _ in BREACHES} == set(LAWS)


@pytest.mark.parametrize(("law", "broken"), BREACHES, ids=lambda value: getattr(value, "__name__", None))
def test_the_breach_of_a_law_is_found(law: str, broken: type[Go]) -> None:
    with pytest.raises(NonConformingRefereeError) as raised:
        check_referee(broken.from_settings(GO), games=5, max_plies=200)
    assert raised.value.law == law
    assert str(raised.value).startswith(f"{law}: ") and str(raised.value).endswith(f"The law: {LAWS[law]}.")
    if law not in ("settings", "spec"):
        assert raised.value.game_seed in range(5)
        assert f"(game seed {raised.value.game_seed}, ply {raised.value.ply})" in str(raised.value)


@pytest.mark.parametrize(
    "settings",
    [
        {"board_size": 2},
        {"board_size": 3, "ko": "positional_superko"},
        {"board_size": 5, "self_capture": False, "ko": "positional_superko"},
        {"board_size": 7, "handicap": 3},
        {"board_size": 9, "handicap": 5, "komi": -0.5},
        {"board_size": 9, "self_capture": False},
        {"board_size": 19},
    ],
    ids=str,
)
def test_go_keeps_all_laws(settings: dict[str, object]) -> None:
    report = check_referee(Go.from_settings(settings), games=1, max_plies=250)
    assert report.games == 1 and 0 < report.plies <= 250
    applying = set(LAWS) - ({"reversal"} if "handicap" in settings else set())
    assert {law for law, checks in report.checks.items() if checks} == applying


def test_seeds_make_the_same_games() -> None:
    game: Any = Go.from_settings(GO)
    assert check_referee(game, 3, seed=1) == check_referee(game, 3, seed=1)
    assert check_referee(game, 3, seed=1).plies != check_referee(game, 3, seed=7).plies
