"""MARS players that do not get ready: they are left out, in later runs as well."""

from pathlib import Path

from tests.arena.cli.command import arena
from tests.arena.control_files import PASSING, misbehaving

CONTROL = f"""[competition]
kind = "mars"
check_players = false

[game]
name = "go"
board_size = 5

[[series]]
name = "t1"
selector = "least-played"
clones = false
games = 4

[players.one]
{PASSING}
[players.two]
{PASSING}
[players.villain]
{misbehaving("exit-at-start")}
"""


def test_who_does_not_get_ready_is_left_out_until_readmitted(tmp_path: Path) -> None:
    control = tmp_path / "cup.toml"
    control.write_text(CONTROL)
    first = arena("run", control, "-q")
    assert first.returncode == 0
    assert "player villain does not get ready: it is inhibited from now on for go-5x5" in first.stderr

    # It is not even started for the checks.
    control.write_text(CONTROL.replace("games = 4", "games = 6").replace("check_players = false", ""))
    second = arena("run", control, "-q")
    assert second.returncode == 0 and "is void" not in second.stderr
    assert "player villain did not get ready in an earlier run: it is inhibited" in second.stderr
    shown = arena("show", control).stdout
    assert "6/6 games played" in shown
    (line,) = [line for line in shown.splitlines() if line.endswith("inhibited")]
    assert line.split()[:2] == ["villain", "0"]

    third = arena("run", control, "-q", "--readmit")
    assert third.returncode == 1 and "player villain" in third.stderr


def test_a_run_for_which_nobody_is_left_is_halted_and_not_complete(tmp_path: Path) -> None:
    control = tmp_path / "cup.toml"
    control.write_text(CONTROL.replace(f"[players.two]\n{PASSING}\n", ""))
    for options, complaint in (
        ((), "player villain does not get ready"),
        ((), "player villain did not get ready in an earlier run"),
        (("--readmit",), "player villain does not get ready"),
    ):
        run = arena("run", control, "-q", *options)
        assert run.returncode == 4
        assert complaint in run.stderr
        assert "series t1: 1 contestants are left, a game needs 2 (`arena run --readmit`" in run.stderr
        assert "arena: halted: games are missing, and nobody is left who may play them" in run.stderr
