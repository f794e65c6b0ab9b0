"""When a game of draughts is drawn by rule: repetition, king moves, and a lone king."""

from referees.draughts.position import DraughtsPosition
from referees.draughts.settings import DraughtsSettings
from referees.draughts.variants import DraughtsEnding


def endings_begun(
    settings: DraughtsSettings, before: tuple[int | None, ...], white: int, black: int, kings: int
) -> tuple[int | None, ...]:
    """How many plies each of the variant's endings has lasted, after one ply more with these pieces."""
    if not settings.king_endings:
        return ()
    endings = settings.variant.endings
    return tuple(
        (0 if plies is None else plies + 1) if _is_ending(ending, white, black, kings) else None
        for ending, plies in zip(endings, before or (None,) * len(endings), strict=True)
    )


def _is_ending(ending: DraughtsEnding, white: int, black: int, kings: int) -> bool:
    weak, strong = sorted((white, black), key=int.bit_count)
    if weak.bit_count() != 1 or strong.bit_count() > ending.most:
        return False
    if strong.bit_count() == 1 and not strong & kings:
        weak, strong = strong, weak
    strong_kings = (strong & kings).bit_count()
    needed = strong.bit_count() if ending.kings_only else 1
    return bool(weak & kings) and strong_kings >= needed


def drawn_by(settings: DraughtsSettings, position: DraughtsPosition) -> str | None:
    """The rule by which a position is a draw, in words; None for none."""
    if settings.repetition and position.earlier.count(position.placement) + 1 >= settings.repetition:
        return f"the position stood for the {_ordinal(settings.repetition)} time"
    if settings.king_moves and position.quiet >= 2 * settings.king_moves:
        return f"{settings.king_moves} moves by each side without a capture or a man's move"
    for ending, plies in zip(settings.variant.endings, position.endings, strict=False):
        if plies is not None and plies >= 2 * ending.moves:
            pieces = "kings" if ending.kings_only else "pieces"
            return (
                f"{ending.moves} moves by each side with a lone king against at most {ending.most} {pieces}"
            )
    return None


def _ordinal(number: int) -> str:
    return {2: "second", 3: "third"}.get(number, f"{number}th")
