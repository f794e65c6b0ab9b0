competition_type = 'playoff'

description = None

def gnugo(level):
    """A level of GNU Go."""
    return Player("gnugo --mode=gtp --chinese-rules "
                  "--capture-all-dead --level=%d" % level)

def fuego(playouts_per_move, additional_commands=[]):
    commands = [
        "go_param timelimit 999999",
        "uct_param_player max_games %d" % playouts_per_move,
        ]
    return Player(
        "fuego --quiet",
        startup_gtp_commands=commands+additional_commands)

def pachi(playouts, policy):
    return Player(
        "goplayer "
        "-d 0 "   # silence
        "-t =%d "
        "threads=1,max_tree_size=2048 "
        "policy=%s "
        % (playouts, policy))

def zen(**options):
    return Player("goplayer --threads=%(threads)d --net=%(net)s" % {'threads': 1, 'net': "small"},
                  environ={'OPENBLAS_NUM_THREADS' : '1'},
                  **options)

players = {
    'gnugo-1' : gnugo(level=1),
    'gnugo-2' : gnugo(level=2),
    'fuego' : fuego(playouts_per_move=5000),
    'rave' : fuego(50, ["uct_param_search rave_weight_final 5000"]),
    'pachi' : pachi(2000, policy="ucb1amaf"),
    'zen' : zen(is_reliable_scorer=False),
    'loud' : zen(startup_gtp_commands=
                 ["loud on"]),
    }

test_player = 'pachi'
board_size = 19
komi = 7.5
board_size = 5
move_limit = 1.3e2 > 100 and 60 or 40
handicap = None
number_of_games = 1

matchups = []
for code in ('gnugo-2', 'fuego', 'rave', test_player):
    matchups.append(Matchup('gnugo-1', code, alternating=True))
matchups.append(Matchup("zen", "loud"))
#matchups.append(Matchup("zen", "nobody"))
