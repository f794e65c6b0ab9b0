"""Programs that measure or try something refuse numbers with which they would do nothing."""

from importlib import import_module
from pathlib import Path

import pytest

_COUNT = "'0': it must be a whole number from 1"
_POSITIVE = "'0': it must be a number above 0"


@pytest.mark.parametrize(
    ("program", "command", "message"),
    [
        ("benchmarks.arena", ["--seconds", "0"], _POSITIVE),
        ("benchmarks.diplomacy", ["--games", "4"], "'4': it must be a whole number from 5"),
        ("benchmarks.driver", ["--game-seconds", "0"], _POSITIVE),
        ("benchmarks.driver", ["--workers", "0"], _COUNT),
        ("benchmarks.explorer", ["--steps", "0"], _COUNT),
        ("benchmarks.idle_members", ["--members", "0"], _COUNT),
        ("benchmarks.league", ["--games", "0"], _COUNT),
        ("benchmarks.league", ["--players", "1"], "'1': it must be a whole number from 2"),
        ("benchmarks.matching", ["--rounds", "0"], _COUNT),
        ("benchmarks.new_server", ["--games", "0"], _COUNT),
        ("benchmarks.pairing", ["--players", "1"], "'1': it must be a whole number from 2"),
        ("benchmarks.pairing", ["--rounds", "0"], _COUNT),
        ("benchmarks.ray_cost", ["--rounds", "0"], _COUNT),
        ("benchmarks.restart", ["--games", "0"], _COUNT),
        ("benchmarks.standing_day", ["--bots", "1"], "'1': it must be a whole number from 2"),
        ("benchmarks.standing_day", ["--seconds", "0"], _POSITIVE),
        *(
            ("research.crash_loop", [option, "0"], _COUNT)
            for option in ("--rounds", "--processes", "--callers")
        ),
        ("research.evolution", ["folder", "--generations", "0"], _COUNT),
        ("research.game_table", ["results", "--contests", "0"], _COUNT),
        ("research.game_table", ["results", "--games", "Hex 6x6"], "invalid choice: 'Hex 6x6'"),
        ("research.game_table", ["results", "--positions", "0"], _COUNT),
        ("research.shared_log_faults", ["--rounds", "0"], _COUNT),
        ("research.soak", ["--minutes", "0"], _POSITIVE),
        ("research.stopped_playoff", ["--rounds", "0"], _COUNT),
        ("research.votes", ["folder", "--unheard", "1"], "'1': it must be a whole number from 2"),
        ("research.votes", ["folder", "--rounds", "0"], _COUNT),
    ],
)
def test_numbers_with_which_a_program_would_do_nothing_are_refused(
    program: str, command: list[str], message: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [program, *command])
    with pytest.raises(SystemExit) as ended:
        import_module(program).main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
