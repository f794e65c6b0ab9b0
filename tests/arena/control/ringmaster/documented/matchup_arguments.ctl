competition_type = "playoff"

players = {
    'a' : Player("gnugo --mode=gtp --level=1"),
    'b' : Player("goplayer"),
    }

record_games = False

# Defaults of all matchups.
board_size = 7
komi = 6.5
alternating = True
number_of_games = 2
move_limit = 60
scorer = 'internal'
internal_scorer_handicap_compensation = "full"

matchups = [
    Matchup('a', 'b', board_size=9, komi=6),
    Matchup(player_1='a', player_2='b', id='even', name="No handicap", alternating=False),
    Matchup('a', 'b', id='x+1', handicap=2, board_size=9, komi=-0.5, alternating=False,
            internal_scorer_handicap_compensation="short"),
    Matchup('a', 'b', id='three', handicap=3, board_size=13, handicap_style='fixed',
            internal_scorer_handicap_compensation="no", number_of_games=1, move_limit=10),
    Matchup('a', 'a', id='self', number_of_games=1, scorer='players'),
    Matchup('a', 'b', id='later', number_of_games=0),
    Matchup('b', 'b', id='endless', number_of_games=None),
    ]
