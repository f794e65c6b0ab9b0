"""Weights mean what docs/reference/weights.md says: an evaluator made of that page alone gets the same."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random

import pytest

from academy.knowledge.boards import Board
from academy.store.codec.games import spec_to_proto
from academy.v1 import consultation_pb2, contests_pb2, game_pb2
from clients.local_weights import LocalWeights
from referees.api import referee
from tests.academy.knowledge.tesujis.test_captures import counted
from tests.academy.service.examples import contest, teach_moves, tiny_go
from tests.academy.service.running import Running

PAGE = (Path(__file__).parents[3] / "docs/reference/weights.md").read_text()
Cell = tuple[int, int]
MATRICES = {
    "identity": lambda row, column: (row, column),
    "rotate_90": lambda row, column: (column, -row),
    "rotate_180": lambda row, column: (-row, -column),
    "rotate_270": lambda row, column: (-column, row),
    "mirror_columns": lambda row, column: (row, -column),
    "mirror_rows": lambda row, column: (-row, column),
    "transpose": lambda row, column: (column, row),
    "antitranspose": lambda row, column: (-column, -row),
}


def rows(table: str) -> Iterator[list[str]]:
    section = PAGE.split(f"<!-- {table}: begin -->")[1].split(f"<!-- {table}: end -->")[0]
    for line in section.strip().splitlines()[2:]:
        yield [cell.strip() for cell in line.strip("|").split("|")]


def steps(text: str) -> list[Cell]:
    return [(int(down), int(right)) for down, right in re.findall(r"(-?\d+),(-?\d+)", text)]


class Written:
    """The evaluator of the page, for square boards."""

    def __init__(self, game: game_pb2.Game, answer: consultation_pb2.DownloadWeightsResponse) -> None:
        self.height, self.width = game.geometry.square.rows, game.geometry.square.columns
        self.evaluation = dict(zip(answer.evaluation.codes, answer.evaluation.millionths, strict=True))
        self.tesujis = dict(zip(answer.tesujis.codes, answer.tesujis.millionths, strict=True))
        names = {"identity", *game.symmetries}
        self.images = [image for name in names if (image := self.permutation(name)) is not None]
        self.exchanged = []
        if game.symmetric:
            back = self.permutation(game.reversal or "identity")
            assert back is not None
            self.exchanged = [[image[cell] for cell in back] for image in self.images]
        cells = range(self.height * self.width)
        laid = [
            [(cell // self.width + down, cell % self.width + right) for down, right in steps(shape)]
            for board, shape in rows("shapes")
            if board == "square"
            for cell in cells
        ]
        inside = [[row * self.width + column for row, column in on] for on in laid if self.on_board(on)]
        images = [*self.images, *self.exchanged]
        self.places = sorted({tuple(sorted(image[cell] for cell in on)) for on in inside for image in images})
        self.first: dict[tuple[int, ...], int] = {}
        first = 16
        for place in self.places:
            self.first[place] = first
            first += 3 ** len(place)

    def on_board(self, cells: Sequence[Cell]) -> bool:
        return all(0 <= row < self.height and 0 <= column < self.width for row, column in cells)

    def permutation(self, name: str) -> list[int] | None:
        images = [
            MATRICES[name](cell // self.width, cell % self.width) for cell in range(self.height * self.width)
        ]
        down, right = min(row for row, _ in images), min(column for _, column in images)
        shifted = [(row - down, column - right) for row, column in images]
        if not self.on_board(shifted):
            return None
        return [row * self.width + column for row, column in shifted]

    def code(self, held: dict[int, int]) -> int:
        place = tuple(sorted(held))
        return self.first[place] + sum(held[cell] * int(3**order) for order, cell in enumerate(place))

    def worth(self, letters: str, player: int) -> float:
        count = letters.count
        features = (
            1,
            1 if player == 1 else -1,
            0,
            count("x") - count("o"),
            count("b") - count("w"),
        )
        total = sum(self.evaluation.get(code, 0) * times for code, times in enumerate(features))
        digits = [{"-": 0, "x": 1, "b": 1, "o": 2, "w": 2}[letter] for letter in letters]
        swapped = [(0, 2, 1)[digit] for digit in digits]
        for place in self.places:
            own = min(self.code({image[cell]: digits[cell] for cell in place}) for image in self.images)
            exchanged = ({image[cell]: swapped[cell] for cell in place} for image in self.exchanged)
            other = min(map(self.code, exchanged), default=None)
            if other is None or own < other:
                total += self.evaluation.get(own, 0)
            elif other < own:
                total -= self.evaluation.get(other, 0)
        return total / 1e6

    def tesuji(self, letters: str, cell: int, player: int, shape: Sequence[Cell], kind: int) -> float:
        """The weight of one shape around a cell; the reversal of the game changes nothing."""
        own, other = ("x", "o") if player == 1 else ("o", "x")
        digit_of = {"-": 0, own: 1, other: 2}
        held = {}
        for down, right in shape:
            row, column = cell // self.width + down, cell % self.width + right
            inside = self.on_board([(row, column)])
            held[down, right] = digit_of[letters[row * self.width + column]] if inside else 3
        codes = []
        for name in MATRICES:
            moved = {MATRICES[name](*step): digit for step, digit in held.items()}
            codes.append(sum(moved[step] * 4**order for order, step in enumerate(shape)) + kind * 2**32)
        return self.tesujis.get(min(codes), 0) / 1e6

    def fight(self, letters: str, cell: int, player: int) -> float:
        """The weight of what a move does to chains."""
        taken, extended, threatened, liberties = counted(letters, cell, player)
        code = 4 * 2**32 + taken + 4 * extended + 12 * threatened + 36 * liberties
        return self.tesujis.get(code, 0) / 1e6


def downloaded(academy: Running, game: game_pb2.Game) -> consultation_pb2.DownloadWeightsResponse:
    request = consultation_pb2.DownloadWeightsRequest(game_id=game.game_id, player=1)
    return academy.admin().consultation.DownloadWeights(request)


LEARNING = game_pb2.LibrarySettings(tesuji_capacity=500, evaluation=True, evaluation_patterns=5_000)


@pytest.mark.parametrize("captures", [False, True])
def test_positions_and_tesujis_of_go_are_evaluated_by_the_page_alone(
    academy: Running, captures: bool
) -> None:
    game = tiny_go(f"by-the-page-{captures}")
    game.settings.MergeFrom(LEARNING)
    if captures:
        game.placement = game_pb2.PLACEMENT_CAPTURING
    teach_moves(academy, game)
    answer = downloaded(academy, game)
    spec = academy.store.follow().refresh(game.game_id).spec
    written, library = Written(game, answer), LocalWeights(spec, answer)
    random = Random(1)
    ((_, _, beside, _),) = [row for row in rows("tesujis") if row[1] == "beside the cell, on square boards"]
    for player in (1, 2):
        letters = "".join(random.choice("--xo") for _ in range(25))
        board = Board.from_letters(spec.geometry, letters)
        assert written.worth(letters, player) == pytest.approx(library.log_odds([board], player)[0], abs=1e-6)
        cells = [cell for cell, letter in enumerate(letters) if letter == "-"]
        weigh = partial(written.tesuji, letters, player=player, shape=steps(beside), kind=0)
        weights = [weigh(cell) + captures * written.fight(letters, cell, player) for cell in cells]
        above = [weight - sum(weights) / len(weights) for weight in weights]
        assert any(above) and above == pytest.approx(library.advise(board, cells, player), abs=1e-6)


def test_positions_of_connect_four_are_evaluated_by_the_page_alone(academy: Running) -> None:
    rules = referee("openspiel").from_settings({"game": "connect_four"})
    spec = rules.spec()
    game = spec_to_proto(spec)
    game.settings.MergeFrom(LEARNING)
    academy.register(game)
    random = Random(2)
    for number in range(6):
        report = contests_pb2.ReportContestRequest(
            contest=contest(f"falling/{number}", spec.game_id), termination="score"
        )
        position = rules.start(0)
        report.start_board = rules.board(position, 1).letters
        while to_move := rules.to_move(position):
            move = random.choice(list(rules.legal_moves(position, to_move[0]) or ()))
            position = rules.play(position, {to_move[0]: move})
            letters = rules.board(position, 1).letters
            report.plies.add(player=to_move[0], move=rules.move_text(move), board=letters)
        won, lost = contests_pb2.RESULT_WIN, contests_pb2.RESULT_LOSS
        report.results.extend([won, lost] if number % 2 else [lost, won])
        academy.report(report)
    answer = downloaded(academy, game)
    written, library = Written(game, answer), LocalWeights(spec, answer)
    for player in (1, 2):
        letters = "-" * 21 + "".join(random.choice("-xo") for _ in range(21))
        board = Board.from_letters(spec.geometry, letters)
        worth = written.worth(letters, player)
        assert worth == pytest.approx(library.log_odds([board], player)[0], abs=1e-6)
        assert worth != written.worth("-" * 42, player)
