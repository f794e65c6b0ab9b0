"""What is to be played in each kind of competition, as a TOML control file says it."""

from collections.abc import Callable, Mapping
from typing import Final, Literal, cast

from arena.control import game_table, values
from arena.control.draft import Draft
from arena.control.mars_tables import mars
from arena.control.plans import (
    AllPlayAllPlan,
    GauntletPlan,
    Matchup,
    Plan,
    PlayoffPlan,
    SprtPlan,
    SwissPlan,
)
from arena.control.table import TomlTable
from arena.control.tuner_tables import cross_entropy, monte_carlo
from arena.ratings.pentanomial import Sprt

MAX_MATCHUPS: Final = 10_000
_GAMES: Final = values.whole(1, 10_000_000)
_ELO: Final = values.number(-2000, 2000)
_CHANCE: Final = values.number(1e-6, 0.499)


def plan(kind: str, draft: Draft) -> Plan:
    """The plan of a competition of one of the KINDS. Raises ControlError."""
    return _READERS[kind](draft)


def _all_play_all(draft: Draft) -> AllPlayAllPlan:
    competition = draft.competition
    return AllPlayAllPlan(
        draft.names(competition, "competitors", tuple(draft.players), least=draft.seats),
        competition.take("rounds", _GAMES, None),
    )


def _playoff(draft: Draft) -> PlayoffPlan:
    competition = draft.competition
    games = competition.take("games", values.whole(0, 10_000_000), None)
    alternating = competition.take("alternating", values.flag, False)
    tables = draft.file.array("matchups")
    if not 1 <= len(tables) <= MAX_MATCHUPS:
        draft.file.fail("matchups", f"has {len(tables)} tables, from 1 to {MAX_MATCHUPS} are allowed")
    matchups: dict[str, Matchup] = {}
    for place, table in enumerate(tables):
        matchup = _matchup(draft, table, str(place), games, alternating)
        if matchup.matchup_id in matchups:
            table.fail("id", f"another matchup has the id {matchup.matchup_id!r}")
        matchups[matchup.matchup_id] = matchup
    return PlayoffPlan(tuple(matchups.values()))


def _matchup(draft: Draft, table: TomlTable, place: str, games: int | None, alternating: bool) -> Matchup:
    players = table.need("players", values.several(values.identifier, 100))
    for name in players:
        if name not in draft.players:
            table.fail("players", f"{name!r} has no table [players.{name}]")
    if len(players) != draft.seats:
        table.fail("players", f"{len(players)} given, {draft.game.name} has {draft.seats} seats")
    own_game = table.table("game")
    matchup = Matchup(
        matchup_id=table.take("id", values.identifier, place),
        players=players,
        game=draft.game if own_game is None else game_table.game(own_game, draft.folder, draft.game),
        name=table.take("name", values.text, "").strip(),
        alternating=table.take("alternating", values.flag, alternating),
        games=table.take("games", values.whole(0, 10_000_000), games),
    )
    table.finish()
    return matchup


def _gauntlet(draft: Draft) -> GauntletPlan:
    draft.only_for_two("gauntlet")
    competition = draft.competition
    challengers = draft.names(competition, "challengers", None, least=1)
    others = tuple(name for name in draft.players if name not in challengers)
    opponents = draft.names(competition, "opponents", others, least=1)
    for name in opponents:
        if name in challengers:
            competition.fail("opponents", f"{name!r} is a challenger")
    return GauntletPlan(challengers, opponents, competition.take("rounds", _GAMES, None))


def _swiss(draft: Draft) -> SwissPlan:
    draft.only_for_two("swiss")
    competition = draft.competition
    return SwissPlan(
        draft.names(competition, "competitors", tuple(draft.players), least=2),
        competition.need("rounds", values.whole(1, 10_000)),
        competition.take("games", values.whole(1, 10_000), 2),
    )


def _sprt(draft: Draft) -> SprtPlan:
    draft.only_for_two("sprt")
    competition = draft.competition
    names = draft.names(competition, "competitors", tuple(draft.players), least=2)
    if len(names) > 2:
        competition.fail("competitors", f"{len(names)} given, a test is of 2: the new one and the old one")
    elo0 = competition.need("elo0", _ELO)
    elo1 = competition.need("elo1", _ELO)
    alpha = competition.take("alpha", _CHANCE, 0.05)
    beta = competition.take("beta", _CHANCE, 0.05)
    model = competition.take("model", values.choice("normalized", "logistic"), "normalized")
    games = competition.take("games", values.whole(2, 10_000_000), None)
    if games is not None and games % 2:
        competition.fail("games", f"must be even, games are played in pairs; not {games}")
    try:
        test = Sprt(elo0, elo1, alpha, beta, cast(Literal["normalized", "logistic"], model))
    except ValueError as error:
        competition.fail("elo1", str(error))
    return SprtPlan((names[0], names[1]), test, games)


_READERS: Final[Mapping[str, Callable[[Draft], Plan]]] = {
    "playoff": _playoff,
    "all-play-all": _all_play_all,
    "gauntlet": _gauntlet,
    "swiss": _swiss,
    "sprt": _sprt,
    "mars": mars,
    "mc_tuner": monte_carlo,
    "ce_tuner": cross_entropy,
}
KINDS: Final = tuple(_READERS)
