"""The results on a real PostgreSQL server, which the tests start for themselves."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from sqlalchemy import inspect, select, text
from sqlalchemy.exc import IntegrityError

from arena.jobs import PlayerUsage
from arena.results import own_tables as own
from arena.results import schema as saga
from arena.results.database import ResultsDatabase, ResultsError, sqlite_url
from arena.results.exchange.exporting import export
from arena.results.exchange.importing import import_saga
from arena.results.games import FinishedGame
from arena.results.run_lock import lock_competition
from arena.results.series import PlannedGame, Series
from arena.results.series_reader import SeriesReader
from arena.results.views import BY_DIALECT, VIEWS, drop_views
from referees.api import Outcome, Termination
from tests.arena.postgresql import A_GENEROUS_TIME, needs_postgresql
from tests.arena.results import asked_games, saga_games
from tests.arena.results.examples import GAME, heading, player, registered, result
from tests.arena.results.test_results_document import QUERIES

pytestmark = needs_postgresql


@pytest.fixture
def database(postgresql: str) -> Iterator[ResultsDatabase]:
    """An empty results database."""
    database = ResultsDatabase.open(postgresql)
    yield database
    with database.transaction() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    database.close()


def play(series: Series, game_id: str, outcome: Outcome) -> bool:
    attempt = series.next_attempt(game_id)
    series.begin(attempt, b"contest", PlannedGame("AvB", [player("a"), player("b")], "detail"))
    game = result(game_id, outcome)
    return series.finish(
        attempt,
        FinishedGame.from_result("AvB", ("a", "b"), game, (1000.0, 1000.0), (1015.0, 985.0)),
        game,
        2**62,
        b"report",
    )


WON = Outcome((1,), Termination.SCORE, "B+3.5", (43.0, 39.5))
DRAWN = Outcome((1, 2), Termination.SCORE, "0", (40.5, 40.5))
UNKNOWN = Outcome((), Termination.MOVE_LIMIT, "?", detail="hit the move limit")


def test_a_competition_is_kept_and_read_back(database: ResultsDatabase) -> None:
    series = registered(database)
    for game_id, outcome in (("AvB_0", WON), ("AvB_1", DRAWN), ("AvB_2", UNKNOWN)):
        assert play(series, game_id, outcome)
    assert not play(series, "AvB_0", DRAWN)
    attempt = series.next_attempt("AvB_3")
    series.begin(attempt, None, PlannedGame("AvB", [player("a"), player("b")]))
    series.give_up(attempt, "void", "it crashed", 12.5, None)
    reader = SeriesReader.find(database, "contest")
    assert [game.outcome for game in reader.finished_games()] == [WON, DRAWN, UNKNOWN]
    assert reader.void_count() == 1
    assert [known.contest for known in series.open_attempts()] == [b"contest"]
    assert reader.outbox.counts() == {"waiting": 3, "acknowledged": 0, "refused": 0}
    assert reader.player_usage()["a"].peak_memory_bytes == 10_000_000
    duration = reader.duration()
    assert duration is not None and duration.total_seconds == pytest.approx(3 * 3.5 + 12.5)


def test_moves_and_what_is_known_of_them_have_rows(database: ResultsDatabase) -> None:
    series = registered(database)
    play(series, "AvB_0", WON)
    with database.transaction() as connection:
        moves = connection.execute(text('SELECT * FROM "ARENA_Move" ORDER BY "Ply"')).mappings().all()
        values = connection.execute(
            text('SELECT "Ply", "Seat", "Value" FROM "ARENA_MoveValue" ORDER BY 1, 2')
        )
        assert values.all() == [(1, 1, 0.55), (2, 1, 0.5), (2, 2, 0.5)]
    assert [(move["Ply"], move["Seat"], move["Text"]) for move in moves] == [
        (1, 1, "D4"), (2, 2, "E5"), (3, 1, "pass"),
    ]  # fmt: skip
    assert (moves[0]["Seconds"], moves[0]["LegalMoves"], moves[0]["Comment"]) == (0.5, 81, "centre")
    assert (moves[2]["Interaction"], moves[0]["Interaction"], moves[0]["Opening"]) == (True, False, False)
    assert (moves[0]["ClockSeconds"], moves[0]["ClockStones"]) == (None, None)


def test_competitions_that_begin_at_once_share_one_database(
    postgresql: str, database: ResultsDatabase
) -> None:
    names = [f"cup{number}" for number in range(4)]

    def begin(name: str) -> bool:
        with closing(ResultsDatabase.open(postgresql)) as mine:
            return play(registered(mine, heading(name=name)), "AvB_0", WON)

    with database.transaction() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    with ThreadPoolExecutor(len(names)) as threads:
        assert all(threads.map(begin, names))
    with database.transaction() as connection:
        assert len(connection.execute(select(saga.VARIANT)).all()) == 1
        assert len(connection.execute(select(saga.CLIENT)).all()) == 2
        assert len(connection.execute(select(saga.GAME)).all()) == len(names)


def test_registering_again_finds_it_and_another_game_is_refused(database: ResultsDatabase) -> None:
    play(registered(database), "AvB_0", WON)
    assert play(registered(database), "AvB_1", WON)
    with pytest.raises(ResultsError, match=r"game\.move_limit"):
        registered(database, heading(game=replace(GAME, move_limit=1)))
    series = registered(database)
    series.inhibit("b", "go-9x9")
    assert series.inhibited() == {("b", "go-9x9")}
    series.complete()


def test_rules_are_enforced_and_a_game_is_stored_whole_or_not_at_all(database: ResultsDatabase) -> None:
    series = registered(database)
    attempt = series.next_attempt("AvB_0")
    series.begin(attempt, None, PlannedGame("AvB", [player("a"), player("b")]))
    broken = result(usage=(PlayerUsage(wall_seconds=None),) * 2)  # type: ignore[arg-type]
    with pytest.raises(IntegrityError, match="WallSeconds"):
        series.finish(
            attempt,
            FinishedGame.from_result("AvB", ("a", "b"), broken, (0.0, 0.0), (0.0, 0.0)),
            broken,
            1,
            b"report",
        )
    with database.transaction() as connection:
        for table in (saga.GAME, own.RATING, own.OUTBOX):
            assert connection.execute(select(table)).all() == []


def test_all_views_have_rows_and_a_soloist_takes_the_pot(database: ResultsDatabase) -> None:
    with database.transaction() as connection:
        assert set(inspect(connection).get_view_names()) == {*VIEWS, *BY_DIALECT}
        saga_games.play(connection, saga_games.DIPLOMACY, 7, 34)
        for view in {*VIEWS, *BY_DIALECT} - {"arena_results", "arena_standings"}:
            assert connection.execute(text(f'SELECT COUNT(*) FROM "{view}"')).scalar_one() > 0
        first = text('SELECT "Score" FROM "ARENA_Score" WHERE "GameId" = 1 ORDER BY "PowerId"')
        assert connection.execute(first).scalars().all() == [-1, -1, 6, -1, -1, -1, -1]


def test_the_documents_queries_answer_what_people_ask(database: ResultsDatabase) -> None:
    asked_games.play(database)
    asked_games.check_answers(database, QUERIES[:-1])


def test_saga_travels_between_sqlite_and_postgresql(database: ResultsDatabase, tmp_path: Path) -> None:
    file = ResultsDatabase.open(sqlite_url(tmp_path / "file.sqlite"))
    try:
        series = registered(file)
        for number, outcome in enumerate((WON, DRAWN, UNKNOWN)):
            play(series, f"AvB_{number}", outcome)
        export(file, tmp_path / "there", "saga2")
        assert import_saga(database, tmp_path / "there").games == 3
        export(database, tmp_path / "back", "saga2")
        for table in (tmp_path / "there").iterdir():
            assert (tmp_path / "back" / table.name).read_text() == table.read_text()
        export(file, tmp_path / "old-file", "saga1")
        export(database, tmp_path / "old-server", "saga1")
        for old in (tmp_path / "old-file").iterdir():
            assert (tmp_path / "old-server" / old.name).read_text() == old.read_text()
    finally:
        file.close()
    # The server goes on counting after the numbers that came in.
    assert play(registered(database, heading(name="next")), "AvB_0", WON)


def test_a_missing_server_is_an_error_without_the_password(tmp_path: Path) -> None:
    url = f"postgresql+psycopg://arena:secret@/none?host={quote(str(tmp_path))}&sslpassword=hidden"
    with pytest.raises(ResultsError, match="can't open the results database") as caught:
        ResultsDatabase.open(url)
    message = str(caught.value)
    assert "secret" not in message and "hidden" not in message and len(message.splitlines()) == 1


def test_a_competition_is_run_by_one_program_at_a_time(postgresql: str, database: ResultsDatabase) -> None:
    refused = pytest.raises(ResultsError, match=r"the competition cup .* is already running")
    with closing(ResultsDatabase.open(postgresql)) as other:
        with (
            lock_competition(database, "cup"),
            lock_competition(other, "another"),
            refused,
            lock_competition(other, "cup"),
        ):
            raise AssertionError("both have it")
        with lock_competition(other, "cup"):
            pass


def test_a_lost_connection_gives_up_the_claim_and_hides_no_other_error(
    postgresql: str, database: ResultsDatabase
) -> None:
    end_sessions = text(
        "SELECT pg_terminate_backend(pid, :milliseconds) FROM pg_locks WHERE locktype = 'advisory'"
    )
    with closing(ResultsDatabase.open(postgresql)) as other:
        with pytest.raises(RuntimeError, match="the cause"), lock_competition(database, "cup"):
            with other.transaction() as connection:
                ended = connection.execute(end_sessions, {"milliseconds": A_GENEROUS_TIME * 1000})
                assert ended.scalars().all() == [True]
            raise RuntimeError("the cause")
        with lock_competition(other, "cup"):
            pass


def test_a_database_of_release_5_is_brought_up_to_date(postgresql: str, database: ResultsDatabase) -> None:
    play(registered(database), "AvB_0", WON)
    with database.transaction() as connection:
        drop_views(connection)
        for column in ("Plies", "OpeningFile", "OpeningNumber", "OpeningName"):
            connection.execute(text(f'ALTER TABLE "ARENA_Game" DROP COLUMN "{column}"'))
        for column in ("Clock", "OwnMoves"):
            connection.execute(text(f'ALTER TABLE "ARENA_Seat" DROP COLUMN "{column}"'))
        connection.execute(own.META.update().values(Value="5"))
    with closing(ResultsDatabase.open(postgresql)) as opened:
        assert play(registered(opened), "AvB_1", DRAWN)
        with opened.transaction() as connection:
            query = text(
                "SELECT name, opponent, plies, own_moves, clock FROM arena_results ORDER BY number, seat"
            )
            rows = [tuple(row) for row in connection.execute(query)]
    clock = "2.5 s a move"
    before = [("a", "b", 3, 2, None), ("b", "a", 3, 1, None)]
    assert rows == [*before, ("a", "b", 3, 0, clock), ("b", "a", 3, 0, clock)]


def test_a_database_of_release_4_is_brought_up_to_date(postgresql: str, database: ResultsDatabase) -> None:
    play(registered(database), "AvB_0", WON)
    with database.transaction() as connection:
        drop_views(connection)
        connection.execute(text('ALTER TABLE "ARENA_Seat" DROP COLUMN "PowerId"'))
        numbered = "CASE \"Name\" WHEN 'Black' THEN '1' ELSE '2' END"
        connection.execute(text(f'UPDATE "SAGA_Power" SET "Code" = {numbered}'))
        connection.execute(own.META.update().values(Value="4"))
    with closing(ResultsDatabase.open(postgresql)) as opened:
        with opened.transaction() as connection:
            codes = select(saga.POWER.c.Code).join(own.SEAT, own.SEAT.c.PowerId == saga.POWER.c.PowerId)
            stored = connection.execute(codes.order_by(own.SEAT.c.Seat)).scalars().all()
        assert stored == ["Black", "White"]
        assert SeriesReader.find(opened, "contest").player_usage()["b"].games == 1
        assert play(registered(opened), "AvB_1", DRAWN)
