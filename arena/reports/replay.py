"""The games so far, as a competition's selector hears of them."""

from collections.abc import Iterable, Iterator

from arena.control.settings import Control
from arena.results.exclusions import Change, Exclusion, interleave
from arena.results.games import FinishedGame
from arena.results.series_reader import SeriesReader
from arena.selection.kinds import selector_for
from arena.selection.selector import CompletedGame, Selector


def inform_selector(control: Control, series: SeriesReader, games: Iterable[FinishedGame]) -> Selector:
    """A selector that knows all games so far. Raises CompetitionChangedError."""
    selector = selector_for(control)
    for _ in replay_games(selector, games, series.exclusions()):
        pass
    for name, variant in series.inhibited():
        selector.inhibit(name, variant)
    return selector


def replay_games(
    selector: Selector,
    games: Iterable[FinishedGame],
    excluded: Iterable[Exclusion],
    *,
    remarks: bool = False,
) -> Iterator[tuple[FinishedGame, str]]:
    """Pass the finished games and exclusions on to the selector in their order, and yield each game.

    With `remarks` each game comes with what the history file says of it besides its result.

    Raises CompetitionChangedError if they are not the games of the control file.
    """
    for entry in interleave(games, excluded):
        match entry:
            case Change(scope, name, is_out):
                (selector.exclude if is_out else selector.readmit)(scope, name)
            case game:
                remark = selector.history_remark(game.game_id, game.detail) if remarks else ""
                selector.completed(completed_game(game))
                yield game, remark


def completed_game(game: FinishedGame) -> CompletedGame:
    """What a selector learns of a stored game."""
    return CompletedGame(game.game_id, game.players, game.outcome, game.detail, game.game)
