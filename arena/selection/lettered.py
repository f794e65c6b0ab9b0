"""Matchups that are called by the letters of their competitors, which stand for places in a list."""

from collections.abc import Mapping, Sequence

from arena.control.changed_settings import changed
from arena.selection.matchups import Group, MatchupSelector
from arena.selection.selector import CompetitionChangedError, CompletedGame


def letters(place: int) -> str:
    """A competitor's letters in the cross-table by place from 0: A to Z, then AA to ZZ."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if place < 26:
        return alphabet[place]
    return alphabet[(place - 26) // 26] + alphabet[(place - 26) % 26]


class LetteredSelector(MatchupSelector):
    """Plays matchups called `AvB`.

    `lists` are the lists of competitors by their settings' paths; the letters go on from one to the next.
    More competitors may come at the end of the last one, nothing else may change once there are games.
    """

    def __init__(self, lists: Mapping[str, Sequence[str]], groups: Mapping[str, Group], seed: int) -> None:
        super().__init__(groups, seed)
        named = [(path, name) for path, names in lists.items() for name in names]
        self._settings = {letters(place): path for place, (path, _) in enumerate(named)}
        self._competitors = {letters(place): name for place, (_, name) in enumerate(named)}
        self._last = list(lists)[-1]

    def completed(self, game: CompletedGame) -> None:
        """Note that the game needs not be given out. Raises CompetitionChangedError."""
        matchup, _, number = game.game_id.rpartition("_")
        called = matchup.split("v")
        if number.isascii() and number.isdigit() and len(called) == len(game.players):
            # Everybody has moved on by one seat with each game.
            shift = -int(number) % len(called)
            players = (*game.players[shift:], *game.players[:shift])
            if matchup not in self.groups or self.groups[matchup].players != players:
                raise self._misplaced(called, players)
        super().completed(game)

    def _misplaced(self, called: Sequence[str], players: Sequence[str]) -> CompetitionChangedError:
        for letter, before in zip(called, players, strict=True):
            now = self._competitors.get(letter, "nobody")
            if now != before:
                setting = self._settings.get(letter, self._last)
                return CompetitionChangedError(
                    changed(setting, f"{before} as {letter}", f"{now} as {letter}")
                )
        met = f"{' against '.join(players)} as {' and '.join(called)}"
        return CompetitionChangedError(changed(self._settings[called[-1]], met, "no such games"))
