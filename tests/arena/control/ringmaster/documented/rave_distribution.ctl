competition_type = "ce_tuner"

description = """\
All settings of the cross-entropy tuner.
"""

players = {
    'gnugo' : Player("gnugo --mode=gtp --chinese-rules "
                     "--capture-all-dead --level=1"),
    }

def fuego(max_games, additional_commands=[]):
    commands = [
        "uct_param_player max_games %d" % max_games,
        ]
    return Player(
        "fuego --quiet",
        startup_gtp_commands=commands+additional_commands)

FUEGO_MAX_GAMES = 10

def exp_10(f):
    return 10.0**f

parameters = [
    Parameter('rave_weight_initial',
              # Mean and variance are those of the decimal logarithm.
              initial_mean = -1.0,
              initial_variance = 1.5,
              transform = exp_10,
              format = "I: %4.2f"),

    Parameter('rave_weight_final',
              initial_mean = 3.5,
              initial_variance = 1.5,
              transform = exp_10),

    Parameter('plain', initial_mean = 1, initial_variance = 0.25),
    ]

def make_candidate(rwi, rwf, plain):
    return fuego(
        FUEGO_MAX_GAMES,
        ["uct_param_search rave_weight_initial %f" % rwi,
         "uct_param_search rave_weight_final %f" % rwf,
         "plain %s" % plain])

board_size = 5
komi = 7.5
opponent = 'gnugo'
candidate_colour = 'w'

batch_size = 1
samples_per_generation = 3
number_of_generations = 2
elite_proportion = 0.34
step_size = 0.8
