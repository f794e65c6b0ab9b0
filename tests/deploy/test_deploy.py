"""What `deploy/` holds is sound: alerts by promtool, units by systemd, commands with known options."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client import generate_latest
from typer.testing import CliRunner

from academy.cli.app import application
from academy.store.maintenance.backup import backup
from arena.cli.app import make_application as make_arena
from arena.lobby.lobby import Lobby, LobbyLimits
from arena.runner.remote_players import NamedPlayers
from arena.service.access import ServiceAccess
from arena.service.competitions import CompetitionServicer
from arena.service.folder import CompetitionFolder
from arena.service.runs import Runs
from arena.service.server import ServiceMetrics
from arena.service.tokens import ServiceRole, Tokens, add_token
from clients import analyst
from tests.academy.service.running import serving
from tests.deploy.manifests import DEPLOY
from web.cli.app import application as web_application

ROOT = Path(__file__).parents[2]
PROMTOOL, SYSTEMD_ANALYZE = shutil.which("promtool"), shutil.which("systemd-analyze")
UNITS = sorted(path for path in (DEPLOY / "systemd").rglob("*") if path.is_file())
SHARED_LOG = DEPLOY / "systemd" / "academy.service.d" / "shared-log.conf"


@pytest.mark.skipif(PROMTOOL is None, reason="promtool (Debian's package prometheus) is not installed")
@pytest.mark.parametrize(
    "command",
    [
        ("test", "rules", "alerts_test.yml"),
        # And the alerts, which it names.
        ("check", "config", "prometheus.yml"),
    ],
)
def test_promtool_finds_no_fault(command: tuple[str, ...]) -> None:
    done = subprocess.run(
        [str(PROMTOOL), *command], cwd=DEPLOY / "prometheus", capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_alerts_are_on_metrics_that_there_are(tmp_path: Path) -> None:
    with serving(tmp_path / "data") as server:
        backup(server.store.environment, tmp_path / "backup")
        metrics = generate_latest(server.server.metrics.registry).decode()
    add_token(tmp_path / "tokens", "me", ServiceRole.OPERATOR)
    runs = Runs(tmp_path / "lobby")
    lobby = Lobby(NamedPlayers({}), LobbyLimits())
    servicer = CompetitionServicer(
        CompetitionFolder(tmp_path),
        runs,
        ServiceAccess(Tokens(tmp_path / "tokens")),
        lobby,
        allow_uploads=False,
    )
    arena = ServiceMetrics(lobby, servicer, runs).collect()
    known = set(re.findall(r"^# TYPE (\w+)", metrics, re.MULTILINE)) | {
        f"{metric.name}_total" if metric.type == "counter" else metric.name for metric in arena
    }
    text = (DEPLOY / "prometheus" / "alerts.yml").read_text(encoding="utf-8")
    expressions = " ".join(re.findall(r"expr: (.*?)\n +(?:for|labels):", text, re.DOTALL))
    # Only a server that shares a log has this one.
    known.add("academy_shared_log_up")
    named = set(re.findall(r"\b((?:academy|arena|process)_\w+)", expressions))
    assert len(named) > 12
    assert {name.removesuffix("_bucket") for name in named} - known == set()


@pytest.mark.parametrize("place", ["prometheus/alerts.yml", "compose/grafana/dashboards/academy.json"])
def test_calls_that_last_as_long_as_callers_like_are_not_slow(place: str) -> None:
    protocols = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "protos/academy").rglob("*.proto")
    )
    streams = set(re.findall(r"rpc (\w+)\(.*\bstream\b", protocols))
    (left_out,) = re.findall(r"/\(([\w|]+)\)", (DEPLOY / place).read_text(encoding="utf-8"))
    assert set(left_out.split("|")) == streams | {"Watch", "ServerReflectionInfo"}


@pytest.mark.skipif(SYSTEMD_ANALYZE is None, reason="systemd-analyze is not installed")
def test_systemd_finds_no_fault_in_the_units(tmp_path: Path) -> None:
    (tmp_path / SHARED_LOG.parent.name).mkdir()
    for unit in UNITS:
        # It looks whether the programs are there.
        text = unit.read_text(encoding="utf-8").replace("/opt/academy/bin", str(Path(sys.executable).parent))
        (tmp_path / unit.relative_to(DEPLOY / "systemd")).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [
            str(SYSTEMD_ANALYZE),
            "verify",
            *(str(tmp_path / unit.name) for unit in UNITS if unit != SHARED_LOG),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    ours = [
        line
        for line in done.stderr.splitlines()
        if str(tmp_path) in line or "academy" in line or "arena" in line
    ]
    assert (done.returncode, ours) == (0, []), done.stderr


def test_systemd_does_not_start_an_analyst_again_whose_settings_are_refused() -> None:
    with pytest.raises(SystemExit) as refused:
        analyst.main(["hex", "--playouts", "1"])
    unit = (DEPLOY / "systemd" / "academy-analyst.service").read_text(encoding="utf-8")
    assert f"RestartPreventExitStatus={refused.value.code}" in unit.splitlines()


def test_units_and_container_call_commands_with_options_that_there_are() -> None:
    calls = []
    for unit in UNITS:
        for program, arguments in re.findall(
            r"/opt/academy/bin/([\w-]+) ([^'\n]*)", unit.read_text(encoding="utf-8")
        ):
            calls.append((program, arguments.split("#")[0].replace('"', "").split()))
    container = (DEPLOY / "container" / "Containerfile").read_text(encoding="utf-8")
    (command,) = re.findall(r"^CMD (\[.*\])$", container, re.MULTILINE)
    calls.append(("academy", json.loads(command)))
    # Others than Typer's print their help before they refuse an option.
    analysts = [arguments for program, arguments in calls if program == "academy-analyst"]
    assert [analyst.argument_parser().parse_args(arguments).game for arguments in analysts] == ["hex"]
    programs = {"academy": application, "arena": make_arena(), "academy-web": web_application}
    calls = [call for call in calls if call[0] in programs]
    assert {program for program, _ in calls} == set(programs)
    for program, arguments in calls:
        # Wrong options are reported before any help.
        done = CliRunner().invoke(programs[program], [*arguments, "--help"])
        assert done.exit_code == 0, (arguments, done.output)


def test_the_container_is_built_from_what_there_is() -> None:
    container = "".join(
        path.read_text(encoding="utf-8") for path in (DEPLOY / "container").glob("*Containerfile")
    )
    for sources in re.findall(r"^COPY (?!--from)(.*) \S+$", container, re.MULTILINE):
        for source in sources.split():
            assert (ROOT / source).exists(), source
