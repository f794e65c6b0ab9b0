"""What a league shows, as text."""

from collections.abc import Mapping, Sequence

from arena.league.lists import ListedCompetition, ListedPlayer, ListedRating, RatedGame, RatingAt
from arena.league.players import label

_EXPLANATION = (
    "Likeliest: over all games, with the half-width of its 95 % interval. Elo: LUDAE's, game by game.\n"
)


def games_text(games: Sequence[RatedGame], competitions: Sequence[ListedCompetition] = ()) -> str:
    """The league's games, and the competitions that it has games of."""
    if not games:
        return "no games yet\n"
    rows = [(game.game, f"{game.games}", f"{game.players}") for game in games]
    table = _table(("game", "games", "players"), rows, left=1)
    if not competitions:
        return table
    held = [(item.name, item.kind, f"{item.games}") for item in competitions]
    return table + "\n" + _table(("competition", "kind", "games"), held, left=2)


def ratings_text(game: str, ratings: Sequence[ListedRating]) -> str:
    """A game's rating list."""
    rows = [
        (
            f"{place}",
            rating.label,
            rating.family,
            _likeliest(rating.likeliest, rating.error, rating.anchored),
            f"{rating.elo:.0f}",
            f"{rating.games}",
            "--" if rating.score is None else f"{100 * rating.score:.1f} %",
            f"{rating.last_played:%Y-%m-%d}",
        )
        for place, rating in enumerate(ratings, start=1)
    ]
    head = ("", "player", "family", "likeliest", "Elo", "games", "score", "last game")
    return f"{game}\n{_table(head, rows, left=3)}{_EXPLANATION}"


def players_text(players: Sequence[ListedPlayer]) -> str:
    """The players, with their games."""
    rows = [
        (
            label(player.name, player.version),
            player.family,
            player.predecessor or "--",
            f"{player.since:%Y-%m-%d}",
            ", ".join(f"{game} {count}" for game, count in player.games.items()) or "--",
        )
        for player in players
    ]
    return _table(("player", "family", "after", "since", "games"), rows, left=5)


def history_text(history: Mapping[str, Sequence[RatingAt]]) -> str:
    """How the ratings of a player's versions went."""
    rows = [
        (
            name,
            at.game,
            f"{at.time:%Y-%m-%d %H:%M}",
            f"{at.games}",
            _likeliest(at.likeliest, at.error),
            f"{at.elo:.0f}",
        )
        for name, line in history.items()
        for at in line
    ]
    return _table(("player", "game", "time (UTC)", "games", "likeliest", "Elo"), rows, left=3)


def _likeliest(elo: float | None, error: float | None, anchored: bool = False) -> str:
    if elo is None or error is None:
        return "--"
    return f"{elo:.0f} fixed" if anchored else f"{elo:.0f} +- {error:.0f}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> str:
    """Columns, of which the first `left` are aligned to the left."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    lines = (
        "  ".join(
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in (head, *rows)
    )
    return "".join(f"{line}\n" for line in lines)
