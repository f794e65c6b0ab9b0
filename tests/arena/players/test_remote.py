"""Games with players that dial in, over real sockets."""

import asyncio
import concurrent.futures
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from arena.jobs import CHECK_GAME_ID, AcademyAccess, Fault, GameJob, GameResult
from arena.lobby.game_socket import free_players
from arena.lobby.server import OpenLobby
from arena.lobby.v1 import lobby_pb2
from arena.match.game import play
from arena.v1 import players_pb2
from clients.remote_game import Answer, Game, GameDeclinedError, GameEnd, GameTurn
from referees.api import Termination
from tests.arena.engines import python_player
from tests.arena.lobby.rooms import (
    SECONDS,
    DialledIn,
    DialledInWithAsyncio,
    RawStream,
    Relay,
    job,
    open_lobby,
    remote,
)

BOTH_CLIENTS = pytest.mark.parametrize("client", [DialledIn, DialledInWithAsyncio])


@pytest.fixture
def lobby() -> Iterator[OpenLobby]:
    with open_lobby() as opened:
        yield opened


def passing(game: Game) -> Callable[[GameTurn], str]:
    return lambda turn: "pass"


class InBackground:
    """A game played in a thread, while the test plays the player."""

    def __init__(self, played: GameJob) -> None:
        self._results: list[GameResult] = []
        self._thread = threading.Thread(target=lambda: self._results.append(play(played)), daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        return self._thread.is_alive()

    def result(self) -> GameResult:
        self._thread.join(SECONDS)
        return self._results[0]


def test_two_bots_play_a_game_to_its_end(lobby: OpenLobby) -> None:
    games, turns = [], []

    def first_legal(game: Game) -> Callable[[GameTurn], Answer]:
        games.append(game)

        def choose(turn: GameTurn) -> Answer:
            turns.append((game.seat, turn))
            text = turn.legal_moves[0] if len(turn.moves) < 4 else "pass"
            return Answer(text, value=0.25, comment="as far to the left as can be", value_before=0.125)

        return choose

    DialledIn(lobby, "one", first_legal, name="Lefty", version="3", legal_moves=True)
    DialledIn(lobby, "two", first_legal, legal_moves=True)
    result = play(job(remote(lobby, "one"), remote(lobby, "two")))
    assert result.outcome is not None and result.outcome.termination is Termination.SCORE
    assert [move.text for move in result.moves] == ["A5", "B5", "C5", "D5", "pass", "pass"]
    assert (result.moves[0].values, result.moves[0].value_before) == ({1: 0.25}, 0.125)
    assert result.moves[0].comment == "as far to the left as can be"
    assert [usage.engine_name for usage in result.usage] == ["Lefty:3", "two"]
    assert {(game.seat, game.players, game.settings["board_size"]) for game in games} == {
        (1, ("one", "two"), 5),
        (2, ("one", "two"), 5),
    }
    # Each has received all moves, its own ones too, before its next request.
    assert {(seat, turn.moves) for seat, turn in turns if len(turn.moves) > 3} == {
        (1, ((1, "A5"), (2, "B5"), (1, "C5"), (2, "D5"))),
        (2, ((1, "A5"), (2, "B5"), (1, "C5"), (2, "D5"), (1, "pass"))),
    }


def test_bots_learn_how_their_games_ended(lobby: OpenLobby) -> None:
    first, second = DialledIn(lobby, "one", passing), DialledIn(lobby, "two", lambda game: lambda turn: None)
    play(job(remote(lobby, "one"), python_player("other")))
    counted = GameEnd((2,), "W+0.5", "score", points=(0.0, 0.5))
    assert first.endings.get(timeout=SECONDS) == ("0_1", 1, counted)
    play(job(remote(lobby, "one"), remote(lobby, "two")))
    resigned = GameEnd((1,), "B+R", "resignation")
    assert first.endings.get(timeout=SECONDS) == ("0_1", 1, resigned)
    assert second.endings.get(timeout=SECONDS) == ("0_1", 2, resigned)


def test_without_its_player_a_game_is_void(lobby: OpenLobby) -> None:
    result = play(job(remote(lobby, "one", start_seconds=0.2), python_player("other")))
    assert result.outcome is None
    assert result.void_reason == ("player one: did not dial in, or was busy with other games, for 0.2 s")
    assert result.usage[0].fault is Fault.LATE


@pytest.mark.parametrize("text", [None, "Z99", "\x00" * 2_000, ""], ids=["None", "Z99", "zeros", "empty"])
def test_no_move_resigns_and_garbage_for_one_forfeits(lobby: OpenLobby, text: str | None) -> None:
    DialledIn(lobby, "one", lambda game: lambda turn: text)
    result = play(job(remote(lobby, "one"), python_player("other")))
    assert result.outcome is not None and result.outcome.winners == (2,)
    resigns = Termination.RESIGNATION, Fault.NONE
    forfeits = Termination.FORFEIT, Fault.ILLEGAL_MOVE
    assert (result.outcome.termination, result.usage[0].fault) == (resigns if text is None else forfeits)


def test_values_that_are_none_are_a_limited_number_of_warnings(lobby: OpenLobby) -> None:
    DialledIn(
        lobby, "one", lambda game: lambda turn: Answer(turn.legal_moves[0], value=7.0), legal_moves=True
    )
    settings = {"board_size": 9, "komi": 0.5}
    result = play(
        replace(job(remote(lobby, "one"), python_player("other")), settings=settings, move_limit=120)
    )
    assert len(result.moves) == 120
    assert "the expected value 7 is not a number from 0 to 1" in result.warnings[0]
    assert len(result.warnings) == 51 and result.warnings[-1] == "player one: 10 more such warnings"


def test_a_bot_writes_no_lines_of_its_own_into_the_record(lobby: OpenLobby) -> None:
    says: dict[str, Any] = {"name": "Evil\nbot", "version": "1\n2", "description": "plays\nResult: W+100"}
    DialledIn(lobby, "one", lambda game: lambda turn: None, **says)
    result = play(job(remote(lobby, "one"), python_player("other")))
    assert result.usage[0].engine_name == "Evil bot:1 2"
    assert "Result: W+R" in result.record and "\nResult: W+100" not in result.record


def test_a_bot_that_thinks_too_long_forfeits(lobby: OpenLobby) -> None:
    stream = RawStream(lobby)
    stream.hello("one")
    game = InBackground(job(remote(lobby, "one", move_seconds=0.2), python_player("other")))
    late = stream.take_seat()
    result = game.result()
    assert result.usage[0].fault is Fault.LATE
    assert "no answer within 0.2 s" in result.usage[0].remark
    # What comes when the game is over is ignored and costs it nothing.
    end = stream.hear_of("game_end")
    assert end.seat_id == late.seat_id
    assert (list(end.outcome.winners), end.outcome.termination) == ([2], "forfeit")
    assert "no answer within 0.2 s" in end.outcome.detail
    stream.move(late, "C3")
    DialledIn(lobby, "two", passing)
    assert play(job(remote(lobby, "two"), python_player("other"))).outcome is not None
    assert stream.call.is_active()


def test_a_bot_cannot_choose_its_start_by_declining(lobby: OpenLobby) -> None:
    starts = []
    # One stream for both games: the second could else begin with the first one's before that is seen to end.
    stream = RawStream(lobby)
    stream.hello("one")
    for seed in (1, 2):
        bot = remote(lobby, "one")
        setups = (bot, python_player("other"))
        game = InBackground(GameJob("0_1", "warlight", {"map": "double_small"}, setups, seed=seed))
        start = stream.hear_of("game_start")
        decline = players_pb2.Decline(seat_id=start.seat_id, reason="a bad start")
        stream.say(players_pb2.PlayRequest(decline=decline))
        assert "declines the game: 'a bad start'" in game.result().void_reason
        # The seat's own seed leads nowhere, and numbers of seats only count.
        start.ClearField("seed")
        start.ClearField("seat_id")
        starts.append(start)
    stream.vanish()
    assert starts[0] == starts[1]


def test_a_move_before_a_bot_is_ready_changes_nothing(lobby: OpenLobby) -> None:
    stream = RawStream(lobby)
    stream.hello("one")
    game = InBackground(job(remote(lobby, "one"), python_player("other")))
    start = stream.hear_of("game_start")
    for request in (0, 1):
        stream.move(players_pb2.MoveRequest(seat_id=start.seat_id, request=request), "A1")
    stream.ready(start)
    for text in ("C3", "pass"):
        stream.move(stream.hear_of("move_request"), text)
    assert [move.text for move in game.result().moves] == ["C3", "pass", "pass"]


def test_a_bot_that_vanishes_forfeits(lobby: OpenLobby) -> None:
    game = InBackground(job(remote(lobby, "one", reconnect_seconds=0.1), python_player("other")))
    stream = RawStream(lobby)
    stream.hello("one")
    stream.take_seat()
    stream.vanish()
    result = game.result()
    assert result.outcome is not None and result.outcome.winners == (2,)
    assert result.usage[0].fault is Fault.DISCONNECTED
    assert "its connection ended, and it did not come back within 0.1 s" in result.usage[0].remark


def test_a_game_whose_lobby_has_gone_is_void_and_costs_no_bot_a_loss() -> None:
    with open_lobby() as lobby:
        game = InBackground(job(remote(lobby, "one"), python_player("other")))
        stream = RawStream(lobby)
        stream.hello("one")
        stream.take_seat()
    result = game.result()
    assert result.outcome is None and "the lobby is gone" in result.void_reason
    parameters = {"lobby": "/nowhere"}
    result = play(job(replace(remote(lobby, "one"), parameters=parameters), python_player("other")))
    assert result.outcome is None and "the lobby cannot be reached" in result.void_reason


def test_a_bot_that_comes_back_goes_on(lobby: OpenLobby) -> None:
    game = InBackground(job(remote(lobby, "one"), python_player("other")))
    stream = RawStream(lobby)
    stream.hello("one")
    stream.move(stream.take_seat(), "C3")
    request = stream.hear_of("move_request")
    stream.vanish()
    again = RawStream(lobby)
    again.hello("one")
    start = again.hear_of("game_start")
    assert start.resumed and start.seat_id == request.seat_id
    assert [again.hear_of("moves_made").moves[0].text for _ in range(2)] == ["C3", "pass"]
    repeated = again.hear_of("move_request")
    assert (repeated.request, repeated.board) == (request.request, request.board)
    assert repeated.time_left.ToNanoseconds() <= request.time_left.ToNanoseconds()
    again.ready(start)
    again.move(repeated, "pass")
    result = game.result()
    assert result.outcome is not None and result.outcome.winners == (1,)
    assert [move.text for move in result.moves] == ["C3", "pass", "pass"]


def test_answers_to_what_was_not_asked_change_nothing(lobby: OpenLobby) -> None:
    game = InBackground(job(remote(lobby, "one"), python_player("other")))
    stream = RawStream(lobby)
    stream.hello("one")
    request = stream.take_seat()
    other = players_pb2.MoveRequest(seat_id=request.seat_id, request=request.request + 1)
    stream.move(other, "A1")
    stream.move(request, "C3")
    stream.move(request, "A1")
    stream.move(stream.hear_of("move_request"), "pass")
    assert [move.text for move in game.result().moves] == ["C3", "pass", "pass"]


def test_an_exception_of_a_bot_that_begins_a_game_reaches_the_program_that_dialled_in(
    lobby: OpenLobby,
) -> None:
    def broken(game: Game) -> Callable[[GameTurn], str]:
        raise ZeroDivisionError("a bug")

    bot = DialledIn(lobby, "one", broken)
    result = play(job(remote(lobby, "one", reconnect_seconds=0.0), python_player("other")))
    assert result.outcome is None
    assert isinstance(bot.ended(), ZeroDivisionError)


@BOTH_CLIENTS
def test_a_bot_goes_on_with_its_game_when_its_connection_breaks(
    lobby: OpenLobby, client: type[DialledIn]
) -> None:
    relay = Relay(lobby)
    begun: list[bool] = []
    turns: list[GameTurn] = []

    def interrupted(game: Game) -> Callable[[GameTurn], str]:
        begun.append(game.resumed)

        def choose(turn: GameTurn) -> str:
            turns.append(turn)
            if len(turns) == 2:
                relay.cut()
            return ["C3", "D3", "pass"][len(turn.moves) // 2]

        return choose

    bot = client(lobby, "one", interrupted, address=relay.address, redial_seconds=SECONDS)
    result = play(job(remote(lobby, "one"), python_player("other")))
    _, _, ending = bot.endings.get(timeout=SECONDS)
    relay.close()
    assert result.outcome is not None and result.outcome.winners == (1,) == ending.winners
    assert begun == [False, True]
    assert [move.text for move in result.moves[:2]] == ["C3", "pass"]
    # It receives again what it had received.
    assert turns[2].moves[:2] == turns[1].moves == ((1, "C3"), (2, "pass"))


@BOTH_CLIENTS
def test_a_bot_may_sit_on_both_sides_whose_games_end_one_by_one(
    lobby: OpenLobby, client: type[DialledIn]
) -> None:
    bot = client(lobby, "one", passing, games_at_once=2)
    result = play(job(remote(lobby, "one"), remote(lobby, "one")))
    assert result.outcome is not None and result.outcome.winners == (2,) and len(result.moves) == 2
    assert sorted(bot.endings.get(timeout=SECONDS)[1] for _ in range(2)) == [1, 2]


@BOTH_CLIENTS
def test_a_bot_that_looks_for_a_move_in_vain_does_not_wait_until_its_time_is_up(
    lobby: OpenLobby, client: type[DialledIn]
) -> None:
    def empty(game: Game) -> Callable[[GameTurn], str]:
        return lambda turn: next(move for move in turn.legal_moves if move == "Z1")

    bot = client(lobby, "one", empty)
    InBackground(job(remote(lobby, "one", reconnect_seconds=0.1), python_player("other")))
    ended = bot.ended()
    assert isinstance(ended, RuntimeError) and "StopIteration" in str(ended)


def test_a_game_says_whose_it_is(lobby: OpenLobby) -> None:
    games: list[Game] = []

    def noted(game: Game) -> Callable[[GameTurn], str]:
        games.append(game)
        return lambda turn: "pass"

    DialledIn(lobby, "one", noted, games_at_once=2)
    seat = remote(lobby, "one", competition="/cups/club.toml")
    play(job(seat, seat))
    assert [game.competition for game in games] == ["club", "club"]
    assert len({game.seat_id for game in games}) == 2


def test_a_check_is_none_of_the_games_after_which_a_bot_leaves(lobby: OpenLobby) -> None:
    bot = DialledIn(lobby, "one", passing, leave_after_games=1)
    play(replace(job(remote(lobby, "one"), python_player("other")), game_id=CHECK_GAME_ID))
    result = play(job(remote(lobby, "one"), python_player("other")))
    assert result.outcome is not None
    assert bot.ended() == 1


@pytest.mark.parametrize(
    ("client", "raised"),
    [
        (DialledIn, ZeroDivisionError("a bug")),
        (DialledInWithAsyncio, ZeroDivisionError("a bug")),
        # A loop would take these for its own.
        (DialledIn, StopIteration()),
        (DialledIn, concurrent.futures.CancelledError("my pool was shut down")),
        (DialledIn, asyncio.CancelledError()),
        (DialledInWithAsyncio, asyncio.CancelledError()),
    ],
)
def test_an_exception_of_a_bot_in_a_game_reaches_the_program_that_dialled_in(
    lobby: OpenLobby, client: type[DialledIn], raised: BaseException
) -> None:
    def broken(game: Game) -> Callable[[GameTurn], str]:
        def choose(turn: GameTurn) -> str:
            raise raised

        return choose

    bot = client(lobby, "one", broken)
    result = play(job(remote(lobby, "one", reconnect_seconds=0.0), python_player("other")))
    assert result.outcome is not None and result.outcome.winners == (2,)
    failure = bot.ended()
    if isinstance(raised, ZeroDivisionError):
        assert failure is raised
    else:
        assert isinstance(failure, RuntimeError) and str(failure) == f"the bot raised {type(raised).__name__}"
        assert type(failure.__cause__) is type(raised)


@BOTH_CLIENTS
def test_either_client_can_decline_and_the_opponent_learns_why_the_game_is_void(
    lobby: OpenLobby, client: type[DialledIn]
) -> None:
    def unwilling(game: Game) -> Callable[[GameTurn], str]:
        raise GameDeclinedError("only on Sundays")

    opponent = DialledIn(lobby, "one", passing)
    client(lobby, "two", unwilling)
    result = play(job(remote(lobby, "one"), remote(lobby, "two")))
    assert result.outcome is None
    assert result.void_reason == "player two: declines the game: 'only on Sundays'"
    assert opponent.endings.get(timeout=SECONDS)[2] == GameEnd(void_reason=result.void_reason)


@BOTH_CLIENTS
def test_a_bot_may_decline_to_go_on_with_its_game_while_its_opponent_thinks(
    lobby: OpenLobby, client: type[DialledIn]
) -> None:
    relay = Relay(lobby)
    declined = threading.Event()

    def fickle(game: Game) -> Callable[[GameTurn], str]:
        if game.resumed:
            declined.set()
            raise GameDeclinedError("I forgot all about it")
        return lambda turn: "C3"

    def patient(game: Game) -> Callable[[GameTurn], str]:
        def choose(turn: GameTurn) -> str:
            relay.cut()
            assert declined.wait(SECONDS)
            # The arena has heard it, and its game wants nothing of the bot so far.
            time.sleep(0.2)
            return "pass"

        return choose

    client(lobby, "one", fickle, address=relay.address, redial_seconds=SECONDS)
    DialledIn(lobby, "two", patient)
    result = play(job(remote(lobby, "one"), remote(lobby, "two")))
    relay.close()
    assert result.outcome is not None and result.outcome.winners == (2,)
    assert "answered a request to move with decline" in result.usage[0].remark


@BOTH_CLIENTS
def test_a_bot_leaves_after_its_games_also_when_its_connection_broke(
    lobby: OpenLobby, client: type[DialledIn]
) -> None:
    relay = Relay(lobby)
    cuts = [relay.cut]

    def cut_once(game: Game) -> Callable[[GameTurn], str]:
        if cuts:
            cuts.pop()()
        return lambda turn: "pass"

    bot = client(lobby, "one", cut_once, address=relay.address, redial_seconds=SECONDS, leave_after_games=2)
    for _ in range(2):
        assert play(job(remote(lobby, "one"), python_player("other"))).outcome is not None
    assert bot.ended() == 2
    assert [bot.endings.get(timeout=SECONDS)[2].result for _ in range(2)] == ["W+0.5", "W+0.5"]
    assert client(lobby, "one", passing, redial_seconds=SECONDS, leave_after_seconds=0.0).ended() == 0
    relay.close()


def test_a_bot_whose_time_is_over_plays_its_game_to_the_end(lobby: OpenLobby) -> None:
    before = RawStream(lobby)
    before.hello("one")
    before.hear_of("welcome")
    game = InBackground(job(remote(lobby, "one"), python_player("other")))
    before.hear_of("game_start")
    # It dials again when its time is over.
    bot = RawStream(lobby)
    bot.hello("one", leave_after=Duration())
    start = bot.hear_of("game_start")
    assert start.resumed
    bot.ready(start)
    bot.move(bot.hear_of("move_request"), "pass")
    bot.hear_of("game_end")
    assert list(bot.call) == []
    assert game.result().outcome is not None
    before.vanish()
    bot.vanish()


def test_a_bot_of_two_pools_plays_as_many_games_at_once_as_it_wants_and_both_have_turns(
    lobby: OpenLobby,
) -> None:
    def is_free(pool: str, *, hold: bool = False, others: int = 1, seats: int = 2) -> bool:
        question = lobby_pb2.ListFree(
            competition=pool, players=["one"], hold=hold, others=others, seats=seats
        )
        return list(free_players(str(lobby.games), question)) == ["one"]

    bot = RawStream(lobby)
    bot.hello("one")
    bot.hear_of("welcome")
    assert is_free("go", hold=True) and not is_free("hex", others=0)
    played = InBackground(job(remote(lobby, "one", competition="go"), python_player("other")))
    start = bot.hear_of("game_start")
    # Its own pool begins the next round when this game is over.
    assert is_free("go")
    assert not is_free("chess", others=0) and not is_free("diplomacy", seats=7) and not is_free("hex")
    bot.ready(start)
    bot.move(bot.hear_of("move_request"), "resign")
    assert played.result().outcome is not None
    bot.hear_of("game_end")
    # The pool that found it busy comes first, but none that has nobody else. It asks for its round, and again
    # for the game.
    assert not is_free("go") and is_free("hex") and is_free("hex", hold=True)
    assert not is_free("go", hold=True)
    bot.vanish()


def test_a_bot_that_fails_at_the_end_of_its_last_game_learns_why(lobby: OpenLobby) -> None:
    class Unlucky(DialledIn):
        def _over(self, game: Game, ending: GameEnd) -> None:
            # The arena ends the stream meanwhile.
            threading.Event().wait(0.5)
            raise OSError("no space left for the record")

    bot = Unlucky(lobby, "one", passing, leave_after_games=1)
    assert play(job(remote(lobby, "one"), python_player("other"))).outcome is not None
    assert "no space left" in str(bot.ended())


ACADEMY = AcademyAccess("unix:nowhere", "cup/0_1/1", ("ticket-1", "ticket-2"))


@BOTH_CLIENTS
def test_a_game_at_academy_waits_for_what_a_bot_does_at_its_end(
    lobby: OpenLobby, client: type[DialledIn]
) -> None:
    over, may_end = threading.Event(), threading.Event()

    class Proposing(client):  # type: ignore[misc, valid-type]
        def _over(self, game: Game, ending: GameEnd) -> None:
            over.set()
            may_end.wait(SECONDS)
            super()._over(game, ending)

    Proposing(lobby, "one", passing)
    played = InBackground(
        job(remote(lobby, "one", exit_seconds=SECONDS), python_player("other"), academy=ACADEMY)
    )
    assert over.wait(SECONDS)
    assert played.is_running
    may_end.set()
    assert played.result().outcome is not None


@pytest.mark.parametrize(
    ("says_done", "access", "waits"), [(True, ACADEMY, True), (True, None, False), (False, ACADEMY, False)]
)
def test_an_arena_waits_only_for_bots_that_say_when_they_have_done(
    lobby: OpenLobby, says_done: bool, access: AcademyAccess | None, waits: bool
) -> None:
    stream = RawStream(lobby)
    stream.hello("one", says_done=says_done)
    played = InBackground(job(remote(lobby, "one", exit_seconds=0.1), python_player("other"), academy=access))
    stream.resign(stream.take_seat())
    assert stream.hear_of("game_end").HasField("time_to_finish") == waits
    # One that never says so is not awaited for ever.
    assert played.result().outcome is not None
    stream.vanish()


def test_a_bot_that_never_says_that_it_has_done_is_awaited_twice_running_at_most(lobby: OpenLobby) -> None:
    stream = RawStream(lobby)
    stream.hello("one", says_done=True)
    awaited, warnings = [], []
    for number in range(5):
        # It says so once.
        seconds = SECONDS if number == 1 else 0.1
        played = InBackground(
            job(remote(lobby, "one", exit_seconds=seconds), python_player("other"), academy=ACADEMY)
        )
        request = stream.take_seat()
        stream.resign(request)
        awaited.append(stream.hear_of("game_end").HasField("time_to_finish"))
        if number == 1:
            stream.say(players_pb2.PlayRequest(done=players_pb2.Done(seat_id=request.seat_id)))
        warnings.append(played.result().warnings)
    stream.vanish()
    missed = ("player one: did not say within 0.1 s that it has done",)
    assert awaited == [True, True, True, True, False]
    assert warnings == [missed, (), missed, missed, ()]


@BOTH_CLIENTS
def test_a_game_whose_end_a_bot_hears_of_again_counts_once(lobby: OpenLobby, client: type[DialledIn]) -> None:
    relay = Relay(lobby)
    cuts = [relay.cut]

    class Unlucky(client):  # type: ignore[misc, valid-type]
        def _over(self, game: Game, ending: GameEnd) -> None:
            if cuts:
                cuts.pop()()
                # The stream has ended for the bot too before it has done with the game.
                time.sleep(0.5)
            super()._over(game, ending)

    bot = Unlucky(lobby, "one", passing, address=relay.address, redial_seconds=SECONDS, leave_after_games=2)
    for _ in range(2):
        seated = remote(lobby, "one", exit_seconds=SECONDS)
        assert play(job(seated, python_player("other"), academy=ACADEMY)).outcome is not None
    assert bot.ended() == 2
    relay.close()
