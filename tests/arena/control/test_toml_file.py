"""Control files: what they may say, and the messages about faulty ones."""

from pathlib import Path

import pytest

from arena.control.plans import AllPlayAllPlan
from arena.control.sample import sample
from arena.control.settings import Control, ControlError
from arena.control.tokens import MissingTokenError
from arena.control.toml_file import MAX_BYTES, parse, read
from arena.ratings.elo import Curve

SMALLEST = """
[competition]
kind = "all-play-all"

[game]
name = "go"
board_size = 9
komi = 7.5

[players.alpha]
command = "engine --level 1"

[players.beta]
command = ["engine", "--level", "two words"]
"""

FULL = """
[competition]
kind = "all-play-all"
description = " Two engines "
rounds = 20
competitors = ["beta", "alpha"]
parallel = 4
pin_cores = true
void_retries = 3
errors_to_log = false
results = "postgresql://host/games"
failures = "void"
seed = 7
record_games = false
check_players = false

[game]
name = "go"
board_size = 13
komi = 0
move_limit = 400
scorer = "players"

[ratings]
start = 1500
curve = "normal"

[players.alpha]
command = "./bin/engine"
working_directory = "nets"
environment = { THREADS = "1" }
discard_stderr = true
startup_commands = ["seed 1", ["level", "5"]]
aliases = { genmove = "my-genmove" }
reliable_scorer = false
start_seconds = 5
move_seconds = 0.5
exit_seconds = 1
memory = "500 MB"
fixed_elo = -100.5

[players.beta]
protocol = "python"
command = "some.module:player"

[academy]
address = "academy.example:4000"
token_env = "SOME_TOKEN"
tls_ca = "ca.pem"
player_tls_cert = "player.pem"
player_tls_key = "player.key"
update = false
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "contest.toml"
    path.write_text(text, encoding="utf-8")
    return path


def control(folder: Path, text: str) -> Control:
    return read(written(folder, text))


def test_the_smallest_file_has_defaults_for_all_else(tmp_path: Path) -> None:
    settings = control(tmp_path, SMALLEST)
    assert settings.competitors == ("alpha", "beta")
    assert (settings.parallel, settings.seed) == (1, None)
    assert settings.plan == AllPlayAllPlan(("alpha", "beta"), None)
    assert dict(settings.game.settings) == {"board_size": 9, "komi": 7.5}
    assert (settings.game.move_limit, settings.game.scorer) == (1000, "internal")
    assert settings.players["alpha"].command == ("engine", "--level", "1")
    assert settings.players["beta"].command == ("engine", "--level", "two words")
    assert settings.players["alpha"].working_directory == str(tmp_path)
    assert settings.elo.start == 1000 and settings.elo.curve is Curve.LOGISTIC
    assert settings.academy is None


def test_every_setting_arrives(tmp_path: Path) -> None:
    settings = control(tmp_path, FULL)
    alpha = settings.players["alpha"]
    assert settings.competitors == ("beta", "alpha")
    assert (settings.description, settings.parallel, settings.pin_cores) == ("Two engines", 4, True)
    assert settings.failures == "void"
    assert settings.plan == AllPlayAllPlan(("beta", "alpha"), 20)
    assert (settings.void_retries, settings.failures, settings.errors_to_log) == (3, "void", False)
    assert str(settings.results) == "postgresql+psycopg://host/games"
    assert (settings.seed, settings.record_games, settings.check_players) == (7, False, False)
    assert (settings.game.move_limit, settings.game.scorer) == (400, "players")
    assert (
        settings.elo.start == 1500
        and settings.elo.curve is Curve.NORMAL
        and settings.elo.fixed == {"alpha": -100.5}
    )
    assert alpha.command == (str(tmp_path / "bin/engine"),)
    assert alpha.working_directory == str(tmp_path / "nets")
    certificate = {
        "ACADEMY_TLS_CERT": str(tmp_path / "player.pem"),
        "ACADEMY_TLS_KEY": str(tmp_path / "player.key"),
    }
    assert (alpha.environment, alpha.discard_stderr) == (certificate | {"THREADS": "1"}, True)
    assert settings.players["beta"].environment == certificate
    assert alpha.parameters == {
        "startup_commands": ("seed 1", "level 5"),
        "aliases": {"genmove": "my-genmove"},
        "reliable_scorer": False,
    }
    assert (alpha.start_seconds, alpha.move_seconds, alpha.exit_seconds) == (5.0, 0.5, 1.0)
    assert alpha.memory_bytes == 500_000_000
    assert settings.players["beta"].protocol == "python"
    assert settings.academy is not None
    assert settings.academy.address == "academy.example:4000"
    assert settings.academy.tls_ca == tmp_path / "ca.pem"
    assert settings.academy.player_tls_cert == tmp_path / "player.pem"
    assert settings.academy.player_tls_key == tmp_path / "player.key"
    assert not settings.academy.update and not settings.academy.embedded


def test_a_players_own_certificate_comes_first(tmp_path: Path) -> None:
    text = FULL.replace('{ THREADS = "1" }', '{ ACADEMY_TLS_CERT = "own.pem" }')
    alpha = control(tmp_path, text).players["alpha"]
    assert alpha.environment["ACADEMY_TLS_CERT"] == "own.pem"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kind = "all-play-all"', "", "competition.kind: is missing"),
        ('"all-play-all"', '"playof"',
         "competition.kind: must be one of 'playoff', 'all-play-all', 'gauntlet', "),
        ('"all-play-all"', '"round-robbin"', "not 'round-robbin'; did you mean 'round-robin'?"),
        ("rounds = 20", "rounds = 0", "competition.rounds: must be a whole number from 1 to 10000000, not 0"),
        ("rounds = 20", "rounds = true", "competition.rounds: must be a whole number"),
        ("rounds = 20", "round = 20", "competition.round: unknown setting; did you mean 'rounds'?"),
        ('kind = "all-play-all"', 'knd = "all-play-all"',
         "competition.kind: is missing; is 'knd' a misspelling of it?"),
        ("rounds = 20", "zebra = 20", "competition.zebra: unknown setting; known here are: check_players"),
        ('["beta", "alpha"]', '["beta", "gamma"]',
         "competition.competitors: 'gamma' has no table [players.gamma]"),
        ('["beta", "alpha"]', '["beta", "beta"]',
         "competition.competitors: 'beta' stands there more than once"),
        ('["beta", "alpha"]', '["beta"]', "competition.competitors: 1 given, at least 2 are needed"),
        ('["beta", "alpha"]', '["beta", 3]', "competition.competitors: item 2 must be text in quotes, not 3"),
        ("record_games = false", 'record_games = "no"',
         "competition.record_games: must be true or false, not 'no'"),
        ("postgresql://host", "mysql://me:secret@host",
         "competition.results: results can't be kept in mysql:// databases: write postgresql://"),
        ('name = "go"', 'name = "ludo"', "game.name: no referee for the game 'ludo'; installed are: "),
        ("board_size = 13", "board_size = 99", "game.board_size: 99 is"),
        ("board_size = 13", "boardsize = 13", "game.boardsize: Go has no such setting"),
        ("move_limit = 400", "move_limits = 4", "game.move_limits: Go has no such setting; there are "),
        ("move_limit = 400", "move_limits = 4", "all games have a setting 'move_limit'"),
        ('scorer = "players"', 'score = "players"', "all games have a setting 'scorer'"),
        ('name = "go"', 'nmae = "go"', "game.name: is missing; is 'nmae' a misspelling of it?"),
        ("move_limit = 400", "move_limit = -1",
         "game.move_limit: must be a whole number from 1 to 1000000, not -1"),
        ('scorer = "players"', 'scorer = "nobody"', "game.scorer: must be one of 'internal', 'players'"),
        ('curve = "normal"', 'curve = "flat"',
         "ratings.curve: must be one of 'logistic', 'normal', not 'flat'"),
        ('curve = "normal"', 'curve = "nromal"',
         "ratings.curve: must be one of 'logistic', 'normal', not 'nromal'; did you mean 'normal'?"),
        ('command = "./bin/engine"', "", "players.alpha.command: is missing"),
        ('command = "./bin/engine"', 'command = ""',
         "players.alpha.command: is empty: it must name a program"),
        ('command = "./bin/engine"', "command = 'a \"b'", "players.alpha.command: can't be split into words"),
        ("move_seconds = 0.5", "move_seconds = 0",
         "players.alpha.move_seconds: must be a number from 0.001 to 1e+06"),
        ("move_seconds = 0.5", "move_seconds = nan", "players.alpha.move_seconds: must be a number"),
        ("fixed_elo = -100.5", "fixed_elo = 6001",
         "players.alpha.fixed_elo: must be a number from -6000 to 6000, not 6001"),
        ("move_seconds = 0.5", "resources = { gpus = 1.5 }",
         "players.alpha.resources.gpus: must be a whole number, or a part of one, not 1.5"),
        ("move_seconds = 0.5", "resources = { custom = { GPU = 1 } }",
         "players.alpha.resources.custom: may not have GPU: write gpus beside custom"),
        ("move_seconds = 0.5", "resources = { cpus = 0.00001 }",
         "players.alpha.resources.cpus: must be 0 or at least 0.0001, not 1e-05"),
        ("move_seconds = 0.5", "resources = { custom = { licence = 0.00001 } }",
         "players.alpha.resources.custom: 'licence' must be a number from 0.0001 to 10000, not 1e-05"),
        ("move_seconds = 0.5", "resources = { custom = { TPU = 3 } }",
         "players.alpha.resources.custom: 'TPU' must be 1, 2, 4 or 8, as Ray gives a node's chips, not 3"),
        ("move_seconds = 0.5", 'resources = { labels = { "-x/place" = "cellar" } }',
         "players.alpha.resources.labels: '-x/place' is not a label's name: write at most 63 letters"),
        ("move_seconds = 0.5", 'resources = { labels = { place = "the cellar" } }',
         "players.alpha.resources.labels: 'place' must be text of at most 63 letters, digits and ._-"),
        ("move_seconds = 0.5", f"move_seconds = 0x{'f' * 5000}",
         "can't be read: a whole number has more than 4300 digits: write a shorter one"),
        ("move_seconds = 0.5", "move_second = 1",
         "players.alpha.move_second: unknown setting; did you mean 'move_seconds'"),
        ('memory = "500 MB"', 'memory = "500 XB"',
         "players.alpha.memory: must be bytes or text such as '500 MB'"),
        ('memory = "500 MB"', "memory = 12", "players.alpha.memory: must be from 1 MiB"),
        ('{ THREADS = "1" }', "{ THREADS = 1 }",
         "players.alpha.environment: 'THREADS' must be text in quotes, not 1"),
        ('["seed 1", ["level", "5"]]', '["seed 1", 5]',
         "players.alpha.startup_commands: item 2 must be text"),
        ("[academy]", '[workers]\nvariables = { "A=B" = "x" }\n\n[academy]',
         "workers.variables: 'A=B' can't be a variable's name: write one without '='"),
        ("[academy]", '[workers]\nvariables = { PATH = "/opt/go/bin" }\n\n[academy]',
         "workers.variables: PATH, '/opt/go/bin', is also that of Ray's own processes, which need what "
         "the node has: write '/opt/go/bin:${PATH}'"),
        ('{ THREADS = "1" }', '{ "A=B" = "1" }',
         "players.alpha.environment: 'A=B' can't be a variable's name: write one without '='"),
        ('{ THREADS = "1" }', '{ "A\\u0000B" = "1" }',
         "players.alpha.environment: 'A\\x00B' must be at most 4096 characters, none of them NUL"),
        ("[academy]", '[workers]\non = ""\n\n[academy]',
         "workers.on: must be 'local', 'ray' or the address of a cluster, not ''"),
        ("move_seconds = 0.5", 'version = "1.0 beta"',
         "players.alpha.version: must be text of at most 64 letters, digits and ._+-, a letter or digit "
         "first, not '1.0 beta'"),
        ('"./bin/engine"', '"~nosuchuser/engine"',
         "players.alpha.command: '~nosuchuser/engine': there is no user of this name"),
        ('working_directory = "nets"', 'working_directory = "~nosuchuser"',
         "players.alpha.working_directory: '~nosuchuser': there is no user of this name"),
        ('tls_ca = "ca.pem"', 'tls_ca = "~nosuchuser/ca.pem"',
         "academy.tls_ca: '~nosuchuser/ca.pem': there is no user of this name"),
        ("postgresql://host/games", "sqlite:///~nosuchuser/games.sqlite",
         "competition.results: '~nosuchuser/games.sqlite': there is no user of this name"),
        ("[academy]", '[workers]\nworking_folder = "nowhere"\n\n[academy]', "/nowhere' is not a folder here"),
        ("[players.beta]", '[players."be ta"]', "players.be ta: 'be ta' is not a name"),
        ('protocol = "python"', 'protocol = "uci"',
         "players.beta.protocol: must be one of 'gtp', 'lines', 'python', 'policy', 'grpc', 'daide', "
         "not 'uci'"),
        ("academy.example:4000", "nowhere", "or unix:PATH, or 'embedded' or 'none'"),
        ('token_env = "SOME_TOKEN"', 'token_env = "A"\ntoken = "b"', "academy.token: give only one of"),
        ('tls_ca = "ca.pem"', 'tls_cert = "c.pem"', "academy.tls_cert: tls_cert and tls_key go together"),
        ('player_tls_key = "player.key"', "",
         "academy.player_tls_cert: player_tls_cert and player_tls_key go together"),
        ('protocol = "python"', 'protocol = "python"\nmemory = "500 MB"',
         "players.beta.memory: unknown setting; known here are: command, "),
        ('protocol = "python"', 'protocol = "python"\nrestart = false',
         "players.beta.restart: unknown setting"),
        ('protocol = "python"', 'protocol = "python"\naliases = { genmove = "x" }',
         "players.beta.aliases: unknown setting; known here are: "),
        ('protocol = "python"', 'protocol = "lines"\nstartup_commands = ["x"]',
         "players.beta.startup_commands: unknown setting"),
        ('command = "./bin/engine"', 'command = "./bin/engine"\nlate_turns = 2',
         "players.alpha.late_turns: unknown setting; known here are: "),
        ('working_directory = "nets"', 'working_directory = ""',
         "players.alpha.working_directory: is empty: write a path, or leave it out"),
        ('tls_ca = "ca.pem"', 'tls_ca = ""', "academy.tls_ca: is empty: write a path, or leave it out"),
        ("[academy]", f'[openings]\nfile = "{300 * "a"}"\n\n[academy]', "openings.file: there is no file "),
        ("[academy]", f'[workers]\nworking_folder = "{300 * "a"}"\n\n[academy]',
         f"/{300 * 'a'}' is not a folder here"),
        ("[academy]", "[acadamy]", "acadamy: unknown setting; did you mean 'academy'?"),
        ("[ratings]", "[[ratings]]", "ratings: must be a table headed [ratings]"),
        ("[competition]", "[competition", "is not valid TOML"),
    ],
)  # fmt: skip
def test_a_fault_is_named_by_its_path_its_value_and_its_rule(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in FULL
    with pytest.raises(ControlError) as error:
        control(tmp_path, FULL.replace(old, new, 1))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("board_size = 13", f'board_size = "{5000 * "x"}"'),
        ('command = "./bin/engine"', f'command = "{5000 * "x"}"'),
        ('memory = "500 MB"', f'memory = "{5000 * "x"}"'),
        ("move_seconds = 0.5", f'move_seconds = "{5000 * "x"}"'),
    ],
)
def test_a_refused_value_of_thousands_of_characters_is_shown_by_its_beginning(
    tmp_path: Path, old: str, new: str
) -> None:
    assert old in FULL
    with pytest.raises(ControlError, match=r"'x{199}\.\.\.") as error:
        control(tmp_path, FULL.replace(old, new, 1))
    assert len(str(error.value)) < 400


@pytest.mark.parametrize("heading", ["competition", "game", "players"])
def test_the_tables_that_must_be_there_are_named(tmp_path: Path, heading: str) -> None:
    kept = [part for part in SMALLEST.strip().split("\n\n") if not part.startswith(f"[{heading}")]
    with pytest.raises(ControlError, match=rf"^{heading}: is missing: the file needs a table \[{heading}\]"):
        control(tmp_path, "\n".join(kept))


def test_an_academy_table_alone_means_the_embedded_server(tmp_path: Path) -> None:
    academy = control(tmp_path, SMALLEST + "[academy]\n").academy
    assert academy is not None and academy.embedded
    assert academy.data == tmp_path / "contest.academy"
    assert control(tmp_path, SMALLEST + '[academy]\naddress = "none"\n').academy is None


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("unix:academy.sock", "unix:{folder}/academy.sock"),
        ("unix://academy.sock", "unix:{folder}/academy.sock"),
        ("unix:sub/academy.sock", "unix:{folder}/sub/academy.sock"),
        ("unix:~/academy.sock", "unix:{home}/academy.sock"),
        ("unix:/run/academy.sock", "unix:/run/academy.sock"),
        ("127.0.0.1:1", "127.0.0.1:1"),
    ],
)
def test_a_socket_beside_the_control_file_is_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str, means: str
) -> None:
    (tmp_path / "cup").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    settings = control(Path("cup"), f'{SMALLEST}[academy]\naddress = "{written}"\n')
    means = means.format(folder=tmp_path / "cup", home="/home/me")
    assert settings.academy is not None and settings.academy.address == means
    settings = control(Path("cup"), f'{SMALLEST}[remote]\naddress = "{written}"\n')
    assert str(settings.remote.address) == means


def test_a_socket_whose_whole_path_is_too_long_is_refused(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    with pytest.raises(ControlError, match=r"academy.address: .*a Unix socket's path has 1 to 107 bytes"):
        control(deep, SMALLEST + '[academy]\naddress = "unix:academy.sock"\n')


def test_a_token_goes_to_another_machine_in_clear_only_where_the_file_says_so(tmp_path: Path) -> None:
    elsewhere = SMALLEST + '[academy]\naddress = "academy.example:4000"\ntoken_env = "CUP"\n'
    with pytest.raises(
        ControlError,
        match=r"^academy.address: academy.example:4000 is another machine: give tls_ca, or insecure = true",
    ):
        control(tmp_path, elsewhere)
    for secure in ('tls_ca = "ca.pem"', "insecure = true"):
        assert control(tmp_path, f"{elsewhere}{secure}\n").academy is not None
    for here in ("127.0.0.1:1", "[::1]:1", "localhost:1", "unix:academy.socket"):
        assert control(tmp_path, SMALLEST + f'[academy]\naddress = "{here}"\n').academy is not None


ELSEWHERE = '[academy]\naddress = "unix:/a"\n'
EMBEDDED = '[academy]\naddress = "embedded"\n'
LOCAL = '[workers]\non = "local"\n'


@pytest.mark.parametrize(
    ("tables", "setting", "message"),
    [
        (ELSEWHERE, 'data = "folder"', "academy.data: is for the embedded server, and address is 'unix:/a'"),
        (EMBEDDED, 'token = "secret"', "academy.token: is for a server elsewhere, and address is 'embedded'"),
        (EMBEDDED, 'token_env = "CUP"', "academy.token_env: is for a server elsewhere"),
        (EMBEDDED, 'tls_ca = "ca.pem"', "academy.tls_ca: is for a server elsewhere"),
        (
            "[academy]\n",
            'tls_cert = "a.pem"\ntls_key = "a.key"',
            "academy.tls_cert: is for a server elsewhere",
        ),
        (
            EMBEDDED,
            'player_tls_cert = "a.pem"\nplayer_tls_key = "a.key"',
            "academy.player_tls_cert: is for a server elsewhere",
        ),
        (LOCAL, 'packages = ["numpy"]', "workers.packages: is for a Ray cluster, and on is 'local'"),
        (LOCAL, 'variables = { A = "b" }', "workers.variables: is for a Ray cluster, and on is 'local'"),
        (LOCAL, 'working_folder = "."', "workers.working_folder: is for a Ray cluster, and on is 'local'"),
    ],
)
def test_a_setting_that_would_be_ignored_is_refused(
    tmp_path: Path, tables: str, setting: str, message: str
) -> None:
    assert control(tmp_path, SMALLEST + tables)
    with pytest.raises(ControlError) as error:
        control(tmp_path, f"{SMALLEST}{tables}{setting}\n")
    assert str(error.value).startswith(message) and "leave" in str(error.value)
    assert "secret" not in str(error.value)


def test_settings_of_a_cluster_may_stand_in_the_file_of_a_run_that_names_the_cluster_itself(
    tmp_path: Path,
) -> None:
    workers = control(tmp_path, f'{SMALLEST}[workers]\npackages = ["numpy"]\n').workers
    assert (workers.on, workers.runtime_env) == ("local", {"pip": ["numpy"]})


def test_an_academy_is_switched_off_with_its_settings_in_place(tmp_path: Path) -> None:
    off = SMALLEST + '[academy]\naddress = "none"\ndata = "folder"\ntoken_env = "CUP"\n'
    assert control(tmp_path, off).academy is None


@pytest.mark.parametrize("setting", ["void_retries", "leave_out_after"])
def test_a_standing_competition_which_repeats_no_void_game_has_no_count_of_repetitions(
    tmp_path: Path, setting: str
) -> None:
    text = SMALLEST.replace('"all-play-all"', f'"standing"\n{setting} = 2')
    with pytest.raises(
        ControlError, match=rf"^competition.{setting}: .* plays no void game again: leave it out"
    ):
        control(tmp_path, text)


def test_stricter_rules_of_fair_use_go_to_academy(tmp_path: Path) -> None:
    assert control(tmp_path, SMALLEST + "[academy]\n").fair_use == {}
    rules = "[fair_use]\nopening_plies_ahead = 0\nconsult_share = 0.25\n"
    assert control(tmp_path, f"{SMALLEST}[academy]\n{rules}").fair_use == {
        "opening_plies_ahead": 0,
        "consult_share": 0.25,
    }
    with pytest.raises(ControlError, match=r"\[fair_use\] is about ACADEMY: add a table \[academy\]"):
        control(tmp_path, SMALLEST + rules)


def test_a_tilde_is_the_users_home_in_every_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    text = SMALLEST.replace("[game]", 'results = "sqlite:///~/cup.sqlite"\n\n[game]')
    text = text.replace('"engine --level 1"', '"~/engine"')
    settings = control(tmp_path, f'{text}[league]\nurl = "sqlite:///~/league.db"\n')
    assert settings.results is not None and settings.league is not None
    assert settings.results.database == str(home / "cup.sqlite")
    assert settings.league.database == str(home / "league.db")
    assert settings.players["alpha"].command == (str(home / "engine"),)


def test_programs_installed_beside_python_are_found_without_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    (scripts / "engine").write_text("#!/bin/sh\n")
    (scripts / "engine").chmod(0o755)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(scripts))
    assert control(tmp_path, SMALLEST).players["alpha"].command[0] == str(scripts / "engine")


def test_tokens_come_from_one_of_three_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def token(setting: str) -> str | None:
        academy = control(tmp_path, f'{SMALLEST}[academy]\naddress = "unix:/a"\n{setting}\n').academy
        assert academy is not None
        assert "secret" not in repr(academy)
        return academy.read_token()

    (tmp_path / "token").write_text("secret file\n")
    monkeypatch.setenv("SOME_TOKEN", "secret variable")
    assert token("") is None
    assert token('token = "secret text"') == "secret text"
    assert token('token_file = "token"') == "secret file"
    assert token('token_env = "SOME_TOKEN"') == "secret variable"
    with pytest.raises(MissingTokenError, match=r"academy\.token_env: the variable OTHER_TOKEN is not set"):
        token('token_env = "OTHER_TOKEN"')
    with pytest.raises(MissingTokenError, match=r"academy\.token_file: .*No such file"):
        token('token_file = "missing"')


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ControlError, match=r"can't read the control file .*No such file"):
        read(tmp_path / "missing.toml")
    with pytest.raises(ControlError, match="longer than"):
        control(tmp_path, "#" * (MAX_BYTES + 1))
    path = tmp_path / "latin.toml"
    path.write_bytes(b'description = "\xe9"')
    with pytest.raises(ControlError, match="not valid UTF-8"):
        read(path)


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    assert control(tmp_path, f"\ufeff{SMALLEST}").competitors == ("alpha", "beta")


def test_a_tuner_belongs_to_no_league(tmp_path: Path) -> None:
    text = sample("ce_tuner") + '[league]\nurl = "sqlite:///league.db"\n'
    with pytest.raises(ControlError, match="league: a competition of kind 'ce_tuner' belongs to no league"):
        parse(tmp_path / "tuner.toml", text)
