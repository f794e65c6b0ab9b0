"""Programs run in processes of their own."""

import subprocess
import sys
import textwrap
from pathlib import Path

from academy.store.contest_commands import OpenContest, ReportContest
from academy.store.game_registration import RegisterGame
from academy.store.library_store import Store
from tests.academy.store.examples import contest, endgame_proposal, go_game, report, submission


def start_python(program: str, *arguments: str, stdin: int | None = None) -> "subprocess.Popen[str]":
    """Start a Python program; its output can be read line by line."""
    return subprocess.Popen(
        [sys.executable, "-u", "-c", textwrap.dedent(program), *arguments],
        stdin=stdin,
        stdout=subprocess.PIPE,
        text=True,
    )


def run_python(program: str, *arguments: str) -> str:
    """Run a Python program to its end and return what it printed; it must succeed."""
    process = start_python(program, *arguments)
    output, _ = process.communicate(timeout=180)
    assert process.returncode == 0, output
    return output


def write_and_tell(folder: Path, name: str, most: int) -> None:
    """Play contests, several at a time, and print what has been acknowledged."""
    with Store(folder) as store:
        store.run(RegisterGame(go_game(), "arena"))
        print("ready")
        for first in range(0, most, 4):
            waiting = []
            for number in range(first, first + 4):
                contest_id = f"{name}-{number}"
                players = "gnugo 1", name
                request = report(contest_id, plies=30, names=players)
                store.submit(OpenContest(contest(contest_id, names=players)))
                proposals = [endgame_proposal(request, back=back) for back in range(2)]
                proposed = store.submit(submission(contest_id, 1, proposals, "gnugo 1"))
                waiting.append((contest_id, proposed, store.submit(ReportContest(request, "arena"))))
            for contest_id, proposed, reported in waiting:
                for proposal in proposed.result(30):
                    print(f"proposed {proposal.proposal_id}")
                assert reported.result(30).counted
                print(f"reported {contest_id}")
