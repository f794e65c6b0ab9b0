"""What a league keeps of members, their versions and invitations."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update
from sqlalchemy.exc import SQLAlchemyError

from academy.wire.tokens import digest_of
from arena.league import members as members_module
from arena.league.database import LeagueDatabase, open_league
from arena.league.errors import InvitationError, NameClaimedError
from arena.league.lists import LeagueReader
from arena.league.members import KEPT_UNPLAYED, Application, Members, games_between
from arena.league.players import Entrant, enter
from arena.league.recording import record
from arena.league.tables import INVITATION, MEMBER
from arena.lobby.errors import TooManyError
from arena.results.database import utc_now
from tests.arena.league.leagues import CUP, enter_cup, game_of_cup

KEY = "k" * 32


@pytest.fixture
def league(tmp_path: Path) -> Iterator[LeagueDatabase]:
    with closing(open_league(str(tmp_path / "league.db"), create=True)) as opened:
        enter_cup(opened)
        yield opened


def play(league: LeagueDatabase, number: int, version: str, winner: int) -> None:
    """A game of alice's version against bob."""
    assert record(league, CUP, [game_of_cup(number, f"alice-{version}", "bob", winner=winner)]) == 1


def test_a_league_whose_file_was_replaced_takes_nothing_more(league: LeagueDatabase, tmp_path: Path) -> None:
    """A member would go with the file that it was, after its service has acknowledged it."""
    members, file = Members(league), tmp_path / "league.db"
    shutil.copy(file, tmp_path / "backup.db")
    file.rename(tmp_path / "old.db")
    for another in (False, True):
        with pytest.raises(SQLAlchemyError, match="was moved, deleted or replaced"):
            members.register(Application("alice", "1"), "", KEY, open_to_all=True)
        if not another:
            shutil.move(tmp_path / "backup.db", file)


def versions(league: LeagueDatabase) -> list[str]:
    return [player.version for player in LeagueReader(league).players() if player.name == "alice"]


def test_a_version_whose_game_lasts_longer_than_it_keeps_its_place_before_the_next_one(
    league: LeagueDatabase,
) -> None:
    members = Members(league)
    members.register(Application("alice", "1"), "", KEY, open_to_all=True)
    play(league, 1, "1", 1)
    for version in ("2", "3"):
        members.change("alice", version=version, contact=None, games=None)
    # A game of version 2 was in progress.
    for number in range(2, 22):
        play(league, number, "2", 1)
    play(league, 22, "3", 2)
    assert versions(league) == ["1", "2", "3"]
    elo = {rating.version: rating.elo for rating in LeagueReader(league).ratings("go-9x9")}
    assert elo["2"] > elo["3"] > elo["1"], "version 3 begins where version 2 is"


def test_versions_that_never_play_do_not_pile_up(league: LeagueDatabase) -> None:
    members = Members(league)
    members.register(Application("alice", "first", "family"), "", KEY, open_to_all=True)
    for number in range(2 * KEPT_UNPLAYED):
        last = members.change("alice", version=str(number), contact=None, games=None)
    assert (last.version, last.family) == (str(2 * KEPT_UNPLAYED - 1), "family")
    assert versions(league) == ["first", *map(str, range(KEPT_UNPLAYED - 1, 2 * KEPT_UNPLAYED))]
    listed = [player for player in LeagueReader(league).players() if player.name == "alice"]
    assert [player.predecessor for player in listed[1:]] == [
        f"alice {player.version}" for player in listed[:-1]
    ]
    back = members.change("alice", version=str(KEPT_UNPLAYED - 1), contact=None, games=None)
    assert back.version == str(KEPT_UNPLAYED - 1)


def test_a_ban_ends_with_its_time_and_one_without_a_time_does_not(league: LeagueDatabase) -> None:
    members, now, long = Members(league), utc_now(), timedelta(days=10_000)
    members.register(Application("alice"), "", KEY, open_to_all=True)
    banned = members.ban("alice", "", timedelta(days=1))
    assert banned.is_banned(now) and not banned.is_banned(now + timedelta(days=2))
    assert members.ban("alice", "", None).is_banned(now + long)
    assert not members.unban("alice").is_banned(now)


def test_the_token_before_a_new_one_ends_after_the_time_to_change_it(league: LeagueDatabase) -> None:
    members, now = Members(league), utc_now()
    _, old = members.register(Application("alice"), "", KEY, open_to_all=True)
    new = digest_of(members.rotate("alice", at_once=False))
    assert members.named("alice").digests(now) == (new, digest_of(old))
    assert members.named("alice").digests(now + 2 * members_module.GRACE) == (new,)


def test_an_invitation_ends_with_its_number_of_players_and_with_its_time(league: LeagueDatabase) -> None:
    members, now = Members(league), utc_now()
    invitation, code = members.invite("", "", 2, timedelta(days=1))
    assert invitation.is_good(now) and not invitation.is_good(now + timedelta(days=2))
    for name in ("alice", "bob"):
        members.register(Application(name), code, KEY, open_to_all=False)
    with pytest.raises(InvitationError, match="unknown, used up, expired or revoked"):
        members.register(Application("carol"), code, KEY, open_to_all=False)


def test_a_registration_is_repeated_within_a_day_alone(league: LeagueDatabase) -> None:
    members = Members(league)
    members.register(Application("alice"), "", KEY, open_to_all=True)
    with league.sole_transaction() as connection:
        connection.execute(update(MEMBER).values(Registered=utc_now() - timedelta(days=2)))
    with pytest.raises(NameClaimedError, match="alice is claimed"):
        members.register(Application("alice"), "", KEY, open_to_all=True)


def test_a_name_is_promised_to_who_is_invited_until_the_invitation_ends(league: LeagueDatabase) -> None:
    members = Members(league)
    _, code = members.invite("", "alice", 1, None)
    with pytest.raises(InvitationError, match="is for the name alice, not for bob"):
        members.register(Application("bob"), code, KEY, open_to_all=True)
    with pytest.raises(NameClaimedError, match="which an invitation promises"):
        members.register(Application("alice"), "", KEY, open_to_all=True)
    with league.sole_transaction() as connection:
        connection.execute(update(INVITATION).values(Expires=utc_now() - timedelta(days=1)))
    assert members.register(Application("alice"), "", KEY, open_to_all=True)[0].name == "alice"


def test_a_promised_name_does_not_look_like_that_of_a_player(league: LeagueDatabase) -> None:
    members = Members(league)
    with league.sole_transaction() as connection:
        enter(connection, Entrant("aIice"))
    _, code = members.invite("", "alice", 1, None)
    with pytest.raises(NameClaimedError, match="alice looks like aIice"):
        members.register(Application("alice"), code, KEY, open_to_all=False)


def test_the_games_of_a_day_are_those_that_ended_in_it(league: LeagueDatabase) -> None:
    play(league, 1, "1", winner=1)
    play(league, 2, "2", winner=1)
    now, hour = utc_now(), timedelta(hours=1)
    assert games_between(league, ["alice"], now - hour, now + hour) == {"alice": 2}
    assert games_between(league, ["alice"], now + hour, now + 2 * hour) == {}
    assert games_between(league, ["alice"], now - 2 * hour, now - hour) == {}


def test_invitations_that_are_no_longer_good_leave_room_for_others(
    league: LeagueDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(members_module, "MOST_INVITATIONS", 4)
    members = Members(league)
    good, _ = members.invite("", "", 2, timedelta(days=1))
    revoked, _ = members.invite("", "", 1, None)
    members.revoke_invitation(revoked.invitation_id)
    _, code = members.invite("", "", 1, None)
    members.register(Application("alice"), code, KEY, open_to_all=False)
    expired, _ = members.invite("", "", 1, timedelta(days=1))
    with league.sole_transaction() as connection:
        table = INVITATION.c
        late = update(INVITATION).where(table.InvitationId == expired.invitation_id)
        connection.execute(late.values(Expires=utc_now() - timedelta(days=1)))
    more = [members.invite("", "", 1, None)[0].invitation_id for _ in range(3)]
    assert {item.invitation_id for item in members.invitations(None, 10)} == {good.invitation_id, *more}
    with pytest.raises(TooManyError, match="the league has 4 of them already"):
        members.invite("", "", 1, None)
