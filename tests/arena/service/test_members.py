"""Players register at a real service of a league, dial in, and operators invite and ban them."""

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import grpc
import pytest

from arena.league.database import open_league
from arena.league.members import Members
from arena.league.names import complaint_about_name, skeleton
from arena.league.players import Entrant, enter
from arena.v1 import competitions_pb2
from arena.v1 import members_pb2 as messages
from clients import (
    AcademyRefusedError,
    Connection,
    Engine,
    Game,
    GameTurn,
    Membership,
    change_membership,
    dial_in,
    dial_in_async,
    membership,
    register,
    revoke_token,
    rotate_token,
)
from tests.arena.cli.command import arena
from tests.arena.service.serving import SECONDS, Service, reason, refused
from tests.arena.visits import Visits
from tests.waiting import until

NODE = Path(__file__).parents[3] / "examples" / "node"
POOL = """
[competition]
kind = "standing"
check_players = false
[game]
name = "go"
board_size = 5
move_limit = 60
[players.anchor]
protocol = "python"
command = "arena.players.random_moves:random_moves"
fixed_elo = 0
[players.newcomer]
protocol = "grpc"
[players.rival]
protocol = "grpc"
[players.node-bot]
protocol = "grpc"
[league]
url = "sqlite:///league.db"
"""

PROGRAM = """
import random, sys
from clients import Engine, run_bot

def new_game(game):
    return lambda turn: random.choice(turn.legal_moves)

run_bot("newcomer", new_game, Engine("N", "1", legal_moves=True), address=sys.argv[1])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("members")
    (folder / "pool.toml").write_text(POOL)
    return folder


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Service]:
    with closing(Service(folder, "--league", str(folder / "league.db"))) as running:
        yield running


def invite(service: Service, **more: Any) -> str:
    code: str = service.call("CreateInvitation", messages.CreateInvitationRequest(**more)).code
    return code


def games_of(service: Service, player: str) -> int:
    request = competitions_pb2.GetStandingsRequest(name="pool")
    scores = [line.score for line in service.ask("GetStandings", request).standings if line.player == player]
    return sum(score.wins + score.draws + score.losses + score.unknown for score in scores)


def rambler(game: Game) -> Callable[[GameTurn], str]:
    chance = random.Random(game.seed)
    return lambda turn: chance.choice(turn.legal_moves)


def async_rambler(game: Game) -> Callable[[GameTurn], Awaitable[str]]:
    choose = rambler(game)

    async def answer(turn: GameTurn) -> str:
        return choose(turn)

    return answer


def test_a_registered_player_plays_until_it_is_banned(service: Service, folder: Path) -> None:
    arena_ = Connection(service.address)
    assert refused(lambda: register(arena_, Membership("newcomer"))) == "INVITATION_NEEDED"
    code = invite(service)
    wanted = Membership("newcomer", "1.0", "random", "ann@example.org", ("go",))
    token = register(arena_, wanted, code)
    assert token not in "".join(path.read_bytes().decode("latin1") for path in folder.glob("league.db*"))
    # An invitation is good once.
    assert refused(lambda: register(arena_, Membership("second"), code)) == "INVITATION_NEEDED"
    without_code = arena("member", "register", "second", "--address", service.address)
    assert without_code.returncode == 1 and "(--invitation takes the code)" in without_code.stderr
    own = Connection(service.address, token=token)
    assert membership(own).contact == "ann@example.org"
    command = [sys.executable, "-c", PROGRAM, service.address]
    environment = os.environ | {"ARENA_TOKEN": token}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as bot:
        service.ask("StartCompetition", competitions_pb2.StartCompetitionRequest(name="pool"))
        service.wait_for("pool", lambda pool: pool.games_played >= 2)
        service.call("BanMember", messages.BanMemberRequest(name="newcomer", reason="bad manners"))
        _, errors = bot.communicate(timeout=SECONDS)
    # One line, and no traceback.
    assert (bot.returncode, errors.count("\n")) == (1, 1), errors
    assert "newcomer is banned: bad manners" in errors
    assert refused(lambda: change_membership(own, contact="x")) == "BANNED"
    assert membership(own).ban == "bad manners"
    remove = messages.RemoveMemberRequest(name="newcomer")
    assert refused(lambda: service.call("RemoveMember", remove)) == "MEMBER_PLAYED"
    service.call("UnbanMember", messages.UnbanMemberRequest(name="newcomer"))
    # Not one game more than its quota, in which those of before count, lets it play.
    most = games_of(service, "newcomer") + 3
    quota = messages.Quota(games_a_day=most)
    service.call("SetQuota", messages.SetQuotaRequest(name="newcomer", quota=quota))
    rival = register(arena_, Membership("rival"), invite(service, name="rival"))
    visitor = Engine(legal_moves=True, leave_after_games=3)
    with closing(Visits()) as visits:
        visits.begin(dial_in_async(own, "newcomer", async_rambler, Engine("N", "1", legal_moves=True)))
        until(lambda: games_of(service, "newcomer") >= most)
        dial_in(Connection(service.address, token=rival), "rival", rambler, visitor)
    until(lambda: games_of(service, "rival") == 3)
    assert games_of(service, "newcomer") == most
    # A new version is a player of its own, of the same family.
    assert change_membership(own, version="1.1").family == "random"
    listed = arena("league", "players", folder / "league.db").stdout.splitlines()
    assert any(line.split()[:5] == ["newcomer", "1.1", "random", "newcomer", "1.0"] for line in listed)


def test_a_bound_of_a_quota_stays_where_another_is_set(service: Service) -> None:
    register(Connection(service.address), Membership("bounded"), invite(service))

    def bound(*options: str) -> tuple[int, int]:
        assert service.arena("member", "quota", "bounded", *options).returncode == 0
        quota = service.call("GetMember", messages.GetMemberRequest(name="bounded")).member.quota
        return quota.games_at_once, quota.games_a_day

    assert bound("--games-a-day", "200") == (0, 200)
    assert bound("--games-at-once", "2") == (2, 200)
    assert bound("--games-a-day", "0") == (2, 0)
    assert bound() == (0, 0)


def test_a_lost_answer_to_a_registration_costs_nothing(service: Service) -> None:
    request = messages.RegisterRequest(name="stutter", invitation=invite(service), key="k" * 32)
    lost = service.call("Register", request, "").token
    token = service.call("Register", request, "").token
    assert membership(Connection(service.address, token=token)).name == "stutter"
    assert refused(lambda: membership(Connection(service.address, token=lost))) == "TOKEN_INVALID"
    # Another who guesses the name, but not the key, gets nothing.
    guess = messages.RegisterRequest(name="stutter", key="l" * 32)
    assert refused(lambda: service.call("Register", guess, "")) == "INVITATION_NEEDED"


def test_a_token_is_renewed_with_time_to_change_it_and_ended_at_once_when_it_leaked(service: Service) -> None:
    words = ("member", "register", "renewer", "--invitation", invite(service), "--address", service.address)
    with Path("/dev/full").open("w") as full:
        lost = subprocess.run(
            [sys.executable, "-m", "arena.cli", *words], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert lost.returncode == 1 and "operator's `arena member rotate renewer` prints a token" in lost.stderr
    first = service.call("RotateToken", messages.RotateTokenRequest(name="renewer")).token
    second = rotate_token(Connection(service.address, token=first))
    for token in (first, second):
        assert membership(Connection(service.address, token=token)).name == "renewer"
    third = rotate_token(Connection(service.address, token=second), at_once=True)
    for token in (first, second):
        assert refused(lambda token=token: membership(Connection(service.address, token=token)))  # type: ignore[misc]
    revoke_token(Connection(service.address, token=third))
    assert refused(lambda: membership(Connection(service.address, token=third))) == "TOKEN_INVALID"
    # The name stays its own: an operator gives it another token.
    again = service.call("RotateToken", messages.RotateTokenRequest(name="renewer")).token
    assert membership(Connection(service.address, token=again)).name == "renewer"


def test_a_member_reads_at_once_what_another_service_changed(service: Service, folder: Path) -> None:
    token = register(Connection(service.address), Membership("roamer", "1"), invite(service))
    with closing(open_league(str(folder / "league.db"), create=False)) as league:
        Members(league).change("roamer", version="2", contact=None, games=None)
    assert membership(Connection(service.address, token=token)).version == "2"
    unknown = messages.GetMemberRequest(name="nobody-there")
    with pytest.raises(grpc.RpcError) as error:
        service.call("GetMember", unknown)
    assert reason(error.value) == (grpc.StatusCode.NOT_FOUND, "UNKNOWN_MEMBER")


@pytest.fixture
def own_service(tmp_path: Path) -> Iterator[Service]:
    """A service for tests with many registrations: each takes 20 an hour from one address."""
    with closing(Service(tmp_path, "--league", str(tmp_path / "league.db"))) as running:
        yield running


def test_rights_that_another_process_ends_end_the_players_stream(
    own_service: Service, tmp_path: Path
) -> None:
    names = ["leaked", "cheat", "typo", "filed", "good"]
    service, where = own_service, Connection(own_service.address)
    tokens = {name: register(where, Membership(name), invite(service)) for name in names if name != "filed"}
    made = arena("token", "filed", "--role", "player", "--tokens", service.tokens_file)
    tokens["filed"] = made.stdout.strip()

    def inside() -> set[str]:
        listed = service.ask("ListPlayers", competitions_pb2.ListPlayersRequest()).players
        return {player.name for player in listed} & set(names)

    why: dict[str, str] = {}

    async def visit(name: str) -> None:
        try:
            await dial_in_async(Connection(service.address, token=tokens[name]), name, async_rambler)
        except AcademyRefusedError as error:
            why[name] = error.reason

    with closing(Visits()) as visits:
        for name in names:
            visits.begin(visit(name))
        until(lambda: inside() == set(names))
        arena("token", "filed", "--revoke", "--tokens", service.tokens_file)
        with closing(open_league(str(tmp_path / "league.db"), create=False)) as league:
            Members(league).revoke("leaked")
            Members(league).ban("cheat", "elsewhere", None)
            Members(league).remove("typo")
            Members(league).rotate("good", at_once=False)
        until(lambda: inside() == {"good"})
        # Their ends of the streams learn of it a little later.
        until(lambda: len(why) == len(names) - 1)
    wanted = {"leaked": "TOKEN_INVALID", "typo": "TOKEN_INVALID", "filed": "TOKEN_INVALID", "cheat": "BANNED"}
    assert why == wanted


def test_operators_list_the_members_page_by_page(service: Service) -> None:
    for name in ("listed-b", "listed-a", "listed-c"):
        register(Connection(service.address), Membership(name), invite(service))
    request, pages = messages.ListMembersRequest(page_size=2, page_token="listed"), []
    while True:
        answer = service.call("ListMembers", request)
        pages.append([member.name for member in answer.members])
        if "listed-c" in pages[-1]:
            break
        request.page_token = answer.next_page_token
    assert pages[0] == ["listed-a", "listed-b"] and pages[1][0] == "listed-c"


@pytest.mark.threat("impersonation")
def test_a_member_neither_sees_nor_changes_another(service: Service) -> None:
    everybody = Connection(service.address)
    own, _ = (register(everybody, Membership(name), invite(service)) for name in ("prowler", "victim"))
    for method in ("GetMember", "ChangeMember", "RotateToken", "RevokeMemberToken"):
        with pytest.raises(grpc.RpcError) as error:
            service.call(method, getattr(messages, f"{method}Request")(name="victim"), own)
        assert reason(error.value) == (grpc.StatusCode.PERMISSION_DENIED, "NOT_PERMITTED"), method


@pytest.mark.threat("impersonation")
def test_names_that_look_like_claimed_ones_are_refused(service: Service) -> None:
    everybody, code = Connection(service.address), invite(service, uses=2)
    register(everybody, Membership("Swift-One"), code)
    # `two` has a token in the service's file.
    for name in ("SWIFT-0NE", "svvift.one", "TWO"):
        assert refused(lambda name=name: register(everybody, Membership(name), code)) == "NAME_CLAIMED"  # type: ignore[misc]
    # `random` is the arena's own player.
    for name in ("2wo", "Random"):
        assert refused(lambda name=name: register(everybody, Membership(name), code)) == "INVALID_MEMBER"  # type: ignore[misc]


@pytest.mark.threat("impersonation")
def test_an_invitation_for_a_name_keeps_it_and_its_look_alikes_for_its_owner(service: Service) -> None:
    everybody, promise = Connection(service.address), invite(service, name="hugo")
    other = invite(service)
    assert refused(lambda: register(everybody, Membership("hug0"), other)) == "NAME_CLAIMED"
    assert refused(lambda: register(everybody, Membership("hugo"), other)) == "NAME_CLAIMED"
    assert register(everybody, Membership("hugo"), promise)


def test_a_version_that_never_played_gives_way_to_later_ones(service: Service, folder: Path) -> None:
    token = register(Connection(service.address), Membership("eager", "1"), invite(service))
    own = Connection(service.address, token=token)
    for version in range(2, 14):
        assert change_membership(own, version=str(version)).family == "eager"
    listed = arena("league", "players", folder / "league.db").stdout.splitlines()
    shown = [line.split()[1] for line in listed if line.startswith("eager")]
    assert shown == ["1", *map(str, range(3, 14))]


def test_letters_of_other_alphabets_are_named_in_the_refusal() -> None:
    assert "CYRILLIC SMALL LETTER A" in complaint_about_name("pаnda")
    assert skeleton("Corn-1") == skeleton("c0ml")


def test_a_player_of_control_files_claims_its_name_by_an_invitation_for_it(
    service: Service, folder: Path
) -> None:
    # As a pool's run enters a player that is not a member.
    with closing(open_league(str(folder / "league.db"))) as league, league.transaction() as connection:
        enter(connection, Entrant("oldtimer"))
    everybody = Connection(service.address)
    assert refused(lambda: register(everybody, Membership("oldtimer"), invite(service))) == "NAME_CLAIMED"
    assert register(everybody, Membership("oldtimer"), invite(service, name="oldtimer"))


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.skipif(
    not (NODE / "node_modules").exists(), reason="needs `npm ci --ignore-scripts --prefix examples/node`"
)
def test_a_bot_in_node_registers_and_plays_from_the_protos_alone(service: Service, folder: Path) -> None:
    bot = subprocess.Popen(
        ["node", str(NODE / "bot.js"), "node-bot", "1.0", invite(service, name="node-bot")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "ARENA_ADDRESS": service.address, "ARENA_TOKEN_FILE": str(folder / "node.token")},
    )
    try:
        assert bot.stdout is not None
        lines = [bot.stdout.readline() for _ in range(3)]
        assert lines[0] == "registered node-bot 1.0\n" and lines[2].startswith("game over: ")
        assert (folder / "node.token").stat().st_mode & 0o077 == 0
    finally:
        bot.kill()
        bot.wait()
