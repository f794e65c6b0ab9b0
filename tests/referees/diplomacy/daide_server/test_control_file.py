"""DAIDE players in control files, and where they dial in."""

import re
from pathlib import Path

import pytest

from academy.wire.addresses import InvalidAddressError
from arena.control.settings import Control, ControlError
from arena.control.toml_file import parse, read
from arena.players.player import InvalidPlayerParametersError
from arena.runner.listeners import open_listeners
from arena.runner.player_check import check_players
from arena.runner.run import check_reachable
from referees.diplomacy.daide_server.settings import DaideAddress
from referees.diplomacy.map import shipped_map

PLAYERS = """
[players.a]
protocol = "daide"
client = "Albert"
reconnect_seconds = 3
late_turns = 7
move_seconds = 9

[players.b]
protocol = "daide"
"""


def control(folder: Path, more: str = "", players: str = PLAYERS, game: str = "diplomacy") -> Control:
    path = folder / "daide.toml"
    path.write_text(
        '[competition]\nkind = "mars"\n'
        f'[game]\nname = "{game}"\n'
        f'[[series]]\nname = "x"\nselector = "least-played"\n{players}\n{more}'
    )
    return read(path)


def test_games_on_a_cluster_are_refused_before_it_is_looked_for(tmp_path: Path) -> None:
    with pytest.raises(
        ControlError, match=r"players\.a: games of protocol 'daide' can be played on the machine"
    ):
        check_reachable(control(tmp_path), "ray://nowhere:10001")


def test_players_and_address_are_read(tmp_path: Path) -> None:
    read = control(tmp_path, '[daide]\naddress = "[::1]:16714"')
    address = DaideAddress.read(read.listeners["daide"]["address"])
    assert address == DaideAddress("::1", 16714) and str(address) == "[::1]:16714" and address.is_local
    albert, other = read.players["a"], read.players["b"]
    assert (albert.protocol, albert.command, albert.move_seconds) == ("daide", (), 9)
    assert albert.parameters == {"client": "Albert", "reconnect_seconds": 3, "late_turns": 7}
    assert other.parameters == {"client": "", "reconnect_seconds": 15.0, "late_turns": 3}
    assert control(tmp_path).listeners == {} and DaideAddress() == DaideAddress("127.0.0.1", 16713)


@pytest.mark.parametrize(
    ("more", "players", "says"),
    [
        ('[daide]\naddress = "16713"', PLAYERS, "daide.address: '16713': write host:port"),
        ('[daide]\naddress = "here:99999"', PLAYERS, "port 0 to 65535"),
        pytest.param(
            '[daide]\naddress = "0.0.0.0:0"',
            PLAYERS,
            "daide.address: 0.0.0.0:0: other machines could connect",
            marks=pytest.mark.threat("impersonation"),
        ),
        ("[daide]\nport = 5", PLAYERS, "daide.port: unknown setting"),
        ("", PLAYERS.replace("late_turns = 7", "late_turns = 0"), "players.a.late_turns: must be a whole"),
        ("", PLAYERS.replace("late_turns = 7", 'command = "x"'), "players.a.command: unknown setting"),
        (
            "",
            PLAYERS.replace('"Albert"', '""'),
            "players.a.client: '' is not a name that a DAIDE client can say",
        ),
        ("", PLAYERS.replace("Albert", "A" * 65), "players.a.client: 'A+' has 65 characters, 64 at most"),
        ("", PLAYERS.replace('"Albert"', '"Ægir"'), "players.a.client: 'Ægir' is not a name"),
        ("", PLAYERS.replace('"Albert"', r'"A\u0007"'), "printable characters of ASCII, '.' for any name"),
        (
            "",
            PLAYERS.replace("move_seconds = 9", "move_seconds = 0.5"),
            "move_seconds: must be a number from 1",
        ),
    ],
)
def test_faults_are_named(tmp_path: Path, more: str, players: str, says: str) -> None:
    with pytest.raises(ControlError, match=says):
        control(tmp_path, more, players)


def test_the_control_file_of_the_document_is_read(tmp_path: Path) -> None:
    document = (Path(__file__).parents[4] / "docs" / "how-to" / "daide-bots.md").read_text(encoding="utf-8")
    (block,) = (text for text in re.findall(r"```toml\n(.*?)```", document, re.DOTALL) if "[daide]" in text)
    settings = parse(tmp_path / "daide.toml", block)
    assert settings.competitors == ("albert", "holdbot") and settings.listeners["daide"]["address"] == str(
        DaideAddress()
    )


def test_the_door_opens_for_those_that_dial_in(tmp_path: Path) -> None:
    lines: list[str] = []
    read = control(tmp_path, '[daide]\naddress = "127.0.0.1:0"')
    with open_listeners(read, lines.append, lambda *_, **__: None) as seated:
        doors = {seated.players[name].parameters["listener"] for name in ("a", "b")}
        assert len(doors) == 1 and Path(doors.pop()).is_socket()
        assert seated.players["a"].parameters["client"] == "Albert"
        check_players(seated, quiet=True, tell=lines.append)
    assert lines[0].startswith("DAIDE clients dial in at 127.0.0.1:")
    assert lines[1:] == [f"player {name} dials in for each game: it is not checked" for name in ("a", "b")]


def test_an_address_of_other_machines_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_listeners(
        control(tmp_path, '[daide]\naddress = "0.0.0.0:0"\ninsecure = true'),
        lambda _: None,
        lambda *_, **__: None,
    ):
        pass
    assert "0.0.0.0:0 is open to other machines" in capsys.readouterr().err


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    first = control(tmp_path, '[daide]\naddress = "127.0.0.1:0"')
    lines: list[str] = []
    with open_listeners(first, lines.append, lambda *_, **__: None):
        port = lines[0].rpartition(":")[2]
        second = control(tmp_path, f'[daide]\naddress = "127.0.0.1:{port}"')
        with (
            pytest.raises(InvalidAddressError, match=f"127.0.0.1:{port}: cannot listen there"),
            open_listeners(second, lines.append, lambda *_, **__: None),
        ):
            pass


def test_a_temporary_folder_with_too_long_a_path_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ("long" * 25)
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    read = control(tmp_path, '[daide]\naddress = "127.0.0.1:0"')
    with (
        pytest.raises(
            InvalidAddressError, match=r"longlong.*/listener: cannot listen there .*too long.*TMPDIR"
        ),
        open_listeners(read, pytest.fail, lambda *_, **__: None),
    ):
        pass
    assert not list(folder.iterdir())


def dense_map(provinces: int) -> str:
    """A map on which each province borders on all others."""
    codes = [f"Q{number // 26 + 65:c}{number % 26 + 65:c}" for number in range(provinces)]
    powers = "".join(
        f'[[powers]]\nname = "{code}land"\ncode = "X{code}"\ncentres = "{code}"\nunits = "A {code}"\n'
        for code in codes[:2]
    ).replace("XQ", "X")
    places = "".join(f'{code} = {{kind = "coast", name = "{code}shire"}}\n' for code in codes)
    borders = [" ".join(codes[first:]) for first in range(provinces - 1)]
    return (
        'name = "dense"\nfirst_year = 1901\ncentres_to_win = 2\nneutral_centres = ""\n'
        f"{powers}[provinces]\n{places}[borders]\narmy = {borders}\nfleet = {borders}\n"
    )


@pytest.mark.parametrize(
    ("board", "says"),
    [
        (dense_map(130), "player a: .* its definition .* 69718 bytes: at most 65535"),
        (
            shipped_map("straits").text.replace("straits", "mine").replace("STR", "CCD"),
            "player a: 'CCD' means",
        ),
    ],
)
def test_a_map_that_daide_has_no_words_for_is_refused_before_anybody_dials_in(
    tmp_path: Path, board: str, says: str
) -> None:
    (tmp_path / "own.toml").write_text(board)
    read = control(tmp_path, game='diplomacy"\nmap = "own.toml')
    with (
        pytest.raises(InvalidPlayerParametersError, match=says),
        open_listeners(read, pytest.fail, lambda *_, **__: None),
    ):
        pass


def test_other_games_are_not_played_over_daide(tmp_path: Path) -> None:
    read = control(tmp_path, game="warlight")
    with (
        pytest.raises(InvalidPlayerParametersError, match="'warlight' is not played over DAIDE"),
        open_listeners(read, lambda _: None, lambda *_, **__: None),
    ):
        pass


def test_competitions_without_such_players_open_no_door(tmp_path: Path) -> None:
    plain = '[players.a]\nprotocol = "python"\ncommand = "arena.players.random_moves:random_moves"'
    read = control(tmp_path, players=plain)
    with open_listeners(read, pytest.fail, lambda *_, **__: None) as seated:
        assert seated is read
