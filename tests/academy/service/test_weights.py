"""Weights to take home: who gets them, that nothing is sent twice, and that bots can think with them."""

import socket
from contextlib import suppress
from dataclasses import replace
from random import Random
from threading import Thread
from unittest.mock import patch

import grpc
import pytest

from academy.knowledge.boards import Board, Geometry, HexGeometry, SquareGeometry
from academy.knowledge.spec import GameSpec
from academy.service import cost
from academy.service.interceptor import CallInterceptor
from academy.store.tokens import Role
from academy.v1 import consultation_pb2, contests_pb2, libraries_pb2
from academy.wire.games import read_spec
from clients import Connection
from clients.academy import Academy
from clients.seat import Seat
from tests.academy.service import examples
from tests.academy.service.examples import (
    EMPTY,
    beside_each_other,
    contest,
    download_weights,
    teach_weights,
)
from tests.academy.service.running import Client, Running, refusal


def test_a_player_gets_what_academy_knows_and_then_only_what_is_new(academy: Running) -> None:
    teach_weights(academy, "home")
    ann, _ = academy.open(contest("home/1", "home"))
    view = academy.store.follow().refresh("home")
    first = download_weights(ann, "home", "home/1")
    assert list(first.evaluation.codes) == view.evaluation.codes.tolist()
    assert list(first.evaluation.millionths) == view.evaluation.weight_millionths.tolist()
    assert list(first.tesujis.codes) == view.tesujis.codes.tolist()
    assert (first.contests, first.elo, first.unchanged) == (8, 1500.0, False)

    again = download_weights(ann, "home", "home/1", first.revision)
    assert again.unchanged and not again.evaluation.codes and again.revision == first.revision

    played = beside_each_other(contest("home/2", "home"), Random(9))
    academy.report(played)
    changed = download_weights(ann, "home", "home/1", first.revision)
    assert not changed.unchanged and changed.contests == 9 and changed.evaluation.codes


def test_a_revision_that_is_known_costs_as_much_as_it_takes(
    academy: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    teach_weights(academy, "known")
    ann, _ = academy.open(contest("known/1", "known"))
    monkeypatch.setattr(cost, "_RECORDS_PER_QUESTION", 1)
    charged = []
    for revision in ("", download_weights(ann, "known", "known/1").revision):
        with patch.object(CallInterceptor, "charge", autospec=True) as charge:
            answer = download_weights(ann, "known", "known/1", revision)
        assert answer.unchanged == bool(revision)
        charged.append(sum(call.args[2] for call in charge.call_args_list))
    assert charged[0] == charged[1] > 100


def test_a_use_is_counted_once_a_contest_and_shown(academy: Running) -> None:
    teach_weights(academy, "counted")
    played = contest("counted/1", "counted")
    ann, _ = academy.open(played)
    revision = download_weights(ann, "counted", "counted/1").revision
    download_weights(ann, "counted", "counted/1", revision)
    academy.report(beside_each_other(played, Random(3)))
    answer = download_weights(academy.admin(), "counted")
    assert (answer.uses, answer.contests) == (1, 9)


@pytest.mark.parametrize("evaluation", [True, False])
def test_admins_read_who_took_weights_home_whatever_they_are_of(academy: Running, evaluation: bool) -> None:
    name = f"home-{evaluation}"
    teach = teach_weights if evaluation else examples.teach_tesujis
    teach(academy, name)
    opening = libraries_pb2.UpdateSettingsRequest(game_id=name, fields=["local_weights"])
    opening.settings.local_weights = True
    academy.admin().libraries.UpdateSettings(opening)
    played = contest(f"{name}/1", name, elos=(1500.0, 3000.0))
    ann, bob = academy.open(played)
    assert bool(download_weights(ann, name, f"{name}/1").evaluation.codes) == evaluation
    # Too strong for those who taught: there is nothing for this player, and again nothing new.
    nothing = download_weights(bob, name, f"{name}/1", player=2)
    assert not nothing.tesujis.codes
    assert download_weights(bob, name, f"{name}/1", nothing.revision, player=2).unchanged
    academy.report(beside_each_other(played, Random(3)))
    request = contests_pb2.GetConsultationsRequest(contest_id=f"{name}/1")
    first, second = academy.admin().contests.GetConsultations(request).seats
    assert (first.weights, first.evaluation) == (True, evaluation)
    assert not first.patterns and not first.tesuji_ids
    assert not second.weights and not second.evaluation
    assert download_weights(academy.admin(), name).uses == evaluation


def test_by_default_they_stay_in_academy_for_all_but_admins_and_analysts(academy: Running) -> None:
    teach_weights(academy, "closed", open_to_players=False)
    ann, _ = academy.open(contest("closed/1", "closed"))
    analyst = academy.client(academy.token("ann", Role.ANALYST))
    for refused in (
        refusal(lambda: download_weights(ann, "closed", "closed/1")),
        refusal(lambda: download_weights(academy.bot("reader"), "closed")),
        # An analyst that plays is a player.
        refusal(lambda: download_weights(analyst, "closed", "closed/1")),
    ):
        assert (refused.reason, refused.metadata["game_id"]) == ("LOCAL_WEIGHTS_OFF", "closed")
        assert "local_weights=true" in refused.message
    assert download_weights(academy.admin(), "closed").evaluation.codes


def test_a_competition_may_keep_them_in_academy_and_not_allow_them(academy: Running) -> None:
    for game_id, in_game in (("fair", True), ("unfair", False)):
        teach_weights(academy, game_id, open_to_players=in_game)
    played = contest("fair/1", "fair")
    played.fair_use.local_weights = False
    response = academy.arena().contests.OpenContest(contests_pb2.OpenContestRequest(contest=played))
    assert not response.contest.fair_use.local_weights
    refused = refusal(lambda: download_weights(academy.client(response.tickets[0]), "fair", "fair/1"))
    assert (refused.reason, "the contest has local_weights = false" in refused.message) == (
        "LOCAL_WEIGHTS_OFF",
        True,
    )
    ann, _ = academy.open(contest("fair/2", "fair"))
    assert download_weights(ann, "fair", "fair/2").evaluation.codes
    loose = contest("unfair/1", "unfair")
    loose.fair_use.local_weights = True
    refused = refusal(lambda: academy.open(loose))
    assert (refused.reason, refused.metadata["limit"]) == ("LOOSER_RULE", "false")
    assert "give false, or have an admin" in refused.message


def test_players_too_strong_for_the_teachers_get_none(academy: Running) -> None:
    teach_weights(academy, "weak", elo=1200.0)
    strong, weak = academy.open(contest("weak/1", "weak", elos=(1500.0, 1100.0)))
    nothing = download_weights(strong, "weak", "weak/1")
    assert not nothing.evaluation.codes and not nothing.tesujis.codes
    assert download_weights(weak, "weak", "weak/1", player=2).evaluation.codes
    # So the strong one's win is not a success of theirs.
    report = examples.report(contest("weak/1", "weak", elos=(1500.0, 1100.0)), ["c3"])
    academy.report(report)
    known = academy.store.follow().refresh("weak").evaluation
    assert (known.uses, known.successes) == (1, 0)


def test_outside_of_contests_the_same_margin_holds_for_a_bot_and_none_for_an_analyst(
    academy: Running,
) -> None:
    teach_weights(academy, "margin", elo=1200.0)
    played = contest("margin/1", "margin", ("champion", "novice"), (1500.0, 1250.0))
    academy.report(examples.report(played, ["c3"]))
    assert not download_weights(academy.bot("champion"), "margin").evaluation.codes
    for reader in (academy.bot("novice"), academy.bot("nobody yet")):
        assert download_weights(reader, "margin").evaluation.codes
    teach_weights(academy, "margin-closed", open_to_players=False, elo=1200.0)
    analyst = academy.client(academy.token("owl", Role.ANALYST))
    assert download_weights(analyst, "margin-closed").evaluation.codes


def test_the_client_library_evaluates_by_itself(academy: Running) -> None:
    game = teach_weights(academy, "client")
    spec = read_spec(game)
    played = contest("client/1", "client")
    player, _ = academy.open(played)
    seat = Seat("client", spec.geometry, 1, "client/1")
    board = Board.from_letters(spec.geometry, "x" + EMPTY[1:-1] + "o")
    with Academy(Connection(str(academy.address), player.token)) as ann:
        weights = ann.weights(seat, spec)
        assert ann.weights(seat, spec) is weights
    # The next contest brings another connection, and what is known is not sent again.
    with Academy(Connection(str(academy.address), player.token)) as ann:
        assert ann.weights(seat, spec) is weights
        [odds] = weights.log_odds([board], 1)
        [turned] = weights.log_odds([spec.reversed_board(board)], 2)
        # Who is first does not change with the colours.
        assert odds == pytest.approx(2 * weights.features[0] - turned, abs=1e-6)
        cells = [7, 12, 22]
        local = weights.advise(board, cells, 1)
    with Academy(Connection(str(academy.address), academy.token("reader"))) as reader:
        answer = reader.advise(Seat("client", spec.geometry, 1), board, cells)
    assert local == pytest.approx(answer.log_odds, abs=1e-5)


@pytest.mark.parametrize("board", [SquareGeometry(9, 9), HexGeometry(5, 5)], ids=["larger", "of hexagons"])
def test_weights_of_a_game_on_another_board_are_refused(academy: Running, board: Geometry) -> None:
    spec = read_spec(teach_weights(academy, "other-board"))
    other = GameSpec("other", board)
    with Academy(Connection(str(academy.address), academy.token("taker"))) as taker:
        for seat in (Seat("other-board", spec.geometry, 1), Seat("other-board", board, 1)):
            with pytest.raises(
                ValueError, match="other is played on another board than other-board at ACADEMY"
            ):
                taker.weights(seat, other)
        # An own name for the game is none of ACADEMY's business.
        assert taker.weights(seat, replace(spec, game_id="fork")).contests == 8


def test_statistics_tell_how_much_it_learnt(academy: Running) -> None:
    teach_weights(academy, "figures")
    figures = academy.admin().libraries.GetStatistics(libraries_pb2.GetStatisticsRequest(game_id="figures"))
    assert figures.evaluation_contests == 8 and figures.evaluation_patterns > 100


def test_weights_are_compressed_on_the_wire(academy: Running) -> None:
    teach_weights(academy, "wire")
    server = ("127.0.0.1", int(str(academy.address).rpartition(":")[2]))
    received: list[int] = []

    def pass_on(source: socket.socket, target: socket.socket, counts: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                received.extend([len(data)] if counts else [])
                target.sendall(data)

    with socket.create_server(("127.0.0.1", 0)) as between:
        channel = grpc.insecure_channel(f"127.0.0.1:{between.getsockname()[1]}")
        client = Client(channel, academy.token("reader"))
        answers: list[consultation_pb2.DownloadWeightsResponse] = []
        asking = Thread(target=lambda: answers.append(download_weights(client, "wire")))
        asking.start()
        near, _ = between.accept()
        with near, socket.create_connection(server) as far:
            Thread(target=pass_on, args=(near, far, False), daemon=True).start()
            Thread(target=pass_on, args=(far, near, True), daemon=True).start()
            asking.join()
            channel.close()
    assert len(answers[0].evaluation.codes) > 100
    assert sum(received) < 0.7 * answers[0].ByteSize()
