# A comment, and an empty line, may stand before the type.

competition_type = 'playoff'

description = """
  What most settings of a playoff look like.

  The matchups without a number of games go on for ever.
"""

record_games = True
stderr_to_log = False

players = {
    # The first line of a command goes on in the second.
    'weak' : Player("gnugo --mode=gtp --chinese-rules "
                    "--capture-all-dead --level=1"),

    'strong' : Player("gnugo --mode=gtp --chinese-rules "
                      "--capture-all-dead --level=2"),

    # Not many playouts.
    'fuego-50' : Player("fuego --quiet",
                        startup_gtp_commands=[
                            "go_param timelimit 999999",
                            "uct_max_memory 350000000",
                            "uct_param_search number_threads 1",
                            "uct_param_player max_games 50",
                            ]),
    }

board_size = 7
komi = 6

matchups = [
    Matchup('weak', 'fuego-50', board_size=9,
            handicap=3, handicap_style='free', komi=0,
            scorer='players', number_of_games=2),

    Matchup('strong', 'fuego-50', alternating=True,
            scorer='players', move_limit=20),

    Matchup('weak', 'strong',
            komi=0.5,
            scorer='internal'),
    ]
