"""What a user sees of every client program's command line: its version, and examples that it accepts."""

import re
import shlex
from importlib.metadata import version

import pytest

from clients import analyst
from clients.bots import any_game, gtp_connector, lines_connector
from clients.bots.diplomacy import daide

PROGRAMS = {
    "academy-bot": any_game.argument_parser,
    "academy-analyst": analyst.argument_parser,
    "arena-gtp-connect": gtp_connector.argument_parser,
    "arena-lines-connect": lines_connector.argument_parser,
    "academy-daide-bot": daide.argument_parser,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_prints_its_version(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        PROGRAMS[name]().parse_args(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"{name} {version('academy-arena')}\n"


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_examples_below_the_help_are_accepted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The examples name files of tokens.
    monkeypatch.setattr("pathlib.Path.is_file", lambda _: True)
    parser = PROGRAMS[name]()
    examples = re.findall(rf"^  .*?\b{name} (.*)$", parser.epilog or "", re.MULTILINE)
    assert examples
    for example in examples:
        parser.parse_args(shlex.split(example))
