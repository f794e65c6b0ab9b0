"""Libraries as text that people can read and edit.

    % academy text 1
    % game go-9x9
    % description {"game_id": "go-9x9", ...}
    % history {"measures": "...", "ratings": [...]}

    % library endgame

    % id 12
    % player 1
    % vote "gnugo 1" 1500.00 0.812345
    % uses 3 successes 2
    % last 17 "tournament-5/17"
    x - o
    - - #
    < 1; 1500; 0.812345; 1 >

    % library opening

    "" id 0 mover 0 visits 2 wins 2/0 draws 0/0 losses 0/2 values 1.4/0.6 told 2 elos 0
      E5 id 1 mover 1 visits 2 wins 2/0 draws 0/0 losses 0/2 values 1.4/0.6 told 2 elos 3000

The description is the game with its settings, and the history what its contests add up to, as JSON; either
may be left out. A vote is player, Elo and value, the oldest first (in older texts with the event that brought
it, and its place among the votes of that event where that is not 0). `silent` is a vote that counts for
nothing yet, in the same order, `folded` stands for votes too many to keep, and `changed-by` for the players
who changed the cells. The cells are in the pattern language of `academy.knowledge.text`. The label below
them follows from the votes: it may be left out, and one that says otherwise is refused. An opening line is
indented two blanks more than the position it comes from; `values` and `elos` are sums over visits.
Names are quoted as in JSON, and so is a move that is not one plain word. Numbers `id` may be left out of
what is new. Empty lines and lines that begin with `%%` say nothing.
"""

from academy.store.textfile.reading import LibraryTexts, described_game, read_text
from academy.store.textfile.words import FIRST_LINE, LibraryTextError, visible
from academy.store.textfile.writing import write_text

__all__ = [
    "FIRST_LINE",
    "LibraryTextError",
    "LibraryTexts",
    "described_game",
    "read_text",
    "visible",
    "write_text",
]
