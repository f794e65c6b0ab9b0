"""A commented control file to begin with, for each kind of competition."""

from collections.abc import Mapping
from typing import Final

_COMPETITION: Final = """\
[competition]
kind = "{kind}"
description = ""
{settings}parallel = 1          # games at a time
# seed = 1            # games that repeat; without it, no player can know hands or dice
record_games = true   # a record file for every game
check_players = true  # start everybody once before the first game

[game]
name = "go"
board_size = 9
komi = 6.5
self_capture = false  # may a move take off its own group? Most programs say no
move_limit = 500
scorer = "players"    # or "internal": the referee counts, all stones being alive

# Clocks; without this table each move may take the player's move_seconds.
# [time_control]
# main_seconds = 60
# increment_seconds = 0.5

# Openings, each played from all seats.
# [openings]
# file = "openings.sgf"

# Ends games that are decided, by the values that players tell.
# [adjudication]
# resign_value = 0.02
# resign_moves = 3

[ratings]
start = 1000
curve = "logistic"

# Players can consult ACADEMY, and it learns from their games.
# [academy]
# address = "embedded"
"""

_PLAYER: Final = """
[players.{name}]
command = "gnugo --mode gtp --seed {{seed}} --level {level}"
{more}"""

_FIRST_PLAYER: Final = """\
# GNU Go; Debian: apt-get install gnugo, which puts it into /usr/games
move_seconds = 60     # limits; a player that breaks them loses the game
memory = "1 GB"
# protocol = "python" # then command = "module:function"
# environment = { THREADS = "1" }
# startup_commands = ["clear_cache"]
# restart = false     # keep the program from game to game
# fixed_elo = 1000
"""

_SETTINGS: Final[Mapping[str, str]] = {
    "playoff": """\
games = 100           # of each matchup; left out: no end
alternating = true    # seats are swapped from game to game
""",
    "all-play-all": """\
rounds = 20           # games of each pair; left out: no end
# competitors = ["weak", "strong"]  # left out: all players
""",
    "gauntlet": """\
challengers = ["strong"]
# opponents = ["weak", "middle"]    # left out: everybody else
rounds = 20           # games of each challenger against each opponent
""",
    "swiss": """\
rounds = 3
games = 2             # of each pairing
""",
    "standing": """\
# competitors = ["weak", "strong"]  # left out: all players
# rounds = 100        # left out: no end
""",
    "sprt": """\
competitors = ["strong", "weak"]  # the new one, then the old one
elo0 = 0              # H0: the new one is so much better
elo1 = 20             # H1: it is so much better
alpha = 0.05          # chance of accepting H1 though H0 holds
beta = 0.05           # chance of accepting H0 though H1 holds
model = "normalized"  # or "logistic"
games = 2000          # at most; left out: no end
""",
    "mars": "",
    "generations": """\
generations = 5
rounds = 2            # in each of them everybody has one opponent, for two games
meet = "everybody"    # or "panel": members of families meet [players] alone
""",
    "mc_tuner": """\
opponent = "weak"
candidate_seat = "random"  # or "black", "white"
games = 200
exploration = 0.45    # how much is risked on candidates that are little known
initial_visits = 10   # the games that every candidate is credited with at first
initial_wins = 5      # and how many of them count as won
max_depth = 2         # how often ranges are split
""",
    "ce_tuner": """\
opponent = "weak"
candidate_seat = "random"  # or "black", "white"
generations = 5
samples = 20          # candidates of a generation
batch = 4             # games of each candidate
elite_proportion = 0.2  # the best, whom the next generation follows
step_size = 0.8         # how far it follows them
""",
}

_TABLES: Final[Mapping[str, str]] = {
    "playoff": """
[[matchups]]
players = ["weak", "strong"]

[[matchups]]
id = "handicap"
name = "with two stones"
players = ["weak", "strong"]
alternating = false
game = { handicap = 2, komi = 0.5 }  # what differs from [game]
""",
    "mars": """
[[series]]
name = "first"
selector = "least-played"  # or "weighted", or "slow-knockout" with by = "fitness"
clones = true              # a player may have several seats
games = 100
weight = 1                 # chance to be run, relative to other series
state = "open"             # or "complete": never run again
pure = true                # goes by its own games alone
contestants = { weak = 1, middle = 1, strong = 1 }  # with their weights

[[series.settings]]
name = "small"
weight = 2

[[series.settings]]
name = "large"
weight = 1
game = { board_size = 13 }
""",
    "generations": """
[families.evolving]
size = 4              # members at any time
keep = 2              # the best; variants of them take the other places
mutation = 0.1        # how far a value moves, as a share of its range
combine = 0.5         # the chance that a variant has two parents
# A program makes variants instead where `child` is its command, and `first` has the first member's values.

[families.evolving.player]  # {NAME} stands for a value
command = "gnugo --mode gtp --seed {seed} --level {level}"

[families.evolving.parameters.level]
scale = "linear"      # or "log", or "explicit" with values = [...]
low = 0
high = 12
integer = true
format = "level %d"
""",
    "mc_tuner": """
[candidate]           # {NAME} stands for a parameter's value
command = "gnugo --mode gtp --seed {seed} --level {level}"

[parameters.level]
scale = "linear"      # or "log", or "explicit" with values = [...]
low = 0
high = 12
integer = true
split = 4             # parts of the range at each depth
format = "level %d"
""",
    "ce_tuner": """
[candidate]           # {NAME} stands for a parameter's value
command = "gnugo --mode gtp --seed {seed} --level {level}"

[parameters.level]
initial_mean = 5.0
initial_variance = 9.0
transform = "none"    # or "exp", "exp2", "exp10" of the number drawn
least = 0
most = 12
integer = true
format = "level %d"
""",
}
KINDS: Final = tuple(_SETTINGS)


def sample(kind: str) -> str:
    """A control file of one of KINDS, with all that people usually set."""
    players = {"weak": 1, "middle": 5, "strong": 10}
    if kind in ("playoff", "sprt"):
        del players["middle"]
    if kind.endswith("_tuner"):
        del players["middle"], players["strong"]
    parts = [_COMPETITION.format(kind=kind, settings=_SETTINGS[kind]), _TABLES.get(kind, "")]
    more = _FIRST_PLAYER
    for name, level in players.items():
        parts.append(_PLAYER.format(name=name, level=level, more=more))
        more = ""
    return "".join(parts)
