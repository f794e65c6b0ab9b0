"""Several processes on one folder: nothing is lost, nothing is there twice."""

import time
from pathlib import Path

import pytest

from academy.store.contest_commands import RegisterGame
from academy.store.library_store import Store
from academy.store.maintenance.check import check
from tests.academy.store.examples import go_game, learn
from tests.academy.store.processes import start_python

WRITER = """
    import sys
    from pathlib import Path
    from tests.academy.store.processes import write_and_tell
    write_and_tell(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
"""


def test_two_processes_write_and_a_third_follows(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.run(RegisterGame(go_game(), "arena"))
        follower = store.follow()
        writers = [start_python(WRITER, str(tmp_path), name, "40") for name in ("one", "two")]
        # This process writes as well.
        learn(store, contests=20)
        seen = {follower.refresh("go-9x9").measures.contests}
        while any(writer.poll() is None for writer in writers):
            seen.add(follower.refresh("go-9x9").measures.contests)
            time.sleep(0.001)
        for writer in writers:
            output, _ = writer.communicate(timeout=180)
            assert writer.returncode == 0
            assert output.count("reported") == 40
        assert follower.refresh("go-9x9").measures.contests == 100
        assert len(seen) > 2
        followed, loaded = follower.refresh("go-9x9"), store.follow().refresh("go-9x9")
        assert (followed.libraries, followed.openings.nodes) == (loaded.libraries, loaded.openings.nodes)
        learn(store, contests=2, first=20)
        assert follower.refresh("go-9x9").measures.contests == 102
        assert not list(check(store.environment))


@pytest.mark.parametrize("behind", [1, 63, 64, 65, 80])
def test_a_writer_takes_in_what_another_wrote_meanwhile(tmp_path: Path, behind: int) -> None:
    with Store(tmp_path) as store:
        store.run(RegisterGame(go_game(), "arena"))
        learn(store, contests=2)
        process = start_python(WRITER, str(tmp_path), "other", str(behind))
        process.communicate(timeout=180)
        assert process.returncode == 0
        learn(store, contests=2, first=2)
        assert store.follow().refresh("go-9x9").measures.contests == 4 + -(-behind // 4) * 4
        assert not list(check(store.environment))
