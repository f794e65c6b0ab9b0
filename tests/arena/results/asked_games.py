"""A competition to two time controls and with openings, of which the document's queries are asked."""

from dataclasses import replace

from sqlalchemy import text

from arena.jobs import Fault, PlayerUsage, TimeControl
from arena.results.database import ResultsDatabase
from arena.results.game_rows import GivenOpening
from arena.results.series import PlannedGame
from referees.api import Outcome, Termination
from tests.arena.results.examples import heading, play_game, player, registered, result

BLITZ = TimeControl(main_seconds=60, increment_seconds=1)
RAPID = TimeControl(main_seconds=600)
HASTY = TimeControl(main_seconds=5)
RUY = GivenOpening("openings.sgf", 2, "Ruy")
NAMELESS = GivenOpening("openings.sgf", 10, "")
OF_ANOTHER_FILE = GivenOpening("more.sgf", 2, "Ruy")
LATE = PlayerUsage(wall_seconds=60.0, fault=Fault.LATE, remark="took 62 s for a move", own_moves=2)
LATE_AT_FIRST = PlayerUsage(wall_seconds=8.0, fault=Fault.LATE, remark="took 8 s for a move", own_moves=1)
NEVER_ASKED = PlayerUsage()
PLAIN = PlayerUsage(1.0, 6.0, engine_name="x:1", own_moves=2)
BLACK, DRAWN = Outcome((1,), Termination.SCORE, "B+1"), Outcome((1, 2), Termination.SCORE, "0")
ON_TIME = Outcome((1,), Termination.FORFEIT, "B+F", detail="forfeit by b")
AT_FIRST = Outcome((2,), Termination.FORFEIT, "W+F", detail="forfeit by b")
UNKNOWN = Outcome((), Termination.MOVE_LIMIT, "?")
GAMES = (
    ("AvB_0", ("a", "b"), BLACK, BLITZ, RUY, (PLAIN, PLAIN)),
    ("AvB_1", ("b", "a"), DRAWN, BLITZ, RUY, (PLAIN, PLAIN)),
    ("AvB_2", ("a", "b"), ON_TIME, RAPID, NAMELESS, (PLAIN, LATE)),
    ("AvB_3", ("b", "a"), UNKNOWN, RAPID, OF_ANOTHER_FILE, (PLAIN, PLAIN)),
    ("AvB_4", ("b", "a"), AT_FIRST, HASTY, None, (LATE_AT_FIRST, NEVER_ASKED)),
)
ANSWERS = {
    "standings": [
        ("cup", "a", 5, 3, 1, 0, 1, 3.5, 0, 0, 0, 1003.0),
        ("cup", "b", 5, 0, 1, 3, 1, 0.5, 2, 2, 2, 997.0),
    ],
    "head to head": [("a", "b", 5, 3.5), ("b", "a", 5, 0.5)],
    "on time": [
        ("b", "AvB_2", "600 s", "took 62 s for a move"),
        ("b", "AvB_4", "5 s", "took 8 s for a move"),
    ],
    "Elo": [
        *(("a", 1001.0), ("a", 1001.0), ("a", 1002.0), ("a", 1002.0), ("a", 1003.0)),
        *(("b", 999.0), ("b", 999.0), ("b", 998.0), ("b", 998.0), ("b", 997.0)),
    ],
    "openings": [
        ("more.sgf", "2 Ruy", 1, 3.0),
        ("openings.sgf", "2 Ruy", 2, 3.0),
        ("openings.sgf", "10", 1, 3.0),
        (None, None, 1, 0.0),
    ],
    "clocks": [
        ("5 s", "a", 1, 1.0, None),
        ("5 s", "b", 1, 0.0, 8.0),
        ("60 s + 1 s a move", "a", 2, 0.75, 3.0),
        ("60 s + 1 s a move", "b", 2, 0.25, 3.0),
        ("600 s", "a", 2, 1.0, 3.0),
        ("600 s", "b", 2, 0.0, 16.5),
    ],
}  # fmt: skip


def play(database: ResultsDatabase) -> None:
    """Store the games as a run does."""
    series = registered(database, heading(name="cup"))
    elo = {"a": 1000.0, "b": 1000.0}
    for number, (game_id, names, outcome, clock, opening, usage) in enumerate(GAMES):
        setups = [replace(player(name), time_control=clock) for name in names]
        before = tuple(elo[name] for name in names)
        if len(outcome.winners) == 1:
            elo = {"a": elo["a"] + 1.0, "b": elo["b"] - 1.0}
        after = tuple(elo[name] for name in names)
        played = replace(result(game_id, outcome), usage=usage, started=1e9 + number)
        if NEVER_ASKED in usage:
            played = replace(played, moves=())
        assert play_game(series, PlannedGame("AvB", setups, opening=opening), played, (before, after))


def answer(database: ResultsDatabase, query: str) -> list[tuple[object, ...]]:
    """The rows of a query; dates are left out."""
    with database.transaction() as connection:
        rows = connection.execute(text(query)).all()
    return [tuple(value for name, value in row._mapping.items() if name != "date") for row in rows]


def check_answers(database: ResultsDatabase, queries: list[str]) -> None:
    """The document's queries, in their order, give what was played."""
    standings, pairs, on_time, elo, openings, clocks = (answer(database, query) for query in queries)
    assert standings == ANSWERS["standings"]
    assert pairs == ANSWERS["head to head"]
    assert on_time == ANSWERS["on time"]
    assert elo == ANSWERS["Elo"]
    # Databases disagree whether games without an opening come first or last.
    assert sorted(openings, key=lambda row: row[0] is None) == ANSWERS["openings"]
    assert clocks == ANSWERS["clocks"]
