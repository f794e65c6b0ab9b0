"""The generated reference leaves nothing out."""

import importlib.util
import re
import tomllib
from dataclasses import Field, fields
from pathlib import Path
from types import ModuleType

import pytest

from academy.cli.app import application as academy
from academy.knowledge.measures import Measures
from academy.knowledge.settings import LibrarySettings
from academy.service.limits import Limits
from arena.cli.app import make_application as make_arena
from arena.lobby.lobby import LobbyLimits
from referees.api import Referee, Termination

ROOT = Path(__file__).parent.parent
# Lower it when fields get comments in the protos.
FIELDS_WITHOUT_MEANING = 0


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def grpc(generate: ModuleType) -> str:
    return str(generate.grpc())


def test_pages_use_every_generator_once(generate: ModuleType) -> None:
    pages = "".join(page.read_text() for page in (ROOT / "docs").rglob("*.md"))
    assert sorted(generate.MARKER.findall(pages)) == sorted(generate.GENERATORS)


def test_every_command_is_listed(generate: ModuleType) -> None:
    text = generate.commands()
    for program, application in (("academy", academy), ("arena", make_arena())):
        for command in application.registered_commands:
            if not command.hidden and command.callback is not None:
                assert f"`{program} {command.name or command.callback.__name__}`" in text
    assert "## `academy-web`" in text and "`--behind-proxy`" in text


def test_every_program_is_listed(generate: ModuleType) -> None:
    text = generate.commands()
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert set(re.findall(r"^## `([\w-]+)`$", text, re.MULTILINE)) == set(scripts)
    assert "| `--playouts N` | random games a move (monte-carlo; 100) |" in text
    assert "| `--player PLAYER` | the player's name at the arena; required |" in text


def test_every_method_and_message_is_listed(generate: ModuleType) -> None:
    text = generate.grpc()
    for name in (
        "ConsultationService",
        "MatchSuccessors",
        "ReportContest",
        "WatchCompetition",
        "MoveRequest",
    ):
        assert f"`{name}`" in text


def test_every_field_of_a_message_has_a_meaning(generate: ModuleType) -> None:
    fields = re.findall(r"^\| `(\w+)` \| \d+ \| [^|]+ \| (.*)\|$", generate.grpc(), re.MULTILINE)
    assert len(fields) > 500
    assert sum(not meaning.strip() for _, meaning in fields) <= FIELDS_WITHOUT_MEANING


def meaning_of(reference: str, message: str, field: str) -> str:
    row = rf"^### `{message}`\n(?:(?!#).*\n)*\| `{field}` \| \d+ \| [^|]+ \| (.*) \|$"
    meaning = re.search(row, reference, re.MULTILINE)
    assert meaning is not None
    return meaning[1]


@pytest.mark.parametrize(
    ("message", "field"),
    [("ReportContestRequest", "termination"), ("Outcome", "termination"), ("Game", "termination")],
)
def test_every_way_in_which_a_game_ends_is_named(grpc: str, message: str, field: str) -> None:
    named = re.findall("`([^`]+)`", meaning_of(grpc, message, field))
    assert named == [termination.value for termination in Termination]


def test_every_measure_of_a_game_is_named(grpc: str) -> None:
    named = re.findall("`([^`]+)`", meaning_of(grpc, "GetMeasuresResponse", "measures"))
    assert named == list(Measures().measures())


def test_no_default_is_left_to_the_server(grpc: str) -> None:
    assert "server's default" not in grpc


@pytest.mark.parametrize("setting", fields(LibrarySettings), ids=lambda setting: setting.name)
def test_the_default_of_every_library_setting_is_given(grpc: str, setting: Field[object]) -> None:
    text = meaning_of(grpc, "LibrarySettings", setting.name)
    if setting.type is bool or setting.name == "tesuji_capacity":  # by the kind of game
        assert "default" in text
    else:
        assert re.search(rf"(default is|By default) {setting.default:,g}\b", text)


def test_refusals_of_both_servers_are_listed(generate: ModuleType) -> None:
    ours, arenas = generate.academy_errors(), generate.arena_errors()
    assert all(f"`{reason}`" in ours for reason in ("FAIR_USE_EXCEEDED", "STORE_FULL", "TOKEN_REVOKED"))
    assert all(f"`{reason}`" in arenas for reason in ("REPLACED", "UNKNOWN_COMPETITION", "INVALID_CONTROL"))


def test_every_limit_and_metric_is_listed(generate: ModuleType) -> None:
    assert all(f"`{limit.name}`" in generate.academy_limits() for limit in fields(Limits))
    assert all(f"`{limit.name}`" in generate.lobby_limits() for limit in fields(LobbyLimits))
    metrics = generate.metrics()
    assert all(f"`{name}`" in metrics for name in ("academy_calls_total", "arena_runs"))


def test_the_page_on_referees_names_every_method() -> None:
    page = (ROOT / "docs" / "reference" / "referee.md").read_text()
    methods = [name for name in vars(Referee) if not name.startswith("_")]
    assert [name for name in methods if not re.search(rf"^\| .*`{name}\b.* \|$", page, re.MULTILINE)] == []
