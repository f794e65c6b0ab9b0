"""What the pages show of a real ACADEMY, and what they look like to somebody who wishes ill."""

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from academy.store.tokens import Role
from academy.v1 import consultation_pb2, contests_pb2, libraries_pb2
from academy.wire.games import game_message
from tests.academy.service.examples import ENDGAME, contest, report, tiny_go
from tests.academy.service.running import Running, serving
from tests.waiting import until
from tests.web.conftest import served_pages
from tests.web.filling import (
    DIPLOMACY,
    DRAUGHTS,
    GO,
    HEX,
    HOSTILE,
    HOSTILE_MOVE,
    HOSTILE_NAME,
    RING,
    SEEDS,
    fill_little,
    import_patterns,
    judge_of,
    propose,
    random_line,
)
from tests.web.visiting import Answer, Visitor, elements_of


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server to which tests of this module report; what the others count on `academy` stays as it is."""
    with serving(tmp_path_factory.mktemp("own")) as running:
        fill_little(running)
        game = game_message(judge_of(DRAUGHTS).spec())
        running.arena().contests.RegisterGame(contests_pb2.RegisterGameRequest(game=game))
        yield running


@pytest.fixture(scope="module")
def own_pages(own: Running) -> Iterator[Visitor]:
    with served_pages("--academy", own.address, token=own.token("pages", Role.ADMIN)) as visitor:
        yield visitor


ALL_PAGES = [
    "/",
    "/?sort=width&order=asc",
    *(f"/games/{game}{page}" for game in (GO, HEX, DRAUGHTS, RING, HOSTILE, DIPLOMACY)
      for page in ("", "/openings", "/patterns", "/patterns?library=endgame", "/position")),
    f"/games/{GO}/patterns/endgame/1",
    f"/games/{GO}/position?board={'-' * 25}",
    f"/games/{RING}/openings?player=2",
    f"/games/{HOSTILE}/patterns/endgame/1",
    f"/games/{HOSTILE}/openings?{urlencode({'m': HOSTILE_MOVE})}",
]  # fmt: skip


@pytest.mark.parametrize("path", ALL_PAGES)
def test_every_page_is_whole_and_keeps_to_its_policy(pages: Visitor, path: str) -> None:
    answer = pages.get(path)

    assert answer.status == 200, answer.words
    assert answer.packed < 100_000
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "unsafe" not in answer.headers["content-security-policy"]
    for tag, attributes in elements_of(answer.text):
        assert "style" not in attributes and not any(name.startswith("on") for name in attributes)
        assert tag != "style" and (tag != "script" or (attributes.get("src") or "").startswith("/static/"))
        for name in ("src", "href", "action"):
            assert (attributes.get(name) or "/").startswith(("/", "#")), attributes


def test_home_compares_games_and_sorts_by_each_measure(pages: Visitor) -> None:
    def order(path: str) -> list[str]:
        return re.findall(r'<th scope="row"><a href="/games/([^"]+)"', pages.get(path).text)

    assert order("/") == sorted([GO, HEX, DRAUGHTS, RING, HOSTILE, DIPLOMACY])
    assert order("/?order=desc") == sorted(order("/"), reverse=True)
    longest, shortest = order("/?sort=contests"), order("/?sort=contests&order=asc")
    assert longest[0] == GO and shortest[-1] == GO
    # What is not known of a game comes last, whichever way is sorted.
    assert order("/?sort=tempo&order=asc")[-1] in (RING, HOSTILE, DIPLOMACY)


def test_a_game_shows_libraries_players_and_contests(pages: Visitor) -> None:
    answer = pages.get(f"/games/{GO}")

    assert "5 × 5 squares" in answer.words and "Black, White" in answer.words
    assert "ann" in answer.words and "1500" in answer.words
    assert "teacher-2" in answer.words
    assert "Latest contests" in answer.words and re.search(r"ann (won|lost|drew)", answer.words)


def test_a_line_is_followed_by_clicks_and_its_board_is_the_referees(pages: Visitor) -> None:
    moves, boards = random_line(judge_of(GO), 0, 3)
    answer = pages.get(f"/games/{GO}/openings")

    for ply in range(3):
        spelt = [
            link for link in answer.links if parse_qs(urlsplit(link).query).get("m", [])[ply:] == [moves[ply]]
        ]
        assert spelt, f"no link for {moves[ply]}"
        answer = pages.get(spelt[0])
        rows = "\n".join(boards[ply][at : at + 5] for at in range(0, 25, 5))
        assert f">{rows}</textarea>" in pages.get(answer.link("/position?")).text
    assert len(re.findall('class="last-mark"', answer.text)) == 1
    assert "2 contests came here" in answer.words
    assert pages.get(answer.link("/position?")).status == 200


def test_an_analysts_values_are_shown_apart(pages: Visitor, academy: Running) -> None:
    libraries = academy.admin().libraries
    moves, _ = random_line(judge_of(GO), 0, 1)
    line = libraries_pb2.LineAnalysis(moves=moves, value=0.25, budget=2_000)
    assert "searched" not in pages.get(f"/games/{GO}/openings").words
    libraries.AnalyseOpenings(libraries_pb2.AnalyseOpeningsRequest(game_id=GO, lines=[line]))
    answer = pages.get(f"/games/{GO}/openings")
    assert "searched 0.25" in answer.words
    assert "admin searched 2,000 random games: computed, not played" in answer.text
    libraries.ForgetAnalyses(libraries_pb2.ForgetAnalysesRequest(game_id=GO))


def test_the_move_that_the_tree_recommends_is_a_link(pages: Visitor, academy: Running) -> None:
    recommended = []
    for game_id in SEEDS:
        known = academy.admin().consultation.LookUpOpening(
            consultation_pb2.LookUpOpeningRequest(game_id=game_id, player=1)
        )
        answer = pages.get(f"/games/{game_id}/openings")
        assert ("The tree recommends" in answer.words) is known.HasField("recommendation")
        if known.HasField("recommendation"):
            move = known.recommendation
            assert f"The tree recommends {move.move}" in answer.words
            assert f"may expect {move.value:.2f}" in answer.words
            assert "The list begins with" not in answer.words
            recommended.append(game_id)
    assert recommended


def test_where_the_list_begins_with_another_move_than_the_recommended_the_page_says_why(
    own_pages: Visitor, own: Running
) -> None:
    arena = own.arena()
    arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=tiny_go("recommended")))
    # A move that won mostly, and one that won once.
    for number, move in enumerate([*["b2"] * 8, "a1"]):
        first = "LOSS" if number in (5, 7) else "WIN"
        played = contest(f"recommended/{number}", "recommended")
        arena.contests.ReportContest(report(played, [move], first=first))
    shown = own_pages.get("/games/recommended/openings?sort=best").words
    assert "The list begins with" in shown


def test_a_strong_bots_page_shows_strong_moves_after_a_weak_reply_without_the_replys_figures(
    own: Running,
) -> None:
    arena = own.arena()
    arena.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=tiny_go("weak-reply")))
    for number in range(5):
        played = contest(f"weak-reply/{number}", "weak-reply", ("strong", "weak"), (1600.0, 1300.0))
        arena.contests.ReportContest(report(played, ["c3", "b2", "d4"], first="WIN"))
    with served_pages("--academy", own.address, token=own.token("strong")) as pages:
        shown = pages.get("/games/weak-reply/openings?m=c3&m=b2")
    assert "their figures are hidden" in shown.words and "contests came here" not in shown.words
    assert "The tree recommends d4" in shown.words


def test_lost_and_won_are_those_of_the_player_that_is_chosen(pages: Visitor) -> None:
    def result(path: str) -> tuple[int, ...]:
        numbers = re.search(r"won (\d+), drew (\d+), lost (\d+)", pages.get(path).words)
        assert numbers is not None
        return tuple(map(int, numbers.groups()))

    as_black, as_white = result(f"/games/{GO}/openings"), result(f"/games/{GO}/openings?player=2")
    assert as_black == as_white[::-1] and sum(as_black) == 15


def test_a_line_that_is_not_in_the_tree_has_its_board_all_the_same(pages: Visitor) -> None:
    answer = pages.get(f"/games/{GO}/openings?m=A1&m=A2&m=A3&m=A4&m=A5&m=B5")

    assert answer.status == 200 and "does not have this position" in answer.words
    # The last move takes a stone.
    assert answer.text.count('class="piece side-') == 5


@pytest.mark.parametrize(
    ("path", "status", "why"),
    [
        (f"/games/{RING}/openings", 200, "No referee for ring is installed"),
        (f"/games/{GO}/openings?m=Z9", 404, "Move 1 (Z9) is not legal"),
        (f"/games/{GO}/openings?m=A1&m=A1", 404, "Move 2 (A1) is not legal"),
        (f"/games/{DIPLOMACY}/openings?m=opening+1", 200, "All players move at once"),
    ],
)
def test_where_there_is_no_board_the_page_says_why(pages: Visitor, path: str, status: int, why: str) -> None:
    answer = pages.get(path)

    assert answer.status == status and why in answer.words


def test_a_map_is_drawn_with_its_places(pages: Visitor) -> None:
    answer = pages.get(f"/games/{DIPLOMACY}/openings?player=3")

    assert all(f">{place}<" in answer.text for place in ("PAR", "MUN", "CON"))
    assert 'class="board map near"' in answer.text and 'class="border"' in answer.text


class TestGallery:
    def test_filters_and_orders_are_those_of_the_interface(self, pages: Visitor, academy: Running) -> None:
        def shown(query: str) -> list[int]:
            answer = pages.get(f"/games/{GO}/patterns?library=endgame{query}")
            return [int(number) for number in re.findall(r'class="name">Pattern (\d+)<', answer.text)]

        listed = academy.admin().libraries.ListPatterns(
            libraries_pb2.ListPatternsRequest(game_id=GO, library=ENDGAME, page_size=24)
        )
        assert len(shown("")) >= 3
        assert shown("") == [pattern.pattern_id for pattern in listed.patterns]
        assert shown("&order=newest") == sorted(shown(""), reverse=True)
        assert shown("&min_elo=1800") == []
        assert len(shown("&proposer=teacher-1")) == 1

    def test_paging_goes_on_where_the_page_before_ended(self, own_pages: Visitor, own: Running) -> None:
        path, numbers = f"/games/{DRAUGHTS}/patterns?library=endgame&order=newest", list[str]()
        admin = own.admin()
        letters = "-xo"
        cells = [
            " ".join(letters[number // 3**place % 3] for place in range(4)) + " x x b w o"
            for number in range(60)
        ]
        import_patterns(own, DRAUGHTS, cells)
        while path:
            answer = own_pages.get(path)
            numbers += re.findall(r'class="name">Pattern (\d+)<', answer.text)
            following = re.search(r'rel="next" href="([^"]+)"', answer.text)
            path = following[1].replace("&amp;", "&") if following else ""
        total = admin.libraries.ListPatterns(
            libraries_pb2.ListPatternsRequest(game_id=DRAUGHTS, library=ENDGAME, page_size=1)
        ).total_size
        assert len(numbers) == len(set(numbers)) == total >= 60

    def test_a_pattern_shows_its_label_and_its_votes(self, pages: Visitor, academy: Running) -> None:
        record = (
            academy.admin()
            .libraries.GetPattern(libraries_pb2.GetPatternRequest(game_id=GO, library=ENDGAME, pattern_id=1))
            .pattern
        )
        answer = pages.get(f"/games/{GO}/patterns/endgame/1")

        assert f"< {record.signature.proposers}; {record.signature.elo:.0f};" in answer.words
        assert all(vote.player in answer.words for vote in record.votes) and record.votes


class TestTesujis:
    @pytest.mark.parametrize("game_id", [GO, HEX])
    def test_tesujis_are_drawn_with_their_figures_those_first_where_strong_players_move(
        self, pages: Visitor, academy: Running, game_id: str
    ) -> None:
        listed = academy.admin().libraries.ListTesujis(
            libraries_pb2.ListTesujisRequest(game_id=game_id, page_size=48, order_by="weight desc")
        )
        assert listed.total_size == 60 and listed.next_page_token
        answer = pages.get(pages.get(f"/games/{game_id}/patterns").link(f"/games/{game_id}/tesujis"))
        weights = re.findall(r"weight <strong>([+-][0-9.]+)<", answer.text)
        assert weights == [f"{tesuji.weight_millionths / 1e6:+.2f}" for tesuji in listed.tesujis]
        assert float(weights[0]) > 0 and weights == sorted(weights, key=float, reverse=True)
        drawings = re.findall(r'class="drawing"><svg[^>]*aria-label="[^":]+: ([^"]+)"', answer.text)
        written = [[line.split() for line in tesuji.cells.splitlines()] for tesuji in listed.tesujis]
        assert [[row.split() for row in drawing.split(" / ")] for drawing in drawings] == written
        following = re.search(r'rel="next" href="([^"]+)"', answer.text)
        assert following
        last = pages.get(following[1].replace("&amp;", "&"))
        assert last.text.count('class="drawing"') == 60 - 48 and "Next page" not in last.text

    def test_a_game_without_them_says_how_it_would_learn_them(self, pages: Visitor) -> None:
        assert "tesuji_capacity" in pages.get(f"/games/{DRAUGHTS}/tesujis").words


class TestHostileContent:
    @pytest.mark.threat("bad_input")
    def test_names_and_moves_are_text_wherever_they_stand(self, pages: Visitor) -> None:
        game = pages.get(f"/games/{HOSTILE}")
        line = pages.get(f"/games/{HOSTILE}/openings?{urlencode({'m': HOSTILE_MOVE})}")
        votes = pages.get(f"/games/{HOSTILE}/patterns/endgame/1")

        assert HOSTILE_NAME in game.words and HOSTILE_NAME in votes.words and HOSTILE_MOVE in line.words
        for answer in (game, line, votes):
            assert HOSTILE_NAME not in answer.text and HOSTILE_MOVE not in answer.text
            assert not [tag for tag, _ in elements_of(answer.text) if tag == "img"]

    @pytest.mark.parametrize("name", ["m", "sort", "player", HOSTILE_NAME])
    def test_a_value_in_an_address_is_text_too(self, pages: Visitor, name: str) -> None:
        answer = pages.get(f"/games/{GO}/openings?{urlencode({name: HOSTILE_NAME})}")

        assert HOSTILE_NAME not in answer.text and "alert" in answer.words

    def test_following_a_hostile_move_keeps_it_whole(self, pages: Visitor) -> None:
        answer: Answer = pages.get(pages.get(f"/games/{HOSTILE}/openings").link("?m="))

        assert answer.status == 200 and "1 contest came here" in answer.words


def test_a_position_names_its_contests_other_orders_and_what_a_filter_leaves(pages: Visitor) -> None:
    moves, _ = random_line(judge_of(GO), 0, 2)
    path = f"/games/{GO}/openings?{urlencode([('m', move) for move in moves])}"
    answer = pages.get(path)
    assert "Newest contests here ann lost 1500 , bob won 1450" in answer.words
    assert "ann won 1500 , bob lost 1450" in answer.words
    counted = pages.get(f"{path}&elo=1400").words
    assert "Counted are the newest 15 contests" in counted and "2 came to this position" in counted
    nobody = pages.get(f"{path}&until=2020-01-01").words
    assert "0 of them pass, 0 came to this position" in nobody
    # The filter goes along with the next move.
    followed = pages.get(f"{path}&elo=1400").link("elo=1400&m=")
    assert "Counted are" in pages.get(followed).words
    assert pages.get(f"{path}&since=tomorrow").status == 400
    assert pages.get(f"{path}&until=9999-12-31").status == 400


def test_another_order_of_moves_is_named_where_the_referee_comes_to_the_same_board(
    own_pages: Visitor, own: Running
) -> None:
    go = judge_of(GO)
    for number, order in enumerate((["B2", "D4", "C3", "A1"], ["C3", "D4", "B2", "A1"])):
        position, boards = go.start(0), []
        for ply, text in enumerate(order):
            position = go.play(position, {1 + ply % 2: go.read_move(position, 1 + ply % 2, text)})
            boards.append(go.board(position, 1).letters)
        played = contest(f"orders/{number}", GO, ("ann", "bob"), (1500.0, 1450.0))
        own.arena().contests.ReportContest(report(played, order, boards))
    answer = own_pages.get(f"/games/{GO}/openings?m=B2&m=D4&m=C3")
    assert "The same position by other orders: C3 D4 B2 (1 contest)" in answer.words
    assert own_pages.get(answer.link("m=C3&m=D4&m=B2")).status == 200


def test_a_piece_is_moved_by_two_clicks_on_the_board(pages: Visitor) -> None:
    answer = pages.get(f"/games/{DRAUGHTS}/openings")
    chosen = pages.get(answer.link("from="))
    assert "Moves from there:" in chosen.words and "lit" in chosen.text
    ends = re.findall(
        r'<a class="[^"]*play[^"]*" href="([^"]*m=[^"]*)" aria-label="play ([^"]*)"', chosen.text
    )
    assert ends, "the board has no cell where the move ends"
    address, move = ends[0]
    assert f"The board after {move}" in pages.get(address.replace("&amp;", "&")).text
    assert pages.get(f"/games/{DRAUGHTS}/openings?from=64").status == 400


def test_a_pattern_shows_its_history_and_the_boards_where_it_was_found(pages: Visitor) -> None:
    answer = pages.get(f"/games/{GO}/patterns/endgame/1")
    assert "entered the library" in answer.words and "teacher-0" in answer.words
    assert "After ply 1: teacher-0 drew , pupil drew" in answer.words
    assert re.search(r'class="[^"]*\blit\b', answer.text)
    small = pages.get(f"/games/{GO}/patterns?library=endgame&max_size=9").words
    assert "2 patterns pass the filter" in small
    wide = pages.get(f"/games/{GO}/patterns?library=endgame&{urlencode({'cells': '-  - x - -'})}").words
    assert "2 patterns pass the filter" in wide


def test_a_game_shows_how_its_libraries_grew_and_who_helped_whom(own_pages: Visitor, own: Running) -> None:
    played = contest("helped/1", GO, ("learner", "bob"), (1500.0, 1450.0))
    arena = own.arena()
    ticket = arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=played)).tickets[0]
    board = "-" * 12 + "x" + "-" * 12
    position = consultation_pb2.Position(board=board, player=1, expected_value=0.1, plies=1)
    matches = own.client(ticket).consultation.MatchPatterns(
        consultation_pb2.MatchPatternsRequest(
            game_id=GO, contest_id=played.contest_id, positions=[position], libraries=[ENDGAME]
        )
    )
    assert matches.positions[0].total
    arena.contests.ReportContest(report(played, ["C3"], [board], values=[0.1]))
    answer = own_pages.get(f"/games/{GO}")
    assert "The sizes of the libraries from contest to contest" in answer.text
    row = re.search(r">teacher-0</a></th>(.*?)</tr>", answer.text)
    assert row is not None and re.findall(r">(\d+)<", row[1])[-2:] == ["1", "1"]
    learner = own_pages.get(f"/contributor?{urlencode({'name': 'learner'})}")
    row = re.search(rf">{GO}</a></th>(.*?)</tr>", learner.text)
    assert row is not None and re.findall(r">(\d+)<", row[1])[-2:] == ["1", "1"]


def test_home_names_the_latest_results_and_the_newest_patterns(own_pages: Visitor, own: Running) -> None:
    played = contest("latest/1", DRAUGHTS, ("latecomer", "bob"), (1500.0, 1450.0))
    own.arena().contests.ReportContest(report(played, ["9-13"], first="DRAW"))
    # The list of games is some seconds old.
    until(lambda: "latecomer drew , bob drew" in own_pages.get("/").words)
    assert own_pages.get(own_pages.get("/").link("/patterns/endgame/")).status == 200


def test_a_game_leads_to_its_players_and_their_patterns(pages: Visitor) -> None:
    answer = pages.get(pages.get(f"/games/{GO}").link("/contributor?name=teacher-1"))
    assert "Helped others" in answer.words and "1700" in answer.words
    pattern = pages.get(answer.link(f"/games/{GO}/patterns/endgame/"))
    assert pattern.status == 200 and "teacher-1" in pattern.words
    assert pages.get(f"/contributor?{urlencode({'name': HOSTILE_NAME})}").status == 200
    assert pages.get("/contributor?name=nobody").status == 404
    assert pages.get("/contributor").status == 400


def test_a_player_who_proposed_a_pattern_again_is_led_to_its_own_contest(
    own_pages: Visitor, own: Running
) -> None:
    known = libraries_pb2.GetPatternRequest(game_id=GO, library=ENDGAME, pattern_id=2)
    cells = own.client(own.token("admin", Role.ADMIN)).libraries.GetPattern(known).pattern.cells
    played = contest("again/1", GO, ("follower", "bob"), (1700.0, 1450.0))
    arena = own.arena()
    ticket = arena.contests.OpenContest(contests_pb2.OpenContestRequest(contest=played)).tickets[0]
    propose(own.client(ticket), played.contest_id, cells)
    board = "-" * 12 + "x" + "-" * 12
    arena.contests.ReportContest(report(played, ["C3"], [board], first="DRAW", values=[0.9]))
    answer = own_pages.get("/contributor?name=follower")
    assert "by follower, in again/1, ply 1" in answer.words and "taught/" not in answer.words
    pattern = own_pages.get(answer.link(f"/games/{GO}/patterns/endgame/2")).words
    assert "Came from follower in again/1" in pattern
    assert "Proposed first by teacher-1 in taught/1" in pattern
    assert "Came from teacher-1 in taught/1" in own_pages.get(f"/games/{GO}/patterns/endgame/2").words


def test_a_filter_that_cannot_be_read_comes_back_with_the_rest_of_its_form(pages: Visitor) -> None:
    answer = pages.get(f"/games/{GO}/openings?m=C3&m=B2&elo=abc&since=2026-01-31")
    inputs = [known for tag, known in elements_of(answer.text) if tag == "input"]
    assert answer.status == 400 and "'abc' is not a number" in answer.words
    again = [(str(known["name"]), str(known["value"])) for known in inputs]
    assert again == [("m", "C3"), ("m", "B2"), ("since", "2026-01-31"), ("elo", "abc")]
    assert [known["name"] for known in inputs if known.get("type") != "hidden"] == ["elo"]
    mended = [(name, "1400" if name == "elo" else value) for name, value in again]
    assert pages.get(f"/games/{GO}/openings?{urlencode(mended)}").status == 200
