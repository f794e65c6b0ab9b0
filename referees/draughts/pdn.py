"""Moves as text (`11-15`, `24x15x8`; Russian and Brazilian `c3-d4`, `c3xe5`), and games in PDN."""

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, TypeVar

from referees.api import (
    GameRecord,
    Outcome,
    PlayedMove,
    RecordedGame,
    UnreadableMoveError,
    UnreadableRecordError,
)
from referees.draughts.moves import Move
from referees.draughts.variants import Layout, Variant
from referees.sgf import encodable, own_version

# PDN has hyphens and x, Russian books colons.
_SEPARATOR: Final = re.compile(r"\s*[-–x×:]\s*")
_MAX_TEXT: Final = 300

T = TypeVar("T")


def write_move(move: Move, layout: Layout) -> str:
    """A move with every square it lands on, so that the text alone says which move it is."""
    names = layout.names
    return ("x" if move.captured else "-").join(names[number - 1] for number in move.squares)


def read_squares(text: str, layout: Layout) -> tuple[int, ...]:
    """The numbers of the squares that a move's text names, two or more. Raises UnreadableMoveError."""
    # A longer text is not a move.
    words = _SEPARATOR.split(text.strip().lower()) if len(text) <= _MAX_TEXT else ()
    squares = tuple(layout.named.get(word.lstrip("0"), 0) for word in words)
    if len(squares) < 2 or not all(squares):
        first, last = layout.names[0], layout.names[-1]
        example = "c3-d4 or c3xe5" if layout.algebraic else "11-15 or 24x15x8"
        raise UnreadableMoveError(
            f"{text[:40]!r} is not a move: it needs squares from {first} to {last}, as in {example}"
        )
    return squares


def read_move(text: str, layout: Layout, moves: Sequence[Move]) -> Move:
    """Read one of `moves`, of which squares on the way may be left out, or others that it lands on.

    Text that fits none of them gives a move of the squares that it names. Raises UnreadableMoveError where
    it fits several, or is not a move.
    """
    squares = read_squares(text, layout)
    fitting = [move for move in moves if _fits(move, squares, layout)]
    for move in fitting:
        if move.squares == squares:
            return move
    if len(fitting) > 1:
        ways = " or ".join(write_move(move, layout) for move in fitting[:4])
        raise UnreadableMoveError(f"{text[:40]!r} may be several moves: say {ways}")
    return fitting[0] if fitting else Move(squares)


def _fits(move: Move, squares: tuple[int, ...], layout: Layout) -> bool:
    if (move.squares[0], move.squares[-1]) != (squares[0], squares[-1]):
        return False
    way = iter(move.squares)
    if all(square in way for square in squares):
        return True
    # Another way to take the same pieces: one on each leg.
    legs = [set(layout.between(start, end)) & set(move.captured) for start, end in pairwise(squares)]
    return all(len(taken) == 1 for taken in legs) and set().union(*legs) == set(move.captured)


MAX_GAMES: Final = 100_000
_WIDTH: Final = 100

_RESULTS: Final = r"1-0|0-1|1/2-1/2|2-0|0-2|1-1|0-0|\*"
_TOKEN: Final = re.compile(
    r"\s+"
    r'|(?P<tag>\[\s*(?P<name>\w+)\s+"(?P<value>(?:\\.|[^"\\])*)"\s*\])'
    r"|(?P<comment>\{[^}]*\}|;[^\n]*|\$\d+|[!?]+)"
    r"|(?P<open>\()|(?P<close>\))"
    r"|(?P<number>\d+\s*\.+)"
    rf"|(?P<result>(?:{_RESULTS})(?![^\s\[({{;]))"
    r"|(?P<move>[a-zA-Z]?\d+(?:[ \t]*[-x×:][ \t]*[a-zA-Z]?\d+)+)"
    # A comment that is never closed goes on to the end.
    r"|(?P<junk>\{[^}]*|\S+)"
)
_UNCLOSED: Final = "a variation's '(' is never closed"


def read_records(content: bytes, variant: Variant) -> list[RecordedGame]:
    """The main lines of a file's games, named by GameName, else Event. Raises UnreadableRecordError.

    A game of another variant, where it says of which, with another first position, or with damage has a
    fault. What stands between two games is nothing.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Files older than UTF-8; every byte is a character of this one.
        text = content.decode("latin-1")
    reading = _Reading(variant)
    for kind, value, name in _tokens(text):
        reading.take(kind, value, name)
    reading.end_game()
    if not reading.games:
        raise UnreadableRecordError(f"no PDN: {reading.fault or 'there is no game in it'}")
    if len(reading.games) > MAX_GAMES:
        raise UnreadableRecordError(f"{len(reading.games)} games, more than {MAX_GAMES}")
    return reading.games


class _Reading:
    """The games that were read, and what was read of the next."""

    def __init__(self, variant: Variant) -> None:
        self.games: list[RecordedGame] = []
        self.fault = ""
        self._variant = variant
        self._tags: dict[str, str] = {}
        self._moves: list[str] = []

    def take(self, kind: str, value: str, name: str) -> None:
        """Take one of the `_tokens`."""
        if kind == "result":
            self.end_game(value)
            return
        if kind == "tag" and (self._moves or name in self._tags):
            self.end_game()
        if kind == "fault":
            self.fault = self.fault or value
        elif not (self._tags or self._moves):
            self.fault = ""
        if kind == "tag":
            self._tags[name] = value
        elif kind == "move":
            self._moves.append(value)

    def end_game(self, result: str = "") -> None:
        """Add what was read as a game, if it is one: with tags, moves, or a result."""
        if not (self._tags or self._moves or result):
            return
        if self.fault and (self._tags or self._moves):
            self.games.append(RecordedGame("", (), fault=self.fault))
        else:
            self.games.append(_game(self._tags, self._moves, result, self._variant))
        self.fault, self._tags, self._moves = "", {}, []


def _tokens(text: str) -> Iterator[tuple[str, str, str]]:
    """Tags, moves and results outside variations, and faults: what each is, its text, and a tag's name."""
    depth = counted = 0
    line = 1
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close" and depth:
            depth -= 1
        elif kind in ("close", "junk"):
            line, counted = line + text.count("\n", counted, token.start()), token.start()
            why = "a ')' closes nothing" if kind == "close" else f"{token[kind][:20]!r} is not PDN"
            yield "fault", f"line {line}: {why}", ""
        elif kind == "tag":
            if depth:
                yield "fault", _UNCLOSED, ""
            depth = 0
            yield kind, re.sub(r"\\(.)", r"\1", token["value"]), token["name"]
        elif not depth and kind in ("move", "result"):
            yield kind, token[kind], ""
    if depth:
        yield "fault", _UNCLOSED, ""


def _game(tags: Mapping[str, str], moves: Sequence[str], ending: str, variant: Variant) -> RecordedGame:
    """The game of these tags and moves, with the result that stands behind them, if one does."""
    try:
        spelt = _spelt(tags, moves, variant)
    except ValueError as error:
        return RecordedGame("", (), fault=str(error))
    white, black = (tags.get(colour, "") for colour in ("White", "Black"))
    elo_white, elo_black = (_elo(tags.get(f"{colour}Rating", "")) for colour in ("White", "Black"))
    stated = tags.get("Result", "").strip()
    winners, at_end = _winners(stated, variant), _winners(ending, variant)
    return RecordedGame(
        tags.get("GameName", tags.get("Event", "")),
        spelt,
        _by_seat(white, black, variant) if white or black else (),
        winners or at_end,
        _by_seat(elo_white, elo_black, variant),
        doubt=f"its Result is {stated}, and it ends with {ending}"
        if winners and at_end and winners != at_end
        else "",
    )


def _spelt(tags: Mapping[str, str], moves: Sequence[str], variant: Variant) -> list[str]:
    """The moves in this variant's spelling. Raises ValueError for what is not one of its games."""
    kind = tags.get("GameType", "").partition(",")[0].strip()
    own = variant.game_type.partition(",")[0]
    if kind and kind != own:
        raise ValueError(f"it is of type {kind}, not {own} ({variant.name} draughts)")
    if "FEN" in tags and _pieces(tags["FEN"], variant) != _pieces(first_fen(variant), variant):
        raise ValueError(f"its first position, {tags['FEN'][:80]!r}, is another")
    spelt = []
    for number, move in enumerate(moves, start=1):
        try:
            squares = read_squares(move, variant.layout)
        except UnreadableMoveError as error:
            raise ValueError(f"ply {number}: {error}") from None
        sign = "-" if "-" in move else "x"
        spelt.append(sign.join(variant.layout.names[square - 1] for square in squares))
    return spelt


def _by_seat(white: T, black: T, variant: Variant) -> tuple[T, T]:
    return (white, black) if variant.white_first else (black, white)


def _elo(text: str) -> float | None:
    return float(text) if re.fullmatch(r"\d{2,4}", text.strip()) else None


def _winners(result: str, variant: Variant) -> tuple[int, ...]:
    """The seats that a PDN result names, white's points first; none for `*`, `0-0` and any other text."""
    if result in ("1/2-1/2", "1-1"):
        return (1, 2)
    white_won = {"1-0": True, "2-0": True, "0-1": False, "0-2": False}.get(result)
    if white_won is None:
        return ()
    return (1,) if white_won == variant.white_first else (2,)


def first_fen(variant: Variant) -> str:
    """The first position as PDN's FEN tag has it: whose turn it is, and each side's squares."""
    names, men = variant.layout.names, variant.men
    side = "W" if variant.white_first else "B"
    return f"{side}:W{','.join(names[-men:])}:B{','.join(names[:men])}"


def _pieces(fen: str, variant: Variant) -> tuple[str, frozenset[str]] | None:
    """Whose turn it is and the pieces of a FEN, each as colour, rank and square; None for any other text."""
    side, *halves = fen.strip().rstrip(".").split(":")
    pieces = set()
    for half in halves:
        colour = half.strip()[:1].upper()
        for word in filter(None, (word.strip() for word in half.strip()[1:].split(","))):
            rank = "K" if word[0] == "K" else ""
            first, _, last = word.removeprefix("K").partition("-")
            named = variant.layout.named
            if first not in named or (last and last not in named) or colour not in ("W", "B"):
                return None
            for number in range(named[first], named[last or first] + 1):
                pieces.add(f"{colour}{rank}{number}")
    return side.strip().upper(), frozenset(pieces)


def result(outcome: Outcome | None, variant: Variant) -> str:
    """An outcome as PDN writes it, White's points first; `*` without one."""
    if outcome is None or not outcome.winners:
        return "*"
    if len(outcome.winners) > 1:
        return "1/2-1/2"
    return "1-0" if (outcome.winners == (1,)) == variant.white_first else "0-1"


def write_record(game: GameRecord, variant: Variant) -> str:
    """The record's text.

    A comment before the moves holds the remarks, one after a move its player's comment and expectation, and
    one before the result the final remarks. A void game's result is `*`.
    """
    white, black = (0, 1) if variant.white_first else (1, 0)
    ended = result(game.outcome, variant)
    tags = (
        ("GameName", game.game_name),
        ("Event", game.event),
        ("Site", "?"),
        ("Date", game.date.replace("-", ".")),
        ("Round", "?"),
        ("White", game.players[white]),
        ("Black", game.players[black]),
        ("Result", ended),
        ("GameType", variant.game_type),
        ("Annotator", f"academy-arena {own_version()}"),
    )
    lines = [f'[{name} "{_quoted(value)}"]' for name, value in tags]
    words = [*_comment("\n".join(game.remarks))]
    for ply, played in enumerate(game.moves):
        if ply % 2 == 0:
            words.append(f"{ply // 2 + 1}.")
        words += [played.text, *_comment(_remarks_on(played, variant))]
    words += [*_comment("\n".join(game.final_remarks)), ended]
    moves = textwrap.fill(" ".join(words), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n".join((*lines, "", moves, ""))


def _remarks_on(played: PlayedMove, variant: Variant) -> str:
    values = ", ".join(
        f"{'White' if (seat == 1) == variant.white_first else 'Black'} {value:.3f}"
        for seat, value in sorted(played.values.items())
    )
    return "\n".join(filter(None, (played.comment, f"expected: {values}" if values else "")))


def _comment(text: str) -> Iterator[str]:
    # Comments do not nest, and PDN has no way to write a brace in one.
    if text.strip():
        yield "{" + " ".join(encodable(text).replace("{", "(").replace("}", ")").split()) + "}"


def _quoted(value: str) -> str:
    return re.sub(r'(["\\])', r"\\\1", " ".join(encodable(value).split()))
