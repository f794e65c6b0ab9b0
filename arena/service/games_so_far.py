"""What a competition's selector makes of the games so far. Each game is read once, however often one asks."""

import threading
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final, TypeVar

from arena.control.settings import Control
from arena.reports.replay import inform_selector, replay_games
from arena.results.first_ratings import with_first_ratings
from arena.results.games import FinishedGame
from arena.results.series_reader import ListedGame, SeriesReader
from arena.selection.selector import Fixture, Selector

_T = TypeVar("_T")
_GAMES_AT_ONCE: Final = 1_000


class GamesSoFar:
    """A selector that knows the games of a competition. Its calls may come from any thread."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._lock = threading.Lock()
        self._selector: Selector | None = None
        # What the selector knows besides games, and the last of these.
        self._besides: object = None
        self._last: ListedGame | None = None

    def ask(self, series: SeriesReader, question: Callable[[Selector], _T]) -> _T:
        """Return what the selector answers, which the question must not change.

        Raises ResultsError and CompetitionChangedError for games that are not the control file's.
        """
        with self._lock:
            selector, self._selector = self._selector, None
            self._selector = self._catch_up(series, selector)
            return question(self._selector)

    def _catch_up(self, series: SeriesReader, selector: Selector | None) -> Selector:
        first_ratings = series.first_ratings()
        besides = series.uuid(), series.exclusions(), series.inhibited(), first_ratings
        if selector is not None and besides == self._besides and self._has_last(series):
            for _ in replay_games(selector, self._new_games(series), ()):
                pass
            return selector
        control = with_first_ratings(self._control, first_ratings)
        series.terms().check(control.kind, control.game, control.own_settings)
        self._besides, self._last = besides, None
        return inform_selector(control, series, self._new_games(series))

    def _has_last(self, series: SeriesReader) -> bool:
        """Whether the last game that is known is there: a backup that was put back has fewer, or others."""
        return self._last is None or [*series.games_after(self._last.sequence - 1, 1)] == [self._last]

    def _new_games(self, series: SeriesReader) -> Iterator[FinishedGame]:
        while listed := series.games_after(self._last.sequence if self._last else 0, _GAMES_AT_ONCE):
            for game in listed:
                self._last = game
                yield game.game


def games_to_come(selector: Selector, most: int) -> list[Fixture]:
    """Return the next games in their order, as far as the kind knows them; the selector stays as it is."""
    return list(islice(selector.upcoming(), most))
