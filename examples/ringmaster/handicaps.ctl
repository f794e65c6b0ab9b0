competition_type = 'playoff'

description = """
Which handicap makes the game even?
"""

record_games = True
stderr_to_log = False


def gnugo(level):
    return Player("gnugo --mode=gtp --chinese-rules --capture-all-dead --level=%d" % level)


def fuego(playouts, more_commands=[]):
    commands = [
        "go_param timelimit 999999",
        "uct_param_search number_threads 1",
        "uct_param_player ponder 0",
        "uct_param_player max_games %d" % playouts,
    ]
    return Player("fuego --quiet", startup_gtp_commands=commands + more_commands)


players = {
    'gnugo-l1': gnugo(1),
    'gnugo-l8': gnugo(8),
    'fuego-500': fuego(500),
    'fuego-rave': fuego(500, ["uct_param_search rave_weight_final 5000"]),
}

board_size = 9
komi = 6.5
move_limit = 400
alternating = True
number_of_games = 2

handicap_matchups = [
    Matchup('gnugo-l1', 'gnugo-l8', id='h%d' % stones, name='%d stones' % stones,
            handicap=stones, komi=0.5, alternating=False, scorer='internal',
            internal_scorer_handicap_compensation='short')
    for stones in [2, 4]
]

matchups = [
    Matchup('gnugo-l1', 'fuego-500', id='even'),
    Matchup('fuego-500', 'fuego-rave', board_size=13, komi=7, id='large'),
    Matchup('gnugo-l8', 'gnugo-l8', id='self'),
    Matchup('gnugo-l1', 'gnugo-l8', id='free', handicap=2, handicap_style='free', alternating=False),
    Matchup('gnugo-l1', 'fuego-rave', id='later', number_of_games=0),
] + handicap_matchups
