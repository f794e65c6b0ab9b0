competition_type = 'allplayall'

players = {
    'level1' : Player("gnugo --mode=gtp --chinese-rules "
                      "--capture-all-dead --level=1"),

    'level2' : Player("gnugo --mode=gtp --chinese-rules "
                      "--capture-all-dead --level=2"),

    'level3' : Player("gnugo --mode=gtp --chinese-rules "
                      "--capture-all-dead --level=3"),
    }

board_size = 5
komi = 6

rounds = 20
competitors = ['level1', 'level2', 'level3']
move_limit = 80
scorer = 'internal'
internal_scorer_handicap_compensation = 'no'
skip_player_checks = True
