"""Competitions of a real arena: lists, standings, and every ply of a game."""

import re
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.arena.control_files import RANDOM, write_control
from tests.web.conftest import page_of_run, served_pages
from tests.web.visiting import Visitor, elements_of
from web.replay import GameStart, NoBoardError, replay_game

CUP = "/competition?name=cup"


def test_competitions_are_listed_with_their_state(competitions: Visitor) -> None:
    answer = competitions.get("/competitions")

    assert answer.status == 200 and "6 of 6" in answer.words
    assert "completed" in answer.words and "not begun" in answer.words
    # Who won, as its page has it, and when.
    table = competitions.get(CUP)
    winner = re.search(r'<th scope="row"><a href="/competition/player[^"]*">(\w+)', table.text)
    assert winner is not None and re.search(rf"<strong>{winner[1]}\b", answer.text)
    newest = re.search(r'<td class="when">([^<]+)', table.text)
    assert newest is not None and newest[1] in answer.words
    further = competitions.get("/competitions?page=cup")
    assert "not begun" in further.words and "6 of 6" not in further.words
    assert "A <b>bold</b> cup" in answer.words and "<b>" not in answer.text


def test_standings_add_up_and_are_sorted_as_the_address_says(competitions: Visitor) -> None:
    answer = competitions.get(CUP)
    scores = re.findall(r'aria-label="(\d+) won, (\d+) drawn, (\d+) lost"', answer.text)
    points = [float(text) for text in re.findall(r'± \d+</td><td class="number">([\d.]+)</td>', answer.text)]

    assert len(scores) == 3 and sum(int(number) for score in scores for number in score) == 12
    assert points == sorted(points, reverse=True) and sum(points) == 6
    wins = re.findall(r'aria-label="(\d+) won', competitions.get(CUP + "&sort=wins").text)
    assert wins == sorted(wins, reverse=True)
    assert answer.text.count('class="self"') == 3


def test_every_ply_of_a_game_has_its_page_and_board(competitions: Visitor) -> None:
    address = competitions.get(CUP).link("/competition/game?")
    last = competitions.get(address)
    plies = int(re.search(r"Move (\d+) of \1", last.words)[1])  # type: ignore[index]
    start = competitions.get(address + "&ply=0")

    assert plies > 1 and start.text.count('class="piece') == 0
    assert f"Move 0 of {plies}" in start.words and "last-mark" not in start.text
    first_move = competitions.get(start.link("ply=1"))
    assert first_move.text.count('class="piece') == 1 and first_move.text.count("last-mark") == 1
    assert competitions.get(address + f"&ply={plies + 5}").words == last.words
    assert "polyline" in last.text
    for page, ply in ((start, 0), (last, plies)):
        link = next(known["href"] for _, known in elements_of(page.text) if known.get("id") == "here")
        assert link == f"{address}&ply={ply}"


def test_games_are_listed_newest_first_and_filtered_with_their_number(competitions: Visitor) -> None:
    everything = competitions.get(CUP)
    names = re.findall(r'<th scope="row"><a href="/competition/game[^"]*">([^<]+)', everything.text)
    assert len(names) == 6 and "6 games, the newest first" in everything.words
    won = competitions.get(CUP + "&player=one&outcome=won")
    lost = competitions.get(CUP + "&player=one&outcome=lost")
    drew = competitions.get(CUP + "&player=one&outcome=drew")
    counts = [len(re.findall(r'href="/competition/game\?', answer.text)) for answer in (won, lost, drew)]
    assert sum(counts) == 4 and "No game passes the filter" in drew.words
    against = competitions.get(CUP + "&player=one&opponent=two")
    assert "2 games pass the filter" in against.words
    for nothing in ("&termination=resignation", "&min=4000", "&faults=yes", "&opening=none"):
        assert "No game passes the filter" in competitions.get(CUP + nothing).words
    assert "6 games pass the filter" in competitions.get(CUP + "&max=400").words


def test_a_result_of_nobody_comes_back_with_the_field_for_the_player(competitions: Visitor) -> None:
    answer = competitions.get(CUP + "&player=&outcome=won&min=1")
    inputs = [known for tag, known in elements_of(answer.text) if tag == "input"]
    assert answer.status == 400 and "Choose a player" in answer.words
    assert [known["name"] for known in inputs if known.get("aria-invalid")] == ["player"]
    assert {"outcome", "min"} <= {known["name"] for known in inputs}


def test_a_player_has_a_page_with_its_rating_over_time_results_and_games(competitions: Visitor) -> None:
    standings = competitions.get(CUP)
    answer = competitions.get(standings.link("/competition/player?"))
    name = re.search(r"<h1>(\w+)</h1>", answer.text)[1]  # type: ignore[index]
    curve = re.search(r'points="([^"]+)"', answer.text)

    assert curve is not None and len(curve[1].split()) == 4
    assert "4 games, the newest first" in answer.words
    assert set(re.findall(r'player=(\w+)">', answer.text)) == {"one", "two", "three"} - {name}
    assert "±" in standings.words and "Better than the next" in standings.words
    # A curve for each player, with the interval that all results leave.
    assert standings.text.count("<polyline") == 6 and standings.text.count('class="ends') == 3
    assert answer.text.count('class="range"') == 1
    lost = competitions.get(answer.link("outcome=lost").partition("#")[0])
    assert lost.status == 200 and "pass" in lost.words


def test_a_game_leads_to_what_academy_knows_of_its_positions(competitions: Visitor) -> None:
    game = competitions.get(CUP).link("/competition/game?")
    page = competitions.get(game + "&ply=3")
    openings = competitions.get(page.link("/openings"))
    position = competitions.get(page.link("/position"))
    stones = page.text.count('class="piece')

    assert openings.status == position.status == 200
    assert openings.text.count('class="piece') == stones > 0
    # By its moves, so that it can be played on.
    assert page.link("/position").count("m=") == 3
    board = re.search(r">([-xo\n]{29})</textarea>", position.text)
    assert board is not None and len(re.sub(r"[-\n]", "", board[1])) == stones


def test_a_record_is_a_file_to_keep(competitions: Visitor) -> None:
    game = competitions.get(competitions.get(CUP).link("/competition/game?"))
    answer = competitions.get(game.link("/record?"))

    assert answer.status == 200 and answer.text.startswith("(;")
    assert re.fullmatch(r'attachment; filename="[\w-]+\.sgf"', answer.headers["content-disposition"])
    assert answer.headers["content-type"].startswith("text/plain")


def test_a_competition_that_has_not_begun_has_a_page(competitions: Visitor) -> None:
    answer = competitions.get("/competition?name=later")

    assert answer.status == 200 and "No game has ended yet" in answer.words


def test_the_number_of_games_without_a_known_result_does_not_run_into_that_of_losses(tmp_path: Path) -> None:
    control = write_control(tmp_path, {"one": RANDOM, "two": RANDOM})
    control.write_text(control.read_text().replace("move_limit = 60", "move_limit = 2"))
    answer = page_of_run(control)
    assert re.search(r"0 / 0 / 0</span><br><span[^>]*>\d+ without a known result", answer.text)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/competition", 400),
        ("/competition?name=none", 404),
        ("/competition?name=../cup", 400),
        ("/competition?" + urlencode({"name": "<script>"}), 400),
        (CUP + "&sort=none", 400),
        (CUP + "&page=x", 400),
        (CUP + "&outcome=won", 400),
        (CUP + "&min=9&max=3", 400),
        (CUP + "&max=0", 400),
        (CUP + "&opponent=two", 400),
        (CUP + "&termination=boredom", 400),
        (CUP + "&sort=elo&sort=elo", 400),
        (CUP + "&player=" + "x" * 300, 400),
        ("/competition/player?name=cup&player=nobody", 404),
        ("/competition/game?name=cup", 404),
        ("/competition/game?name=cup&game=none", 404),
        ("/competition/game?name=cup&game=AvB_0&ply=-1", 400),
        ("/competition/record?name=cup&game=none", 404),
    ],
)
def test_missing_pages_have_the_right_status(competitions: Visitor, path: str, status: int) -> None:
    answer = competitions.get(path)

    assert answer.status == status, answer.words
    assert "Traceback" not in answer.text and ("script", {}) not in elements_of(answer.text)


@pytest.mark.parametrize(
    "path",
    [
        "/competition/game?name=cup&game=AvB_0&ply=5001",
        CUP + "&min=5001",
        CUP + "&max=1000000",
        "/competition/game/events?name=cup&game=AvB_0&after=1000000",
    ],
)
def test_games_of_more_moves_than_are_played_again_have_their_addresses(
    competitions: Visitor, path: str
) -> None:
    assert competitions.get(path).status == 200


def test_without_an_arena_there_are_no_pages_of_competitions(pages: Visitor, competitions: Visitor) -> None:
    assert "/competitions" not in pages.get("/").links and pages.get("/competitions").status == 404
    assert "/competitions" in competitions.get("/").links


def test_an_arena_that_is_away_is_named() -> None:
    with served_pages(
        "--arena", "127.0.0.1:1", "--arena-token-file", "/proc/self/comm", token="any"
    ) as visitor:
        answer = visitor.get("/competitions")
    assert answer.status == 503 and "The arena is away" in answer.words


@pytest.mark.parametrize(
    ("game", "settings", "moves", "why"),
    [
        ("none", "{}", (), "no referee"),
        ("go", "{", (), "cannot play"),
        ("go", '{"board_size": 5}', ((2, "A1"),), "out of turn"),
        ("go", '{"board_size": 5}', ((1, "A1"), (2, "A1")), "cannot play"),
        ("warlight", "{}", (), "hides"),
        ("warlight", '{"map": "/etc/passwd.txt"}', (), "names? a file"),
        ("openspiel", '{"game": "kuhn_poker"}', (), "cannot play"),
    ],
)
def test_games_that_cannot_be_played_again_say_why(
    game: str, settings: str, moves: tuple[tuple[int, str], ...], why: str
) -> None:
    with pytest.raises(NoBoardError, match=why):
        replay_game(GameStart(game, settings), moves)


def test_a_game_that_began_otherwise_than_its_referee_has_no_wrong_board() -> None:
    settings = '{"board_size": 5, "handicap": 2, "handicap_style": "free"}'
    placed = "x" + "-" * 23 + "x"
    with pytest.raises(NoBoardError, match="another position"):
        replay_game(GameStart("go", settings, 0, board=placed), ())
    arranged = replay_game(GameStart("go", settings, 0, "A5 E1", placed), ())
    assert sum(mark.seat == 1 for mark in arranged.drawings[0].marks) == 2


def test_players_who_move_at_once_have_their_board_after_the_turn() -> None:
    moves = tuple((seat, "NONE") for seat in range(1, 8))
    played = replay_game(GameStart("diplomacy", "{}"), moves)

    assert len(played.drawings) == 8 and played.seats[0] == "Austria"
    assert all(drawing is played.drawings[0] for drawing in played.drawings[:7])
    assert played.drawings[7].caption == "F1901M" != played.drawings[0].caption
