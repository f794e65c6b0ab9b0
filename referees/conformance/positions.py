"""Laws of one position: whose turn it is, its boards, and its legal and illegal moves."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from academy.knowledge.cells import State
from referees.api import IllegalMoveError, UnreadableMoveError
from referees.conformance.laws import NonConformingRefereeError, Trial, UnlistedMovesError
from referees.drawing import Layout

_NONSENSE: Final = "\x00?! not a move of any game"
_STATES: Final = frozenset(State)
# ACADEMY takes no longer ones.
_LONGEST_OPENING_MOVE: Final = 1_024
# The number of legal moves read back, and of foreign ones offered, at each ply; there may be thousands.
_SAMPLE: Final = 20


def check_turns(trial: Trial, position: Any) -> tuple[int, ...]:
    """Return the seats to move."""
    with trial.law("turns") as breach:
        seats = tuple(trial.referee.to_move(position))
        if list(seats) != sorted(set(seats) & set(trial.seats)):
            raise breach(f"to move are the seats {seats} of {list(trial.seats)}")
        if len(seats) > 1 and not trial.spec.simultaneous:
            raise breach(f"seats {seats} are to move at once in a game that is not simultaneous")
        outcome = trial.referee.outcome(position)
        if (outcome is None) != bool(seats):
            raise breach(f"to move are {seats or 'none'}, and the outcome is {outcome}")
    return seats


def check_boards(trial: Trial, position: Any) -> None:
    """Check the boards of all seats, with all there is to see and with what each may see."""
    judge, spec = trial.referee, trial.spec
    with trial.law("boards") as breach:
        boards = [judge.board(position, seat) for seat in trial.seats]
        boards += [judge.board(judge.view(position, seat), seat) for seat in trial.seats]
        for board in boards:
            if board.geometry != spec.geometry:
                raise breach(f"a board of {board.geometry}, but described is {spec.geometry}")
            if len(board.states) != board.geometry.size or not _STATES.issuperset(board.states):
                raise breach(f"states {list(board.states)} for {board.geometry.size} cells")
    if spec.symmetric:
        with trial.law("reversal") as breach:
            for board in boards:
                if spec.reversed_board(spec.reversed_board(board)) != board:
                    raise breach("exchanging the players twice changed a board")


def check_drawing(trial: Trial, position: Any) -> None:
    """Check the picture of a position."""
    with trial.law("drawings") as breach:
        drawing = trial.referee.drawing(position)
        layout = None if drawing is None else drawing.layout
        if trial.drawn and layout != trial.layout:
            raise breach("the layout is another one than that of the position before")
        if not trial.drawn and layout is not None:
            _check_layout(layout, breach)
        trial.drawn, trial.layout = True, layout
        if drawing is None:
            return
        if len(drawing.marks) != len(drawing.layout.cells):
            raise breach(f"{len(drawing.marks)} marks for {len(drawing.layout.cells)} cells")
        strangers = {
            seat
            for mark in drawing.marks
            for seat in (mark.seat, mark.owner)
            if seat not in (0, *trial.seats)
        } | {arrow.seat for arrow in drawing.arrows if arrow.seat not in trial.seats}
        if strangers:
            raise breach(f"pieces or arrows of the seats {sorted(strangers)} of {list(trial.seats)}")
        for arrow in drawing.arrows:
            for right, down in (arrow.start, arrow.end):
                if not (0 <= right <= drawing.layout.width and 0 <= down <= drawing.layout.height):
                    raise breach(f"the arrow {arrow.label!r} has an end at ({right:g}, {down:g}), outside")


def _check_layout(layout: Layout, breach: Callable[[str], NonConformingRefereeError]) -> None:
    for number, cell in enumerate(layout.cells):
        right, down = cell.place
        if not (0 <= right <= layout.width and 0 <= down <= layout.height):
            raise breach(
                f"cell {number} lies at {cell.place}, outside of {layout.width:g} by {layout.height:g}"
            )
    for area in layout.areas:
        if not set(area.cells) <= set(range(len(layout.cells))):
            raise breach(f"the area {area.name!r} has cells that are none of the {len(layout.cells)}")


def check_moves(trial: Trial, position: Any, seat: int, chance: random.Random) -> Any:
    """Check a seat's moves, legal and others, and choose a legal one."""
    judge = trial.referee
    with trial.law("legal moves") as breach:
        listed = judge.legal_moves(position, seat)
        moves: Sequence[Any] = listed if listed is not None else [_choose(trial, position, seat, chance)]
        if not moves:
            raise breach(f"seat {seat} is to move and has no move")
        for move in moves:
            judge.check(position, seat, move)
        stand_in = judge.stand_in_move(position, seat)
        if stand_in is not None:
            judge.check(position, seat, stand_in)
    legal = _check_texts(trial, position, seat, moves, chance)
    if listed is not None:
        foreign = [move for text, move in trial.met[seat].items() if text not in legal]
        for move in chance.sample(foreign, min(_SAMPLE, len(foreign))):
            _must_refuse(trial, position, seat, move, "is not listed")
    _must_refuse_nonsense(trial, position, seat)
    trial.met[seat].update(legal)
    return chance.choice(moves)


def _check_texts(
    trial: Trial, position: Any, seat: int, moves: Sequence[Any], chance: random.Random
) -> dict[str, Any]:
    """Check the texts of legal moves, and return the moves by their texts."""
    judge = trial.referee
    with trial.law("texts") as breach:
        texts = [judge.move_text(move) for move in moves]
        if len(set(texts)) != len(texts):
            twice = next(text for text in texts if texts.count(text) > 1)
            raise breach(f"{twice!r} names two legal moves")
        legal = dict(zip(texts, moves, strict=True))
        for text in chance.sample(texts, min(_SAMPLE, len(texts))):
            if not text.strip() or not text.isprintable():
                raise breach(f"{text!r} is empty or does not fit a line")
            if judge.read_move(position, seat, text) != legal[text]:
                raise breach(f"{text!r} reads back as another move")
            known_as = judge.opening_move(position, seat, legal[text])
            if not known_as.strip() or not known_as.isprintable() or len(known_as) > _LONGEST_OPENING_MOVE:
                raise breach(
                    f"{known_as[:80]!r}, as openings know {text!r}, is empty, does not fit a line or is "
                    f"longer than {_LONGEST_OPENING_MOVE:,} characters"
                )
    return legal


def _choose(trial: Trial, position: Any, seat: int, chance: random.Random) -> Any:
    if trial.choose is not None:
        return trial.choose(position, seat, chance)
    move = trial.referee.random_move(position, seat, chance)
    if move is None:
        raise UnlistedMovesError(
            f"{trial.spec.game_id} does not list its legal moves: say how to `choose` one"
        )
    return move


def check_out_of_turn(trial: Trial, position: Any, moves: Mapping[int, Any]) -> None:
    """Offer the moves of the seats to move for all other seats."""
    for seat in trial.seats:
        if seat not in moves:
            for move in moves.values():
                _must_refuse(trial, position, seat, move, "is out of turn")


def check_end(trial: Trial, position: Any) -> None:
    """Offer moves in a position in which no seat is to move."""
    for seat in trial.seats:
        for move in list(trial.met[seat].values())[:_SAMPLE]:
            _must_refuse(trial, position, seat, move, "comes after the end")


def _must_refuse(trial: Trial, position: Any, seat: int, move: Any, why: str) -> None:
    with trial.law("foreign moves") as breach:
        try:
            trial.referee.check(position, seat, move)
        except IllegalMoveError:
            return
        raise breach(f"{trial.described({seat: move})} {why}, but was accepted")


def _must_refuse_nonsense(trial: Trial, position: Any, seat: int) -> None:
    with trial.law("foreign moves") as breach:
        try:
            move = trial.referee.read_move(position, seat, _NONSENSE)
            trial.referee.check(position, seat, move)
        except (UnreadableMoveError, IllegalMoveError):
            return
        raise breach(f"the text {_NONSENSE!r} was accepted as the move {move!r}")
