"""What was played elsewhere, read from record files, as reports that ACADEMY learns from."""

import hashlib
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import starmap
from pathlib import Path
from typing import Any, Final

from arena.academy.client import contest_message, contest_report, fitted
from arena.academy.session import AcademySession
from arena.jobs import GameResult, JobMove
from arena.match.recorder import described
from arena.ratings.elo import MOST_ELO
from clients.connection import AcademyRefusedError
from referees.api import (
    IllegalMoveError,
    Outcome,
    RecordedGame,
    Referee,
    Termination,
    UnreadableMoveError,
    UnreadableRecordError,
)
from referees.legible_text import legible

MAX_BYTES: Final = 1 << 28
_UNKNOWN: Final = "unknown"


class UnusableGameError(ValueError):
    """A recorded game that teaches nothing; the message says why."""


@dataclass
class Lessons:
    """How many games ACADEMY has learnt, knew already, and why others were left out, with a place of each."""

    learnt: int = 0
    known: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    first_places: dict[str, str] = field(default_factory=dict)

    @property
    def games(self) -> int:
        """All games that were looked at."""
        return self.learnt + self.known + self.left_out.total()

    def leave_out(self, why: str, place: str) -> None:
        """Count a game that teaches nothing."""
        self.left_out[why] += 1
        self.first_places.setdefault(why, place)


def record_files(paths: Sequence[Path], extension: str) -> Iterator[Path]:
    """The files among the paths, and those with the records' extension in the folders, however deep."""
    for path in paths:
        if path.is_dir():
            yield from sorted(
                file for file in path.rglob("*") if file.suffix.lower() == f".{extension}" and file.is_file()
            )
        else:
            yield path


def read_old_games(path: Path, rules: Referee[Any, Any]) -> list[RecordedGame]:
    """The games of a record file. Raises UnreadableRecordError."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UnreadableRecordError(f"it cannot be read: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise UnreadableRecordError(f"it has more than {MAX_BYTES >> 20} MiB: split it")
    return list(starmap(RecordedGame, rules.read_records(content)))


class OldGamesTeacher:
    """Reports games to ACADEMY that no run has played; `elo` is for players whose records have none.

    The same game twice, in this or any later run, is learnt once: its contest's id is a digest of it, and of
    the name that ACADEMY has for what was played.
    """

    def __init__(self, session: AcademySession, rules: Referee[Any, Any], elo: float) -> None:
        self._session = session
        self._rules = rules
        self._elo = elo

    def teach(self, game: RecordedGame) -> bool:
        """Report a game; return whether it was new to ACADEMY.

        Raises UnusableGameError; AcademyUnavailableError and AcademyRefusedError where no other game would
        fare better.
        """
        result = as_result(self._rules, game)
        seats = range(self._rules.seats)
        names = [_player_name(name) for name in game.players] or [_UNKNOWN for _ in seats]
        elos = [
            self._elo if elo is None or not abs(elo) <= MOST_ELO else elo
            for elo in game.elo or [None for _ in seats]
        ]
        spec = self._session.called(self._rules.spec())
        contest_id = _contest_id(spec.game_id, names, result, game.seed)
        contest = contest_message(contest_id, spec, names, elos)
        report, _ = fitted(contest_report(contest, result))
        if report.void:
            raise UnusableGameError(report.termination)
        try:
            return self._session.report(report)
        except AcademyRefusedError as refusal:
            if refusal.code != "INVALID_ARGUMENT":
                raise
            # Before the first colon stands which contest it is: the reasons of many games would all differ.
            raise UnusableGameError(f"ACADEMY refuses it: {str(refusal).partition(': ')[2]}") from None


def _player_name(recorded: str) -> str:
    """A name as ACADEMY takes it: in Unicode's normal form C, on one line, without what steers terminals."""
    return " ".join(legible(unicodedata.normalize("NFC", recorded)).split()) or _UNKNOWN


def _contest_id(game_id: str, players: Sequence[str], result: GameResult, seed: int) -> str:
    """The moves count as the referee spells them: collections spell the same game in their own ways."""
    winners = result.outcome.winners if result.outcome is not None else ()
    whole = [game_id, players, [move.text for move in result.moves], winners, seed]
    return f"record/{hashlib.sha256(json.dumps(whole).encode()).hexdigest()[:40]}"


def as_result(rules: Referee[Any, Any], game: RecordedGame) -> GameResult:
    """A recorded game as a run would have reported it, with its positions. Raises UnusableGameError."""
    if why := game.fault or game.doubt:
        raise UnusableGameError(why)
    for what, given in (("players", game.players), ("ratings", game.elo)):
        if given and len(given) != rules.seats:
            raise UnusableGameError(f"it has {len(given)} {what}, not {rules.seats}")
    outcome = Outcome(game.winners, Termination.UNKNOWN, "")
    if why := outcome.contradiction(rules.seats):
        raise UnusableGameError(why)
    if not game.winners:
        raise UnusableGameError("its record does not say who won")
    first = rules.start(game.seed)
    moves = tuple(_described_moves(rules, first, game.moves))
    if not moves:
        raise UnusableGameError("it has no moves")
    return GameResult(
        game_id="",
        outcome=outcome,
        void_reason="",
        moves=moves,
        start_board=rules.board(first, 1).letters,
        usage=(),
        record="",
        record_extension=rules.record_extension,
        started=0.0,
        setup_seconds=0.0,
        play_seconds=0.0,
    )


def _described_moves(rules: Referee[Any, Any], position: Any, texts: Sequence[str]) -> Iterator[JobMove]:
    place = 0
    while place < len(texts):
        seats = rules.to_move(position)
        if not seats:
            raise UnusableGameError(f"its game is over after move {place} of {len(texts)}")
        turn = {}
        for number, seat in enumerate(seats, start=place):
            if number == len(texts):
                raise UnusableGameError(f"its last turn has {number - place} of {len(seats)} moves")
            try:
                turn[seat] = rules.read_move(position, seat, texts[number])
                rules.check(position, seat, turn[seat])
            except (UnreadableMoveError, IllegalMoveError) as error:
                raise UnusableGameError(f"move {number + 1}: {error}") from None
        after = rules.play(position, turn)
        interaction = bool(rules.interaction(after))
        for seat, move in turn.items():
            note = JobMove(seat, rules.move_text(move), None, None, interaction, 0.0)
            yield described(rules, note, move, position, after)
        place += len(seats)
        position = after


def teach_files(
    teacher: OldGamesTeacher,
    rules: Referee[Any, Any],
    paths: Sequence[Path],
    lessons: Lessons,
    tell: Callable[[Lessons, str], None],
) -> None:
    """Teach the games of all files and count them in `lessons`; `tell` gets these after each, and its place.

    A file that cannot be read counts as one game that is left out. Raises as OldGamesTeacher.teach does.
    """
    for path in paths:
        try:
            games = read_old_games(path, rules)
        except UnreadableRecordError as error:
            lessons.leave_out(str(error), str(path))
            continue
        for number, game in enumerate(games, start=1):
            place = f"{path}, game {number}"
            try:
                if teacher.teach(game):
                    lessons.learnt += 1
                else:
                    lessons.known += 1
            except UnusableGameError as error:
                lessons.leave_out(str(error), place)
            tell(lessons, place)
