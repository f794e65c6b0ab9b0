competition_type = 'playoff'

from glob import glob
from os.path import basename, dirname, join
import os
import re

engines = dict((basename(path), path) for path in glob(join(os.environ['PATH'].split(os.pathsep)[0], "*")))

players = {
    name: Player([path], environ={'PATH_OF_ALL': dirname(path)})
    for name, path in engines.items() if re.match("go", name)
    }
players['gnugo'] = Player("gnugo --mode=gtp --level=1")

class Numbers(object):
    games = 2

board_size = 5
komi = 7.5
matchups = [Matchup('gnugo', 'goplayer', number_of_games=Numbers.games)]
