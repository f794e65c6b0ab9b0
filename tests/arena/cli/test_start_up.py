"""Until the command says how it is used, it loads nothing that it does not need for that."""

import inspect
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from arena.cli import serving
from arena.control import sample, schema
from arena.service.tokens import ServiceRole

HEAVY = (
    "asyncio",
    "arena.runner.run",
    "google.protobuf",
    "llvmlite",
    "numba",
    "numpy",
    "pyspiel",
    "sqlalchemy",
    "structlog",
)
LOADED = """
import sys
from typing import get_args
from contextlib import suppress
from {package}.cli import main
sys.argv = ["{package}", *{arguments!r}]
with suppress(SystemExit):
    main()
print(*sorted({{"grpc", *{heavy!r}}} & set(sys.modules)), file=sys.stderr)
"""


def loaded(package: str, *arguments: str, heavy: tuple[str, ...] = HEAVY) -> list[str]:
    """Which heavy modules the command has loaded at its end."""
    program = LOADED.format(package=package, arguments=list(arguments), heavy=heavy)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0 and "Usage:" in done.stdout, done.stderr
    return done.stderr.split()


def test_help_loads_nothing_heavy() -> None:
    assert loaded("arena", "--help", heavy=(*HEAVY, "pydantic")) == []


@pytest.mark.parametrize("action", ["run", "stop", "export"])
def test_an_actions_help_loads_nothing_but_grpc(action: str) -> None:
    assert set(loaded("arena", action, "--help")) <= {"grpc", "asyncio"}


NOT_OF_A_RUN = ("arena.cli.results", "arena.reports.assembly", "arena.selection.swiss", "grpc", "numpy")
BEGUN = f"""
import sys
from arena.cli import main
def look(event, arguments):
    if event == "sqlite3.connect":
        print(len(sys.modules) > 500, *sorted({set(NOT_OF_A_RUN)!r} & set(sys.modules)))
sys.addaudithook(look)
sys.argv[0] = "arena"
main()
"""


CONTROL = (
    '[competition]\nkind = "all-play-all"\ncheck_players = false\n'
    '[game]\nname = "go"\nboard_size = 9\n[players.a]\ncommand = "true"\n[players.b]\ncommand = "true"\n'
)


def test_a_run_opens_its_results_without_other_kinds_other_actions_reports_and_grpc(tmp_path: Path) -> None:
    control = tmp_path / "cup.toml"
    control.write_text(CONTROL)
    words = ("run", "--quiet", "--max-games", "0", str(control))
    done = subprocess.run([sys.executable, "-c", BEGUN, *words], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "True"


ENDED = """
import sys
from arena.cli import main
sys.argv[0] = "arena"
try:
    main()
finally:
    print("academy.wire.silent_grpc" in sys.modules, "grpc" in sys.modules)
"""


def test_grpc_is_silent_in_a_run_that_asks_a_cluster(tmp_path: Path) -> None:
    control = tmp_path / "cup.toml"
    control.write_text(f'{CONTROL}[workers]\non = "127.0.0.1:1"\n')
    program = [sys.executable, "-c", ENDED, "run", str(control)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "there is no Ray cluster" in done.stderr
    assert done.stdout == "True True\n"


def test_options_say_the_same_without_loading_the_arena_as_with_it() -> None:
    role = inspect.signature(serving.token).parameters["role"]
    assert get_args(get_args(role.annotation)[0]) == tuple(known.value for known in ServiceRole)
    assert sample.KINDS == schema.KINDS
