"""Outside of contests a name receives a limited number of different patterns in an hour."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import grpc
import pytest

from academy.store.shared_log.address import LogAddress
from academy.store.tokens import CreateToken, Role
from academy.v1 import consultation_pb2
from tests.academy.service import examples
from tests.academy.service.examples import EMPTY, position, teach
from tests.academy.service.running import Client, Running, limited, refusal
from tests.academy.store.shared_log.nats_servers import NatsServer

GAME = "guarded"
PATTERNS = ["-", "--", "---", "----", "--\n--", "---\n---"]
LIMIT = 4


class Clock:
    now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def limited_server(
    tmp_path: Path, clock: Clock, log: LogAddress | None = None, limit: int = LIMIT
) -> AbstractContextManager[Running]:
    return limited(tmp_path / "data", clock, log, patterns_outside_contests_per_hour=limit)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@contextmanager
def taught(
    tmp_path: Path, clock: Clock, log: LogAddress | None = None, limit: int = LIMIT
) -> Iterator[Running]:
    with limited_server(tmp_path, clock, log, limit) as academy:
        academy.register(examples.tiny_go(GAME))
        teach(academy, GAME, "t", [("ann", cells, 0.9 - 0.1 * at) for at, cells in enumerate(PATTERNS)])
        yield academy


@pytest.fixture
def guarded(tmp_path: Path, clock: Clock) -> Iterator[Running]:
    with taught(tmp_path, clock) as academy:
        yield academy


def count_patterns(client: Client, most: int = 0, **more: object) -> int:
    """How many different patterns an answer about the empty board has."""
    request = consultation_pb2.MatchPatternsRequest(
        game_id=GAME,
        positions=[position(EMPTY)],
        max_matches=most,
        max_matches_each=1,
        **more,  # type: ignore[arg-type]
    )
    return len(client.consultation.MatchPatterns(request).patterns.pattern_ids)


@pytest.mark.threat("leaks")
def test_a_bot_cannot_copy_the_library(guarded: Running, clock: Clock) -> None:
    bot = guarded.bot("copier")
    assert count_patterns(bot, most=3) == 3
    # The same ones again are none more.
    assert count_patterns(bot, most=3) == 3
    clock.now += 600
    refused = refusal(lambda: count_patterns(bot))
    assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "ANALYSIS_EXCEEDED")
    assert refused.retry_after == pytest.approx(3_000, abs=1)
    assert (refused.metadata["returned"], refused.metadata["limit"]) == ("3", str(LIMIT))
    # Others have hours of their own, and the next hour is another, as one is after the clock was set back.
    assert count_patterns(guarded.bot("reader"), most=LIMIT) == LIMIT
    for later in (3_001, -7_200):
        clock.now += later
        assert count_patterns(bot, most=3) == 3
        assert refusal(lambda: count_patterns(bot)).reason == "ANALYSIS_EXCEEDED"
        assert count_patterns(bot, most=LIMIT) == LIMIT


def test_with_a_limit_of_0_a_bot_is_given_any_number(clock: Clock, tmp_path: Path) -> None:
    with taught(tmp_path, clock, limit=0) as academy:
        assert count_patterns(academy.bot("reader")) == len(PATTERNS)


def test_patterns_after_candidate_moves_count_against_the_hourly_allowance(guarded: Running) -> None:
    request = consultation_pb2.MatchSuccessorsRequest(
        game_id=GAME,
        position=position(EMPTY),
        moves=[consultation_pb2.CandidateMove(cells=[0], letters="x")],
        max_matches_each=1,
    )
    bot = guarded.bot("copier")
    assert refusal(lambda: bot.consultation.MatchSuccessors(request)).reason == "ANALYSIS_EXCEEDED"


def test_advice_on_tesujis_takes_no_patterns_from_the_hourly_allowance(guarded: Running) -> None:
    examples.teach_tesujis(guarded, "advised")
    bot, tesujis = guarded.bot("curious"), set[int]()
    for cell in range(len(EMPTY)):
        board = EMPTY[:cell] + "o" + EMPTY[cell + 1 :]
        request = consultation_pb2.AdviseRequest(
            game_id="advised", position=position(board), include_ids=True
        )
        answer = bot.consultation.Advise(request)
        assert not answer.patterns
        tesujis.update(answer.tesuji_ids)
    assert len(tesujis) > LIMIT


@pytest.mark.threat("leaks")
def test_a_restart_forgets_nothing(clock: Clock, tmp_path: Path) -> None:
    with taught(tmp_path, clock) as academy:
        token = academy.token("copier")
        assert count_patterns(academy.client(token), most=LIMIT) == LIMIT
    with limited_server(tmp_path, clock) as again:
        assert count_patterns(again.client(token), most=LIMIT) == LIMIT
        assert refusal(lambda: count_patterns(again.client(token))).reason == "ANALYSIS_EXCEEDED"


def test_a_bot_is_answered_and_limited_while_the_servers_writes_wait_for_nats(
    own_nats: NatsServer, tmp_path: Path, clock: Clock
) -> None:
    with taught(tmp_path, clock, own_nats.address("club")) as academy:
        bot = academy.bot("copier")
        assert count_patterns(bot, most=2) == 2
        own_nats.kill()
        # A write that waits, as notes of contests do all the time.
        waiting = academy.store.submit(CreateToken("waits", Role.BOT))
        time.sleep(0.1)
        assert count_patterns(bot, most=LIMIT) == LIMIT
        assert refusal(lambda: count_patterns(bot)).reason == "ANALYSIS_EXCEEDED"
        assert not waiting.done()


def test_admins_and_analysts_are_free_and_players_in_contests(guarded: Running) -> None:
    _, text = guarded.store.run(CreateToken("analyst", Role.ANALYST))
    assert count_patterns(guarded.client(text)) == len(PATTERNS)
    assert count_patterns(guarded.admin()) == len(PATTERNS)
    player, _ = guarded.open(examples.contest("played", GAME))
    request = consultation_pb2.MatchPatternsRequest(
        game_id=GAME, contest_id="played", positions=[position(EMPTY, expected_value=0.1)]
    )
    answer = player.consultation.MatchPatterns(request)
    assert len(answer.patterns.pattern_ids) == len(PATTERNS)
