"""Boards and patterns as SVG: each cell is there, means what it shows, and hostile text stays text."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence

import pytest

from academy.knowledge.boards import Board, Geometry, GraphGeometry, HexGeometry, SquareGeometry
from academy.knowledge.cells import CODE_LETTERS
from academy.knowledge.text import read_cells
from referees.drawing import draw_board as picture_of
from referees.go import Go
from web.drawing import (
    LETTER_MEANINGS,
    BoardMarks,
    CellLink,
    LastMove,
    draw_bar,
    draw_board,
    draw_legend,
    draw_pattern,
)

SVG = "{http://www.w3.org/2000/svg}"
RING = GraphGeometry(tuple("ABCDE"), tuple((place, (place + 1) % 5) for place in range(5)))


def drawn(
    geometry: Geometry,
    letters: str,
    marks: BoardMarks | None = None,
    label: str = "a board",
    names: Sequence[str] = (),
) -> object:
    picture = picture_of(Board.from_letters(geometry, letters), names)
    assert picture is not None
    return draw_board(picture, marks or BoardMarks(), label).whole


def parsed(drawing: object) -> ElementTree.Element:
    return ElementTree.fromstring(str(drawing))


def kinds(drawing: object, tag: str) -> list[str]:
    return [element.get("class", "") for element in parsed(drawing).iter(f"{SVG}{tag}")]


@pytest.mark.parametrize(
    ("geometry", "letters", "outline"),
    [
        (SquareGeometry(2, 3), "-xbow+", "path"),
        (HexGeometry(2, 3), "-xbow+", "path"),
        (RING, "-xbow", "circle"),
    ],
)
def test_a_board_shows_every_cell_and_piece(geometry: Geometry, letters: str, outline: str) -> None:
    drawing = drawn(geometry, letters)

    outlines = [kind for kind in kinds(drawing, outline) if kind.startswith(("cell", "node"))]
    assert len(outlines) == len(letters) and sum("off" in kind for kind in outlines) == letters.count("+")
    pieces = [kind for kind in kinds(drawing, "circle") if kind.startswith("piece")]
    assert pieces == ["piece side-1", "piece side-1", "piece side-2", "piece side-2"]
    crowns = [kind for kind in kinds(drawing, "circle") if kind.startswith("crown")]
    assert crowns == ["crown side-1", "crown side-2"]
    assert parsed(drawing).get("aria-label") == "a board" and parsed(drawing).get("role") == "img"


def test_everything_of_a_drawing_lies_within_it() -> None:
    for geometry in (SquareGeometry(19, 19), HexGeometry(11, 11), SquareGeometry(1, 1), RING):
        names = tuple(f"{chr(97 + cell % 19)}{cell // 19 + 1}" for cell in range(geometry.size))
        drawing = drawn(geometry, "x" * geometry.size, names=names)
        root = parsed(drawing)
        width, height = map(float, root.get("viewBox", "").split()[2:])
        for circle in root.iter(f"{SVG}circle"):
            x, y, radius = (float(circle.get(name, "nan")) for name in ("cx", "cy", "r"))
            assert radius <= x <= width - radius and radius <= y <= height - radius
        for text in root.iter(f"{SVG}text"):
            assert 0 <= float(text.get("x", "nan")) <= width and 0 <= float(text.get("y", "nan")) <= height


def test_coordinates_are_the_cells_names() -> None:
    names = tuple(f"{column}{3 - row}" for row in range(3) for column in "ABC")
    drawing = drawn(SquareGeometry(3, 3), "-" * 9, names=names)
    texts = [element.text for element in parsed(drawing).iter(f"{SVG}text")]

    assert texts == ["3", "2", "1", "A", "B", "C"]
    # Numbers that do not lie in rows and columns are not coordinates.
    odd = (*names[:8], "Z9")
    bare = drawn(SquareGeometry(3, 3), "-" * 9, names=odd)
    assert not kinds(bare, "text")


def test_marks_are_on_their_cells() -> None:
    marks = BoardMarks(
        last=LastMove(frozenset({0, 1}), frozenset({1})),
        links={2: CellLink("/?a=1&b=2", 'play "2"', rank=7), 3: CellLink("/x", "play 3", known=False)},
        matches={0: (1, 4)},
        lit=frozenset({3}),
    )
    root = parsed(drawn(SquareGeometry(2, 2), "xo--", marks))
    cells = root.findall(f"{SVG}g")

    assert cells[0].get("data-matches") == "1 4" and "last" in cells[1].get("class", "")
    # Where a piece was taken the cell is tinted, and has no mark.
    assert (
        "last" in cells[0].get("class", "")
        and kinds(drawn(SquareGeometry(2, 2), "xo--", marks), "circle").count("last-mark") == 1
    )
    link = cells[2].find(f"{SVG}a")
    assert link is not None and link.get("href") == "/?a=1&b=2" and link.get("aria-label") == 'play "2"'
    assert "7" in [text.text for text in link.iter(f"{SVG}text")]
    other = cells[3].find(f"{SVG}a")
    assert other is not None and other.get("tabindex") == "-1" and "lit" in cells[3].get("class", "")
    assert root.get("role") == "group"


def test_stones_of_go_stand_where_lines_cross() -> None:
    judge = Go.from_settings({"board_size": 9, "komi": 7})
    position = judge.play(judge.start(0), {1: judge.read_move(judge.start(0), 1, "C3")})
    picture = judge.drawing(position)
    assert picture is not None
    root = parsed(draw_board(picture, BoardMarks(), "Go").whole)
    lines = [
        tuple(float(line.get(end, "nan")) for end in ("x1", "y1", "x2", "y2"))
        for line in root.iter(f"{SVG}line")
    ]
    (stone,) = (circle for circle in root.iter(f"{SVG}circle") if "piece" in circle.get("class", ""))
    x, y = float(stone.get("cx", "nan")), float(stone.get("cy", "nan"))

    assert len(lines) == 18
    assert any(left == right == x for left, _, right, _ in lines) and any(
        up == down == y for _, up, _, down in lines
    )
    stars = [circle for circle in root.iter(f"{SVG}circle") if circle.get("class") == "star"]
    assert len(stars) == 5 and (stone.get("cx"), stone.get("cy")) in {
        (star.get("cx"), star.get("cy")) for star in stars
    }


def test_hostile_names_stay_text() -> None:
    nodes = ('"><script>', "a&b")
    marks = BoardMarks(links={0: CellLink('"/><x', "<b>")})
    root = parsed(drawn(GraphGeometry(nodes, ((0, 1),)), "x-", marks, '"<script>'))

    assert root.get("aria-label") == '"<script>' and not list(root.iter(f"{SVG}script"))
    assert {text.text for text in root.iter(f"{SVG}text")} >= {"a&b"}


@pytest.mark.parametrize("letter", CODE_LETTERS.values())
def test_a_pattern_says_what_each_cell_accepts(letter: str) -> None:
    geometry = SquareGeometry(5, 5)
    drawing = draw_pattern(read_cells(f"x {letter}\n{letter} o", geometry), geometry, "Pattern 1")
    cells = kinds(drawing, "path")

    assert parsed(drawing).get("aria-label") == f"Pattern 1: x {letter} / {letter} o"
    assert cells.count("cell off") == 2 * (letter == "+") and cells.count("cell any") == 2 * (letter == "#")
    shown = [kind for kind in kinds(drawing, "circle") if kind.startswith(("piece", "maybe"))]
    assert len(shown) == (2 if letter in "-#+" else 4)
    assert letter in LETTER_MEANINGS


def test_no_two_letters_look_alike() -> None:
    drawings = [str(drawing).split(">", 1)[1] for _, _, drawing in draw_legend(LETTER_MEANINGS)]

    assert len(set(drawings)) == len(LETTER_MEANINGS) == len(CODE_LETTERS)


def test_patterns_on_hexagons_and_maps() -> None:
    hexagons = HexGeometry(4, 4)
    drawing = draw_pattern(read_cells("x -\n - o", hexagons), hexagons)
    assert len(kinds(drawing, "path")) == 4
    nodes = draw_pattern(read_cells("x A\n- B\no D", RING), RING)
    assert [text.text for text in parsed(nodes).iter(f"{SVG}text")] == ["A", "B", "D"]
    assert kinds(nodes, "line") == ["edge"]


def test_maps_that_nobody_could_read_are_not_drawn() -> None:
    huge = GraphGeometry(tuple(map(str, range(2_000))))

    assert picture_of(Board.from_letters(huge, "-" * 2_000)) is None
    single = GraphGeometry(("nowhere",))
    assert picture_of(Board.from_letters(single, "-")) is None


def test_a_bar_shows_parts_of_a_whole() -> None:
    root = parsed(draw_bar([("won", 3), ("drawn", 0), ("lost", 1)], "3 won"))
    parts = [(part.get("class"), part.get("x"), part.get("width")) for part in root.iter("rect")]

    assert parts == [("won", "0.00", "75.00"), ("lost", "75.00", "25.00")]
    assert not list(parsed(draw_bar([("won", 0)], "none")).iter("rect"))
