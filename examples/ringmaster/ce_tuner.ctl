competition_type = 'ce_tuner'

description = """
RAVE's weights for Fuego, by the cross-entropy method.
"""

players = {
    'gnugo-l10': Player("gnugo --mode=gtp --chinese-rules --level=10"),
}

MAX_GAMES = 1000


def exp_10(x):
    return 10.0 ** x


parameters = [
    # Means and variances are of the numbers' decimal logarithms.
    Parameter('rave_weight_initial', initial_mean=-1.0, initial_variance=1.5, transform=exp_10,
              format="I: %4.2f"),
    Parameter('rave_weight_final', initial_mean=3.5, initial_variance=1.5, transform=exp_10,
              format="F: %4.2f"),
]


def make_candidate(rwi, rwf):
    return Player("fuego --quiet", startup_gtp_commands=[
        "uct_param_player max_games %d" % MAX_GAMES,
        "uct_param_search rave_weight_initial %f" % rwi,
        "uct_param_search rave_weight_final %f" % rwf])


board_size = 9
komi = 7.5
opponent = 'gnugo-l10'
candidate_colour = 'random'

number_of_generations = 5
samples_per_generation = 3
batch_size = 2
elite_proportion = 0.4
step_size = 0.8
