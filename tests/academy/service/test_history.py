"""What the history of a game tells: contests of a position, counts by a filter, histories of patterns."""

from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from academy.service.limits import Limits
from academy.store.library_import import ImportLibraries
from academy.store.maintenance.compaction import compact
from academy.store.tokens import CreateToken, RevokeToken, Role
from academy.v1 import contests_pb2, history_pb2, libraries_pb2, proposals_pb2
from tests.academy.service import examples
from tests.academy.service.examples import ENDGAME, contest, propose, report, teach
from tests.academy.service.running import Running, limited, refusal, serving

GAME = "go-5x5"
LATER = 1_900_000_000.0


@pytest.fixture(scope="module")
def academy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    now = [1_800_000_000.0]
    with serving(tmp_path_factory.mktemp("data"), clock=lambda: now[0]) as running:
        running.register(examples.tiny_go(GAME))
        for number in range(20):
            # The first is the strongest, the later ones grow from 1000.
            elo = 2000.0 if number == 0 else 1000.0 + 10 * number
            now[0] += 60
            _play(running, f"n/{number}", ["c3", "b2", "d4"], elo, "WIN" if number % 2 else "LOSS")
        now[0] = LATER
        _play(running, "late", ["d4", "b2", "c3"], 1200.0, "DRAW")
        yield running


def _play(academy: Running, contest_id: str, moves: list[str], elo: float, first: str) -> None:
    played = contest(contest_id, GAME, ("ann", "bob"), (elo, elo))
    # The tree is as deep as a third of a contest is long.
    academy.report(report(played, [*moves, *["pass"] * 9], first=first))


def _explore(academy: Running, *moves: str, **wanted: object) -> history_pb2.ExploreOpeningResponse:
    request = history_pb2.ExploreOpeningRequest(game_id=GAME, player=1, moves=moves)
    if wanted:
        request.filter.MergeFrom(history_pb2.ContestFilter(**wanted))  # type: ignore[arg-type]
    return academy.admin().history.ExploreOpening(request)


def test_a_position_keeps_its_newest_and_its_strongest_contests_when_the_log_is_compacted(
    academy: Running,
) -> None:
    compact(academy.store, keep=1)
    known = _explore(academy, "c3")
    assert [played.contest_id for played in known.newest] == [f"n/{number}" for number in range(19, 11, -1)]
    assert [played.contest_id for played in known.strongest[:3]] == ["n/0", "n/19", "n/18"]
    assert len(known.strongest) == 8
    strongest = known.strongest[0]
    assert [player.name for player in strongest.players] == ["ann", "bob"]
    assert list(strongest.results) == [contests_pb2.RESULT_LOSS, contests_pb2.RESULT_WIN]
    assert (strongest.plies, strongest.arena, strongest.termination) == (12, "arena", "score")


def test_the_same_moves_in_another_order_are_named_in_any_orientation(academy: Running) -> None:
    # Turned by a quarter: c3 b4 d2 is c3 b2 d4, in another order than the late contest's.
    for line, other in ((["c3", "b2", "d4"], ["d4", "b2", "c3"]), (["c3", "b4", "d2"], ["d2", "b4", "c3"])):
        known = _explore(academy, *line)
        assert [(list(order.moves), order.visits) for order in known.transpositions] == [(other, 1)]
    # The same cells, but not by the same players.
    assert not _explore(academy, "b2", "c3", "d4").transpositions


def test_a_filter_counts_the_kept_contests_by_elo_and_by_time(academy: Running) -> None:
    strong = _explore(academy, min_elo=1160.0).filtered
    assert (strong.looked_through, strong.passed) == (21, 6)
    assert [(move.move, move.count.contests) for move in strong.moves] == [("c3", 5), ("b2", 1)]
    first = strong.moves[0].count
    assert (first.wins, first.draws, first.losses) == (2, 0, 3)
    late = _explore(academy, since=Timestamp(seconds=int(LATER))).filtered
    assert (late.passed, late.position.draws) == (1, 1)
    early = _explore(academy, "c3", until=Timestamp(seconds=int(LATER))).filtered
    assert (early.passed, early.position.contests) == (20, 20)
    assert early.oldest.seconds == 1_800_000_060
    never = Timestamp(seconds=300_000_000_000)
    assert refusal(lambda: _explore(academy, until=never)).fields == ["filter.until"]
    assert refusal(lambda: _explore(academy, since=Timestamp(nanos=-1))).fields == ["filter.since"]
    refused = refusal(lambda: _explore(academy, since=Timestamp(seconds=10), until=Timestamp(seconds=10)))
    assert refused.code is grpc.StatusCode.INVALID_ARGUMENT and refused.fields == ["filter.until"]


def test_a_filtered_question_costs_by_the_contests_kept_not_by_those_imported(tmp_path: Path) -> None:
    with limited(tmp_path, questions_per_second=1e-6, question_burst=6.0) as academy:
        academy.register(examples.tiny_go(GAME))
        moved = libraries_pb2.GameHistory(measures='{"contests": 5000}')
        academy.store.run(ImportLibraries(GAME, {}, [], False, "admin", moved))
        _play(academy, "here", ["c3"], 1200.0, "WIN")
        request = history_pb2.ExploreOpeningRequest(
            game_id=GAME, player=1, filter=history_pb2.ContestFilter(min_elo=0.0)
        )
        bot = academy.bot("ann")
        for _ in range(3):
            assert bot.history.ExploreOpening(request).filtered.looked_through == 1


def test_a_player_explores_openings_only_when_it_plays_no_contest_of_the_game(academy: Running) -> None:
    bot = academy.bot("ann")
    request = history_pb2.ExploreOpeningRequest(game_id=GAME, player=1, moves=["c3"])
    assert bot.history.ExploreOpening(request).newest
    played = contest("open", GAME)
    for asking in (bot, academy.open(played)[0]):
        refused = refusal(lambda asking=asking: asking.history.ExploreOpening(request))  # type: ignore[misc]
        assert refused.reason == "ANALYSIS_DURING_CONTEST"
    academy.report(contests_pb2.ReportContestRequest(contest=played, void=True))
    assert bot.history.ExploreOpening(request).newest


def test_a_pattern_tells_who_voted_how_its_value_moved_and_where_it_lay(tmp_path: Path) -> None:
    with serving(tmp_path) as academy:
        admin = academy.admin()
        academy.register(examples.tiny_go(GAME))
        teach(academy, GAME, "taught", [("ann", "x -\n- o", 0.9), ("bob", "x -\n- o", 0.7)])
        request = history_pb2.GetPatternHistoryRequest(game_id=GAME, library=ENDGAME, pattern_id=1)
        steps = admin.history.GetPatternHistory(request).steps
        assert [(step.cause, step.player, step.contest_id, step.ply) for step in steps] == [
            ("inserted", "ann", "taught-0", 1),
            ("matched", "bob", "taught-1", 1),
        ]
        assert [step.signature.proposers for step in steps] == [1, 2]
        assert steps[0].signature.value > steps[1].signature.value
        assert steps[0].cells and not steps[1].cells and steps[0].arena == "arena"
        admin.libraries.DeletePattern(
            libraries_pb2.DeletePatternRequest(game_id=GAME, library=ENDGAME, pattern_id=1)
        )
        refused = refusal(lambda: admin.history.GetPatternHistory(request))
        assert refused.code is grpc.StatusCode.NOT_FOUND


def test_growth_is_kept_from_the_first_contest_to_the_newest_in_bounded_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("academy.store.history.MOST_POINTS", 32)
    with serving(tmp_path) as academy:
        arena = academy.arena()
        academy.register(examples.tiny_go(GAME))
        for number in range(35):
            _play(academy, f"g/{number}", ["abcde"[number % 5] + "12345"[number // 5 % 5]], 1500.0, "WIN")
        request = history_pb2.GetGrowthRequest(game_id=GAME)
        points = arena.history.GetGrowth(request).points
        contests = [point.contests for point in points]
        assert contests == [*range(2, 35, 2), 35]
        now = arena.libraries.GetStatistics(libraries_pb2.GetStatisticsRequest(game_id=GAME))
        assert (points[-1].opening_nodes, points[-1].players) == (now.opening_nodes, 2)


def test_a_proposal_that_comes_after_the_report_is_in_the_history_with_its_board(tmp_path: Path) -> None:
    with serving(tmp_path) as academy:
        academy.register(examples.tiny_go(GAME))
        played = contest("late", GAME, ("ann", "bob"), (1500.0, 1500.0))
        academy.open(played)
        board = "-" * 12 + "x" + "-" * 12
        academy.report(report(played, ["c3"], [board], first="DRAW", values=[0.9]))
        cells = "- - -\n- x -\n- - -"
        judged = propose(academy.bot("ann"), "late", cells, 0.9)
        assert judged.verdict == proposals_pb2.VERDICT_INSERTED, judged.reason
        known = academy.admin().history.GetPatternHistory(
            history_pb2.GetPatternHistoryRequest(game_id=GAME, library=ENDGAME, pattern_id=judged.pattern_id)
        )
        assert [(step.cause, step.player, step.ply) for step in known.steps] == [("inserted", "ann", 1)]
        (example,) = known.examples
        assert (example.board, example.ply, example.seat) == (board, 1, 1)
        assert example.contest.contest_id == "late" and example.contest.players[1].name == "bob"


def test_who_watches_gets_each_event_once_across_calls_until_the_token_is_revoked(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as academy:
        for name in (GAME, "other"):
            academy.register(examples.tiny_go(name))
        token, secret = academy.store.run(CreateToken("watcher", Role.ADMIN))
        history = academy.client(secret).history
        watch = history.WatchLibrary(history_pb2.WatchLibraryRequest(after=0), timeout=60)
        first = [next(watch), next(watch)]
        assert [(event.game_id, event.kind) for event in first] == [
            (GAME, "game_registered"),
            ("other", "game_registered"),
        ]
        # What comes while somebody watches, comes at once.
        teach(academy, GAME, "taught", [("carl", "x", 0.9)])
        learnt = next(watch)
        assert learnt.kind == "contest_reported" and learnt.contest.contest_id == "taught-0"
        (taken,) = learnt.taken
        assert (taken.player, taken.contest_id, taken.verdict) == (
            "carl",
            "taught-0",
            proposals_pb2.VERDICT_INSERTED,
        )
        watch.cancel()
        teach(academy, "other", "more", [("dee", "x", 0.9)])
        teach(academy, GAME, "last", [("dee", "x", 0.8)])
        request = history_pb2.WatchLibraryRequest(game_id=GAME, after=learnt.sequence)
        again = history.WatchLibrary(request, timeout=60)
        assert next(again).contest.contest_id == "last-0"
        academy.store.run(RevokeToken(token.token_id))
        assert refusal(lambda: next(again)).code is grpc.StatusCode.UNAUTHENTICATED
        unknown = history_pb2.WatchLibraryRequest(game_id="nowhere")
        assert refusal(lambda: next(academy.admin().history.WatchLibrary(unknown))).reason == "UNKNOWN_GAME"
        one_more = range(Limits().library_watches_per_caller)
        held = [academy.admin().history.WatchLibrary(request, timeout=60) for _ in one_more]
        assert all(next(stream).contest.contest_id == "last-0" for stream in held)
        beyond = academy.admin().history.WatchLibrary(request, timeout=60)
        assert refusal(lambda: next(beyond)).code is grpc.StatusCode.RESOURCE_EXHAUSTED
