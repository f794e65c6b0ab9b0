"""Servers that share a log, hurt for a moment: the long run is `make log-faults`."""

import subprocess
import sys

import pytest

from research import shared_log_faults, simulated_hosts


@pytest.mark.slow
def test_of_six_servers_that_are_killed_and_cut_off_none_loses_what_was_acknowledged() -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "research.shared_log_faults", "--rounds", "2"),
            # One ACADEMY server is killed with -9, and another is cut off from NATS for three seconds.
            *("--kinds", "kill", "cut_academy", "--seed", "360"),
        ],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("round") == 2
    assert "kill, ACADEMY" in done.stdout and "cut_academy, ACADEMY" in done.stdout
    assert ", 0 faults" in done.stdout


def test_faults_that_this_machine_cannot_cause_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(simulated_hosts, "why_not", lambda: "")
    monkeypatch.setattr(simulated_hosts, "can_set_clocks", lambda: False)
    monkeypatch.setattr(sys, "argv", ["shared_log_faults", "--kinds", "set_clock"])
    with pytest.raises(SystemExit):
        shared_log_faults.main()
    errors = capsys.readouterr().err
    assert "left out, as this machine cannot: set_clock" in errors and "no kind is left" in errors
