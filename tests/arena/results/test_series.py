"""A competition's games in the database: stored whole, once, and with all that SAGA asks for."""

import json
import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event, select, text, update
from sqlalchemy.exc import IntegrityError

from arena.control.plans import GameSettings, MarsSeries
from arena.jobs import Fault, PlayerSetup, PlayerUsage, TimeControl
from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.database import ResultsDatabase, ResultsError
from arena.results.game_rows import GivenOpening, grades, ranks, termination_code
from arena.results.game_settings import GameSetting
from arena.results.outbox import StoredVerdict
from arena.results.registration import Heading, SeriesHeading, quality_of
from arena.results.series import Attempt, PlannedGame, Series, remove_series
from arena.results.series_reader import SeriesReader
from referees.api import Outcome, Termination
from referees.diplomacy import Diplomacy
from tests.arena.results.examples import GAME, finish_game, heading, play_game, player, registered, result

STRAITS = replace(
    heading().setting,
    variant="diplomacy-straits",
    facts=Diplomacy.from_settings({"map": "straits"}).variant_facts(),
)


def rows(database: ResultsDatabase, table: Any) -> list[dict[str, Any]]:
    with database.transaction() as connection:
        return [dict(row._mapping) for row in connection.execute(select(table))]


def view(database: ResultsDatabase, name: str) -> list[dict[str, Any]]:
    with database.transaction() as connection:
        return [dict(row) for row in connection.execute(text(f'SELECT * FROM "{name}"')).mappings()]


def begun(series: Series, game_id: str = "AvB_0", contest: bytes | None = None) -> Attempt:
    attempt = series.next_attempt(game_id)
    series.begin(attempt, contest, PlannedGame("AvB", [player("a"), player("b")], detail=f"of {game_id}"))
    return attempt


def finish(series: Series, attempt: Attempt, report: bytes | None = None, **changes: Any) -> bool:
    game = result(attempt.game_id, **changes)
    return finish_game(series, attempt, game, report=report)


def test_a_finished_game_fills_sagas_tables(database: ResultsDatabase) -> None:
    series = registered(database)
    assert finish(series, begun(series))
    (game,) = rows(database, saga.GAME)
    assert (game["SetupTime"], game["PlayTime"], game["TotalTime"]) == (0.5, 3.0, 3.5)
    assert (game["Termination"], game["Years"], game["Survivors"]) == (1, 2, 2)
    assert (game["Leaders"], game["Winners"], game["MaxSupplies"]) == (1, 1, 43.0)
    assert game["Finished"].isoformat() == "2001-09-09T01:46:43.500000"
    black, white = rows(database, saga.PLAYER)
    assert (black["Supplies"], black["Grade"], black["Rank"], black["Winner"]) == (43.0, 43.0, 1, 1)
    assert (white["Supplies"], white["Grade"], white["Rank"], white["Winner"]) == (39.5, 39.5, 2, 0)
    assert (black["Problem"], black["Disorder"], black["Cpu"]) == (0, None, 1.5)
    assert (white["Problem"], white["Disorder"], white["Cpu"]) == (1, 1, None)
    client, _ = rows(database, saga.CLIENT)
    assert (client["Family"], client["Name"], client["Version"]) == ("a", "GNU Go", "3.8")
    assert client["Command"] == "engine a"
    assert [power["Name"] for power in rows(database, saga.POWER)] == ["Black", "White"]
    (setting,) = rows(database, saga.SETTING)
    assert setting["MTL"] == 3


def test_a_games_moves_values_seats_and_ratings_are_stored_with_it(database: ResultsDatabase) -> None:
    series = registered(database)
    finish(series, begun(series))
    moves = view(database, "ARENA_Move")
    assert [(move["Ply"], move["Seat"], move["Text"]) for move in moves] == [
        (1, 1, "D4"),
        (2, 2, "E5"),
        (3, 1, "pass"),
    ]
    assert (moves[0]["ClockSeconds"], moves[0]["ClockStones"], moves[0]["Opening"]) == (None, None, False)
    assert (moves[0]["Seconds"], moves[0]["LegalMoves"], moves[0]["Comment"]) == (0.5, 81, "centre")
    values = [(row["Ply"], row["Seat"], row["Value"]) for row in view(database, "ARENA_MoveValue")]
    assert values == [(1, 1, 0.55), (2, 1, 0.5), (2, 2, 0.5)]
    _, white = rows(database, own.SEAT)
    assert (white["Fault"], white["Remark"]) == ("late", "no answer to genmove in 2.5 s")
    ratings = [(row["Name"], row["EloBefore"], row["EloAfter"]) for row in rows(database, own.RATING)]
    assert ratings == [("a", 1000.0, 1015.0), ("b", 1000.0, 985.0)]


def test_a_stored_game_reads_back_as_it_was(database: ResultsDatabase) -> None:
    series = registered(database)
    finish(series, begun(series, "AvB_1"))
    drawn = Outcome((1, 2), Termination.SCORE, "0", (40.5, 40.5))
    finish(series, begun(series, "AvB_0"), outcome=drawn)
    finish(
        series,
        begun(series, "AvB_2"),
        outcome=Outcome((), Termination.UNKNOWN, "?", detail="players disagreed"),
    )
    reader = SeriesReader.find(database, "contest")
    first, second, third = reader.finished_games()
    assert (first.game_id, first.players, first.outcome) == ("AvB_1", ("a", "b"), result().outcome)
    assert first.detail == "of AvB_1"
    assert first.cpu_seconds == (1.5, None) and first.elo_after == (1015.0, 985.0)
    assert second.outcome == drawn
    assert [game.describe() for game in (first, second, third)] == [
        "a beat b B+3.5",
        "a drew with b 0",
        "a vs b ? (players disagreed)",
    ]
    among_four = replace(second, players=("a", "b", "c", "d"), outcome=replace(drawn, winners=(1, 2, 4)))
    assert among_four.describe() == "a drew with b, d and beat c 0"
    alone = replace(second, players=("a",), outcome=Outcome((1,), Termination.SCORE, "40"))
    assert alone.describe() == "a won 40"
    record = next(reader.records())
    assert (record.game_id, record.content, record.extension) == ("AvB_1", "(;FF[4])", "sgf")


def test_only_records_that_are_missing_are_read(database: ResultsDatabase) -> None:
    series = registered(database)
    for game_id in ("AvB_1", "AvB_0", "AvB_2"):
        finish(series, begun(series, game_id))
    statements: list[str] = []
    event.listen(database.engine, "before_cursor_execute", lambda *seen: statements.append(seen[2]))
    assert [record.game_id for record in series.records(besides={"AvB_0", "AvB_2"})] == ["AvB_1"]
    assert sum('"Record"' in statement for statement in statements) == 1


def test_where_a_newcomer_began_is_looked_up_without_the_games_of_others(database: ResultsDatabase) -> None:
    series = registered(database)
    for number in range(2):
        finish(series, begun(series, f"AvB_{number}"))
    with database.transaction() as connection:
        connection.execute(update(own.RATING).filter_by(GameId=2).values(EloBefore=1015.0))
    assert series.elo_before_first_games(["a", "stranger"]) == {"a": 1000.0}
    statements: list[tuple[str, Any]] = []
    event.listen(
        database.engine, "before_cursor_execute", lambda *seen: statements.append((seen[2], seen[3]))
    )
    series.elo_before_first_games(["stranger"])
    with database.transaction() as connection:
        (statement, values), *_ = statements
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
        steps = [row.detail for row in plan]
    assert steps[0] == "SEARCH ARENA_Rating USING INDEX ARENA_Rating_of_player (Name=?)"


def test_a_game_counts_once(database: ResultsDatabase) -> None:
    series = registered(database)
    attempt, again = begun(series), begun(series)
    assert finish(series, attempt, b"report")
    assert not finish(series, attempt, b"report")
    assert not finish(series, again, b"another")
    assert len(rows(database, saga.GAME)) == 1
    assert series.outbox.counts() == {"waiting": 1, "acknowledged": 0, "refused": 0}


def test_a_game_is_stored_whole_or_not_at_all(database: ResultsDatabase) -> None:
    series = registered(database)
    attempt = begun(series)
    broken = result().moves[0].__class__(1, "D4", "x", 1, False, 0.0, {1: 1.5})
    with pytest.raises(ValueError, match=r"move 'D4': seat 1 reported 1\.5"):
        finish(series, attempt, b"report", moves=(broken,))
    with pytest.raises(IntegrityError, match="WallSeconds"):
        finish(series, attempt, b"report", usage=(PlayerUsage(wall_seconds=None),) * 2)  # type: ignore[arg-type]
    assert rows(database, saga.GAME) == rows(database, own.RATING) == rows(database, own.OUTBOX) == []
    assert finish(series, attempt)


def test_a_void_game_is_not_a_result(database: ResultsDatabase) -> None:
    series = registered(database)
    with pytest.raises(ValueError, match="game AvB_0 is void: player b: it crashed"):
        finish(series, begun(series), outcome=None)


def test_time_lost_in_earlier_attempts_is_counted(database: ResultsDatabase) -> None:
    series = registered(database)
    series.give_up(begun(series), "void", "it crashed", 10.0, None)
    series.give_up(begun(series), "interrupted", "Ctrl-C", 5.0, None)
    finish(series, begun(series))
    (game,) = rows(database, saga.GAME)
    (detail,) = rows(database, own.GAME_DETAIL)
    assert game["TotalTime"] == 18.5
    assert (detail["Attempt"], detail["Voids"]) == (3, 1)
    assert series.void_count() == 1


def test_attempts_of_a_run_that_was_killed_lasted_at_least_until_it_last_stored_something(
    database: ResultsDatabase,
) -> None:
    series = registered(database)
    begun(series)
    (last,) = rows(database, own.ATTEMPT)
    begun(series, "AvB_1")
    for game_id, seconds in (("AvB_0", 60), ("AvB_1", 0)):
        with database.transaction() as connection:
            of_game = update(own.ATTEMPT).where(own.ATTEMPT.c.Name == game_id)
            connection.execute(of_game.values(Started=last["Started"] - timedelta(seconds=seconds)))
    first, second = series.open_attempts()
    assert (first.attempt.game_id, first.seconds) == ("AvB_0", 60.0)
    assert (second.attempt.game_id, second.seconds) == ("AvB_1", 0.0)


def test_attempts_have_contest_ids_of_their_own_and_are_open_until_they_end(
    database: ResultsDatabase,
) -> None:
    series = registered(database)
    first = begun(series, contest=b"contest")
    series.give_up(first, "void", "it crashed", 0.0, b"void report")
    second, other = begun(series), begun(series, "AvB_1", b"other")
    assert (first.number, second.number, other.number) == (1, 2, 1)
    assert len({first.contest_id, second.contest_id, other.contest_id}) == 3
    assert all(len(attempt.contest_id) <= 128 for attempt in (first, second, other))
    finish(series, second)
    (still_open,) = series.open_attempts()
    assert (still_open.attempt, still_open.contest) == (other, b"other")


def test_reports_leave_the_outbox_one_by_one(database: ResultsDatabase) -> None:
    series = registered(database)
    for number in range(3):
        finish(series, begun(series, f"AvB_{number}"), b"report %d" % number)
    first, second, third = series.outbox.waiting()
    series.outbox.mark_acknowledged(first)
    series.outbox.mark_refused(second, "no such game")
    series.outbox.mark_failed(third, "unreachable")
    (left,) = series.outbox.waiting()
    assert (left.report, left.attempts) == (b"report 2", 1)
    assert series.outbox.counts() == {"waiting": 1, "acknowledged": 1, "refused": 1}
    assert series.outbox.refusals() == {second.contest_id: "no such game"}
    series.outbox.mark_refused(left, "too late")
    assert series.outbox.refusals(limit=1) == {third.contest_id: "too late"}


def test_looking_for_reports_that_wait_reads_no_others(database: ResultsDatabase) -> None:
    outbox = registered(database).outbox
    statements: list[tuple[str, Any]] = []
    event.listen(
        database.engine, "before_cursor_execute", lambda *seen: statements.append((seen[2], seen[3]))
    )
    outbox.waiting()
    outbox.count_waiting()
    with database.transaction() as connection:
        plans = [
            [row.detail for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)]
            for statement, values in statements[:2]
        ]
    search = r"SEARCH ARENA_Outbox USING (COVERING )?INDEX ARENA_Outbox_waiting \(SeriesId=\?\)"
    assert len(plans) == 2
    for steps in plans:
        assert len(steps) == 1 and re.fullmatch(search, steps[0])


def test_a_report_that_failed_goes_behind_those_not_tried_yet(database: ResultsDatabase) -> None:
    series = registered(database)
    for number in range(3):
        finish(series, begun(series, f"AvB_{number}"), b"report %d" % number)
    first, *_ = series.outbox.waiting()
    series.outbox.mark_failed(first, "unreachable")
    assert [waiting.report for waiting in series.outbox.waiting()] == [b"report 1", b"report 2", b"report 0"]
    assert [waiting.report for waiting in series.outbox.waiting(limit=1)] == [b"report 1"]


def test_competitions_can_share_a_database(database: ResultsDatabase) -> None:
    first, other = registered(database), registered(database, heading(name="other"))
    finish(first, begun(first), b"report")
    finish(other, begun(other), b"report")
    assert [game.game_id for game in first.finished_games()] == ["AvB_0"]
    assert first.outbox.counts()["waiting"] == 1
    (report,), (others,) = first.outbox.waiting(), other.outbox.waiting()
    first.outbox.mark_acknowledged(report, [StoredVerdict(1, "a", "inserted")])
    other.outbox.mark_refused(others, "no such game")
    assert first.outbox.refusals() == {} and other.outbox.proposals() == {}
    assert len(rows(database, saga.VARIANT)) == 1 and len(rows(database, saga.SETTING)) == 1


def test_registering_again_finds_the_same_rows(database: ResultsDatabase) -> None:
    registered(database)
    before = [rows(database, table) for table in (saga.SERIES, saga.CLIENT, saga.CONTESTANT, own.COMPETITION)]
    registered(database)
    assert before == [
        rows(database, table) for table in (saga.SERIES, saga.CLIENT, saga.CONTESTANT, own.COMPETITION)
    ]


def test_a_changed_command_is_a_new_contestant_under_the_same_name(database: ResultsDatabase) -> None:
    first = registered(database)
    finish(first, begun(first))
    second = registered(database, heading([player("a", "better-engine"), player("b")]))
    finish(second, begun(second, "AvB_1"))
    assert [game.players for game in second.finished_games()] == [("a", "b"), ("a", "b")]
    old, _, new = rows(database, saga.CONTESTANT)
    assert (old["Superseded"], new["Superseded"]) == (True, False)
    weights = {row["ContestantId"]: row["Weight"] for row in rows(database, saga.SERIES_CONTESTANT)}
    assert weights[old["ContestantId"]] == 0.0 and weights[new["ContestantId"]] == 1.0
    seats = [row["ContestantId"] for row in rows(database, saga.PLAYER)]
    assert seats[0] == old["ContestantId"] and seats[2] == new["ContestantId"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"game": replace(GAME, settings={"board_size": 13, "komi": 7.5})},
            r"^game\.board_size: .* with 9, .* now has 13;",
        ),
        (
            {"game": replace(GAME, name="hex")},
            r"^game\.name: the games so far were played with go, the control file now has hex;",
        ),
        ({"game": replace(GAME, move_limit=50)}, r"^game\.move_limit: .* 100, .* 50;"),
        ({"game": replace(GAME, scorer="players")}, r"^game\.scorer: .* internal, .* players;"),
        ({"players": [player("b"), player("a")]}, "competitors: .* a, b, in this order; .* has b, a"),
        ({"players": [player("a"), player("c")]}, "competitors may be added at the end but neither removed"),
    ],
)
def test_other_games_under_the_same_name_are_refused(
    database: ResultsDatabase, changes: dict[str, Any], message: str
) -> None:
    begun(registered(database))
    with pytest.raises(ResultsError, match=message):
        registered(database, heading(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"game": replace(GAME, settings={"board_size": 13, "komi": 7.5})},
        {"kind": "gauntlet"},
        {"players": [player("b"), player("c")]},
    ],
)
def test_a_run_that_was_stopped_before_its_first_game_fixes_no_settings(
    database: ResultsDatabase, changes: dict[str, Any]
) -> None:
    registered(database, heading(name="neighbour"))
    registered(database)
    corrected = heading(**changes)
    series = registered(database, corrected)
    assert finish(series, begun(series))
    # From now on the corrected settings hold.
    registered(database, corrected)
    with pytest.raises(ResultsError, match="the games so far were played with"):
        registered(database)
    registered(database, heading(name="neighbour"))


@pytest.mark.parametrize(("ordered", "later"), [(True, "abc"), (False, "ca")])
def test_competitors_may_be_added_at_the_end_and_those_that_are_not_ordered_come_and_go(
    database: ResultsDatabase, ordered: bool, later: str
) -> None:
    registered(database, heading(ordered=ordered))
    registered(database, heading([player(name) for name in later], ordered=ordered))
    assert [row["Name"] for row in rows(database, own.COMPETITOR)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("winners", "seats", "termination", "code"),
    [
        ((1,), 2, Termination.SCORE, 1),
        ((2,), 2, Termination.FORFEIT, 1),
        ((1, 3), 7, Termination.SCORE, 2),
        ((1, 2), 2, Termination.AGREEMENT, 3),
        ((1, 2), 2, Termination.MOVE_LIMIT, 5),
        ((1, 2), 2, Termination.ADJUDICATION, 5),
        ((1, 2), 2, Termination.SCORE, 6),
        ((), 2, Termination.MOVE_LIMIT, None),
    ],
)
def test_sagas_termination_of_any_game(
    winners: tuple[int, ...], seats: int, termination: Termination, code: int | None
) -> None:
    assert termination_code(Outcome(winners, termination, ""), seats) == code


@pytest.mark.parametrize(
    ("winners", "points", "expected"),
    [
        ((1,), (43.0, 39.5), (1, 2)),
        ((1, 2), (40.5, 40.5), (1, 1)),
        ((2,), (), (2, 1)),
        ((1, 3), (), (1, 3, 1)),
        ((1,), (18.0, 8.0, 8.0, 0.0), (1, 2, 2, 4)),
        ((), (), (None, None)),
    ],
)
def test_sagas_rank(
    winners: tuple[int, ...], points: tuple[float, ...], expected: tuple[int | None, ...]
) -> None:
    assert ranks(Outcome(winners, Termination.SCORE, "", points), len(expected), 9) == expected


@pytest.mark.parametrize(
    ("points", "eliminated", "years", "grade", "rank"),
    [
        ((18.0, 16.0, 0.0, 0.0), (None, None, 3, 7), 10, (18.0, 16.0, -6.0, -2.0), (1, 2, 4, 3)),
        ((34.0, 0.0, 0.0), (None, 4, 4), 5, (34.0, 0.0, 0.0), (1, 2, 2)),
        ((43.0, 0.0), (), 30, (43.0, 0.0), (1, 2)),
        ((), (), 30, (), (None, None)),
    ],
)
def test_sagas_grade_shows_who_was_eliminated_later(
    points: tuple[float, ...],
    eliminated: tuple[int | None, ...],
    years: int,
    grade: tuple[float, ...],
    rank: tuple[int | None, ...],
) -> None:
    outcome = Outcome((1,) if points else (), Termination.SCORE, "", points, eliminated=eliminated)
    assert grades(outcome, years) == grade
    assert ranks(outcome, len(rank), years) == rank


def test_eliminations_and_the_years_that_a_referee_counts_are_stored_and_read_back(
    database: ResultsDatabase,
) -> None:
    series = registered(database, heading(setting=STRAITS))
    outcome = Outcome((1,), Termination.SCORE, "solo", (34.0, 0.0), "agreed", (None, 1), rounds=7)
    finish(series, begun(series), outcome=outcome)
    (game,) = rows(database, saga.GAME)
    assert (game["Years"], game["Survivors"]) == (7, 1)
    assert [(row["Elimination"], row["Grade"]) for row in rows(database, saga.PLAYER)] == [
        (None, 34.0),
        (1, -5.0),
    ]
    (read,) = series.finished_games()
    assert read.outcome == outcome


def test_a_fault_that_saga_has_no_number_for_has_no_disorder(database: ResultsDatabase) -> None:
    series = registered(database)
    usage = (PlayerUsage(), PlayerUsage(fault=Fault.ILLEGAL_MOVE, remark="occupied"))
    finish(series, begun(series), usage=usage)
    _, white = rows(database, saga.PLAYER)
    assert (white["Problem"], white["Disorder"]) == (None, None)


def test_made_players_are_contestants_by_what_they_run(database: ResultsDatabase) -> None:
    series = registered(database)
    candidate = PlayerSetup("#0", ("engine", "--depth", "3"), move_seconds=2.5)
    pairings = [
        (player("a"), replace(player("a"), name="a#2")),
        (candidate, player("b")),
        (replace(candidate, name="#1"), player("b")),
    ]
    for number, pairing in enumerate(pairings):
        assert play_game(series, PlannedGame("tuning", pairing), result(str(number)))
    a, b, tuned = rows(database, saga.CONTESTANT)
    assert tuned["Personality"] == "#0"
    assert [row["ContestantId"] for row in rows(database, saga.PLAYER)] == [
        a["ContestantId"], a["ContestantId"],
        tuned["ContestantId"], b["ContestantId"],
        tuned["ContestantId"], b["ContestantId"],
    ]  # fmt: skip
    assert [game.players for game in series.finished_games()] == [("a", "a#2"), ("#0", "b"), ("#1", "b")]
    assert [row["Family"] for row in rows(database, saga.CLIENT)] == ["a", "b", "candidate"]


def test_players_of_one_family_are_grouped_by_it_and_keep_their_names(database: ResultsDatabase) -> None:
    players = [
        replace(player("a"), command=("gnugo",), family="gnugo", version="3.8"),
        replace(player("b"), command=("gnugo",), family="gnugo", version="3.8"),
        replace(player("gnugo"), family="gnugo"),
        player("d"),
    ]
    registered(database, heading(players))
    families = [(row["Family"], row["Release"]) for row in rows(database, saga.CLIENT)]
    assert families == [("gnugo", "3.8"), ("gnugo", ""), ("d", "")]
    contestants = [(row["ClientId"], row["Personality"]) for row in rows(database, saga.CONTESTANT)]
    assert contestants == [(1, "a"), (1, "b"), (2, ""), (3, "")]
    assert [row["Name"] for row in view(database, "Dip_Bot")] == ["gnugo 3.8~a", "gnugo 3.8~b", "gnugo", "d"]


def test_a_competition_that_goes_on_keeps_its_clients_when_a_player_gets_a_family(
    database: ResultsDatabase,
) -> None:
    registered(database)
    registered(database, heading([replace(player("a"), family="gnugo"), player("b")]))
    assert [row["Family"] for row in rows(database, saga.CLIENT)] == ["a", "b"]
    assert len(rows(database, saga.CONTESTANT)) == 2


def test_a_member_of_a_family_that_was_made_for_a_game_is_a_client_of_it(database: ResultsDatabase) -> None:
    series = registered(database)
    member = replace(player("learning-g1-0"), family="learning")
    series.begin(series.next_attempt("1"), None, PlannedGame("1", [player("a"), member]))
    assert [row["Family"] for row in rows(database, saga.CLIENT)] == ["a", "b", "learning"]


def test_games_may_have_settings_of_their_own(database: ResultsDatabase) -> None:
    series = registered(database)
    finish(series, begun(series))
    game = GameSettings("go", {"board_size": 13, "Level": 30, "sl": 4, "aoa": True}, 200, "players")
    larger = GameSetting(game, "go-13x13", ("B", "W"), 0.5)
    for number in range(2):
        planned = PlannedGame("13", [player("a"), player("b", "other")], setting=larger)
        play_game(series, planned, result(f"13_{number}"))
    small, large = rows(database, saga.SETTING)
    assert [game["SettingId"] for game in rows(database, saga.GAME)] == [
        small["SettingId"], large["SettingId"], large["SettingId"],
    ]  # fmt: skip
    assert (small["Level"], small["SL"], small["AOA"]) == (0, None, None)
    assert (large["Level"], large["SL"], large["AOA"]) == (30, 4, True)
    assert json.loads(large["Notes"])["settings"]["board_size"] == 13
    assert [row["Weight"] for row in rows(database, saga.SERIES_SETTING)] == [1.0, 0.5]
    assert [row["Name"] for row in rows(database, saga.VARIANT)] == ["go-9x9", "go-13x13"]
    assert len(list(series.finished_games())) == 3


def test_games_to_another_clock_are_of_another_setting(database: ResultsDatabase) -> None:
    series = registered(database)
    clocks = [
        TimeControl(60, 1), TimeControl(600), TimeControl(byo_yomi_seconds=4.5, margin_seconds=1), None,
        TimeControl(60, 1),
    ]  # fmt: skip
    for number, clock in enumerate(clocks):
        players = [replace(player(name), time_control=clock) for name in ("a", "b")]
        planned = PlannedGame("AvB", players, opening=GivenOpening("book.sgf", number + 1, "Ruy"))
        play_game(series, planned, result(f"AvB_{number}"))
    settings = rows(database, saga.SETTING)
    # Seconds for a move only where that is the clock.
    assert [setting["MTL"] for setting in settings] == [None, None, 5, 3]
    assert [json.loads(setting["Notes"])["clocks"] for setting in settings] == [
        ["60 s + 1 s a move"], ["600 s"], ["4.5 s a move, 1 s margin"], ["2.5 s a move"],
    ]  # fmt: skip
    keys = [game["SettingId"] for game in rows(database, saga.GAME)]
    assert keys[4] == keys[0] and len(set(keys)) == 4
    assert [seat["Clock"] for seat in rows(database, own.SEAT)][::2] == [
        "60 s + 1 s a move", "600 s", "4.5 s a move, 1 s margin", "2.5 s a move", "60 s + 1 s a move",
    ]  # fmt: skip
    games = rows(database, own.GAME_DETAIL)
    assert [
        (game["OpeningFile"], game["OpeningNumber"], game["OpeningName"], game["Plies"]) for game in games
    ] == [("book.sgf", number, "Ruy", 3) for number in range(1, 6)]
    # Whatever the clock, the same map must be the same variant.
    changed = replace(heading(), setting=replace(heading().setting, variant="go-9x9-other"))
    with pytest.raises(ResultsError, match="go-9x9"):
        registered(database, changed)


def test_players_to_different_clocks_share_a_setting_of_both(database: ResultsDatabase) -> None:
    series = registered(database)
    fast, slow = replace(player("a"), time_control=TimeControl(1)), replace(player("b"), move_seconds=9)
    for number, players in enumerate(((fast, slow), (slow, fast))):
        play_game(series, PlannedGame("AvB", players), result(f"AvB_{number}"))
    (setting,) = rows(database, saga.SETTING)
    assert (setting["MTL"], json.loads(setting["Notes"])["clocks"]) == (None, ["1 s", "9 s a move"])
    assert [seat["Clock"] for seat in rows(database, own.SEAT)] == ["1 s", "9 s a move", "9 s a move", "1 s"]


def test_a_variant_has_the_facts_of_its_referee(database: ResultsDatabase) -> None:
    begun(registered(database, heading(setting=STRAITS)))
    (variant,) = rows(database, saga.VARIANT)
    assert (variant["Supplies"], variant["FirstYear"], variant["FirstSeason"]) == (6, 1, "SPR")
    assert [row["Code"] for row in rows(database, saga.POWER)] == ["NOR", "SOU"]


@pytest.mark.parametrize(
    ("winners", "eliminated", "termination", "code"),
    [
        ((1,), (None, 3, 2), Termination.SCORE, 1),
        ((1, 2), (None, None, None), Termination.AGREEMENT, 2),
        ((1, 2), (None, None, 4), Termination.AGREEMENT, 3),
        ((1, 2), (None, None, 4), Termination.STASIS, 4),
        ((1, 2), (None, None, 4), Termination.IMPASSE, 5),
        ((1, 2), (None, None, 4), Termination.FROZEN, 6),
    ],
)
def test_a_draw_of_all_survivors_is_not_a_partial_draw(
    winners: tuple[int, ...], eliminated: tuple[int | None, ...], termination: Termination, code: int
) -> None:
    outcome = Outcome(winners, termination, "", eliminated=eliminated)
    assert termination_code(outcome, 3) == code


def test_players_that_do_not_start_are_inhibited_for_their_variant(database: ResultsDatabase) -> None:
    series = registered(database)
    begun(series)
    assert series.inhibited() == set()
    series.inhibit("b", "go-9x9")
    series.inhibit("b", "go-9x9")
    assert series.inhibited() == {("b", "go-9x9")}
    assert registered(database).inhibited() == {("b", "go-9x9")}
    registered(database, heading(name="another", players=[player("c"), player("d")])).readmit()
    assert series.inhibited() == {("b", "go-9x9")}
    series.readmit()
    assert series.inhibited() == set()


@pytest.mark.parametrize(("load", "quality"), [(0.0, 3), (0.09, 3), (0.1, 2), (0.49, 2), (0.5, 1), (4.0, 1)])
def test_the_more_others_work_on_a_machine_the_lower_its_quality(load: float, quality: int) -> None:
    assert quality_of(load) == quality


def test_a_player_that_one_competition_inhibits_plays_on_in_others(database: ResultsDatabase) -> None:
    series, other = registered(database), registered(database, heading(name="other"))
    begun(series)
    series.inhibit("b", "go-9x9")
    assert other.inhibited() == set()
    assert [row["AutoInhibit"] for row in rows(database, saga.CLIENT_VARIANT)] == [True]
    begun(other)
    other.inhibit("b", "go-9x9")
    series.readmit()
    assert (series.inhibited(), other.inhibited()) == (set(), {("b", "go-9x9")})
    assert [row["AutoInhibit"] for row in rows(database, saga.CLIENT_VARIANT)] == [True]
    other.readmit()
    assert [row["AutoInhibit"] for row in rows(database, saga.CLIENT_VARIANT)] == [False]


def test_a_competition_is_not_changed_before_it_is_described(database: ResultsDatabase) -> None:
    registered(database)
    tables = (saga.SERIES, saga.CLIENT, saga.CONTESTANT, saga.SERIES_CONTESTANT, own.COMPETITOR)
    before = [rows(database, table) for table in tables]
    changed = heading([player("a", "better-engine"), player("b"), player("c")], description="changed")
    series = Series.register(database, changed)
    assert [rows(database, table) for table in tables] == before
    with pytest.raises(RuntimeError, match="description"):
        begun(series)
    series.describe(changed)
    assert begun(series).number == 1


LARGE = GameSetting(replace(GAME, settings={"board_size": 13}), "go-13x13", ("B", "W"), 0.5)
T1 = MarsSeries("t1", {"a": 1.0, "b": 0.5}, (), games=1, weight=3.0, pure=False, notes="the first")


def mission(series: MarsSeries = T1, settings: tuple[GameSetting, ...] | None = None) -> Heading:
    described = SeriesHeading(series, "weighted", settings or (heading().setting, LARGE))
    return heading(kind="mars", ordered=False, own_settings=True, series=(described,))


def test_a_competition_lasts_until_its_last_attempt_is_over_also_an_interrupted_one(
    database: ResultsDatabase,
) -> None:
    series = registered(database)
    assert finish(series, begun(series))
    series.give_up(begun(series, "AvB_1"), "interrupted", "Ctrl-C", 12.5, None)
    duration = series.duration()
    assert duration is not None
    assert duration.last_finished == rows(database, own.VOID)[0]["Ended"]


def test_each_series_of_a_mission_has_a_row_with_all_its_settings(database: ResultsDatabase) -> None:
    series = registered(database, mission())
    _, entry = rows(database, saga.SERIES)
    assert (entry["Name"], entry["State"], entry["Weight"], entry["Pure"]) == (
        "contest/t1",
        0,
        3.0,
        False,
    )
    assert (entry["GameLim"], entry["Selector"], entry["Notes"]) == (1, "weighted", "the first")
    settings = rows(database, saga.SERIES_SETTING)
    assert [(row["SeriesId"], row["Weight"]) for row in settings] == [
        (entry["SeriesId"], 1.0), (entry["SeriesId"], 0.5),
    ]  # fmt: skip
    attempt = series.next_attempt("t1_0")
    series.begin(attempt, None, PlannedGame("t1", [player("a"), player("b")], setting=heading().setting))
    assert rows(database, saga.SERIES)[1]["State"] == 1
    game = result(attempt.game_id)
    assert finish_game(series, attempt, game, "t1")
    assert [game["SeriesId"] for game in rows(database, saga.GAME)] == [entry["SeriesId"]]
    assert rows(database, saga.SERIES_SETTING) == settings
    assert [game.game_id for game in SeriesReader.find(database, "contest").finished_games()] == ["t1_0"]
    duration = series.duration()
    assert duration is not None and duration.play_seconds == 3.0
    series.complete()
    assert [row["State"] for row in rows(database, saga.SERIES)] == [2, 2]
    registered(database, mission(replace(T1, weight=7.0, games=5)))
    assert [(row["State"], row["Weight"]) for row in rows(database, saga.SERIES)] == [(1, 1.0), (1, 7.0)]
    remove_series(database, "contest")
    assert (
        rows(database, saga.SERIES) == rows(database, saga.GAME) == rows(database, own.MISSION_SERIES) == []
    )


def test_the_settings_of_a_series_without_games_may_change(database: ResultsDatabase) -> None:
    registered(database, mission())
    settings = (replace(heading().setting, weight=4.0),)
    registered(database, mission(replace(T1, contestants={"b": 2.0}), settings))
    assert [row["Weight"] for row in rows(database, saga.SERIES_SETTING)] == [4.0]
    series_id = rows(database, saga.SERIES)[1]["SeriesId"]
    weights = [
        row["Weight"] for row in rows(database, saga.SERIES_CONTESTANT) if row["SeriesId"] == series_id
    ]
    assert weights == [2.0]
