competition_type = 'mc_tuner'

description = """
When should Fuego resign, and how much weight should RAVE have?
"""

players = {
    'gnugo-l10': Player("gnugo --mode=gtp --chinese-rules --level=10"),
}


def fuego(more_commands):
    return Player(
        "fuego --quiet",
        startup_gtp_commands=["go_param timelimit 999999", "uct_param_player max_games 1000"] + more_commands)


parameters = [
    Parameter('rave_weight_initial', scale=LOG(0.01, 5.0), split=8, format="I: %4.2f"),
    Parameter('rave_weight_final', scale=LOG(1e2, 1e5), split=8, format="F: %4.2f"),
    Parameter('resign_min_games', scale=LINEAR(0, 1000, integer=True), split=2),
    Parameter('moves', scale=EXPLICIT(["playout", "uct"]), split=2),
]


def make_candidate(rwi, rwf, resign, moves):
    return fuego([
        "uct_param_search rave_weight_initial %f" % rwi,
        "uct_param_search rave_weight_final %f" % rwf,
        ["uct_param_player", "resign_min_games", str(resign)],
        "uct_param_player move_select {0}".format(moves),
    ])


board_size = 9
komi = 7.5
opponent = 'gnugo-l10'
candidate_colour = 'w'

exploration_coefficient = 0.45
initial_visits = 10
initial_wins = 5
number_of_games = 10000
max_depth = 2
summary_spec = [40]
log_tree_to_history_period = 5
