"""Who sits where in a game, and who won, as the viewer says it."""

from collections.abc import Sequence

from arena.v1.competitions_pb2 import GameMove, GamePlayer
from tests.web.game_files import file_of
from tests.web.visiting import Answer


def words_of(
    game: str, players: Sequence[str], winners: Sequence[int], result: str, moves: Sequence[str] = ()
) -> str:
    seated = [GamePlayer(name=name, winner=seat in winners) for seat, name in enumerate(players, 1)]
    played = [GameMove(seat=seat, text=text) for seat, text in enumerate(moves, 1)]
    settings = {"variant": "english"} if game == "draughts" else {}
    return Answer(200, {}, file_of(game, played, settings, seated, result), 0).words


def test_a_score_of_draughts_that_begins_with_white_does_not_hide_that_black_won() -> None:
    words = words_of("draughts", ["ann", "bob"], [1], "0-1", ["11-15", "22-18"])

    assert "ann Black, won – bob White, lost ann won as Black : 0-1" in words


def test_a_winner_has_its_name_where_the_record_knows_seats_alone() -> None:
    words = words_of("warlight", ["ann", "bob"], [2], "player 2 wins")

    assert "bob won as player 2" in words and "player 2 wins" not in words


def test_powers_of_the_same_player_have_their_names() -> None:
    players = ["steady", "restless", "steady", "restless", "restless", "steady", "steady"]
    words = words_of("diplomacy", players, [1, 3], "draw 1904: AUS FRA", ["A BUD H"] + ["NONE"] * 6)

    # In the heading, in the list of moves, and beside the curves.
    assert "steady Austria, shared the win" in words and "restless England, lost" in words
    assert (
        "1 Austria: steady A BUD H" in words and "Austria: steady England: restless France: steady" in words
    )
    assert "Won by Austria, France together" in words
