competition_type = 'playoff'

komi = 5.5
board_size = 5

players = {
    'one' : Player('gnugo --mode=gtp --level=1'),
    'two' : Player('gnugo --mode=gtp --level=2'),
    }

matchups = [
    Matchup('one', 'two',
            alternating=True,
            number_of_games=2),
    ]
