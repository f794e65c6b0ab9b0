"""Control files of the ringmaster: every setting arrives, and faults are told as it told them."""

from pathlib import Path

import pytest

from arena.control.control_file import read
from arena.control.parameters import Explicit, InvalidParameter, Linear, Logarithmic
from arena.control.plans import AllPlayAllPlan, CrossEntropyPlan, Matchup, MonteCarloPlan, PlayoffPlan
from arena.control.settings import Control
from arena.control.table import ControlError

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


def control(folder: Path, text: str, trust: bool = False) -> Control:
    path = folder / "cup.ctl"
    path.write_text(text, encoding="utf-8")
    return read(path, trust)


def test_a_playoff(tmp_path: Path) -> None:
    found = control(tmp_path, PLAYOFF)
    assert (found.kind, found.description) == ("playoff", "Two engines")
    assert not (found.record_games or found.errors_to_log or found.check_players)
    assert found.failures == "void"
    assert found.disputes == "believe"
    assert found.competitors == ("weak", "strong", "full") and "unused" in found.players
    assert isinstance(found.plan, PlayoffPlan)
    plain, handicap, none = found.plan.matchups
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


def test_players(tmp_path: Path) -> None:
    players = control(tmp_path, PLAYOFF).players
    assert players["weak"].command == (str(tmp_path / "bin/engine"), "--level=1")
    assert players["weak"].working_directory is None
    assert players["weak"].parameters["startup_commands"] == ("seed 1", "go_param rules cgos")
    full = players["full"]
    assert full.command == ("engine", "two words")
    assert full.working_directory == str(Path.home() / "nets")
    assert (full.environment, full.discard_stderr) == ({"THREADS": "1"}, True)
    assert full.parameters == {
        "startup_commands": (),
        "aliases": {"genmove": "kgs-genmove_cleanup"},
        "reliable_scorer": False,
        "allow_claim": True,
        "name_from_gtp": False,
    }


def test_an_all_play_all(tmp_path: Path) -> None:
    found = control(tmp_path, ALL_PLAY_ALL)
    assert found.plan == AllPlayAllPlan(("c", "a", "b"), 20) and found.kind == "all-play-all"
    assert (found.game.settings["komi"], found.game.scorer) == (7.0, "players")


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
    assert (plan.generations, plan.samples, plan.batch, plan.elite, plan.step) == (5, 100, 10, 0.1, 0.8)
    rave, plain = plan.parameters
    assert (rave.mean, rave.variance, rave.value(-1.0)) == (-1.0, 1.5, pytest.approx(0.1))
    assert (plain.format, plain.value(3)) == ("plain:%s", 3.0)
    assert plan.candidate.seat is None
    assert plan.candidate.make("g0#1", [0.5, 2.0]).command == ("engine", "--rave=0.500", "--plain=2.0")


@pytest.mark.parametrize("text", [PLAYOFF, ALL_PLAY_ALL])
def test_executed_or_read_a_file_means_the_same(tmp_path: Path, text: str) -> None:
    assert control(tmp_path, text, trust=True) == control(tmp_path, text)


def test_a_file_that_needs_python_is_executed_only_if_it_is_trusted(tmp_path: Path) -> None:
    text = ALL_PLAY_ALL + "import os\ndescription = os.path.basename('/a/b')\nopen('touched', 'w')\n"
    text = text.replace("open('touched'", f"open({str(tmp_path / 'touched')!r}")
    with pytest.raises(
        ControlError, match=r"cup\.ctl, line 7: a statement of the kind Import .* --trust-control-file"
    ):
        control(tmp_path, text)
    assert not (tmp_path / "touched").exists()
    assert control(tmp_path, text, trust=True).description == "b"
    assert (tmp_path / "touched").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\nraise ValueError('oh')", "line 7: ValueError: oh"),
        ("raise SystemExit(0)", "line 7: SystemExit: 0"),
        ("x =", "line 7: this is not Python"),
    ],
)
def test_faults_of_executed_files_have_their_line(tmp_path: Path, text: str, message: str) -> None:
    text = ALL_PLAY_ALL + text.replace("x = 1\n", "") + "\n"
    with pytest.raises(ControlError, match=message):
        control(tmp_path, text, trust=True)


@pytest.mark.parametrize(
    ("text", "old", "new", "message"),
    [
        (PLAYOFF, "competition_type = 'playoff'", "", "can't find competition_type"),
        (PLAYOFF, "'playoff'", "'playoff' # really", "can't find competition_type"),
        (PLAYOFF, "'playoff'", "'knockout'", "unknown competition type: knockout"),
        (PLAYOFF, "komi = 6.5", "competition_type = 'x'", "competition_type improperly specified"),
        (PLAYOFF, "board_size = 9", "board_size = 'x'", "matchup 0: 'board_size': must be a whole number"),
        (PLAYOFF, "board_size = 9", "", "matchup 0: 'board_size': is missing"),
        (PLAYOFF, "board_size=13", "board_size=26", "matchup handicap: 'board_size': must be a whole number"),
        (PLAYOFF, "komi=0.5", "komi='x'", "matchup handicap: 'komi': must be a number"),
        (PLAYOFF, "handicap=2", "handicap=1", "matchup handicap: 'handicap': must be a whole number from 2"),
        (PLAYOFF, "'short'", "'long'", "matchup handicap: 'internal_scorer_handicap_compensation': must be"),
        (PLAYOFF, "name=", "nam=", "matchup 1: unknown argument 'nam'"),
        (PLAYOFF, "id='handicap'", "id='0'", "'matchups': duplicate matchup id '0'"),
        (PLAYOFF, "Matchup('weak', 'strong')", "Matchup('weak', 'x')", "'player_2': unknown player x"),
        (PLAYOFF, "Matchup('weak', 'strong')", "'x'", "matchup 0: not a Matchup"),
        (PLAYOFF, "Matchup('weak', 'strong')", "Matchup(1, 2, 3)", "line 31: Matchup() takes 2 arguments"),
        (PLAYOFF, "record_games = False", "record_games = 0", "'record_games': must be true or false"),
        (PLAYOFF, "allow_claim=True", "allow=True", "player full: unknown argument 'allow'"),
        (PLAYOFF, 'Player("nothing")', "Player(3)", "player unused: 'command': must be a list"),
        (PLAYOFF, 'Player("nothing")', "Player()", "player unused: 'command': is missing"),
        (PLAYOFF, 'Player("nothing")', "7", "player unused: not a Player"),
        (PLAYOFF, "'unused'", "'un used'", "'players': 'un used' is no name"),
        (PLAYOFF, 'cwd="~/nets"', 'cwd=""', "player full: 'cwd': is empty"),
        (ALL_PLAY_ALL, "'c', Comp", "'a', Comp", "'competitors': duplicate competitor: a"),
        (ALL_PLAY_ALL, "'c', Comp", "'d', Comp", "competitor 0: 'player': unknown player d"),
        (ALL_PLAY_ALL, "rounds = 20", "rounds = 0", "'rounds': must be a whole number from 1"),
        (ALL_PLAY_ALL, "['c', Competitor('a'), Competitor(player='b')]", "['c']", "'competitors': must"),
        (MONTE_CARLO, "komi = 7.5", "komi = 7", "'komi': must be fractional"),
        (MONTE_CARLO, "'W'", "'green'", "'candidate_colour': must be one of 'b'"),
        (MONTE_CARLO, "split=8", "split=0", "parameter resign_at: 'split': must be a whole number from 1"),
        (MONTE_CARLO, "'playouts', scale", "'resign_at', scale", "duplicate parameter code"),
        (MONTE_CARLO, "LOG(0.01, 5.0)", "LOG(0, 5.0)", "a logarithmic scale can't go from 0 to 5"),
        (MONTE_CARLO, "LOG(0.01, 5.0)", "7", "parameter resign_at: 'scale': must be a function"),
        (MONTE_CARLO, "'R: %4.2f'", "'R'", "parameter resign_at: 'format': must hold one value's place"),
        (MONTE_CARLO, "x ** 2", "x / 0", "parameter bias: no value for"),
        (MONTE_CARLO, "return Player(", "return list(", "make_candidate("),
        (MONTE_CARLO, "initial_wins = 5", "", "'initial_wins': is missing"),
        (MONTE_CARLO, "opponent = 'opponent'", "opponent = 'x'", "'opponent': unknown player x"),
        (CROSS_ENTROPY, "initial_variance=1.5", "initial_variance=-1", "rave: 'initial_variance'"),
        (CROSS_ENTROPY, "elite_proportion = 0.1", "elite_proportion = 1", "'elite_proportion': must"),
        (CROSS_ENTROPY, "def make_candidate", "def make", "'make_candidate': is missing"),
        (CROSS_ENTROPY, "(rave, plain)", "(rave)", "make_candidate(0.1, 3.0): 1 arguments are expected"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_its_place(tmp_path: Path, text: str, old: str, new: str, message: str) -> None:
    assert old in text
    with pytest.raises(ControlError) as error:
        control(tmp_path, text.replace(old, new, 1))
    assert message in str(error.value)


def test_a_candidate_that_cannot_be_made_names_its_parameters(tmp_path: Path) -> None:
    text = CROSS_ENTROPY.replace("return Player(f", "return Player('' if plain > 9 else f")
    plan = control(tmp_path, text).plan
    assert isinstance(plan, CrossEntropyPlan)
    with pytest.raises(InvalidParameter, match=r"make_candidate\(0\.5, 10\.0\): player g1#1: 'command': is"):
        plan.candidate.make("g1#1", [0.5, 10.0])


@pytest.mark.parametrize("name", ["cup.ctl", "cup.control", "cup"])
def test_the_ringmasters_files_may_have_any_extension(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("\n\n# a comment\n" + ALL_PLAY_ALL, encoding="utf-8")
    assert read(path).kind == "all-play-all"
