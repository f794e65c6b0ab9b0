"""Contests that wait for their reports: found by player and by age, however many there are."""

from collections.abc import Callable
from pathlib import Path

import pytest

from academy.store import contest_tables
from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.errors import InvalidRecordError
from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from tests.academy.store.examples import contest, count_keys_read, go_game, report

GAMES = ("go-9x9", "go")


def test_oldest_open_contest_of_a_player_since_a_time_is_returned(tmp_path: Path) -> None:
    now = [1_000.0]
    with Store(tmp_path, clock=lambda: now[0]) as store:
        for game_id in ("go-9x9", "go"):
            store.run(RegisterGame(go_game(game_id), "arena"))
        for contest_id, game_id in (("z", "go-9x9"), ("a", "go-9x9"), ("m", "go"), ("b", "go-9x9")):
            store.run(OpenContest(contest(contest_id, game_id)))
            now[0] += 10.0
        oldest = [
            store.read(contest_tables.open_contest_of_player, "seki", "go-9x9", since)
            for since in (0.0, 1_000.0, 1_001.0, 1_011.0, 1_031.0)
        ]
        assert oldest == ["z", "z", "a", "b", None]
        assert store.read(contest_tables.open_contest_of_player, "seki", "go", 1_011.0) == "m"


@pytest.mark.parametrize("place", [(-1, "a"), (1 << 64, "a"), (0, "no contest"), (0, ""), (0, "a" * 1_000)])
def test_a_place_where_no_contest_can_be_is_refused(store: Store, place: tuple[int, str]) -> None:
    with pytest.raises(InvalidRecordError, match="no contest can be there"):
        store.read(contest_tables.oldest_open_contests, "go-9x9", place, 10)


def test_pages_go_on_after_a_place_and_leave_out_what_is_reported(store: Store) -> None:
    store.run(RegisterGame(go_game("go"), "arena"))
    for number in range(12):
        store.run(OpenContest(contest(f"c{number % 5}/{number}", GAMES[number % 2])))
    store.run(ReportContest(report("c3/8"), "arena"))
    wanted = [f"c{number % 5}/{number}" for number in range(12) if number != 8]
    contest_ids: list[str] = []
    after = None
    while page := store.read(contest_tables.oldest_open_contests, "", after, 4):
        contest_ids += [contest.contest_id for _, contest in page]
        after = page[-1][0]
    assert contest_ids == wanted
    of_one = [
        contest.contest_id for _, contest in store.read(contest_tables.oldest_open_contests, "go", None, 100)
    ]
    assert of_one == [contest_id for contest_id in wanted if int(contest_id.rpartition("/")[2]) % 2]


@pytest.mark.parametrize(
    "look",
    [
        lambda store: store.read(contest_tables.open_contest_of_player, "seki", "go-9x9"),
        lambda store: store.read(contest_tables.open_contest_of_player, "seki", "go-9x9", 30_000.0),
        lambda store: store.read(contest_tables.oldest_open_contests, "go-9x9", None, 5),
        lambda store: store.read(contest_tables.oldest_open_contests, "", None, 5),
        lambda store: store.read(contest_tables.oldest_open_contests, "", (20_000 * 10**9, "5"), 5),
    ],
    ids=["any of a player", "of a player since", "a page", "a page of all games", "a later page"],
)
def test_finding_open_contests_costs_the_same_however_many_wait(
    tmp_path: Path, look: Callable[[Store], object]
) -> None:
    now = [0.0]
    with Store(tmp_path, clock=lambda: now[0]) as store:
        for game_id in GAMES:
            store.run(RegisterGame(go_game(game_id), "arena"))
        costs = []
        for first in (0, 40):
            for number in range(first, first + 40):
                now[0] += 1_000.0
                store.run(OpenContest(contest(str(number), GAMES[number % 2])))
            costs.append(count_keys_read(lambda: look(store)))
        assert len(store.read(contest_tables.oldest_open_contests, "", None, 100)) == 80
    assert costs[0] == costs[1] <= 10
