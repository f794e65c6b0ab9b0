"""Several arenas at one ACADEMY: each has contests, ids and players of its own."""

from functools import partial

import grpc
import pytest

from academy.store import game_tables
from academy.store.maintenance.check import check
from academy.store.player_commands import MutePlayer
from academy.store.tokens import CreateToken, Role
from academy.v1 import consultation_pb2, contests_pb2, libraries_pb2
from tests.academy.service import examples
from tests.academy.service.examples import ENDGAME, contest, position, propose, report
from tests.academy.service.running import Client, Running, refusal

GAME = "shared"


@pytest.fixture
def home(fresh: Running) -> Client:
    """The arena that came first, with an open contest `cup/1` of ann and bob."""
    game = examples.tiny_go(GAME)
    game.move_forms.extend(["*", "pass"])
    arena = fresh.arena()
    fresh.register(game)
    return arena


def second(fresh: Running, name: str = "rival") -> Client:
    return fresh.client(fresh.token(name, Role.ARENA))


def opened(caller: Client, contest_id: str = "cup/1", arena: str = "") -> contests_pb2.OpenContestResponse:
    played = contest(contest_id, GAME)
    played.arena = arena
    return caller.contests.OpenContest(contests_pb2.OpenContestRequest(contest=played))


def voters(academy: Running) -> set[str]:
    request = libraries_pb2.ListPatternsRequest(game_id=GAME, library=ENDGAME)
    patterns = academy.admin().libraries.ListPatterns(request).patterns
    return {vote.player for pattern in patterns for vote in pattern.votes}


def play(academy: Running, arena: Client, contest_id: str) -> None:
    """A contest in which ann proposes a pattern."""
    ann = academy.client(opened(arena, contest_id).tickets[0])
    propose(ann, contest_id, "xo\n-x", 0.9)
    played = report(contest(contest_id, GAME), ["c3"], first="DRAW", values=[0.9])
    assert arena.contests.ReportContest(played).counted


@pytest.mark.threat("impersonation")
def test_another_arena_can_neither_reopen_nor_void_nor_report_a_contest(fresh: Running, home: Client) -> None:
    tickets = opened(home).tickets
    rival = second(fresh)

    assert (
        refusal(lambda: rival.contests.GetContest(contests_pb2.GetContestRequest(contest_id="cup/1"))).code
        is grpc.StatusCode.NOT_FOUND
    )
    # The same id is another contest: its own.
    opened(rival)
    void = contests_pb2.ReportContestRequest(contest=contest("cup/1", GAME), void=True)
    assert rival.contests.ReportContest(void).counted

    question = consultation_pb2.LookUpOpeningRequest(game_id=GAME, contest_id="cup/1", player=1)
    assert fresh.client(tickets[0]).consultation.LookUpOpening(question).consultations == 1
    ended = home.contests.ReportContest(report(contest("cup/1", GAME), ["c3"]))
    assert ended.counted and ended.contest.state == contests_pb2.CONTEST_STATE_REPORTED
    assert [player.name for player in ended.contest.players] == ["ann", "bob"]


@pytest.mark.threat("impersonation")
def test_another_arenas_players_are_others_though_they_have_the_same_names(
    fresh: Running, home: Client
) -> None:
    rival = second(fresh)
    play(fresh, home, "cup/1")
    play(fresh, rival, "cup/1")

    assert voters(fresh) == {"ann", "ann@rival"}
    assert (
        fresh.store.read(game_tables.find_elo, GAME, "ann")
        == fresh.store.read(game_tables.find_elo, GAME, "ann@rival")
        == 1500.0
    )
    assert not list(check(fresh.store.environment))
    played = rival.contests.GetContest(contests_pb2.GetContestRequest(contest_id="cup/1")).contest
    assert (played.arena, played.players[0].name, played.players[0].identity) == ("rival", "ann", "ann@rival")


@pytest.mark.threat("bad_input")
def test_impossible_moves_and_ratings_are_refused(fresh: Running, home: Client) -> None:
    rival = second(fresh)
    zzz = refusal(lambda: rival.contests.ReportContest(report(contest("cup/1", GAME), ["zzz"])))
    assert (zzz.code, zzz.fields) == (grpc.StatusCode.INVALID_ARGUMENT, ["plies[0].move"])
    assert "'*', 'pass'" in zzz.message
    high = report(contest("cup/1", GAME, elos=(9000.0, 1500.0)), ["c3"])
    assert refusal(lambda: rival.contests.ReportContest(high)).fields == ["players[0].elo"]
    openings = fresh.admin().libraries.ListOpenings(libraries_pb2.ListOpeningsRequest(game_id=GAME))
    assert len(openings.nodes) <= 1
    assert fresh.store.read(game_tables.find_elo, GAME, "ann") is None


def test_a_new_token_of_the_same_name_is_the_same_arena(fresh: Running, home: Client) -> None:
    opened(home)
    _, text = fresh.store.run(CreateToken("arena", Role.ARENA))
    assert fresh.client(text).contests.ReportContest(report(contest("cup/1", GAME), ["c3"])).counted


def test_an_admin_ends_contests_of_any_arena(fresh: Running, home: Client) -> None:
    opened(home)
    rival = second(fresh)
    opened(rival)
    opened(rival, "rivals/1")
    admin = fresh.admin().contests

    void = contests_pb2.ReportContestRequest(contest=contest("rivals/1", GAME), void=True)
    assert admin.ReportContest(void).contest.arena == "rival"
    ambiguous = refusal(lambda: admin.GetContest(contests_pb2.GetContestRequest(contest_id="cup/1")))
    assert ambiguous.fields == ["arena"] and "'rival'" in ambiguous.message
    void = contests_pb2.ReportContestRequest(contest=contest("cup/1", GAME), void=True)
    ambiguous = refusal(lambda: admin.ReportContest(void))
    assert ambiguous.fields == ["contest.arena"] and "'rival'" in ambiguous.message
    void.contest.arena = "rival"
    assert admin.ReportContest(void).counted
    left = admin.ListOpenContests(contests_pb2.ListOpenContestsRequest()).contests
    assert [(left_open.contest_id, left_open.arena) for left_open in left] == [("cup/1", "arena")]


@pytest.mark.threat("impersonation")
def test_an_arena_acts_for_another_once_an_admin_allows_it(fresh: Running, home: Client) -> None:
    tickets = opened(home).tickets
    rival = second(fresh)
    played = report(contest("cup/1", GAME), ["c3"])
    played.contest.arena = "arena"
    nobody = report(contest("cup/1", GAME), ["c3"])
    nobody.contest.arena = "nobody"

    refused = [refusal(partial(rival.contests.ReportContest, sent)) for sent in (played, nobody)]
    assert [error.code for error in refused] == [grpc.StatusCode.PERMISSION_DENIED] * 2
    allow = contests_pb2.AllowArenaRequest(arena="rival", acts_for="arena")
    assert list(fresh.admin().contests.AllowArena(allow).arena.acts_for) == ["arena"]
    again = opened(rival, arena="arena")
    assert again.contest.arena == "arena" and set(again.tickets).isdisjoint(tickets)
    allow.forbid = True
    fresh.admin().contests.AllowArena(allow)
    assert refusal(lambda: rival.contests.ReportContest(played)).code is grpc.StatusCode.PERMISSION_DENIED


def test_linked_arenas_share_their_players(fresh: Running, home: Client) -> None:
    play(fresh, home, "cup/1")
    rival = second(fresh)
    play(fresh, rival, "r/1")
    admin = fresh.admin().contests
    admin.LinkArena(contests_pb2.LinkArenaRequest(arena="rival", other="arena"))
    play(fresh, rival, "r/2")
    assert voters(fresh) == {"ann", "ann@rival"}
    request = libraries_pb2.ListPatternsRequest(game_id=GAME, library=ENDGAME)
    (pattern,) = fresh.admin().libraries.ListPatterns(request).patterns
    latest = max(pattern.votes, key=lambda vote: vote.event)
    assert latest.player == "ann"

    admin.UnlinkArena(contests_pb2.UnlinkArenaRequest(arena="rival"))
    arenas = admin.ListArenas(contests_pb2.ListArenasRequest()).arenas
    assert [(arena.name, arena.namespace) for arena in arenas] == [("arena", ""), ("rival", "rival")]
    unknown = refusal(lambda: admin.LinkArena(contests_pb2.LinkArenaRequest(arena="rival", other="x")))
    assert unknown.code is grpc.StatusCode.NOT_FOUND
    assert not list(check(fresh.store.environment))


@pytest.mark.threat("impersonation")
def test_a_name_cannot_pass_for_one_of_another_arena(fresh: Running, home: Client) -> None:
    opened(home)
    opened(second(fresh))
    posing = contest("cup/2", GAME, ("ann@rival", "bob@home.example"))
    refused = refusal(lambda: home.contests.OpenContest(contests_pb2.OpenContestRequest(contest=posing)))
    assert refused.fields == ["players[0].name"]
    posing.players[0].name = "ann"
    assert home.contests.OpenContest(contests_pb2.OpenContestRequest(contest=posing)).tickets


def test_an_arena_whose_name_ends_known_names_gets_another_namespace(fresh: Running, home: Client) -> None:
    played = report(contest("cup/1", GAME, ("ann@rival", "bob")), ["c3"])
    home.contests.ReportContest(played)
    play(fresh, second(fresh), "cup/1")
    assert voters(fresh) == {"ann@rival.2"}


@pytest.mark.parametrize("known", ["in an open contest", "by a token", "as muted", "by a proposal"])
def test_a_name_that_is_known_without_a_rating_keeps_its_end_from_another_arena(
    fresh: Running, home: Client, known: str
) -> None:
    posing = contest("cup/1", GAME, ("ann@rival", "bob"))
    match known:
        case "in an open contest":
            home.contests.OpenContest(contests_pb2.OpenContestRequest(contest=posing))
        case "by a token":
            opened(home)
            fresh.token("ann@rival", Role.BOT)
        case "as muted":
            opened(home)
            fresh.store.run(MutePlayer("ann@rival"))
        case _:
            ticket = home.contests.OpenContest(contests_pb2.OpenContestRequest(contest=posing)).tickets[0]
            propose(fresh.client(ticket), "cup/1", "xo\n-x", 0.9)
            void = contests_pb2.ReportContestRequest(contest=posing, termination="void", void=True)
            home.contests.ReportContest(void)
    players = opened(second(fresh), "cup/2").contest.players
    assert [player.identity for player in players] == ["ann@rival.2", "bob@rival.2"]


def test_bot_token_speaks_for_the_player_of_its_full_name(fresh: Running, home: Client) -> None:
    opened(home)
    opened(second(fresh), "cup/2")
    ask = consultation_pb2.MatchPatternsRequest(
        game_id=GAME, contest_id="cup/2", positions=[position(examples.EMPTY, expected_value=0.1)]
    )
    fresh.bot("ann@rival").consultation.MatchPatterns(ask)
    assert refusal(lambda: fresh.bot("ann").consultation.MatchPatterns(ask)).reason == "NOT_PERMITTED"


@pytest.mark.threat("bad_input")
def test_a_game_known_before_moves_were_checked_is_given_its_forms(fresh: Running, home: Client) -> None:
    arena = home.contests
    plain, formed = examples.tiny_go("older"), examples.tiny_go("older")
    formed.move_forms.append("*")
    arena.RegisterGame(contests_pb2.RegisterGameRequest(game=plain))
    arena.ReportContest(report(contest("older/1", "older"), ["zzz"]))
    # Reports of all arenas are held to them, so that another arena cannot choose them.
    rival = second(fresh).contests
    assert not rival.RegisterGame(contests_pb2.RegisterGameRequest(game=formed)).game.move_forms
    assert not arena.RegisterGame(contests_pb2.RegisterGameRequest(game=formed)).created
    # One who does not tell them takes nothing away.
    known = arena.RegisterGame(contests_pb2.RegisterGameRequest(game=plain)).game
    assert list(known.move_forms) == ["*"]
    assert refusal(lambda: arena.ReportContest(report(contest("older/2", "older"), ["zzz"]))).fields
    formed.move_forms.append("zzz")
    assert arena.RegisterGame(contests_pb2.RegisterGameRequest(game=formed)).game.move_forms == ["*", "zzz"]
    assert arena.ReportContest(report(contest("older/2", "older"), ["zzz"])).counted
    assert not list(check(fresh.store.environment))


def test_an_arena_that_came_later_sets_neither_settings_nor_forms_of_moves_of_a_new_game(
    fresh: Running, home: Client
) -> None:
    opened(home)
    squat = examples.tiny_go("squat")
    squat.settings.opening_capacity = 0
    squat.move_forms.append("nonsense")
    rival = second(fresh).contests.RegisterGame(contests_pb2.RegisterGameRequest(game=squat))
    assert rival.created and rival.game.settings.opening_capacity > 0 and not rival.game.move_forms
    assert home.contests.ReportContest(report(contest("squat/1", "squat"), ["c3"])).counted

    squat.game_id = "home"
    own = home.contests.RegisterGame(contests_pb2.RegisterGameRequest(game=squat)).game
    assert own.settings.opening_capacity == 0 and list(own.move_forms) == ["nonsense"]
    squat.game_id = "admins"
    own = fresh.admin().contests.RegisterGame(contests_pb2.RegisterGameRequest(game=squat)).game
    assert own.settings.opening_capacity == 0
