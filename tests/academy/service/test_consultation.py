"""What bots receive, and what fair use lets them ask."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import grpc
import pytest

from academy.knowledge.text import read_cells, write_cells
from academy.v1 import consultation_pb2, contests_pb2, libraries_pb2
from academy.wire.games import read_spec
from tests.academy.service import examples
from tests.academy.service.examples import board, contest, position, propose, report, teach
from tests.academy.service.running import Client, Running, refusal

MIDDLE = board("-----", "-----", "--x--", "-----", "-----")


def look_up(
    client: Client, game_id: str, moves: Sequence[str] = (), contest_id: str = "", player: int = 1
) -> consultation_pb2.LookUpOpeningResponse:
    return client.consultation.LookUpOpening(
        consultation_pb2.LookUpOpeningRequest(
            game_id=game_id, contest_id=contest_id, player=player, moves=moves
        )
    )


def match(
    client: Client, game_id: str, *positions: consultation_pb2.Position, **more: Any
) -> consultation_pb2.MatchPatternsResponse:
    request = consultation_pb2.MatchPatternsRequest(game_id=game_id, positions=positions, **more)
    return client.consultation.MatchPatterns(request)


class TestOpenings:
    def test_the_recommended_move_comes_with_what_may_follow(self, academy: Running) -> None:
        game = examples.tiny_go("book")
        game.settings.opening_plies_ahead = 2
        academy.register(game)
        lines = [(["c3", "b2", "d4"], "WIN"), (["c3", "b3", "d3"], "WIN"), (["d2", "a1"], "LOSS")]
        for number, (moves, first) in enumerate(line for line in lines for _ in range(5)):
            academy.report(report(contest(f"book/{number}", "book"), moves, first=first))
        ticket = academy.open(contest("book/asking", "book"))[0]

        recommended = look_up(ticket, "book", contest_id="book/asking").recommendation
        assert (recommended.move, recommended.visits) == ("c3", 10)
        assert recommended.value > 0.7
        # The centre's replies number as a turned board has images of them.
        answers = {reply.move: reply.recommendation.move for reply in recommended.replies}
        assert set(answers) == {"b2", "b4", "d2", "d4", "b3", "c2", "c4", "d3"}
        assert {move: answers[move] for move in ("b2", "d4", "b3")} == {"b2": "d4", "d4": "b2", "b3": "d3"}
        assert not any(reply.recommendation.replies for reply in recommended.replies)

    def test_in_a_game_of_more_than_two_nothing_follows_the_recommended_move(self, academy: Running) -> None:
        game = examples.ring("around")
        game.settings.opening_plies_ahead = 6
        academy.register(game)
        for number in range(8):
            names, elos = ("ann", "bob", "carl"), (1500.0,) * 3
            ended = contests_pb2.ReportContestRequest(
                contest=contest(f"around/{number}", "around", names, elos),
                results=[contests_pb2.RESULT_WIN, contests_pb2.RESULT_LOSS, contests_pb2.RESULT_LOSS],
            )
            for place, move in enumerate("ABCDEA"):
                ended.plies.add(player=1 + place % 3, move=move)
            academy.report(ended)
        recommended = look_up(academy.bot("reader"), "around").recommendation
        assert recommended.move == "A" and not recommended.replies

    def test_an_admin_may_allow_players_to_ask_more(self, academy: Running) -> None:
        game = examples.tiny_go("generous")
        game.settings.opening_moves_per_consultation = 1
        game.settings.pattern_value_limit = 0.5
        academy.register(game)
        player = academy.open(contest("generous/1", "generous"))[0]
        for moves in ([], ["c3"]):
            look_up(player, "generous", moves, "generous/1")
        answer = partial(look_up, player, "generous", ["c3", "b2"], "generous/1")
        assert refusal(answer).reason == "FAIR_USE_EXCEEDED"
        low, high = (position(MIDDLE, expected_value=value) for value in (0.5, 0.6))
        assert len(match(player, "generous", low, contest_id="generous/1").positions) == 1
        refused = refusal(lambda: match(player, "generous", high, contest_id="generous/1"))
        assert (refused.reason, refused.metadata["limit"]) == ("VALUE_NOT_LOW", "0.5")

    def test_where_all_move_at_once_each_move_of_a_line_is_ones_own(self, academy: Running) -> None:
        game = examples.tiny_go("at-once")
        game.simultaneous = True
        game.symmetries[:] = ["identity"]
        academy.register(game)
        ann = academy.open(contest("at-once/1", "at-once"))[0]
        line = ["c3", "b2", "a1", "d4"]
        counts = [look_up(ann, "at-once", moves, "at-once/1").consultations for moves in ([], line)]
        assert counts == [1, 2]
        refused = refusal(lambda: look_up(ann, "at-once", [*line, "e5", "e4", "e3"], "at-once/1"))
        assert (refused.reason, refused.metadata["own_move"]) == ("FAIR_USE_EXCEEDED", "8")

    def test_without_a_setting_only_the_position_itself_is_answered(self, academy: Running) -> None:
        academy.register(examples.tiny_go("one-node"))
        for number in range(5):
            played = contest(f"one-node/{number}", "one-node")
            academy.report(report(played, ["c3", "b2", "d4"], first="WIN"))
        answer = look_up(academy.bot("reader"), "one-node")
        assert (answer.recommendation.move, list(answer.recommendation.replies)) == ("c3", [])
        assert not look_up(academy.bot("reader"), "one-node", ["a1"]).HasField("recommendation")

    def test_results_and_moves_are_seen_from_the_asking_player(self, academy: Running) -> None:
        academy.register(examples.tiny_go("openings"))
        for number, (moves, first) in enumerate(
            [
                (["b2", "c3", "d4"], "WIN"),
                (["b4", "c3", "d2"], "LOSS"),
                (["d2", "a1"], "WIN"),
                (["c3", "b2"], "DRAW"),
            ]
        ):
            academy.report(report(contest(f"openings/{number}", "openings"), moves, first=first))
        bot = academy.bot("reader")

        start = look_up(bot, "openings")
        # All four corners are one opening: whichever was played, the answer lists all.
        corner = next(move for move in start.moves if "b2" in move.equivalents)
        assert start.known and start.position.visits == 4
        assert sorted(corner.equivalents) == ["b2", "b4", "d2", "d4"]
        assert (corner.statistics.wins, corner.statistics.draws, corner.statistics.losses) == (2, 0, 1)
        assert corner.statistics.elo == 1500.0

        from_above = look_up(bot, "openings", ["b4"], player=2)
        assert (from_above.position.wins, from_above.position.losses) == (1, 2)
        assert {tuple(move.equivalents) for move in from_above.moves} == {("c3",), ("a1", "e5")}
        # A mirrored line is found too, and nothing is known beyond what was played.
        assert look_up(bot, "openings", ["b4", "c3", "d2"]).position.visits == 2
        assert not look_up(bot, "openings", ["a1", "a2"]).known

    def test_the_best_move_of_the_mover_comes_first(self, academy: Running) -> None:
        academy.register(examples.tiny_go("best"))
        for number, (move, first) in enumerate([("a1", "LOSS"), ("b2", "WIN"), ("c3", "DRAW")]):
            academy.report(report(contest(f"best/{number}", "best"), [move, "a2"], first=first))

        values = [move.statistics.value for move in look_up(academy.bot("reader"), "best").moves]
        assert values == [1.0, 0.5, 0.0]


class TestFairUse:
    def test_opening_questions_are_limited_to_one_for_every_four_own_moves(self, academy: Running) -> None:
        academy.register(examples.tiny_go("quarter"))
        ann, bob = academy.open(contest("quarter/1", "quarter"))
        game = [f"{column}{row}" for row in range(1, 6) for column in "abcde"]

        answered = []
        for own_move in range(1, 11):
            moves = game[: 2 * (own_move - 1)]
            try:
                answered.append((own_move, look_up(ann, "quarter", moves, "quarter/1").consultations))
            except grpc.RpcError as error:
                assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        # 25 %, the first move included.
        assert answered == [(1, 1), (5, 2), (9, 3)]
        # The other player has an allowance of their own.
        assert look_up(bob, "quarter", game[:1], "quarter/1", player=2).consultations == 1

    @pytest.mark.parametrize(
        ("game_id", "movers", "seat", "own_moves"),
        [
            # As after a handicap, in a line that is known and one that goes on.
            ("second-begins", "2121212", 1, {1: 1, 3: 2, 5: 3, 7: 4}),
            ("second-begins", "2121212", 2, {2: 2, 4: 3, 6: 4}),
            ("second-began-once", "21", 1, {1: 1, 3: 2, 5: 3, 7: 4}),
            ("second-began-once", "21", 2, {2: 2, 4: 3, 6: 4}),
            # A move may give another turn.
            ("more-turns", "1112222", 1, {1: 2, 2: 3, 7: 4}),
            ("more-turns", "1112222", 2, {4: 2, 5: 3, 6: 4}),
        ],
    )
    def test_own_moves_are_counted_where_the_second_player_begins_and_where_turns_do_not_alternate(
        self, academy: Running, game_id: str, movers: str, seat: int, own_moves: dict[int, int]
    ) -> None:
        academy.register(examples.tiny_go(game_id))
        game = [f"{column}{row}" for row in range(1, 6) for column in "abcde"]
        for number in range(4):
            known = report(contest(f"{game_id}/{seat}-{number}", game_id), game[: len(movers)], first="DRAW")
            for ply, mover in zip(known.plies, movers, strict=True):
                ply.player = int(mover)
            academy.report(known)
        contest_id = f"{game_id}/{seat}"
        asker = academy.open(contest(contest_id, game_id))[seat - 1]
        look_up(asker, game_id, [], contest_id, player=seat)
        for plies, own_move in own_moves.items():
            refused = refusal(partial(look_up, asker, game_id, game[:plies], contest_id, player=seat))
            assert refused.metadata["own_move"] == str(own_move), plies

    def test_consultations_must_follow_the_game(self, academy: Running) -> None:
        academy.register(examples.tiny_go("branch"))
        ann, _ = academy.open(contest("branch/1", "branch"))
        look_up(ann, "branch", ["a1", "b1"], "branch/1")

        other = ["a1", "c1", "a2", "b2", "a3", "b3", "a4", "b4"]
        refused = refusal(lambda: look_up(ann, "branch", other, "branch/1"))

        assert (refused.code, refused.reason) == (
            grpc.StatusCode.FAILED_PRECONDITION,
            "CONSULTATION_OUT_OF_ORDER",
        )
        assert refused.metadata["common"] == "1"

    @pytest.mark.parametrize(
        ("value", "metadata"), [(None, "None"), (0.331, "0.331"), (0.5, "0.5"), (1.0, "1.0")]
    )
    def test_patterns_only_in_bad_positions(
        self, academy: Running, value: float | None, metadata: str
    ) -> None:
        academy.register(examples.tiny_go("bad"))
        ann, _ = academy.open(contest("bad/1", "bad"))

        refused = refusal(lambda: match(ann, "bad", position(MIDDLE, 1, value), contest_id="bad/1"))

        assert (refused.code, refused.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "VALUE_NOT_LOW")
        assert refused.metadata["value"] == metadata
        assert len(match(ann, "bad", position(MIDDLE, 1, 0.33), contest_id="bad/1").positions) == 1

    def test_knowledge_of_much_weaker_players_is_left_out(self, academy: Running) -> None:
        academy.register(examples.tiny_go("weak"))
        teach(academy, "weak", "weak/low", [("low", "-x-", 0.9)], elo=1300.0)
        teach(academy, "weak", "weak/high", [("high", "---\n-x-", 0.9)], elo=1301.0)
        ann, _ = academy.open(contest("weak/1", "weak", elos=(1500.0, 1500.0)))
        bad = position(MIDDLE, 1, 0.1)

        in_contest = match(ann, "weak", bad, contest_id="weak/1")
        by_admin = match(academy.admin(), "weak", bad)

        # Only Elo above 1500 - 200.
        assert list(in_contest.patterns.elos) == [1301.0]
        assert sorted(by_admin.patterns.elos) == [1300.0, 1301.0]
        # Openings too: those of players at 1300 do not count as known.
        assert look_up(ann, "weak", [], "weak/1").known
        moves = [move.statistics.elo for move in look_up(ann, "weak", [], "weak/1").moves]
        assert all(elo > 1300.0 for elo in moves)

    def test_a_strong_player_gets_strong_answers_to_a_weak_reply(self, academy: Running) -> None:
        academy.register(examples.tiny_go("reply"))
        for number in range(5):
            played = contest(f"reply/{number}", "reply", elos=(1600.0, 1300.0))
            academy.report(report(played, ["c3", "b2", "d4", "a1"], first="WIN"))
        strong, _ = academy.open(contest("reply/asking", "reply", elos=(1600.0, 1300.0)))

        answer = look_up(strong, "reply", ["c3", "b2"], "reply/asking")

        assert answer.known
        assert [(move.move, move.statistics.elo) for move in answer.moves] == [("d4", 1600.0)]
        assert answer.recommendation.move == "d4"
        # What the position itself is worth is knowledge of those who moved there.
        assert not answer.HasField("position")
        beyond = academy.open(contest("reply/beyond", "reply", elos=(1600.0, 1300.0)))[0]
        assert not look_up(beyond, "reply", ["c3", "b2", "d4"], "reply/beyond").moves

    def test_a_weaker_player_is_recommended_what_a_stronger_one_played_once(self, academy: Running) -> None:
        academy.register(examples.tiny_go("once"))
        played = contest("once/1", "once", elos=(1500.0, 1500.0))
        academy.report(report(played, ["c3", "b2"], first="WIN"))
        weaker, equal = academy.open(contest("once/asking", "once", elos=(1390.0, 1500.0)))

        assert look_up(weaker, "once", [], "once/asking").recommendation.move == "c3"
        assert not look_up(equal, "once", ["c3"], "once/asking", player=2).HasField("recommendation")

    def test_a_player_cannot_ask_about_its_game_from_outside(self, academy: Running) -> None:
        academy.register(examples.tiny_go("outside"))
        academy.register(examples.tiny_go("elsewhere"))
        ann = academy.bot("ann")
        look_up(ann, "outside")
        played = contest("outside/1", "outside")
        tickets = academy.open(played)

        for client in (ann, tickets[0]):
            refused = refusal(partial(look_up, client, "outside"))
            assert (refused.code, refused.reason) == (
                grpc.StatusCode.FAILED_PRECONDITION,
                "ANALYSIS_DURING_CONTEST",
            )
            assert refused.metadata == {"game_id": "outside", "contest_id": "outside/1"}
        look_up(ann, "elsewhere")
        look_up(academy.bot("carl"), "outside")
        academy.report(report(played, ["c3"]))
        look_up(ann, "outside")

    def test_bots_and_tickets_ask_for_their_own_seats_alone(self, academy: Running) -> None:
        academy.register(examples.tiny_go("bound"))
        ann, bob = academy.open(contest("bound/1", "bound"))
        academy.open(contest("bound/2", "bound"))
        academy.open(contest("bound/3", "bound", ("ann", "ann")))

        for call in (
            lambda: look_up(ann, "bound", [], "bound/2"),
            lambda: look_up(bob, "bound", [], "bound/1", player=1),
            lambda: look_up(ann, "bound", [], "no such contest"),
            lambda: look_up(academy.bot("carl"), "bound", [], "bound/1"),
            lambda: look_up(academy.bot("ann"), "bound", [], "bound/1", player=2),
            lambda: look_up(academy.bot("bob"), "bound", [], "bound/1"),
        ):
            assert refusal(call).code is grpc.StatusCode.PERMISSION_DENIED
        assert look_up(academy.bot("bob"), "bound", ["c3"], "bound/1", player=2).consultations == 1
        # The same name in both seats: both are that player's.
        for player in (1, 2):
            look_up(academy.bot("ann"), "bound", ["c3"], "bound/3", player)


class TestPatterns:
    def test_placements_are_where_the_patterns_fit(self, academy: Running) -> None:
        academy.register(examples.tiny_go("places"))
        teach(academy, "places", "places", [("ann", "x-\n-o", 0.8)])
        here = board("-----", "-x---", "--o--", "-----", "-----")

        answer = match(academy.bot("reader"), "places", position(here), include_cells=True)

        matches = answer.positions[0]
        assert (list(matches.rows), list(matches.columns), matches.total) == ([1], [1], 1)
        assert answer.patterns.libraries[matches.patterns[0]] == examples.ENDGAME
        # The image under the symmetry in the answer, laid at the place in the answer, is what stands there.
        spec = read_spec(examples.tiny_go("places"))
        pattern = read_cells(answer.patterns.cells[matches.patterns[0]], spec.geometry)
        image = pattern.image(spec.symmetry_group[matches.symmetries[0]])
        assert write_cells(image, spec.geometry).replace(" ", "") == "x-\n-o"

    def test_colours_are_exchanged_for_the_second_player(self, academy: Running) -> None:
        academy.register(examples.tiny_go("colours"))
        teach(academy, "colours", "colours", [("ann", "xxo", 0.9)])
        here = board("oox--", "-----", "-----", "-----", "-----")
        bot = academy.bot("reader")

        def values(player: int, both: bool) -> list[bool]:
            answer = match(bot, "colours", position(here, player), both_players=both)
            assert len(answer.positions[0].patterns) == answer.positions[0].total
            return list(answer.positions[0].for_opponent) if both else [False] * answer.positions[0].total

        # The pattern is the first player's; on this board it speaks for the second.
        assert values(1, both=False) == []
        assert values(2, both=False) == [False]
        assert values(1, both=True) == [True]
        assert values(2, both=True) == [False]

    def test_patterns_of_an_asymmetric_game_address_one_player(self, academy: Running) -> None:
        academy.register(examples.hunt("hunt"))
        teach(academy, "hunt", "hunt", [("ann", "xo", 0.9)])
        bot = academy.bot("reader")

        def total(player: int, both: bool) -> tuple[int, list[bool]]:
            answer = match(bot, "hunt", position("xo-------", player), both_players=both)
            return answer.positions[0].total, list(answer.positions[0].for_opponent)

        assert [total(1, False), total(2, False)] == [(1, []), (0, [])]
        assert [total(1, True), total(2, True)] == [(1, [False]), (1, [True])]

    def test_the_strongest_come_first_and_the_rest_is_counted(self, academy: Running) -> None:
        academy.register(examples.tiny_go("strong"))
        teach(academy, "strong", "strong", [("a", "x", 0.9), ("b", "x-", 0.5), ("c", "-x-", 0.99)])
        bot = academy.bot("reader")

        everything = match(bot, "strong", position(MIDDLE), position(MIDDLE))
        cut = match(bot, "strong", position(MIDDLE), position(MIDDLE), max_matches=3)

        listing = libraries_pb2.ListPatternsRequest(game_id="strong", library=examples.ENDGAME)
        patterns = academy.admin().libraries.ListPatterns(listing).patterns
        listed = {pattern.pattern_id: pattern.strength for pattern in patterns}
        for answer in (everything, cut):
            for matches in answer.positions:
                strengths = [listed[answer.patterns.pattern_ids[row]] for row in matches.patterns]
                assert strengths == sorted(strengths, reverse=True)
                assert matches.total == len(everything.positions[0].patterns)
        assert [len(matches.patterns) for matches in cut.positions] == [3, 3]
        # A pattern counts once, however many matches and positions it has.
        assert len(set(everything.patterns.pattern_ids)) == len(everything.patterns.pattern_ids) == 3

    def test_placements_of_each_pattern_are_limited(self, academy: Running) -> None:
        academy.register(examples.tiny_go("each"))
        teach(academy, "each", "each", [("a", "-", 0.99), ("b", "xo", 0.5)])
        here = position("-" * 23 + "xo")
        (answer,) = match(academy.bot("reader"), "each", here, max_matches=4, max_matches_each=2).positions
        assert list(answer.patterns) == [0, 0, 1]
        assert answer.total == 23 + 1

    def test_answer_has_only_the_requested_libraries(self, academy: Running) -> None:
        academy.register(examples.tiny_go("only"))
        teach(academy, "only", "only", [("a", "x", 0.9)])
        answer = match(academy.bot("reader"), "only", position(MIDDLE), libraries=[examples.MIDDLE_GAME])
        assert answer.positions[0].total == 0

    def test_uses_in_a_contest_are_counted_with_its_report(self, academy: Running) -> None:
        academy.register(examples.tiny_go("uses"))
        teach(academy, "uses", "uses", [("a", "x", 0.9)])
        for number, first in enumerate(("WIN", "LOSS")):
            played = contest(f"uses/{number}", "uses")
            ann, _ = academy.open(played)
            for _ in range(2):
                match(ann, "uses", *[position(MIDDLE, 1, 0.2)] * 3, contest_id=played.contest_id)
            academy.report(report(played, ["c3"], first=first))

        listing = libraries_pb2.ListPatternsRequest(game_id="uses", library=examples.ENDGAME)
        pattern = academy.admin().libraries.ListPatterns(listing).patterns[0]
        # Once a contest and player; one of the two was won.
        assert (pattern.uses, pattern.successes) == (2, 1)

    def test_a_game_of_three_on_a_graph(self, academy: Running) -> None:
        academy.register(examples.ring("ring"))
        played = contest("ring/1", "ring", ("ann", "bob", "carl"), (1500.0, 1500.0, 1500.0))
        propose(academy.open(played)[1], "ring/1", "x A\no C", 0.9)
        ended = contests_pb2.ReportContestRequest(
            contest=played,
            results=[contests_pb2.RESULT_LOSS, contests_pb2.RESULT_WIN, contests_pb2.RESULT_LOSS],
        )
        ended.plies.add(player=2, move="A-C", board="x-o--").values.add(player=2, value=0.9)
        assert academy.report(ended).accepted == 1
        bot = academy.bot("reader")

        def asked(player: int, here: str = "x-o--", **more: Any) -> consultation_pb2.MatchPatternsResponse:
            return match(bot, "ring", position(here, player), include_cells=True, **more)

        assert [asked(player).positions[0].total for player in (1, 2, 3)] == [0, 1, 0]
        assert asked(2).patterns.cells == ["x A\no C"]
        # Nodes do not move.
        assert asked(2, "-x-o-").positions[0].total == 0
        refused = refusal(lambda: asked(2, both_players=True))
        assert (refused.code, refused.fields) == (grpc.StatusCode.INVALID_ARGUMENT, ["both_players"])

    def test_analysis_hides_patterns_of_much_weaker_players(self, academy: Running) -> None:
        academy.register(examples.tiny_go("rated"))
        teach(academy, "rated", "rated", [("low", "x", 0.9)], elo=1000.0)
        strong = contest("rated/strong", "rated", ("strong", "other"), (1201.0, 1200.0))
        academy.report(report(strong, ["c3"]))

        totals = {
            name: match(academy.bot(name), "rated", position(MIDDLE)).positions[0].total
            for name in ("strong", "other", "low", "never rated")
        }

        # Elo above 1201 - 200 and 1200 - 200: 1000 is neither.
        assert totals == {"strong": 0, "other": 0, "low": 1, "never rated": 1}
