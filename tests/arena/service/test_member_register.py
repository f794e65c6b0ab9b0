"""How many games a member has left of its quota, where it plays at several services of a league."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from unittest.mock import Mock

import pytest
from sqlalchemy import update

from academy.wire.tokens import digest_of
from arena.league.database import LeagueDatabase, open_league
from arena.league.members import Application, Members
from arena.league.recording import record
from arena.league.tables import MEMBER
from arena.results.database import utc_now
from arena.service import member_register
from arena.service.member_register import MemberRegister
from tests.arena.league.leagues import CUP, enter_cup, game_of_cup


@pytest.fixture
def league(tmp_path: Path) -> Iterator[LeagueDatabase]:
    """A league whose only member is `ann`."""
    with closing(open_league(str(tmp_path / "league.db"), create=True)) as opened:
        enter_cup(opened)
        Members(opened).register(Application("ann"), "", "k" * 32, open_to_all=True)
        yield opened


def test_the_token_before_a_new_one_is_good_until_the_time_to_change_it_is_over(
    league: LeagueDatabase,
) -> None:
    members = Members(league)
    token = members.rotate("ann", at_once=True)
    members.rotate("ann", at_once=False)
    holder = MemberRegister(members).holder(digest_of(token))
    assert holder is not None and holder.name == "ann"
    with league.sole_transaction() as connection:
        connection.execute(update(MEMBER).values(OldUntil=utc_now() - timedelta(seconds=1)))
    assert MemberRegister(members).holder(digest_of(token)) is None


def test_games_here_count_at_once_beside_those_at_other_services(league: LeagueDatabase) -> None:
    members = Members(league)
    members.set_quota("ann", 0, 20)
    known = 0

    def play(here: int = 0, in_league: int = 0) -> float:
        """Games that end here, and some that the league learns of; how many are left then."""
        nonlocal known
        for _ in range(here):
            register.note_game("ann")
        games = [game_of_cup(number, "ann", "bob") for number in range(known, known + in_league)]
        if games:
            known += record(league, CUP, games)
        return register.games_left("ann")

    def read_again() -> float:
        asyncio.run(register.refresh())
        return register.games_left("ann")

    register = MemberRegister(members)
    play(in_league=2)
    # It begins when the league has games already.
    register = MemberRegister(members)
    assert play(here=3, in_league=3) == 15
    play(in_league=4)
    assert read_again() == 11
    # The league learns of them later.
    assert play(here=2) == 9
    assert play(in_league=3) == 9
    assert read_again() == 8
    assert play(here=1, in_league=1) == 7
    assert MemberRegister(members).games_left("ann") == 7


def test_a_clock_that_was_years_ahead_takes_nobodys_games_of_later_days(
    league: LeagueDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead, passed = timedelta(days=400), timedelta()

    def now() -> datetime:
        return datetime(2026, 1, 1) + passed + ahead

    monkeypatch.setattr(member_register, "utc_now", now)
    monkeypatch.setattr(member_register, "time", Mock(time=lambda: now().timestamp()))
    members = Members(league)
    members.set_quota("ann", 0, 10)
    register = MemberRegister(members)

    def play(number: int) -> None:
        register.note_game("ann")
        record(league, CUP, [game_of_cup(number, "ann", "bob", finished=now())])

    def games_left() -> float:
        asyncio.run(register.refresh())
        return register.games_left("ann")

    play(1)
    assert games_left() == 9
    ahead = timedelta()
    play(2)
    # What the wrong clock dated is left out, and what came after it counts once.
    assert games_left() == 9
    passed = timedelta(days=2)
    assert games_left() == MemberRegister(members).games_left("ann") == 10
