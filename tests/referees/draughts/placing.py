"""Positions for the tests, by the names of squares: `K` before one is a king."""

from referees.draughts import Draughts, DraughtsPosition


def game(variant: str, **settings: object) -> Draughts:
    return Draughts.from_settings({"variant": variant, **settings})


def placed(judge: Draughts, to_move: str, white: str = "", black: str = "") -> DraughtsPosition:
    """`placed(game("english"), "B", white="22 K5", black="18")`."""
    layout = judge.settings.variant.layout

    def bits(words: str, *, kings: bool = False) -> int:
        names = [word.removeprefix("K") for word in words.split() if not kings or word[0] == "K"]
        return sum(layout.bits[layout.named[name] - 1] for name in names)

    kings = bits(f"{white} {black}", kings=True)
    return judge.placed(bits(white), bits(black), kings, white_to_move=to_move == "W")


def pieces(judge: Draughts, position: DraughtsPosition) -> tuple[str, str]:
    """White's and Black's pieces, as `placed` takes them."""
    layout = judge.settings.variant.layout

    def words(own: int) -> str:
        return " ".join(
            f"{'K' if position.kings & bit else ''}{name}"
            for bit, name in zip(layout.bits, layout.names, strict=True)
            if own & bit
        )

    return words(position.white), words(position.black)


def texts(judge: Draughts, position: DraughtsPosition) -> list[str]:
    """All legal moves, as text."""
    return [
        judge.move_text(move)
        for seat in judge.to_move(position)
        for move in judge.legal_moves(position, seat)
    ]


def after(judge: Draughts, position: DraughtsPosition, *moves: str) -> DraughtsPosition:
    for text in moves:
        (seat,) = judge.to_move(position)
        position = judge.play(position, {seat: judge.read_move(position, seat, text)})
    return position
