"""Contests that ACADEMY names: who played, how it ended, and where the arena shows the game."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request

from academy.v1 import contests_pb2, history_pb2
from web.academy_service import AcademyService
from web.arena_service import ArenaService
from web.failures import PageError
from web.pages.arena_links import game_address
from web.rendering import format_time

__all__ = ["ArenaGames", "ListedContest", "arena_games", "games_of", "list_contests", "newest_contests"]

_RESULTS: Mapping[int, str] = {
    contests_pb2.RESULT_WIN: "won",
    contests_pb2.RESULT_DRAW: "drew",
    contests_pb2.RESULT_LOSS: "lost",
}
# The id of a series is 32 random digits.
_SERIES_SHOWN: Final = 8


@dataclass(frozen=True)
class ListedContest:
    """A contest as a list shows it: name, Elo and result of each seat; when it was, how long, how it ended.

    `address` is the arena's page of the game; "" where these pages do not have it.
    """

    players: Sequence[tuple[str, str, str]]
    facts: str
    address: str
    contest_id: str


class ArenaGames:
    """Where the arena that these pages show has the games of contests.

    `competitions` are their names by what the ids of their contests begin with.
    """

    def __init__(self, competitions: Mapping[str, str]) -> None:
        self._competitions = competitions

    def address(self, contest_id: str, ply: int | None = None) -> str:
        """Return the page of a contest's game after `ply` moves, None for all; "" where there is none."""
        name, game_id = self._find(contest_id)
        return game_address(name, game_id, ply) if name else ""

    def title(self, contest_id: str) -> str:
        """Return what a contest's game is called; its id, shortened, where the arena does not have it."""
        name, game_id = self._find(contest_id)
        return f"game {game_id} of {name}" if name else _shortened(contest_id)

    def _find(self, contest_id: str) -> tuple[str, str]:
        """The competition and the game of a contest; "" for both where the arena has none."""
        series, _, rest = contest_id.partition("/")
        game_id, _, attempt = rest.rpartition("/")
        name = self._competitions.get(series, "")
        return (name, game_id) if name and game_id and attempt else ("", "")


def _shortened(contest_id: str) -> str:
    """An id whose first part, which is random, is cut to what tells series apart."""
    series, slash, rest = contest_id.partition("/")
    return f"{series[:_SERIES_SHOWN]}…{slash}{rest}" if len(series) > 2 * _SERIES_SHOWN else contest_id


async def arena_games(request: Request) -> ArenaGames:
    """Return where games are, as far as an arena is shown here."""
    return await games_of(request.app.state.sign_in.arena_for(request))


async def games_of(arena: ArenaService | None) -> ArenaGames:
    """Return where an arena has its games."""
    if arena is None:
        return ArenaGames({})
    # These pages are about knowledge: an arena that is away takes only links from them.
    return ArenaGames(await arena.extras.get("series", arena.series) or {})


async def newest_contests(academy: AcademyService, game_id: str) -> Sequence[history_pb2.ContestSummary]:
    """Return the newest contests that a game learnt from; none where the token may not see them."""
    root = history_pb2.ExploreOpeningRequest(game_id=game_id, player=1)
    try:
        return (await academy.ask(academy.history.ExploreOpening, root)).newest
    except PageError:
        # A bot that plays a contest may not look into its game.
        return ()


def list_contests(
    contests: Iterable[history_pb2.ContestSummary], games: ArenaGames, ply: int | None = None
) -> list[ListedContest]:
    """Return contests for a list, with links to their games after `ply` moves; None for the last."""
    return [_listed(contest, games, ply) for contest in contests]


def _listed(contest: history_pb2.ContestSummary, games: ArenaGames, ply: int | None) -> ListedContest:
    results = list(contest.results) or [contests_pb2.RESULT_UNSPECIFIED] * len(contest.players)
    facts = [
        format_time(contest.report_time) if contest.report_time.seconds else "",
        f"{contest.plies} {'ply' if contest.plies == 1 else 'plies'}" if contest.plies else "",
        contest.termination,
    ]
    return ListedContest(
        [
            (player.identity or player.name, f"{player.elo:.0f}", _RESULTS.get(result, ""))
            for player, result in zip(contest.players, results, strict=True)
        ],
        ", ".join(filter(None, facts)),
        games.address(contest.contest_id, ply),
        contest.contest_id,
    )
