"""Control files of the ringmaster: every setting arrives, and faults are reported as it reported them."""

import gc
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from arena.control.control_file import read_control
from arena.control.parameters import Explicit, InvalidParameterError, Linear, Logarithmic
from arena.control.plans import AllPlayAllPlan, CrossEntropyPlan, Matchup, MonteCarloPlan, PlayoffPlan
from arena.control.ringmaster import execution
from arena.control.settings import Control, ControlError
from tests.processes import children, left_running
from tests.waiting import until

PLAYOFF = '''\
# Two engines
competition_type = 'playoff'

description = """
 Two engines
"""
record_games = False
stderr_to_log = False
skip_player_checks = True

def engine(level, *options):
    return Player("bin/engine --level=%d" % level, startup_gtp_commands=list(options))

players = {
    'weak': engine(1, "seed 1", ["go_param", "rules", "cgos"]),
    'strong': engine(10),
    'full': Player(
        ["engine", "two words"], cwd="~/nets", environ={'THREADS': "1"}, discard_stderr=True,
        gtp_aliases={'genmove': 'kgs-genmove_cleanup'}, is_reliable_scorer=False, allow_claim=True,
        sgf_player_name_from_gtp=False),
    'unused': Player("nothing"),
}

board_size = 9
komi = 6.5
move_limit = 300
number_of_games = 11
alternating = True

matchups = [
    Matchup('weak', 'strong'),
    Matchup(player_1='weak', player_2='full', id='handicap', name="two stones", handicap=2,
            komi=0.5, handicap_style='free', board_size=13, alternating=False, number_of_games=None,
            scorer='internal', internal_scorer_handicap_compensation='short', move_limit=500),
    Matchup('full', 'full', number_of_games=0),
]
'''

ALL_PLAY_ALL = """\
competition_type = "allplayall"
players = {n: Player("engine " + n) for n in ['a', 'b', 'c']}
board_size = 13
komi = 7
rounds = 20
competitors = ['c', Competitor('a'), Competitor(player='b')]
"""

MONTE_CARLO = """\
competition_type = 'mc_tuner'
from math import exp

players = {'opponent': Player("gnugo")}
opponent = 'opponent'
candidate_colour = 'W'
board_size = 9
komi = 7.5
number_of_games = 500

def squared(x):
    return x ** 2

parameters = [
    Parameter('resign_at', scale=LOG(0.01, 5.0), split=8, format='R: %4.2f'),
    Parameter('playouts', scale=LINEAR(10, 110, integer=True), split=4),
    Parameter('policy', scale=EXPLICIT(['old', 'new']), split=2),
    Parameter('bias', scale=squared, split=2),
]

def make_candidate(resign_at, playouts, policy, bias):
    options = ["--%s" % policy]
    if bias > 0.5:
        options.append("--biased")
    return Player(["engine"] + options, startup_gtp_commands=[
        "param resign_at %f" % resign_at, ("param", "playouts", str(playouts))])

exploration_coefficient = 0.45
initial_visits = 10
initial_wins = 5
max_depth = 2
summary_spec = [20, 5]
log_tree_to_history_period = 50
number_of_running_simulations_to_show = 4
"""

CROSS_ENTROPY = """\
competition_type = 'ce_tuner'

def exp_10(x):
    return 10.0**x

parameters = [
    Parameter('rave', initial_mean=-1.0, initial_variance=1.5, transform=exp_10, format="I: %4.2f"),
    Parameter('plain', initial_mean=3, initial_variance=0),
]

def make_candidate(rave, plain):
    return Player(f"engine --rave={rave:.3f} --plain={plain}")

players = {'gnugo-l10': Player("gnugo --mode=gtp --level=10")}
opponent = 'gnugo-l10'
candidate_colour = 'random'
board_size = 9
komi = 7
number_of_generations = 5
samples_per_generation = 100
batch_size = 10
elite_proportion = 0.1
step_size = 0.8
"""


def control(folder: Path, text: str) -> Control:
    path = folder / "cup.ctl"
    path.write_text(text, encoding="utf-8")
    return read_control(path)


def test_a_playoff(tmp_path: Path) -> None:
    parsed = control(tmp_path, PLAYOFF)
    assert (parsed.kind, parsed.description) == ("playoff", "Two engines")
    assert not (parsed.record_games or parsed.errors_to_log or parsed.check_players)
    assert parsed.failures == "void"
    assert parsed.ringmaster_rules
    assert parsed.competitors == ("weak", "strong", "full") and "unused" in parsed.players
    assert isinstance(parsed.plan, PlayoffPlan)
    plain, handicap, none = parsed.plan.matchups
    assert (plain.matchup_id, plain.players, plain.games, plain.alternating) == (
        "0",
        ("weak", "strong"),
        11,
        True,
    )
    assert dict(plain.game.settings) == {"board_size": 9, "komi": 6.5, "handicap_compensation": "full"}
    assert (plain.game.name, plain.game.move_limit, plain.game.scorer) == ("go", 300, "players")
    assert handicap == Matchup(
        "handicap", ("weak", "full"), handicap.game, "two stones", alternating=False, games=None
    )
    assert dict(handicap.game.settings) == {
        "board_size": 13,
        "komi": 0.5,
        "handicap": 2,
        "handicap_style": "free",
        "handicap_compensation": "short",
    }
    assert (handicap.game.move_limit, handicap.game.scorer) == (500, "internal")
    assert (none.matchup_id, none.games) == ("2", 0)


def test_a_players_settings_arrive(tmp_path: Path) -> None:
    players = control(tmp_path, PLAYOFF).players
    assert players["weak"].command == (str(tmp_path / "bin/engine"), "--level=1")
    assert players["weak"].working_directory is None
    assert players["weak"].parameters["startup_commands"] == ("seed 1", "go_param rules cgos")
    full = players["full"]
    assert full.command == ("engine", "two words")
    assert full.working_directory == str(Path.home() / "nets")
    assert (full.environment, full.discard_stderr) == ({"THREADS": "1"}, True)
    assert full.parameters == {
        "aliases": {"genmove": "kgs-genmove_cleanup"},
        "reliable_scorer": False,
        "allow_claim": True,
        "name_from_gtp": False,
    }


def test_an_all_play_all(tmp_path: Path) -> None:
    read_control = control(tmp_path, ALL_PLAY_ALL)
    assert read_control.plan == AllPlayAllPlan(("c", "a", "b"), 20) and read_control.kind == "all-play-all"
    assert (read_control.game.settings["komi"], read_control.game.scorer) == (7.0, "players")


def test_a_monte_carlo_tuner(tmp_path: Path) -> None:
    plan = control(tmp_path, MONTE_CARLO).plan
    assert isinstance(plan, MonteCarloPlan)
    assert (plan.candidate.opponent, plan.candidate.seat) == ("opponent", 2)
    assert [parameter.scale for parameter in plan.parameters[:3]] == [
        Logarithmic(0.01, 5.0), Linear(10, 110, integer=True), Explicit(("old", "new")),
    ]  # fmt: skip
    assert [parameter.split for parameter in plan.parameters] == [8, 4, 2, 2]
    assert [parameter.format for parameter in plan.parameters[:2]] == ["R: %4.2f", "playouts:%s"]
    assert plan.parameters[3].value(0.5) == 0.25
    assert (plan.exploration, plan.initial_visits, plan.initial_wins) == (0.45, 10, 5)
    assert (plan.games, plan.max_depth, plan.summary) == (500, 2, (20, 5))
    assert (plan.log_period, plan.shown_running) == (50, 4)
    candidate = plan.candidate.make("#7", [0.25, 60, "new", 0.75])
    assert (candidate.name, candidate.command) == ("#7", ("engine", "--new", "--biased"))
    assert candidate.parameters["startup_commands"] == ("param resign_at 0.250000", "param playouts 60")


def test_a_cross_entropy_tuner(tmp_path: Path) -> None:
    plan = control(tmp_path, CROSS_ENTROPY).plan
    assert isinstance(plan, CrossEntropyPlan)
    assert (plan.generations, plan.samples, plan.batch, plan.elite_proportion, plan.step_size) == (
        5,
        100,
        10,
        0.1,
        0.8,
    )
    rave, plain = plan.parameters
    assert (rave.mean, rave.variance, rave.value(-1.0)) == (-1.0, 1.5, pytest.approx(0.1))
    assert (plain.format, plain.value(3)) == ("plain:%s", 3.0)
    assert plan.candidate.seat is None
    assert plan.candidate.make("g0#1", [0.5, 2.0]).command == ("engine", "--rave=0.500", "--plain=2.0")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\nraise ValueError('oh')", "line 7: ValueError: oh"),
        ("raise SystemExit(0)", "line 7: it exits .0.: a control file only sets things, so take out"),
        ("x =", "line 7: this is neither Python 3 nor Python 2 that can be converted: invalid syntax"),
        ("x = nothing", "line 7: NameError: name 'nothing' is not defined"),
    ],
)
def test_faults_of_a_file_have_their_line(tmp_path: Path, text: str, message: str) -> None:
    text = ALL_PLAY_ALL + text.replace("x = 1\n", "") + "\n"
    with pytest.raises(ControlError, match=message):
        control(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (PLAYOFF, "competition_type = 'playoff'", "", "can't find competition_type"),
        (PLAYOFF, "'playoff'", "'playoff' # really", "can't find competition_type"),
        (PLAYOFF, "'playoff'", "'knockout'", "unknown competition type: knockout"),
        (PLAYOFF, "komi = 6.5", "competition_type = 'x'", "competition_type improperly specified"),
        (PLAYOFF, "board_size = 9", "board_size = 'x'", "'board_size': 'x' is not a whole number"),
        (PLAYOFF, "komi = 6.5", "komi = 'x'", "'komi': 'x' is not a finite number"),
        (PLAYOFF, "board_size = 9", "board_sizes = 9", "'board_size': is missing; is 'board_sizes' a"),
        (PLAYOFF, "board_size = 9", "board_size = 9; handicap = 10", "'handicap'"),
        (PLAYOFF, "board_size=13", "board_size=26", "matchup handicap: 'board_size': 26 is not a whole"),
        (PLAYOFF, "komi=0.5", "komi='x'", "matchup handicap: 'komi': 'x' is not a finite"),
        (PLAYOFF, "komi=0.5", "komi=None", "matchup handicap: 'komi': is missing"),
        (PLAYOFF, "handicap=2", "handicap=1", "matchup handicap: 'handicap': 1 stones: a board"),
        (PLAYOFF, "'short'", "'long'", "matchup handicap: 'internal_scorer_handicap_compensation': 'l"),
        (PLAYOFF, "name=", "nam=", "matchup handicap: 'nam': unknown setting; did you mean 'name'?"),
        (PLAYOFF, "id='handicap'", "id='0'", "'matchups': duplicate matchup id '0'"),
        (PLAYOFF, "Matchup('weak', 'strong')", "Matchup('weak', 'x')", "matchup 0: 'player_2': unknown"),
        (PLAYOFF, "Matchup('weak', 'strong')", "Matchup('weak')", "matchup 0: 'player_2': is missing"),
        (PLAYOFF, "Matchup('weak', 'strong')", "'x'", "matchup 0: not a Matchup"),
        (PLAYOFF, "komi = 6.5", "komi = True", "'komi': True is not a finite number"),
        (PLAYOFF, "Matchup('weak', 'strong')", "Matchup(1, 2, 3)", "line 31: TypeError: Matchup() takes 2"),
        (PLAYOFF, "record_games = False", "record_games = 0", "'record_games': must be true or false"),
        (PLAYOFF, "allow_claim=True", "allow=True", "player full: 'allow': unknown setting; did you mean"),
        # What TOML calls the setting.
        (
            PLAYOFF,
            "name=",
            "games=",
            "matchup handicap: 'games': unknown setting; did you mean 'number_of_games'?",
        ),
        (
            PLAYOFF,
            "allow_claim=True",
            "environment={}",
            "player full: 'environment': unknown setting; did you mean 'environ'?",
        ),
        (PLAYOFF, "allow_claim=True", "aliases={}", "unknown setting; did you mean 'gtp_aliases'?"),
        (PLAYOFF, 'Player("nothing")', "Player(3)", "player unused: 'command': must be text or a list"),
        (PLAYOFF, 'Player("nothing")', "Player()", "player unused: 'command': is missing"),
        (PLAYOFF, 'Player("nothing")', "7", "player unused: not a Player"),
        (PLAYOFF, "'unused'", "'un used'", "'players': 'un used' is not a name"),
        (PLAYOFF, 'cwd="~/nets"', 'cwd=""', "player full: 'cwd': is empty"),
        (ALL_PLAY_ALL, "'c', Comp", "'a', Comp", "'competitors': duplicate competitor: a"),
        (ALL_PLAY_ALL, "'c', Comp", "'d', Comp", "competitor 0: 'player': unknown player d; play"),
        (ALL_PLAY_ALL, "rounds = 20", "rounds = 0", "'rounds': must be a whole number from 1"),
        (ALL_PLAY_ALL, "['c', Competitor('a'), Competitor(player='b')]", "['c']", "'competitors': has 1"),
        (MONTE_CARLO, "komi = 7.5", "komi = 7", "'komi': must be fractional"),
        (MONTE_CARLO, "'W'", "'green'", "'candidate_colour': must be one of 'b'"),
        (MONTE_CARLO, "split=8", "split=0", "parameter resign_at: 'split': must be a whole number from 1"),
        (MONTE_CARLO, "'playouts', scale", "'resign_at', scale", "duplicate parameter code"),
        (MONTE_CARLO, "LOG(0.01, 5.0)", "LOG(0, 5.0)", "a logarithmic scale can't go from 0 to 5"),
        (MONTE_CARLO, "LOG(0.01, 5.0)", "7", "parameter resign_at: 'scale': must be a function"),
        (MONTE_CARLO, "'R: %4.2f'", "'R'", "parameter resign_at: 'format': must hold one value's place"),
        (MONTE_CARLO, "x ** 2", "x / 0", "parameter bias: no value for 0.75: line 12: ZeroDivisionError"),
        (MONTE_CARLO, "return Player(", "return list(", "make_candidate("),
        (MONTE_CARLO, "return Player(", "return nothing(", ": line 25: NameError: name 'nothing' is not"),
        (MONTE_CARLO, "initial_wins = 5", "", "'initial_wins': is missing"),
        (MONTE_CARLO, "opponent = 'opponent'", "opponent = 'x'", "'opponent': unknown player x; play"),
        (CROSS_ENTROPY, "initial_variance=1.5", "initial_variance=-1", "rave: 'initial_variance'"),
        (CROSS_ENTROPY, "elite_proportion = 0.1", "elite_proportion = 1", "'elite_proportion': must"),
        (CROSS_ENTROPY, "def make_candidate", "def make", "'make_candidate': is missing"),
        (CROSS_ENTROPY, "(rave, plain)", "(rave)", "(0.1, 3.0): TypeError: make_candidate() takes 1"),
    ],
)  # fmt: skip
def test_error_names_its_place(tmp_path: Path, text: str, old: str, new: str, message: str) -> None:
    assert old in text
    with pytest.raises(ControlError) as error:
        control(tmp_path, text.replace(old, new, 1))
    assert message in str(error.value)
    if message.startswith("'"):
        assert str(error.value).startswith(message)


def test_a_candidate_that_cannot_be_made_names_its_parameters(tmp_path: Path) -> None:
    text = CROSS_ENTROPY.replace("return Player(f", "return Player('' if plain > 9 else f")
    plan = control(tmp_path, text).plan
    assert isinstance(plan, CrossEntropyPlan)
    with pytest.raises(
        InvalidParameterError, match=r"make_candidate\(0\.5, 10\.0\): player g1#1: 'command': is"
    ):
        plan.candidate.make("g1#1", [0.5, 10.0])


def fails(folder: Path, text: str) -> str:
    with pytest.raises(ControlError) as error:
        control(folder, text)
    return str(error.value)


def test_a_file_is_a_program_that_is_executed_in_its_own_folder_and_sees_few_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_SECRET", "of the operator")
    text = ALL_PLAY_ALL + (
        "import os\nopen('touched', 'w').close()\n"
        "class Named(object):\n    value = os.environ.get('ARENA_SECRET', 'nothing')\n"
        "description = Named.value\n"
    )
    assert control(tmp_path, text).description == "nothing"
    assert (tmp_path / "touched").exists()


def test_names_of_a_files_own_may_hold_anything(tmp_path: Path) -> None:
    text = ALL_PLAY_ALL + "own = []\nown.append(own)\nlarge = 'x' * 2 ** 25\n"
    assert control(tmp_path, text).kind == "all-play-all"


def test_a_value_that_is_none_of_pythons_plain_ones_is_not_a_setting(tmp_path: Path) -> None:
    text = ALL_PLAY_ALL + "class Own(object): pass\ndescription = Own()\n"
    assert fails(tmp_path, text) == "'description': must be text in quotes, not a Own"


def test_modules_beside_a_file_are_not_imported(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('a stranger')")
    assert control(tmp_path, ALL_PLAY_ALL + "import json\n").kind == "all-play-all"


def test_the_output_of_a_control_file_is_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    control(tmp_path, ALL_PLAY_ALL + "print('three engines')\n")
    assert capfd.readouterr() == ("", "three engines\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import time; time.sleep(60)", "cup.ctl: it took longer than 2 s to execute, and was ended"),
        ("print 'x', [1, 2, 3]\n" * 20_000, "it took longer than 2 s to execute"),
        ("description = 'x' * 5 * 2 ** 30", "cup.ctl: it needs more memory than control files may have"),
        ("description = 'x' * 2 ** 25", "cup.ctl: what it sets takes more than 16 MiB"),
        ("open('large', 'wb').write(b'x' * 2 ** 25)", "line 7: OSError: [Errno 27] File too large"),
        (
            "description = []\ndescription.append(description)",
            "cup.ctl: its values are nested more than 50 deep",
        ),
        ("import os; os._exit(3)", "cup.ctl: the process that executed it exited with status 3"),
        ("import os; os.kill(0, 9)", "cup.ctl: the process that executed it was killed by SIGKILL"),
        (
            "import os, time; os.closerange(3, 2**16); time.sleep(60)",
            "it closed the descriptor of its answers and went on for longer than 10 s, and was ended",
        ),
    ],
)
def test_a_file_has_limits(tmp_path: Path, text: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = re.search(r"longer than (\d+) s", message)
    monkeypatch.setattr(execution, "SECONDS", float(seconds[1]) if seconds else 60.0)
    assert message in fails(tmp_path, f"{ALL_PLAY_ALL}{text}\n")


def test_a_function_that_does_not_return_is_ended_and_the_next_call_begins_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = CROSS_ENTROPY.replace("(rave, plain):\n", "(rave, plain):\n    while plain > 9: pass\n")
    plan = control(tmp_path, text).plan
    assert isinstance(plan, CrossEntropyPlan)
    monkeypatch.setattr(execution, "CALL_SECONDS", 0.1)
    with pytest.raises(InvalidParameterError, match=r"it took longer than 0\.1 s"):
        plan.candidate.make("g1#1", [0.5, 10.0])
    monkeypatch.setattr(execution, "CALL_SECONDS", 60.0)
    assert plan.candidate.make("g1#2", [0.5, 2.0]).command[0] == "engine"


def test_the_process_of_a_tuners_functions_ends_with_its_plan(tmp_path: Path) -> None:
    before = children(os.getpid())
    read_control = control(tmp_path, CROSS_ENTROPY)
    (process,) = set(children(os.getpid())) - set(before)
    del read_control
    gc.collect()
    assert left_running([process]) == []


def test_the_process_that_executes_a_file_ends_with_an_arena_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "cup.ctl").write_text(
        "competition_type = 'playoff'\nimport os, time\nopen('pid', 'w').write(str(os.getpid()))\n"
        "os.rename('pid', 'process')\ntime.sleep(25)\n"
    )
    program = (
        "from pathlib import Path; from arena.control.control_file import read_control\n"
        f"read_control(Path({str(tmp_path / 'cup.ctl')!r}))"
    )
    with subprocess.Popen([sys.executable, "-c", program]) as arena:
        until((tmp_path / "process").exists, arena)
        arena.kill()
    assert left_running([int((tmp_path / "process").read_text())]) == []


PYTHON_2 = """\
competition_type = 'playoff'
print "reading"
def engine((name, level), mode=0755):
    try:
        return Player("%s --level=%d --mode=%o" % (name, level, mode))
    except ValueError, error:
        print error
levels = {'a': ('gnugo', 1L), 'b': ('gnugo', 2)}
players = {}
for code, described in levels.iteritems():
    players[code] = engine(described)
matchups = map(lambda n: Matchup('a', 'b', id=u"m%d" % n), xrange(2))
board_size = levels.has_key('a') and 9
komi = 15 / 2.
"""


def test_files_for_python_2_are_converted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    read_control = control(tmp_path, PYTHON_2)
    assert read_control.players["a"].command == ("gnugo", "--level=1", "--mode=755")
    assert isinstance(read_control.plan, PlayoffPlan)
    assert [matchup.matchup_id for matchup in read_control.plan.matchups] == ["m0", "m1"]
    assert (read_control.game.settings["board_size"], read_control.game.settings["komi"]) == (9, 7.5)
    assert capfd.readouterr().err == "reading\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("players = dict((n, Player(n)) for n in raw_names)", "line 8: NameError: name 'raw_names'"),
        ("x = (1", "line 7: this is neither Python 3 nor Python 2 that can be converted: '(' was never"),
        ("print 'x' 'y' 7", "line 7: this is neither Python 3 nor Python 2 that can be converted: Missing"),
    ],
)
def test_inconvertible_code_is_reported_with_its_line(tmp_path: Path, line: str, message: str) -> None:
    extra = "print 'one'\n" if "NameError" in message else ""
    assert message in fails(tmp_path, f"{ALL_PLAY_ALL}{extra}{line}\n")


def test_division_is_true_division_as_with_the_ringmaster(tmp_path: Path) -> None:
    text = PYTHON_2.replace("15 / 2.", "15 / 2")
    assert control(tmp_path, text).game.settings["komi"] == 7.5


@pytest.mark.parametrize("name", ["cup.ctl", "cup.control", "cup"])
def test_the_ringmasters_files_may_have_any_extension(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("\n\n# a comment\n" + ALL_PLAY_ALL, encoding="utf-8")
    assert read_control(path).kind == "all-play-all"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (r"description = '\ud800'", "half of a character"),
        ("players = {range(2): 1}", "a key of a dictionary must be text or a number"),
        (
            "import os\nfor number in range(3, 1024):\n"
            "    try: os.write(number, b'garbage\\n')\n    except OSError: pass",
            "where the arena reads its settings: take out what writes to descriptors",
        ),
    ],
)
def test_a_setting_that_cannot_be_taken_over_is_refused_with_the_reason(
    tmp_path: Path, text: str, message: str
) -> None:
    assert message in fails(tmp_path, f"{ALL_PLAY_ALL}{text}\n")


def test_a_file_may_declare_its_encoding(tmp_path: Path) -> None:
    path = tmp_path / "cup.ctl"
    text = "# -*- coding: latin-1 -*-\n" + ALL_PLAY_ALL + "description = 'Gr\u00fc\u00dfe'\n"
    path.write_bytes(text.encode("latin-1"))
    assert read_control(path).description == "Gr\u00fc\u00dfe"


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ("klingon", "unknown encoding"),
        ("hex", "'hex' is not a text encoding"),
        ("rot13", "'rot13' is not a text encoding"),
        ("undefined", "undefined encoding"),
    ],
)
def test_an_encoding_that_no_text_has_is_named(tmp_path: Path, encoding: str, message: str) -> None:
    path = tmp_path / "cup.ctl"
    path.write_text(f"# -*- coding: {encoding} -*-\n{ALL_PLAY_ALL}")
    with pytest.raises(ControlError, match=f"cup.ctl is not valid text: .*{message}"):
        read_control(path)
