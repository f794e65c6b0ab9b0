"""Players that are kept for many games learn of each contest at ACADEMY, or a warning says why not."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from academy.store import event_log
from academy.store.library_store import Store
from arena.jobs import AcademyAccess, GameResult, PlayerSetup
from arena.match.game import play
from arena.players.gtp import GtpEngine
from arena.players.policy import PolicyProcess
from arena.players.program import KeptPrograms
from arena.runner.player_check import check_player
from clients.bots.gtp import ContestAccess, GtpError
from referees.go import Go
from tests.arena.cli.command import arena
from tests.arena.engines import job, python_player
from tests.arena.players.policies import RANDOM, diary, policy
from tests.arena.players.policies import game as game_of_policies

ENGINE = Path(__file__).with_name("contest_engine.py")
BIN = Path(sys.executable).parent
RULES = Go.from_settings({"board_size": 5, "komi": 0.5})


def engine(kind: str, notes: Path, **more: Any) -> PlayerSetup:
    command = (sys.executable, "-I", "-S", str(ENGINE), kind, str(notes))
    return PlayerSetup("kept", command, **({"restart": False} | more))


def access(number: int, tls_ca: str | None = None) -> AcademyAccess:
    tickets = (f"secret-{number}-black", f"secret-{number}-white")
    return AcademyAccess("unix:/run/the academy#1", f"cup/0_{number}/1", tickets, tls_ca)


def played(
    setup: PlayerSetup, tmp_path: Path, kept: KeptPrograms[GtpEngine], **more: Any
) -> list[GameResult]:
    """Three games of the player."""
    results = []
    for number in range(3):
        game = job(
            setup,
            python_player("other"),
            academy=access(number, **more),
            game_id=str(number),
            transcript=str(tmp_path / f"{number}.transcript"),
            log_path=str(tmp_path / "log"),
        )
        results.append(play(game))
        if setup.restart is False and not results[-1].warnings:
            assert len(kept.process_ids) == 1
    assert all(result.outcome is not None and result.outcome.summary == "W+R" for result in results)
    return results


@pytest.mark.parametrize("kind", ["listed", "echoes"])
def test_kept_engine_gets_each_contest_and_its_end(
    kind: str, tmp_path: Path, kept_engines: KeptPrograms[GtpEngine]
) -> None:
    notes = tmp_path / "notes"
    results = played(engine(kind, notes), tmp_path, kept_engines, tls_ca="/etc/my authority.pem")
    contests = [json.loads(line) for line in notes.read_text().splitlines()]
    assert [words == [] for words in contests] == [False, True] * 3
    for number, words in enumerate(contests[::2]):
        assert not any(" " in word or "#" in word for word in words)
        assert ContestAccess.read(words) == ContestAccess(
            "unix:/run/the academy#1",
            f"cup/0_{number}/1",
            f"secret-{number}-black",
            1,
            "/etc/my authority.pem",
        )
    for result in results:
        assert result.warnings == ()
        transcript = (tmp_path / f"{result.game_id}.transcript").read_text()
        assert ">> kept: academy-contest unix:/run/the%20academy%231" in transcript
        assert "*** 1" in transcript and "secret" not in transcript


def test_an_engine_of_one_game_has_its_contest_in_its_environment_alone(
    tmp_path: Path, kept_engines: KeptPrograms[GtpEngine]
) -> None:
    notes = tmp_path / "notes"
    played(engine("listed", notes, restart=True), tmp_path, kept_engines)
    assert not notes.exists()


def test_an_engine_that_does_not_have_the_command_is_warned_of_once(
    tmp_path: Path, kept_engines: KeptPrograms[GtpEngine]
) -> None:
    first, *later = played(engine("lacks", tmp_path / "notes"), tmp_path, kept_engines)
    (warning,) = first.warnings
    assert warning.startswith("player kept plays without ACADEMY: with restart = false it is kept")
    assert "no 'academy-contest'" in warning
    assert [result.warnings for result in later] == [(), ()]


def test_engine_that_refuses_its_ticket_plays_on_and_the_ticket_stays_secret(
    tmp_path: Path, kept_engines: KeptPrograms[GtpEngine]
) -> None:
    for result in played(engine("refuses", tmp_path / "notes"), tmp_path, kept_engines):
        (warning,) = result.warnings
        assert warning.endswith("; it plays without ACADEMY") and "answered with a failure" in warning
        assert "secret" not in warning + result.record


@pytest.mark.parametrize(
    ("kind", "restart", "academy", "warned"),
    [
        ("lacks", False, True, True),
        ("lacks", True, True, False),
        ("lacks", False, False, False),
        ("listed", False, True, False),
    ],
)
def test_the_check_says_who_would_play_without_academy(
    kind: str, restart: bool, academy: bool, warned: bool, tmp_path: Path
) -> None:
    setup = engine(kind, tmp_path / "notes", restart=restart)
    warnings = check_player(setup, RULES, quiet=True, academy=academy).warnings
    assert any("plays without ACADEMY" in warning for warning in warnings) is warned


@pytest.mark.parametrize("factory", ["consulting", "seeded"])
def test_kept_policy_gets_the_contests_of_all_its_slots(
    factory: str, interpreter: str, tmp_path: Path, kept_policies: KeptPrograms[PolicyProcess]
) -> None:
    notes, warnings = tmp_path / "diary", []
    kept = replace(policy(interpreter, factory, diary=str(notes)), restart=False)
    for number in range(2):
        result = game_of_policies(
            [kept, kept, *[RANDOM] * 5],
            tmp_path,
            academy=AcademyAccess("here", f"cup/{number}", tuple(f"secret-{seat}" for seat in range(1, 8))),
            transcript=str(tmp_path / "transcript"),
            year_limit=1,
        )
        warnings.append(result.warnings)
        assert "secret" not in (tmp_path / "transcript").read_text()
    assert len(kept_policies.process_ids) == 1
    contests = [(note["slot"], note["access"]) for note in diary(notes) if "slot" in note]
    if factory == "seeded":
        assert not contests
        assert ["plays without ACADEMY" in " ".join(warning) for warning in warnings] == [True, False]
        return
    assert warnings == [(), ()]
    assert [slot for slot, _ in contests] == [0, 1] * 4
    assert [given and given["ACADEMY_CONTEST"] for _, given in contests] == [
        *("cup/0", "cup/0", None, None, "cup/1", "cup/1", None, None)
    ]
    assert contests[1][1] == {
        "ACADEMY_ADDRESS": "here",
        "ACADEMY_CONTEST": "cup/0",
        "ACADEMY_GAME": "diplomacy-standard",
        "ACADEMY_PLAYER": "2",
        "ACADEMY_TOKEN": "secret-2",
    }


def test_the_sample_bot_proposes_in_every_game_that_it_is_kept_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    control = tmp_path / "cup.toml"
    bot = "academy-bot hex --set board_size=4 --playouts 4 --academy"
    control.write_text(
        f"""
        [competition]
        kind = "all-play-all"
        rounds = 3
        check_players = false
        [game]
        name = "hex"
        board_size = 4
        [players.kept]
        command = "{bot}"
        restart = false
        [players.other]
        protocol = "python"
        command = "arena.players.random_moves:random_moves"
        [academy]
        address = "embedded"
        """
    )
    monkeypatch.setenv("PATH", f"{BIN}:{os.environ['PATH']}")
    done = arena("run", control, "--log-protocol")
    assert done.returncode == 0, done.stderr
    assert "without ACADEMY" not in done.stdout + done.stderr + (tmp_path / "cup.log").read_text()
    with Store(tmp_path / "cup.academy", read_only=True) as academy:
        events, _ = academy.read(event_log.read_page, 1000)
    contests = [event.contest_reported for event in events if event.HasField("contest_reported")]
    assert len(contests) == 3
    assert all(contest.proposals for contest in contests)
    assert all("academy-contest" in path.read_text() for path in (tmp_path / "cup.protocol").iterdir())


@pytest.mark.parametrize("words", [["here"], ["a", "b", "c", "first"], ["a", "b", "c", "1", "d", "e"]])
def test_words_that_are_not_a_contest_are_refused(words: list[str]) -> None:
    with pytest.raises(GtpError, match="academy-contest ADDRESS CONTEST TOKEN SEAT"):
        ContestAccess.read(words)
