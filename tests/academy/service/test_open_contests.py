"""Contests that are never reported: found by age, ended by hand, and in nobody's way for ever."""

import time
from functools import partial
from itertools import islice
from pathlib import Path
from unittest.mock import patch

import grpc
import pytest

from academy.store.contest_tables import contest_record
from academy.store.tokens import Role
from academy.v1 import consultation_pb2, contests_pb2, libraries_pb2
from tests.academy.service import examples
from tests.academy.service.examples import contest
from tests.academy.service.running import Client, Running, limited, pages, refusal


def opened(academy: Running, game_id: str, *contest_ids: str) -> None:
    academy.register(examples.tiny_go(game_id))
    for contest_id in contest_ids:
        academy.open(contest(contest_id, game_id))


def listed(academy: Running, **fields: object) -> contests_pb2.ListOpenContestsResponse:
    request = contests_pb2.ListOpenContestsRequest(**fields)  # type: ignore[arg-type]
    return academy.admin().contests.ListOpenContests(request)


def ids(response: contests_pb2.ListOpenContestsResponse) -> list[str]:
    return [contest.contest_id for contest in response.contests]


def analyse(client: Client, game_id: str) -> consultation_pb2.LookUpOpeningResponse:
    return client.consultation.LookUpOpening(
        consultation_pb2.LookUpOpeningRequest(game_id=game_id, player=1, moves=["c3"])
    )


def test_open_contests_are_listed_oldest_first(fresh: Running) -> None:
    opened(fresh, "go", "z", "a", "m")
    opened(fresh, "hex", "between")
    opened(fresh, "go", "b")
    assert ids(listed(fresh)) == ["z", "a", "m", "between", "b"]
    assert ids(listed(fresh, game_id="go")) == ["z", "a", "m", "b"]
    assert ids(listed(fresh, game_id="hex")) == ["between"]
    first = listed(fresh).contests[0]
    assert [player.name for player in first.players] == ["ann", "bob"]
    assert first.state == contests_pb2.CONTEST_STATE_OPEN
    assert abs(first.open_time.ToNanoseconds() / 1e9 - time.time()) < 60


def test_pages_hold_the_contests_of_several_arenas_once(fresh: Running) -> None:
    opened(fresh, "go", "1", "2")
    rival = fresh.client(fresh.token("rival", Role.ARENA))
    for contest_id in ("1", "2", "3"):
        rival.contests.OpenContest(contests_pb2.OpenContestRequest(contest=contest(contest_id, "go")))
    wanted = ["1", "2", "1", "2", "3"]
    for size in (1, 2):
        request = contests_pb2.ListOpenContestsRequest(page_size=size)
        listing = islice(pages(fresh.admin().contests.ListOpenContests, request), 10)
        assert [contest_id for page in listing for contest_id in ids(page)] == wanted


@pytest.mark.parametrize(
    ("fields", "code", "reason"),
    [
        ({"game_id": "chess"}, grpc.StatusCode.NOT_FOUND, "UNKNOWN_GAME"),
        ({"page_size": -1}, grpc.StatusCode.INVALID_ARGUMENT, ""),
        ({"page_token": "AAAA"}, grpc.StatusCode.INVALID_ARGUMENT, ""),
    ],
)
def test_invalid_listing_is_refused(
    academy: Running, fields: dict[str, object], code: grpc.StatusCode, reason: str
) -> None:
    error = refusal(lambda: listed(academy, **fields))
    assert error.code is code and error.reason.startswith(reason)


@pytest.mark.threat("leaks")
def test_an_open_contest_bars_its_players_from_analysis_of_the_games_forks(
    fresh: Running,
) -> None:
    opened(fresh, "go")
    opened(fresh, "other", "other/1")
    for old, new in (("go", "go-a"), ("go", "go-b"), ("go-b", "go-c")):
        fresh.admin().libraries.ForkGame(libraries_pb2.ForkGameRequest(game_id=old, new_game_id=new))
    ann = fresh.bot("ann")
    analyse(ann, "go")
    for played in ("go", "go-a", "go-c"):
        opened(fresh, played, f"{played}/1")
        for game in ("go", "go-a", "go-b", "go-c"):
            refused = refusal(partial(analyse, ann, game))
            assert refused.reason == "ANALYSIS_DURING_CONTEST", (played, game)
            assert f"is playing contest '{played}/1' of game '{played}'" in refused.message
            assert ("contests in common with" in refused.message) is (game != played)
        analyse(fresh.bot("carl"), "go")
        fresh.admin().contests.ReportContest(
            contests_pb2.ReportContestRequest(
                contest=contests_pb2.Contest(contest_id=f"{played}/1"), void=True
            )
        )
        analyse(ann, "go")
    for played in ("go", "go-a"):
        opened(fresh, played, f"{played}/2")
    # A contest of the game itself is named first.
    for game in ("go", "go-a"):
        assert f"is playing contest '{game}/2' of" in refusal(partial(analyse, ann, game)).message


def test_contest_open_for_too_long_allows_analysis(tmp_path: Path) -> None:
    now = [1_800_000_000.0]
    with limited(tmp_path, lambda: now[0], contest_seconds=3_600.0) as academy:
        opened(academy, "go", "old")
        now[0] += 3_500.0
        assert "'old'" in refusal(lambda: analyse(academy.bot("ann"), "go")).message
        now[0] += 200.0
        analyse(academy.bot("ann"), "go")
        opened(academy, "go", "young")
        assert "'young'" in refusal(lambda: analyse(academy.bot("ann"), "go")).message


def test_expired_contests_are_read_once(tmp_path: Path) -> None:
    now = [1_800_000_000.0]
    with limited(tmp_path, lambda: now[0], contest_seconds=3_600.0) as academy:
        for number in range(5):
            opened(academy, "go", f"old/{number}")
        now[0] += 3_700.0
        analyse(academy.bot("ann"), "go")
        with patch("academy.service.access.contest_record", wraps=contest_record) as looked_at:
            # Each commit has a caller's right to analyse looked at again.
            opened(academy, "other", "of-others")
            analyse(academy.bot("ann"), "go")

    assert looked_at.call_count == 0
