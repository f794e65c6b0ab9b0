"""Several processes on one folder, and processes that die: nothing is lost, nothing is there twice."""

import random
import signal
import time
from pathlib import Path

import pytest

from academy.store import arenas, event_log, game_tables
from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from academy.store.maintenance.check import check
from academy.store.proposal_tables import ProposalFilter
from tests.academy.store.examples import go_game, learn
from tests.academy.store.processes import start_python

ROUNDS = 4
WRITER = """
    import sys
    from pathlib import Path
    from academy.store import game_tables
    from tests.academy.store.processes import write_and_tell
    folder, name, most, *kept = sys.argv[1:]
    if kept:
        game_tables.GENERATIONS_KEPT = int(kept[0])
    write_and_tell(Path(folder), name, int(most))
"""


def acknowledged(lines: list[str], what: str) -> set[str]:
    # The last line may have been cut by the process's end.
    return {line.split()[1] for line in lines if line.startswith(f"{what} ") and line.endswith("\n")}


def reported_in(store: Store) -> list[str]:
    contest_ids: list[str] = []
    place = 0
    while True:
        events, place = store.read(event_log.read_page, 1_000, place)
        contest_ids += [
            event.contest_reported.report.contest.contest_id
            for event in events
            if event.WhichOneof("kind") == "contest_reported"
        ]
        if not place:
            return contest_ids


def test_kill_at_any_moment_loses_nothing_acknowledged(tmp_path: Path) -> None:
    chance = random.Random(1)
    reported: set[str] = set()
    proposed: set[str] = set()
    for turn in range(ROUNDS):
        process = start_python(WRITER, str(tmp_path), f"round-{turn}", "100000", says="ready")
        lines = [process.stdout.readline() for _ in range(chance.randrange(10))]
        time.sleep(chance.uniform(0.0, 0.02))
        process.send_signal(signal.SIGKILL)
        lines += process.stdout.readlines()
        process.wait(10)
        reported |= acknowledged(lines, "reported")
        proposed |= acknowledged(lines, "proposed")
        with Store(tmp_path) as store:
            # Structure every time, the whole replay at the end.
            assert not list(check(store.environment, replay=turn == ROUNDS - 1))
            logged = reported_in(store)
            assert len(logged) == len(set(logged))
            assert reported <= set(logged)
            stored = set()
            start = b""
            while True:
                page, start = store.read(arenas.list_proposals, ProposalFilter("gnugo 1"), start)
                stored |= {proposal.proposal_id for proposal in page}
                if not start:
                    break
            assert proposed <= stored
            assert store.follow().refresh("go-9x9").measures.contests == len(logged)
    assert reported and proposed, "the writers must have come to write"


def test_two_processes_write_and_a_third_follows(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.run(RegisterGame(go_game(), "arena"))
        follower = store.follow()
        writers = [start_python(WRITER, str(tmp_path), name, "20") for name in ("one", "two")]
        # This process writes as well.
        learn(store, contests=10)
        seen = {follower.refresh("go-9x9").measures.contests}
        while any(writer.poll() is None for writer in writers):
            seen.add(follower.refresh("go-9x9").measures.contests)
            time.sleep(0.001)
        for writer in writers:
            output, _ = writer.communicate(timeout=180)
            assert writer.returncode == 0
            assert output.count("reported") == 20
        assert follower.refresh("go-9x9").measures.contests == 50
        assert len(seen) > 2
        followed, loaded = follower.refresh("go-9x9"), store.follow().refresh("go-9x9")
        assert (followed.libraries, followed.openings.nodes) == (loaded.libraries, loaded.openings.nodes)
        learn(store, contests=2, first=10)
        assert follower.refresh("go-9x9").measures.contests == 52
        assert not list(check(store.environment))


# A writer that is behind further than changes are kept reads the whole game again.
@pytest.mark.parametrize(("behind", "kept"), [(4, game_tables.GENERATIONS_KEPT), (12, 5)])
def test_a_writer_takes_in_what_another_wrote_meanwhile(tmp_path: Path, behind: int, kept: int) -> None:
    with Store(tmp_path) as store:
        store.run(RegisterGame(go_game(), "arena"))
        learn(store, contests=2)
        process = start_python(WRITER, str(tmp_path), "other", str(behind), str(kept))
        process.communicate(timeout=180)
        assert process.returncode == 0
        learn(store, contests=2, first=2)
        assert store.follow().refresh("go-9x9").measures.contests == 4 + behind
        assert not list(check(store.environment))
