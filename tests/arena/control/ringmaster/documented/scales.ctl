competition_type = "mc_tuner"

import math
from math import log, exp, sqrt

players = {
    'gnugo' : Player("gnugo --mode=gtp --level=1"),
    'unused' : Player("no-such-engine"),
    }

def scale_root(f):
    return int(1000 * math.sqrt(f))

def scale_linear(f):
    return 2997 * f + 3

def scale_log(f):
    return exp(log(1000) * f) * 3

def scale_steps(f):
    return max(min(round(abs(f - 1) * 4), 3), 1) / 2

parameters = [
    Parameter('p1', split = 2,
              scale = LINEAR(-1.0, 1.0),
              format = "p1: %.2f"),
    Parameter('p2', split = 2,
              scale = LOG(10, 10000, integer=True),
              format = "p2: %d"),
    Parameter('p3', split = 2,
              scale = EXPLICIT(['low', 'medium', 'high', 'full']),
              format = "p3: %s"),
    Parameter('p4', split = 2,
              scale = LINEAR(-0.5, 10.5, integer=True)),
    Parameter('p5', split = 2, scale = scale_root),
    Parameter('p6', split = 1, scale = scale_linear),
    Parameter('p7', split = 1, scale = scale_log),
    Parameter('p8', split = 1, scale = scale_steps),
    Parameter('p9', split = 1, scale = lambda f: sqrt(1.3e-2)),
    ]

def make_candidate(p1, p2, p3, p4, *others):
    return Player(["goplayer", "--param1", str(p1),
                   "--param2", str(p2)],
                  startup_gtp_commands=[
                      ["param3", str(p3)],
                      ["param4", str(p4)],
                      ("others",) + tuple([str(other) for other in others]),
                      ])

board_size = 7
komi = -0.5
handicap = 2
handicap_style = 'free'
move_limit = 100
scorer = 'players'
opponent = 'gnugo'
candidate_colour = 'b'

exploration_coefficient = 1
initial_visits = 1
initial_wins = 1
max_depth = 2
summary_spec = [10, 5]
number_of_running_simulations_to_show = 4
