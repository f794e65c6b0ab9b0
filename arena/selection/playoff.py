"""Matchups that people have written down, each with a game and a number of games of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from arena.control.plans import Matchup
from arena.jobs import PlayerSetup
from arena.selection.matchups import Group, MatchupSelector


class Playoff(MatchupSelector):
    """Plays matchups as Gomill's ringmaster does.

    A player who meets himself appears the second time as `NAME#2`. `code` is the competition's name, for
    records. Results of matchups that have gone from the control file are kept, and no more are played.
    """

    def __init__(
        self, matchups: Sequence[Matchup], players: Mapping[str, PlayerSetup], code: str, seed: int = 0
    ) -> None:
        self._matchups = tuple(matchups)
        super().__init__(
            {matchup.matchup_id: _group(matchup, players, code) for matchup in matchups},
            seed,
            keep_ghosts=True,
        )

    @property
    def description(self) -> str:
        """The kind, and of each matchup its id, players and number of games."""
        return "playoff " + " ".join(
            f"{matchup.matchup_id}={'/'.join(matchup.players)}"
            f"*{'unlimited' if matchup.games is None else matchup.games}"
            f"{'' if matchup.alternating else ' (fixed seats)'}"
            for matchup in self._matchups
        )


def _group(matchup: Matchup, players: Mapping[str, PlayerSetup], code: str) -> Group:
    line_up = matchup.line_up
    setups: tuple[PlayerSetup, ...] = ()
    if line_up != matchup.players:
        setups = tuple(
            replace(players[original], name=name)
            for name, original in zip(line_up, matchup.players, strict=True)
        )
    return Group(
        players=line_up,
        games=matchup.games,
        alternating=matchup.alternating,
        game=matchup.game,
        event=f"{code} ({matchup.name})" if matchup.name else "",
        setups=setups,
    )
