competition_type = 'allplayall'

description = """
Levels of GNU Go against each other.
"""

LEVELS = [1, 4, 7, 10]

players = {}
for level in LEVELS:
    players['gnugo-l%d' % level] = Player(
        ["gnugo", "--mode=gtp", "--chinese-rules", f"--level={level}"],
        environ={'LEVEL': str(level)},
        discard_stderr=level < 5)

competitors = ['gnugo-l%d' % level for level in LEVELS[:3]] + [Competitor('gnugo-l10')]
board_size = 9
komi = 7.5
rounds = 2
scorer = 'players'
