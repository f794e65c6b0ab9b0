"""The worked example of add-a-game.md: a game as a package, installed in a fresh environment."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "examples" / "konane"
GUIDE = (ROOT / "docs" / "tutorials" / "add-a-game.md").read_text()
SHOWN = re.findall(r"<!-- konane -->\n```(\w+)\n(.*?)```", GUIDE, re.DOTALL)
COMMANDS = [text for language, text in SHOWN if language == "sh"]

# The fresh environment borrows what these tests run in, so that nothing is fetched; the package is not in it.
# Making an environment of its own takes seconds, most of them for pip.
VENV, BARE_VENV = "python3 -m venv .venv\n", "python3 -m venv --without-pip .venv\n"
INSTALL_ARENA = "pip install '../..[arena]'\n"
BORROW = """
packages="$(python -c 'import site; print(site.getsitepackages()[0])')"
echo "import site; site.addsitedir('$LENT')" >"$packages/lent.pth"
for command in pip=pip pytest=pytest arena=arena.cli academy=academy academy-bot=clients.bots.any_game; do
    script=.venv/bin/${command%=*}
    printf '#!/bin/sh\\nexec "%s/bin/python" -m %s "$@"\\n' "$VIRTUAL_ENV" ${command#*=} >$script
    chmod +x $script
done
"""

# `arena check` has started the players already.
QUICKLY = "rounds = 1\ncheck_players = false"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ignored = shutil.ignore_patterns(".venv", "__pycache__", "*.egg-info", "build", "cup.*[!l]")
    return Path(shutil.copytree(PACKAGE, tmp_path_factory.mktemp("game") / "konane", ignore=ignored))


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run commands of the page, without what this environment says and without a network."""
    return subprocess.run(
        ["bash", "-c", f"set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n{script}"],
        cwd=folder,
        env={
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("ACADEMY_", "PYTHON"))
            },
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "ACADEMY_MATCHING_KERNEL": "numpy",
            "LENT": sysconfig.get_path("purelib"),
            "PIP_NO_INDEX": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # which is how one says "without isolation" there
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        },
        capture_output=True,
        text=True,
        timeout=800,
    )


@pytest.fixture
def small_referee(tmp_path: Path) -> Path:
    """The folder of the small referee, as the page has its files."""
    referee, law = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    project, control = re.findall(r"<!-- my-games -->\n```toml\n(.*?)```", GUIDE, re.DOTALL)
    (tmp_path / "my_games").mkdir()
    for name, text in {
        "my_games/__init__.py": "",
        "my_games/tic_tac_toe.py": referee,
        "pyproject.toml": project,
        "cup.toml": control,
        "test_laws.py": law,
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.timeout(900)
def test_the_package_and_the_small_referee_are_installed_tested_and_played(
    package: Path, small_referee: Path
) -> None:
    assert len(COMMANDS) == 3
    assert INSTALL_ARENA in COMMANDS[0]
    assert VENV in COMMANDS[0]
    script = "".join(COMMANDS).replace(INSTALL_ARENA, BORROW).replace(VENV, BARE_VENV)
    # One environment for both packages, and one run of pip and pytest: each takes two seconds to start.
    for once in ("pip install '.[test]'\n", "pytest\n"):
        assert script.count(f"\n{once}") == 1
    script = script.replace("pip install '.[test]'\n", f"pip install '.[test]' {small_referee}\n")
    script = script.replace("\npytest\n", f"\npytest . {small_referee}/test_laws.py\n")
    control = package / "cup.toml"
    text = control.read_text()
    alone, others = text.index("[players.alone]"), text.index("[players.jumps]")
    control.write_text((text[:alone] + text[others:]).replace("rounds = 2", QUICKLY))
    done = run(f"{script}\ncd {small_referee}\narena run cup.toml\n", package)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\d+ passed", done.stdout)
    assert "konane-6x6: 5 games, 5 finished" in done.stdout
    assert done.stdout.count("the run is over: all games have been played") == 2
    assert "Openings of konane-6x6" in done.stdout
    assert len(list((package / "cup.games").glob("*.json"))) == 3
    assert "konane-6x6, endgame:" in done.stdout


def test_what_is_shown_of_the_package_is_what_is_in_it() -> None:
    shown = [tomllib.loads(text) for language, text in SHOWN if language == "toml"]
    there = tomllib.loads((PACKAGE / "pyproject.toml").read_text())
    assert [{"project": there["project"]}] == shown


def test_the_files_of_the_steps_exist() -> None:
    steps = re.findall(r"^\| \d+\. [^|]+\| `([^`]+)` \|", GUIDE, re.MULTILINE)
    files = [step for step in steps if "/" in step or step.endswith("toml")]
    assert len(files) == 9
    assert all((PACKAGE / file).is_file() for file in files)
