"""Boards drawn in tests: `X` Black, `O` White, `.` empty, any other letter an empty point with a name."""

from referees.go.board import BLACK, EMPTY, WHITE, Board


def _cells(text: str) -> list[list[str]]:
    rows = [line.split() for line in text.strip().splitlines()]
    assert all(len(row) == len(rows) for row in rows), text
    return rows


def board(text: str) -> Board:
    cells = _cells(text)
    colours = {"X": BLACK, "O": WHITE}
    return Board(len(cells), [colours.get(cell, EMPTY) for row in cells for cell in row])


def point(text: str, mark: str) -> int:
    return [cell for row in _cells(text) for cell in row].index(mark)


def diagram(size: int, stones: bytes | bytearray) -> str:
    return "\n".join(
        " ".join(".XO"[state] for state in stones[row * size : (row + 1) * size]) for row in range(size)
    )


def normal(text: str) -> str:
    stones = board(text)
    return diagram(stones.size, stones.stones)
