competition_type = 'playoff'

players = {
    'home' : Player("~/engines/goplayer --quiet"),
    'beside' : Player(command="./goplayer 'two words'"),
    'list' : Player(["goplayer", "two words"]),
    'elsewhere' : Player('goplayer', cwd='~/engines'),
    'here' : Player('goplayer', cwd="."),
    'variable' : Player('goplayer', environ={'GOPLAYER-DEBUG' : 'true'}),
    'quiet' : Player('goplayer', discard_stderr=True),
    'strings' : Player('goplayer', startup_gtp_commands=[
                           "uct_param_player ponder 0",
                           "uct_param_player max_games 5000"]),
    'lists' : Player('goplayer', startup_gtp_commands=[
                         ["uct_param_player", "ponder", "0"],
                         ("uct_param_player", "max_games", "5000")]),
    'alias' : Player('goplayer', gtp_aliases={'gomill-cpu_time' : 'cputime'}),
    'unreliable' : Player('goplayer', is_reliable_scorer=False),
    'claims' : Player('goplayer', allow_claim=True),
    'nameless' : Player('goplayer', sgf_player_name_from_gtp=False),
    'unset' : Player('goplayer', cwd=None, environ=None, startup_gtp_commands=None, gtp_aliases=None),
    "odd.!$%&*+-:;<=>?^_~" : Player(u'goplayer'),
    }

board_size = 5
komi = 0.5
number_of_games = 1

matchups = [Matchup('gnugo', code) for code in sorted(players)]
players['gnugo'] = Player("gnugo --mode=gtp --level=1")
