"""Tokens, muted players and backups over the wire, as pages for admins use them."""

from pathlib import Path

import grpc
import pytest

from academy.service.server import ServerSettings
from academy.store.library_store import Store
from academy.store.maintenance.backup import restore
from academy.store.tokens import Role, tokens
from academy.v1 import libraries_pb2
from academy.v1 import tokens_pb2 as messages
from tests.academy.service import examples
from tests.academy.service.examples import contest, teach
from tests.academy.service.running import LOCAL, Running, pages, refusal, serving


def create(running: Running, name: str, role: int = messages.TOKEN_ROLE_BOT) -> messages.CreateTokenResponse:
    request = messages.CreateTokenRequest(name=name, role=role)  # type: ignore[arg-type]
    return running.admin().tokens.CreateToken(request)


def test_a_token_made_over_the_wire_works_until_it_is_revoked(fresh: Running) -> None:
    made = create(fresh, "newcomer", messages.TOKEN_ROLE_ANALYST)
    holder = fresh.client(made.secret)
    me = holder.tokens.GetCaller(messages.GetCallerRequest())
    assert (me.name, me.role, me.token_id) == (
        "newcomer",
        messages.TOKEN_ROLE_ANALYST,
        made.token.token_id,
    )
    revoke = messages.RevokeTokenRequest(token_id=made.token.token_id)
    first = fresh.admin().tokens.RevokeToken(revoke).token
    assert first.revoke_time == fresh.admin().tokens.RevokeToken(revoke).token.revoke_time
    assert refusal(lambda: holder.tokens.GetCaller(messages.GetCallerRequest())).reason == "TOKEN_REVOKED"


def test_a_tickets_holder_learns_its_contest_and_seat(fresh: Running) -> None:
    fresh.register(examples.tiny_go("tiny"))
    _, bob = fresh.open(contest("one", "tiny"))
    me = bob.tokens.GetCaller(messages.GetCallerRequest())
    assert (me.name, me.contest_id, me.seat, me.token_id) == ("bob", "one", 2, "")


@pytest.mark.threat("access")
def test_no_admin_is_made_or_ended_over_the_wire(fresh: Running) -> None:
    fresh.admin()
    (admins,) = [token.token_id for token in fresh.store.read(tokens) if token.role is Role.ADMIN]
    denied = refusal(lambda: create(fresh, "me too", messages.TOKEN_ROLE_ADMIN))
    assert denied.code is grpc.StatusCode.PERMISSION_DENIED and "tokens create" in denied.message
    request = messages.RevokeTokenRequest(token_id=admins)
    denied = refusal(lambda: fresh.admin().tokens.RevokeToken(request))
    assert denied.code is grpc.StatusCode.PERMISSION_DENIED and "tokens revoke" in denied.message
    assert len(fresh.store.read(tokens)) == 1


def test_wrong_tokens_are_refused_by_field(fresh: Running) -> None:
    assert refusal(lambda: create(fresh, "nobody", 0)).fields == ["role"]
    assert refusal(lambda: create(fresh, " ")).fields == ["name"]
    for seconds in (1, 10**12, -1):
        request = messages.CreateTokenRequest(name="late", role=messages.TOKEN_ROLE_BOT)
        request.expire_time.seconds = seconds
        refused = refusal(lambda late=request: fresh.admin().tokens.CreateToken(late))  # type: ignore[misc]
        assert refused.code is grpc.StatusCode.INVALID_ARGUMENT and refused.fields == ["expire_time"]


def test_pages_of_tokens_have_each_once_and_no_secret(fresh: Running) -> None:
    made = {create(fresh, "twin").token.token_id for _ in range(5)}
    listed = []
    for page in pages(fresh.admin().tokens.ListTokens, messages.ListTokensRequest(page_size=2)):
        assert len(page.tokens) <= 2
        listed += [token.token_id for token in page.tokens if token.name == "twin"]
    assert len(listed) == 5 and set(listed) == made


def test_a_muted_players_votes_come_back_with_unmuting(fresh: Running) -> None:
    fresh.register(examples.tiny_go("tiny"))
    teach(fresh, "tiny", "tiny", [("ann", "x", 0.9), ("bob", "xo-", 0.2), ("ann", "ooo", 0.02)])
    admin = fresh.admin().libraries
    listing = libraries_pb2.ListPatternsRequest(
        game_id="tiny", library=examples.ENDGAME, filter=libraries_pb2.PatternFilter(proposer="ann")
    )
    before = admin.ListPatterns(listing).total_size
    assert before > 0
    muted = admin.MutePlayer(libraries_pb2.MutePlayerRequest(player="ann"))
    assert muted.games == 1 and muted.patterns >= before
    assert admin.ListPatterns(listing).total_size == 0
    assert admin.MutePlayer(libraries_pb2.MutePlayerRequest(player="ann")).patterns == 0
    nobody = refusal(lambda: admin.UnmutePlayer(libraries_pb2.UnmutePlayerRequest()))
    assert nobody.code is grpc.StatusCode.INVALID_ARGUMENT and nobody.fields == ["player"]
    listed = admin.ListMutedPlayers(libraries_pb2.ListMutedPlayersRequest()).players
    assert [player.player for player in listed] == ["ann"] and listed[0].time.seconds > 0
    back = admin.UnmutePlayer(libraries_pb2.UnmutePlayerRequest(player="ann"))
    assert back.was_muted and back.patterns == muted.patterns and not back.no_room
    assert admin.ListPatterns(listing).total_size == before
    unknown = refusal(lambda: admin.MutePlayer(libraries_pb2.MutePlayerRequest(player="nobody")))
    assert unknown.code is grpc.StatusCode.INVALID_ARGUMENT


def test_a_backup_over_the_wire_can_be_restored(tmp_path: Path) -> None:
    settings = ServerSettings(LOCAL, backups=tmp_path / "backups")
    with serving(tmp_path / "data", settings) as running:
        running.register(examples.tiny_go("tiny"))
        made = [running.admin().libraries.CreateBackup(libraries_pb2.CreateBackupRequest()) for _ in range(2)]
    assert made[0].folder != made[1].folder and made[0].bytes > 0
    restore(Path(made[0].folder), tmp_path / "restored")
    with Store(tmp_path / "restored") as store:
        assert [token.name for token in store.read(tokens)] == ["arena", "admin"]


def test_without_a_folder_for_backups_the_error_names_the_option(academy: Running) -> None:
    refused = refusal(lambda: academy.admin().libraries.CreateBackup(libraries_pb2.CreateBackupRequest()))
    assert refused.reason == "BACKUPS_OFF" and "--backups" in refused.message
