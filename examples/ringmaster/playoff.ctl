# The match shown on the ringmaster's page about running competitions.
competition_type = 'playoff'

description = """
Two levels of GNU Go.
"""

players = {
    'gnugo-l1': Player("gnugo --mode=gtp --chinese-rules --level=1"),
    'gnugo-l2': Player("gnugo --mode=gtp --chinese-rules --level=2"),
}

board_size = 9
komi = 7.5

matchups = [
    Matchup('gnugo-l1', 'gnugo-l2', alternating=True, number_of_games=5),
]
