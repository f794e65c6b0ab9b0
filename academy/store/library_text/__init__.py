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

    % library tesujis

    % player 1
    % offered 372 chosen 73 elos 446400 weight 0.795658 gradient 19.5
    % uses 3 successes 2
    - o -
    x * o
    - - -
    < 372; 1200; 0.689; 1 >

    % library evaluation

    % contests 8 best 1500 taught 8 elos 12000 uses 1 successes 1
    soldiers seen 120 weight 0.312 gradient 4.25
    0x/1-/8o seen 31 weight -0.08 gradient 0.5

    % library opening

    "" id 0 mover 0 visits 2 wins 2/0 draws 0/0 losses 0/2 values 1.4/0.6 told 2 elos 0
      E5 id 1 mover 1 visits 2 wins 2/0 draws 0/0 losses 0/2 values 1.4/0.6 told 2 elos 3000 level 15
    % weaker 13 visits 1 wins 1/0 draws 0/0 losses 0/1 values 0.7/0.3 told 1 elos 1400

    % end

The description is the game with its settings, and the history what its contests add up to, as JSON; either
may be left out. A text with a description is an export, which `% end` ends: without that line it is refused,
because a part of it is missing. A vote is player, Elo and value, the oldest first (in older texts with the
event that brought it, and its place among the votes of that event where that is not 0). `silent` is a vote
that counts for nothing yet, in the same order, `folded` stands for votes too many to keep, and `changed-by`
for the players who changed the cells. The cells are in the pattern language of `academy.knowledge.text`. The
label below them follows from the votes: it may be left out where `player` is given, and one that says
otherwise is refused. An opening line is indented two blanks more than the position it comes from; `values`
and `elos` are sums over visits. `level` is the Elo, in hundreds, of the contests counted, as far as it is
known; below the line the part of them that are `weaker` follows, with the level of each, the lowest first.
A tesuji has `place` and `turned` where its shape knows them (`TesujiRecord`); its label follows from the
figures and may be left out. A weight of the evaluation is that of a feature, or of cells with their numbers
from 0 and what is there (`WeightRecord`); `taught` and `elos` are sums over contests. Names are quoted as in
JSON, and so is a move that is not one plain word. Numbers `id` may be left out of what is new. Empty lines
and lines that begin with `%%` say nothing.
"""
