"""The description of a game: board, symmetries, reversal, and how its moves name cells."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum
from functools import cached_property
from operator import itemgetter
from typing import Final

from academy.knowledge import symmetries as shapes
from academy.knowledge.boards import Board, Geometry, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.cells import SWAP_COLOURS, State
from academy.knowledge.patterns import InvalidPatternError, Pattern
from academy.knowledge.settings import GameKind
from academy.knowledge.symmetries import Cell, GridSymmetry, NodeSymmetry

__all__ = [
    "GAME_ID",
    "MAX_PLAYERS",
    "MOST_MOVE_FORMS",
    "MOST_NODE_SYMMETRIES",
    "Description",
    "GameSpec",
    "InvalidGameError",
    "Placement",
    "check_outline",
]

GAME_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
MAX_PLAYERS: Final = 64
MOST_MOVE_FORMS: Final = 32
# A new game's. Each is put together with each other, node by node; a cube has as many.
MOST_NODE_SYMMETRIES: Final = 48
SHORTEST_ROW: Final = 3
LONGEST_ROW: Final = 8
# Where pieces fall, these alone leave below what is below.
_UPRIGHT: Final = frozenset(("identity", "mirror_columns"))
# One pair of brackets, beginning with what stands for itself: no turn of what repeats is empty.
_MOVE_FORM: Final = re.compile(r"(?=.{1,64}$)[^\[\]]*(?:\[[^\[\]*#@][^\[\]]*\])?[^\[\]]*")
# What stands for a cell in a form, and what may be left out of it.
_CELL_IN_FORM: Final = re.compile(r"[#*]")
_IN_BRACKETS: Final = re.compile(r"\[[^\]]*\]")
# A number, like a cell's name, is as long as can be and never tried shorter: otherwise the time that a text
# takes that is not a move would double with each sign of the form.
_IN_FORM: Final = {"#": "[0-9]{1,6}+", "@": "[a-z]", "[": "(?:", "]": ")*"}


class InvalidGameError(ValueError):
    """A game's description that contradicts itself or a limit; the message says where."""


class Placement(Enum):
    """How a piece comes to an empty cell."""

    ANYWHERE = "anywhere"
    # It falls to the lowest empty cell of its column: the last row is the lowest.
    DROPPED = "dropped"
    # It turns over the rows of the opponent's pieces between it and own ones, and must turn some.
    OUTFLANKING = "outflanking"
    # It goes to any empty cell, and takes those of the opponent's chains that have no empty cell beside them;
    # where it takes none and its own chain has no such cell, the rules forbid it or take its own chain.
    CAPTURING = "capturing"


@dataclass(frozen=True, slots=True)
class Description:
    """What may become known of a game after it was registered. The fields are those of `GameSpec`."""

    move_forms: tuple[str, ...] = ()
    placement: Placement = Placement.ANYWHERE
    winning_row: int = 0


@dataclass(frozen=True)
class GameSpec:
    """A game as its referee describes it.

    `symmetries` are names of the board symmetries under which the game does not change (a group;
    `identity` is one of them), `reversal` the one that goes together with swapping the colours.
    `cell_names` say how moves name the cells, row by row; without them moves have no symmetry.
    `expected_length` is the plies of an average game, until contests show it. `move_forms` say how moves are
    written: `*` stands for a cell's name, `#` for a number, `@` for a letter from a to z, what is in brackets
    may come any number of times; a name or a number is read as long as can be. `placement` says how pieces
    come to empty cells, `winning_row` how many own pieces in a row win (0: none do); what tesujis hold
    follows from both.

    Raises:
        InvalidGameError: A field contradicts another or a limit.
    """

    game_id: str
    geometry: Geometry
    players: int = 2
    symmetric: bool = True
    symmetries: tuple[str, ...] = ("identity",)
    reversal: str = "identity"
    node_symmetries: tuple[NodeSymmetry, ...] = ()
    cell_names: tuple[str, ...] = ()
    expected_length: float = 60.0
    simultaneous: bool = False
    move_forms: tuple[str, ...] = ()
    placement: Placement = Placement.ANYWHERE
    winning_row: int = 0

    def __post_init__(self) -> None:
        if not GAME_ID.fullmatch(self.game_id):
            raise InvalidGameError(
                f"game id {self.game_id!r}: 1 to 64 letters, digits, '.', '_' and '-', "
                "beginning with a letter or digit"
            )
        if not 1 <= self.players <= MAX_PLAYERS:
            raise InvalidGameError(f"{self.players} players: there must be 1 to {MAX_PLAYERS}")
        if self.symmetric and self.players > 2:
            raise InvalidGameError(f"a symmetric game of {self.players} players: reversal needs one or two")
        if not 1.0 <= self.expected_length <= 1e6:
            raise InvalidGameError(
                f"expected length {self.expected_length!r}: it must be from 1 to 1,000,000 plies"
            )
        if self.cell_names:
            if len(self.cell_names) != self.geometry.size:
                raise InvalidGameError(f"{len(self.cell_names)} cell names for {self.geometry.size} cells")
            if len(set(self.cell_names)) != len(self.cell_names) or not all(self.cell_names):
                raise InvalidGameError("cell names must be different from each other and not empty")
        self._check_move_forms()
        if self.simultaneous and len(self.symmetries) > 1:
            raise InvalidGameError("a game of simultaneous moves has no symmetry but the identity")
        self._check_group()
        self._check_placement()
        if self._permutation(self.reversal_symmetry) is None:
            raise InvalidGameError(f"reversal {self.reversal!r} does not map this board onto itself")

    @property
    def two_in_turn(self) -> bool:
        """Whether two players move in turn."""
        return self.players == 2 and not self.simultaneous

    def falls_past(self, board: Board, cell: int) -> bool:
        """Return whether a piece that comes to a cell falls further, to an empty cell below it.

        Args:
            board: The position's board.
            cell: The cell, by index.
        """
        if self.placement is not Placement.DROPPED or not isinstance(self.geometry, SquareGeometry):
            return False
        below = cell + self.geometry.columns
        return below < self.geometry.size and board.states[below] == State.EMPTY

    @property
    def _cells_in_forms(self) -> set[int]:
        """How many cells each form of a move names, but for those in brackets."""
        return {len(_CELL_IN_FORM.findall(_IN_BRACKETS.sub("", form))) for form in self.move_forms}

    @property
    def moves_pieces(self) -> bool:
        """Whether all moves that name a cell name two: a piece goes from one to the other."""
        named = self._cells_in_forms - {0}
        return bool(named) and min(named) >= 2

    @property
    def kind(self) -> GameKind:
        """Which measured games it is like, as far as the forms of its moves and its board show."""
        if not self.two_in_turn:
            return GameKind.OTHER
        if max(self._cells_in_forms, default=0) >= 2:
            return GameKind.PIECES
        if self.placement is Placement.DROPPED and self.winning_row:
            return GameKind.FALLING
        anywhere = self.placement in (Placement.ANYWHERE, Placement.CAPTURING) and not self.winning_row
        if anywhere and "*" in self.move_forms and isinstance(self.geometry, SquareGeometry):
            return GameKind.STONES
        return GameKind.OTHER

    @cached_property
    def table_key(self) -> "GameSpec":
        """The game with only the fields that its lookup tables depend on: games with one key share these."""
        return GameSpec(
            "table-key",
            self.geometry,
            self.players,
            self.symmetric,
            self.symmetries,
            self.reversal,
            self.node_symmetries,
            simultaneous=self.simultaneous,
            placement=self.placement,
            winning_row=self.winning_row,
        )

    @property
    def description(self) -> Description:
        """What may still change."""
        return Description(self.move_forms, self.placement, self.winning_row)

    def described(self, description: Description) -> "GameSpec":
        """Return the game with another description.

        Args:
            description: The whole of it.

        Raises:
            InvalidGameError: As on construction.
        """
        if description == self.description:
            return self
        return replace(self, **asdict(description))

    def _check_move_forms(self) -> None:
        if len(self.move_forms) > MOST_MOVE_FORMS:
            raise InvalidGameError(f"{len(self.move_forms)} move forms: there may be {MOST_MOVE_FORMS}")
        for form in self.move_forms:
            if not _MOVE_FORM.fullmatch(form) or not form.isprintable():
                raise InvalidGameError(
                    f"move form {form[:80]!r}: 1 to 64 characters that can be seen, at most one pair of "
                    "brackets, and in these first one that stands for itself"
                )
            if "*" in form and not self.cell_names:
                raise InvalidGameError(
                    f"move form {form!r}: '*' stands for a cell's name, and none are given"
                )

    def _check_placement(self) -> None:
        square = isinstance(self.geometry, SquareGeometry)
        if self.winning_row and not (square and SHORTEST_ROW <= self.winning_row <= LONGEST_ROW):
            raise InvalidGameError(
                f"a winning row of {self.winning_row}: on a square board {SHORTEST_ROW} to {LONGEST_ROW} "
                "pieces, 0 where no row wins"
            )
        if self.placement is not Placement.ANYWHERE and not square:
            raise InvalidGameError(f"placement {self.placement.value!r}: for square boards only")
        if self.placement is Placement.DROPPED and not _UPRIGHT.issuperset((*self.symmetries, self.reversal)):
            raise InvalidGameError(
                f"symmetries {self.symmetries} and reversal {self.reversal!r}: where pieces fall, only "
                f"{' and '.join(sorted(_UPRIGHT))} leave below what is below"
            )

    def _check_group(self) -> None:
        known = self._known_symmetries
        for name in (*self.symmetries, self.reversal):
            if name not in known:
                raise InvalidGameError(f"symmetry {name!r}: this board has {', '.join(known)}")
        if len(set(self.symmetries)) != len(self.symmetries) or "identity" not in self.symmetries:
            raise InvalidGameError(f"symmetries {self.symmetries}: each once, and 'identity' among them")
        group = {_as_key(known[name]) for name in self.symmetries}
        for first in self.symmetries:
            for second in self.symmetries:
                if _compose(known[first], known[second]) not in group:
                    raise InvalidGameError(f"symmetries {first!r} and {second!r} make one that is not listed")
        reversal = known[self.reversal]
        if _compose(reversal, reversal) != _as_key(known["identity"]):
            raise InvalidGameError(f"reversal {self.reversal!r}: doing it twice must change nothing")
        if {_compose(reversal, known[name]) for name in self.symmetries} != {
            _compose(known[name], reversal) for name in self.symmetries
        }:
            raise InvalidGameError(
                f"reversal {self.reversal!r} does not go with the symmetries {self.symmetries}"
            )

    @cached_property
    def _known_symmetries(self) -> dict[str, GridSymmetry] | dict[str, NodeSymmetry]:
        match self.geometry:
            case SquareGeometry():
                return shapes.SQUARE
            case HexGeometry():
                return shapes.HEXAGON
            case GraphGeometry():
                size = self.geometry.size
                known = {"identity": NodeSymmetry("identity", tuple(range(size)))}
                for symmetry in self.node_symmetries:
                    if sorted(symmetry.image) != list(range(size)):
                        raise InvalidGameError(
                            f"symmetry {symmetry.name!r} does not send {size} nodes to {size} nodes"
                        )
                    if known.get(symmetry.name, symmetry) != symmetry:
                        raise InvalidGameError(f"symmetry {symmetry.name!r} has two meanings on this graph")
                    known[symmetry.name] = symmetry
                return known

    @cached_property
    def symmetry_group(self) -> tuple[GridSymmetry, ...] | tuple[NodeSymmetry, ...]:
        """The symmetries themselves, in the order of their names in `symmetries`."""
        return tuple(self._known_symmetries[name] for name in self.symmetries)  # type: ignore[return-value]

    @cached_property
    def reversal_symmetry(self) -> GridSymmetry | NodeSymmetry:
        """The reversal itself."""
        return self._known_symmetries[self.reversal]

    # Patterns

    def images(self, pattern: Pattern) -> tuple[Pattern, ...]:
        """Return the pattern under each of `symmetry_group`, in that order.

        Args:
            pattern: A pattern of this game.
        """
        return tuple(pattern.image(symmetry) for symmetry in self.symmetry_group)

    def canonical(self, pattern: Pattern) -> Pattern:
        """Return the least image, which is the same for all images of a pattern.

        Args:
            pattern: A pattern of this game.
        """
        return min(self.images(pattern))

    def reversed_pattern(self, pattern: Pattern) -> Pattern:
        """Return the pattern with the players exchanged. Doing it twice changes nothing.

        Args:
            pattern: A pattern of this game.
        """
        return pattern.swapped().image(self.reversal_symmetry)

    def check_pattern(self, pattern: Pattern) -> Pattern:
        """Check that a pattern can occur in this game's geometry.

        Args:
            pattern: The pattern.

        Returns:
            The same pattern.

        Raises:
            InvalidPatternError: It is larger than the board and its edge, or its outline is not of this
                geometry.
        """
        # A turned pattern is larger than the one that fits on the board.
        turned = self.images(pattern) if isinstance(self.geometry, HexGeometry) else ()
        check_outline(pattern, self.geometry, turned)
        return pattern

    # Boards

    @cached_property
    def _cells(self) -> tuple[Cell, ...]:
        if isinstance(self.geometry, GraphGeometry):
            return tuple((0, node) for node in range(self.geometry.size))
        return self.geometry.cells

    def _permutation(self, symmetry: GridSymmetry | NodeSymmetry) -> tuple[int, ...] | None:
        if isinstance(symmetry, NodeSymmetry):
            return symmetry.image
        return shapes.board_permutation(symmetry, self._cells)

    @cached_property
    def turned_cells(self) -> tuple[tuple[int, ...], ...]:
        """Where each symmetry that maps the board onto itself takes its cells, row by row; each once."""
        targets = map(self._permutation, self.symmetry_group)
        return tuple(dict.fromkeys(target for target in targets if target is not None))

    @cached_property
    def reversed_cells(self) -> tuple[int, ...]:
        """Where the reversal takes each cell of the board, row by row. Doing it twice changes nothing."""
        return self._permutation(self.reversal_symmetry) or ()

    @cached_property
    def _turned_by_reversal(self) -> Callable[[bytes], Iterable[int]] | None:
        # A reversal undoes itself, so a cell comes from where it goes. Cell by cell in Python, 19x19 takes
        # 15 us of a question's 65.
        source = self.reversed_cells
        return None if source == tuple(range(len(source))) else itemgetter(*source)

    def reversed_board(self, board: Board) -> Board:
        """Return the board with the players exchanged. Doing it twice changes nothing.

        Args:
            board: A board of this game.
        """
        swapped, turned = board.states.translate(SWAP_COLOURS), self._turned_by_reversal
        return Board(board.geometry, swapped if turned is None else bytes(turned(swapped)))

    def board_image(self, board: Board, symmetry: GridSymmetry | NodeSymmetry) -> Board | None:
        """Return the board under a symmetry.

        Args:
            board: A board of this game.
            symmetry: A symmetry of the board's kind.

        Returns:
            The image; None where the geometry does not map onto itself.
        """
        target = self._permutation(symmetry)
        if target is None:
            return None
        states = bytearray(len(target))
        for cell, goes_to in enumerate(target):
            states[goes_to] = board.states[cell]
        return Board(board.geometry, bytes(states))

    # Moves

    @cached_property
    def _renamings(self) -> tuple[dict[str, str], ...]:
        return tuple(
            {name: self.cell_names[target[i]] for i, name in enumerate(self.cell_names)}
            for target in self.turned_cells
        )

    @cached_property
    def _cell_in_move(self) -> re.Pattern[str]:
        longest_first = sorted(self.cell_names, key=len, reverse=True)
        # A name is a cell only where it stands apart: not the `a1` of `a10`, nor the `1` of `11`.
        names = "|".join(map(re.escape, longest_first))
        return re.compile(rf"(?:(?![0-9])|(?<![0-9]))(?:{names})(?![0-9])")

    @cached_property
    def _written_move(self) -> re.Pattern[str]:
        names = "|".join(map(re.escape, sorted(self.cell_names, key=len, reverse=True)))
        read = _IN_FORM | {"*": f"(?>{names})"}
        return re.compile(
            "|".join("".join(read.get(sign) or re.escape(sign) for sign in form) for form in self.move_forms)
        )

    def is_written_as_move(self, text: str) -> bool:
        """Return whether a text has the form of a move of this game.

        Args:
            text: The text. In a game without `move_forms` any text has.
        """
        return not self.move_forms or self._written_move.fullmatch(text) is not None

    def move_images(self, moves: Sequence[str]) -> list[tuple[str, ...]]:
        """Return a list of moves under each symmetry that maps the board onto itself.

        Args:
            moves: Moves in the game's notation. A symmetry exchanges the cells that they name; other text
                stays.

        Returns:
            The images, the identity first.
        """
        if not self.cell_names:
            return [tuple(moves)]
        return [tuple(self._rename_cells(move, names) for move in moves) for names in self._renamings]

    def reversed_move(self, move: str) -> str:
        """Return a move in the game with the players exchanged.

        Args:
            move: The move in the game's notation. Only the names of cells in it change.
        """
        return self._rename_cells(move, self._reversed_names)

    @cached_property
    def _reversed_names(self) -> dict[str, str]:
        target = self.reversed_cells
        return {name: self.cell_names[target[cell]] for cell, name in enumerate(self.cell_names)}

    def _rename_cells(self, move: str, names: dict[str, str]) -> str:
        # Most moves are the name of a cell and nothing else.
        return names.get(move) or self._cell_in_move.sub(lambda cell: names[cell[0]], move)

    def spellings_after(self, moves: Sequence[str], canonical_moves: Sequence[str]) -> list[tuple[str, ...]]:
        """Return how moves after the canonical line are spelt after `moves`.

        Args:
            moves: The moves so far, in their own orientation.
            canonical_moves: Moves after the least image of `moves`, the canonical line.

        Returns:
            For each canonical move its spellings, sorted: several where the position is symmetric.
        """
        orientations = self.orientations(moves)
        return [self.spellings(move, orientations) for move in canonical_moves]

    def orientations(self, moves: Sequence[str]) -> list[dict[str, str]]:
        """Return the ways to translate moves after the canonical line into the orientation of `moves`.

        Args:
            moves: The moves, in their own orientation.

        Returns:
            Each is a dict from canonical cell names to the names used in `moves`; there are several if the
            position is symmetric, none if the game has no cell names.
        """
        if not self.cell_names:
            return []
        images = self.move_images(moves)
        least = min(images)
        return [
            {new: old for old, new in names.items()}
            for names, image in zip(self._renamings, images, strict=True)
            if image == least
        ]

    def spellings(self, canonical_move: str, orientations: Sequence[dict[str, str]]) -> tuple[str, ...]:
        """Return how a move after the canonical line is spelt after a list of moves, sorted.

        Args:
            canonical_move: The move.
            orientations: What `orientations` returns for the list.
        """
        if not orientations:
            return (canonical_move,)
        return tuple(sorted({self._rename_cells(canonical_move, names) for names in orientations}))

    def orientations_after(
        self, orientations: Sequence[dict[str, str]], canonical_move: str, move: str
    ) -> list[dict[str, str]]:
        """Return the orientations of a list of moves that is longer by one.

        Args:
            orientations: Those of the list before, as from `orientations`.
            canonical_move: The added move, as after the canonical line.
            move: The same move, as spelt after the list.
        """
        return [names for names in orientations if self._rename_cells(canonical_move, names) == move]

    def canonical_line(self, moves: Iterable[str]) -> Iterator[str]:
        """Yield the least image of a list of moves, move by move.

        Args:
            moves: The moves, of which only those needed are read.
        """
        if not self.cell_names:
            yield from moves
            return
        renamings: Sequence[dict[str, str]] = self._renamings
        for move in moves:
            images = [self._rename_cells(move, names) for names in renamings]
            least = min(images)
            renamings = [names for names, image in zip(renamings, images, strict=True) if image == least]
            yield least

    def canonical_moves(self, moves: Iterable[str]) -> tuple[str, ...]:
        """Return the least image of a list of moves. Its beginnings are the least images of the list's.

        Args:
            moves: The moves in the game's notation.
        """
        return tuple(self.canonical_line(moves))


def check_outline(pattern: Pattern, geometry: Geometry, turned: Sequence[Pattern] = ()) -> None:
    """Check that a pattern, or one of its images, can stand on a board.

    Args:
        pattern: The pattern.
        geometry: The board.
        turned: Its images, where they count.

    Raises:
        InvalidPatternError: As `GameSpec.check_pattern`.
    """
    if isinstance(geometry, GraphGeometry):
        return
    if isinstance(geometry, SquareGeometry):
        if len(pattern.cells) != pattern.rows * pattern.columns:
            raise InvalidPatternError("a square pattern must be a full rectangle of cells")
    elif len({row for row, _ in pattern.cells}) != pattern.rows:
        raise InvalidPatternError("a hexagonal pattern must have a cell in every row")
    # One cell of edge on either side is all that '+' can add.
    longest = 2 + max(geometry.rows, geometry.columns)
    if min(max(image.rows, image.columns) for image in (pattern, *turned)) > longest:
        raise InvalidPatternError(
            f"a pattern of {pattern.rows} rows and {pattern.columns} columns: on this board "
            f"neither may be more than {longest}, the board and its edge"
        )


def _as_key(symmetry: GridSymmetry | NodeSymmetry) -> tuple[int, ...]:
    return symmetry.image if isinstance(symmetry, NodeSymmetry) else symmetry.matrix


def _compose(second: GridSymmetry | NodeSymmetry, first: GridSymmetry | NodeSymmetry) -> tuple[int, ...]:
    if isinstance(second, NodeSymmetry) and isinstance(first, NodeSymmetry):
        return tuple(map(second.image.__getitem__, first.image))
    assert isinstance(second, GridSymmetry) and isinstance(first, GridSymmetry)
    return second.after(first)
