"""Games, finished and live, as messages."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from arena.jobs import Fault
from arena.lobby.errors import InvalidRequestError
from arena.match.live_game import LiveMove, LiveNews
from arena.players.remote import to_duration
from arena.results.game_filter import GameFilter
from arena.results.game_rows import StoredMove
from arena.results.series_reader import ListedGame, WholeGame
from arena.results.standings import Score
from arena.service.timestamps import timestamp_of
from arena.v1 import competitions_pb2

LONGEST_FILTER: Final = 200
MOST_MOVES: Final = 2**31 - 1
# In bytes; clients of gRPC take 4 MiB, if they do not say otherwise.
_LONGEST_ANSWER: Final = 4_000_000


_OUTCOMES: Final[Mapping[int, Literal["won", "drew", "lost"]]] = {
    competitions_pb2.PLAYER_OUTCOME_WON: "won",
    competitions_pb2.PLAYER_OUTCOME_DREW: "drew",
    competitions_pb2.PLAYER_OUTCOME_LOST: "lost",
}


def read_filter(wanted: competitions_pb2.GameFilter) -> GameFilter:
    """Read a filter. Raises InvalidRequestError."""
    for name in ("player", "opponent", "termination", "opening"):
        if len(getattr(wanted, name)) > LONGEST_FILTER:
            raise InvalidRequestError(f"filter.{name}: longer than {LONGEST_FILTER} characters")
    if (wanted.outcome or wanted.opponent) and not wanted.player:
        raise InvalidRequestError("filter.player: it is missing; `outcome` and `opponent` are a player's")
    if wanted.max_moves and wanted.max_moves < wanted.min_moves:
        raise InvalidRequestError(
            f"filter.max_moves: {wanted.max_moves} is below min_moves, {wanted.min_moves}"
        )
    if max(wanted.min_moves, wanted.max_moves) > MOST_MOVES:
        raise InvalidRequestError(f"filter: no game has more than {MOST_MOVES:,} moves")
    return GameFilter(
        wanted.player,
        wanted.opponent,
        _OUTCOMES.get(wanted.outcome),
        wanted.termination,
        wanted.opening,
        wanted.min_moves,
        wanted.max_moves,
        wanted.faults,
    )


def score_message(score: Score) -> competitions_pb2.Score:
    """Return a score."""
    return competitions_pb2.Score(
        wins=score.wins, draws=score.draws, losses=score.losses, unknown=score.unknown
    )


def game_message(listed: ListedGame) -> competitions_pb2.Game:
    """Return a finished game as lists show it."""
    game, outcome = listed.game, listed.game.outcome
    message = competitions_pb2.Game(
        sequence=listed.sequence,
        game_id=game.game_id,
        matchup=game.matchup,
        result=outcome.summary,
        detail=outcome.detail,
        termination=outcome.termination.value,
        move_count=listed.moves,
        opening=listed.opening,
        started=timestamp_of(listed.started),
        finished=timestamp_of(listed.finished),
    )
    for place, (name, cpu_seconds) in enumerate(zip(game.players, game.cpu_seconds, strict=True)):
        message.players.add(
            name=name,
            winner=place + 1 in outcome.winners,
            points=outcome.points[place] if outcome.points else None,
            elo_before=game.elo_before[place],
            elo_after=game.elo_after[place],
            fault="" if game.faults[place] is Fault.NONE else game.faults[place].value,
            cpu=None if cpu_seconds is None else to_duration(cpu_seconds),
        )
    return message


def shorten(answer: competitions_pb2.GetGameResponse) -> None:
    """Leave the record out of an answer that is too long, and cut players' comments as far as it needs.

    Both stay whole in the competition's files.
    """
    answer.shortened = answer.ByteSize() > _LONGEST_ANSWER
    if answer.shortened:
        # It repeats the comments.
        answer.record = ""
    longest = max((len(move.comment) for move in answer.moves), default=0)
    while longest > 1 and answer.ByteSize() > _LONGEST_ANSWER:
        longest //= 2
        for move in answer.moves:
            if len(move.comment) > longest:
                move.comment = f"{move.comment[: longest - 1]}…"


def whole_game_message(game: WholeGame) -> competitions_pb2.GetGameResponse:
    """Return a finished game with its moves."""
    return competitions_pb2.GetGameResponse(
        game=game_message(game.listed),
        moves=[_move_message(move, move.values.get(move.seat)) for move in game.moves],
        record=game.record,
        record_extension=game.record_extension,
        seed=game.seed,
        arrangement=game.arrangement,
        start_board=game.start_board,
    )


def _move_message(move: StoredMove | LiveMove, value: float | None) -> competitions_pb2.GameMove:
    return competitions_pb2.GameMove(
        seat=move.seat,
        text=move.text,
        time=to_duration(move.seconds),
        value=value,
        comment=move.comment,
        clock=None if move.clock_seconds is None else to_duration(move.clock_seconds),
        clock_moves=move.clock_stones,
        opening=move.opening,
    )


def _live_moves(moves: Sequence[LiveMove]) -> list[competitions_pb2.GameMove]:
    return [_move_message(move, move.value) for move in moves]


def news_event(news: LiveNews) -> competitions_pb2.WatchCompetitionResponse:
    """Return what is new in a game in progress."""
    message = competitions_pb2.GameInProgress(
        game_id=news.heading.game_id,
        players=news.heading.players,
        moves_before=news.moves_before,
        moves=_live_moves(news.moves),
        over=news.over,
        arrangement=news.heading.arrangement or "",
        settings_json=news.heading.settings_json,
    )
    message.started.FromMicroseconds(int(1e6 * news.heading.started))
    return competitions_pb2.WatchCompetitionResponse(in_progress=message)


def live_game_message(news: LiveNews) -> competitions_pb2.GetGameResponse:
    """Return a game in progress with its moves so far."""
    game = competitions_pb2.Game(
        game_id=news.heading.game_id,
        players=[competitions_pb2.GamePlayer(name=name) for name in news.heading.players],
    )
    return competitions_pb2.GetGameResponse(
        game=game,
        moves=_live_moves(news.moves),
        in_progress=True,
        arrangement=news.heading.arrangement or "",
        settings_json=news.heading.settings_json,
    )
