"""What the service tells of a competition, taken from its control file and its results."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf.duration_pb2 import Duration

from arena.control.control_file import read
from arena.control.settings import Control
from arena.results.database import NoResultsYetError, ResultsDatabase
from arena.results.games import GameListing, ListedGame, WholeGame
from arena.results.standings import Score
from arena.runner.files import CompetitionFiles
from arena.runner.results import read_results
from arena.selection.kinds import selector_for
from arena.service.runs import LastRun
from arena.v1 import competitions_pb2


@dataclass(frozen=True)
class Counts:
    """How far a competition is; `last` is its newest game's sequence."""

    games: int = 0
    voids: int = 0
    last: int = 0
    completed: bool = False


class Viewed:
    """One competition as it stands. Its methods read files: call them where waiting harms nobody."""

    def __init__(self, name: str, path: Path) -> None:
        """Raises ControlError."""
        self.name = name
        self.control: Control = read(path)
        self.files = CompetitionFiles(path, self.control.results)
        self._total = selector_for(self.control).total

    def counts(self) -> Counts | None:
        """How far it is, None where it has never been run. Raises ResultsError and SQLAlchemyError."""
        try:
            with self._listing() as listing:
                return Counts(listing.count(), listing.void_count(), listing.last(), listing.completed())
        except NoResultsYetError:
            return None

    @contextmanager
    def _listing(self) -> Iterator[GameListing]:
        if not self.files.results_exist():
            raise NoResultsYetError(f"there are no results of {self.name!r} yet")
        with closing(ResultsDatabase.open(self.files.results, create=False)) as database:
            yield GameListing(database, self.files.name)

    def competition(self, running: bool, last: LastRun | None) -> competitions_pb2.Competition:
        """All about it; `running` says that the service runs it, `last` how it ended."""
        control, counts = self.control, self.counts()
        running = running or self.files.running()
        return competitions_pb2.Competition(
            name=self.name,
            state=_state(counts, running, last),
            kind=control.kind,
            description=control.description,
            game=control.game.name,
            settings_json=json.dumps(dict(control.game.settings), sort_keys=True),
            players=control.competitors,
            games_played=counts.games if counts else 0,
            games_total=self._total,
            void_games=counts.voids if counts else 0,
            remark=last.words if last and not running else "",
        )

    def games(self, after: int, limit: int) -> list[competitions_pb2.Game]:
        """The next games after a sequence. Raises ResultsError."""
        try:
            with self._listing() as listing:
                return [_game(each) for each in listing.after(after, limit)]
        except NoResultsYetError:
            return []

    def game(self, game_id: str) -> competitions_pb2.GetGameResponse | None:
        """One game with its moves. Raises ResultsError."""
        with self._listing() as listing:
            found = listing.game(game_id)
        return None if found is None else _whole(found)

    def standings(self) -> competitions_pb2.GetStandingsResponse:
        """The table. Raises ResultsError."""
        standings = read_results(self.control, self.files).standings
        answer = competitions_pb2.GetStandingsResponse(games=standings.games)
        for player in standings.table():
            line = answer.standings.add(
                player=player.name,
                score=_score(player.score),
                points=player.points,
                forfeits=player.forfeits,
                elo=player.elo,
                time_losses=player.time_losses,
                faults=player.faults.total(),
            )
            if player.mean_cpu is not None:
                line.mean_cpu.CopyFrom(_duration(player.mean_cpu))
        for name in standings.order:
            for opponent in standings.order:
                score = standings.against(name, opponent)
                if score.games:
                    answer.pairs.add(player=name, opponent=opponent, score=_score(score))
        return answer


def _state(
    counts: Counts | None, running: bool, last: LastRun | None
) -> competitions_pb2.CompetitionState.ValueType:
    if running:
        return competitions_pb2.COMPETITION_STATE_RUNNING
    if counts is not None and counts.completed:
        return competitions_pb2.COMPETITION_STATE_COMPLETED
    # 3 is Ctrl-C or SIGTERM, 5 reports to ACADEMY that wait; below 0 are signals.
    if last is not None and last.status not in (0, 3, 5):
        return competitions_pb2.COMPETITION_STATE_HALTED
    return (
        competitions_pb2.COMPETITION_STATE_NEW
        if counts is None
        else competitions_pb2.COMPETITION_STATE_STOPPED
    )


def _score(score: Score) -> competitions_pb2.Score:
    return competitions_pb2.Score(
        wins=score.wins, draws=score.draws, losses=score.losses, unknown=score.unknown
    )


def _game(game: ListedGame) -> competitions_pb2.Game:
    message = competitions_pb2.Game(
        sequence=game.sequence,
        game_id=game.game_id,
        matchup=game.matchup,
        result=game.summary,
        detail=game.detail,
        termination=game.termination,
    )
    message.finished.FromDatetime(game.finished)
    for player in game.players:
        seat = message.players.add(
            name=player.name,
            winner=player.winner,
            points=player.points,
            elo_before=player.elo_before,
            elo_after=player.elo_after,
        )
        if player.cpu_seconds is not None:
            seat.cpu.CopyFrom(_duration(player.cpu_seconds))
    return message


def _whole(found: WholeGame) -> competitions_pb2.GetGameResponse:
    moves: list[Any] = [
        competitions_pb2.GameMove(
            seat=move.seat,
            text=move.text,
            time=_duration(move.seconds),
            value=move.value,
            comment=move.comment,
        )
        for move in found.moves
    ]
    return competitions_pb2.GetGameResponse(
        game=_game(found.game), moves=moves, record=found.record, record_extension=found.record_extension
    )


def _duration(seconds: float) -> Duration:
    duration = Duration()
    duration.FromNanoseconds(round(seconds * 1e9))
    return duration
