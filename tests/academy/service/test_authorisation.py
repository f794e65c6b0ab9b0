"""Who may do what: every method, every kind of caller, with and without TLS. And what no answer reveals."""

import base64
import hmac
import io
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import grpc
import pytest
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from grpc_status import rpc_status
from prometheus_client import generate_latest

from academy.service.permissions import OPEN_METHODS, ROLES
from academy.service.server import SERVICES, ServerSettings
from academy.store import tokens
from academy.store.library_store import Store
from academy.store.tokens import CreateToken, RevokeToken, Role, UnknownTokenError
from academy.v1 import (
    consultation_pb2,
    contests_pb2,
    game_pb2,
    history_pb2,
    libraries_pb2,
    proposals_pb2,
    tokens_pb2,
)
from academy.wire import logs
from academy.wire.tls import Certificates
from tests.academy.service import examples
from tests.academy.service.certificates import authority, signed
from tests.academy.service.examples import EMPTY, ENDGAME, contest, position, report
from tests.academy.service.running import LOCAL, Client, Running, as_refused, serving
from tests.asking_health import health_of, listed_by

GAME: Final = "matrix"
CONTEST: Final = "matrix/open"
SECONDS: Final = 90

# + is let in, - is refused as not permitted, o as coming after the end of its contest, a as
# analysis during one.
# `player` is the token of a bot that plays the contest asked about, `own` its ticket; `other` is a ticket
# of another contest, `over` one of a contest that was reported.
MATRIX: Final = """
method                                bot player analyst arena admin own other over
ConsultationService/LookUpOpening      -    +       -      -     -    +    -    o
ConsultationService/MatchPatterns      -    +       -      -     -    +    -    o
ConsultationService/MatchSuccessors    -    +       -      -     -    +    -    o
ConsultationService/Advise             -    +       -      -     -    +    -    o
ConsultationService/DownloadWeights    -    +       -      -     -    +    -    o
ConsultationService/Play               -    +       -      -     -    +    -    o
ProposalService/SubmitProposals        -    +       -      -     -    +    -    o
ProposalService/ListProposals          +    +       +      +     +    +    +    +
ContestService/RegisterGame            -    -       -      +     +    -    -    -
ContestService/GetGame                 +    +       +      +     +    +    +    o
ContestService/ListGames               +    +       +      +     +    +    +    o
ContestService/OpenContest             -    -       -      +     +    -    -    -
ContestService/ReportContest           -    -       -      +     +    -    -    -
ContestService/GetContest              -    +       -      +     +    +    -    -
ContestService/GetConsultations        -    -       -      +     +    -    -    -
ContestService/ListOpenContests        -    -       -      -     +    -    -    -
ContestService/ListArenas              -    -       -      -     +    -    -    -
ContestService/LinkArena               -    -       -      -     +    -    -    -
ContestService/UnlinkArena             -    -       -      -     +    -    -    -
ContestService/AllowArena              -    -       -      -     +    -    -    -
ContestService/GetRatings              -    -       -      +     +    -    -    -
LibraryService/ListPatterns            -    -       -      -     +    -    -    -
LibraryService/GetPattern              -    -       -      -     +    -    -    -
LibraryService/DeletePattern           -    -       -      -     +    -    -    -
LibraryService/RestorePattern          -    -       -      -     +    -    -    -
LibraryService/ListTesujis             -    -       -      -     +    -    -    -
LibraryService/DeleteTesuji            -    -       -      -     +    -    -    -
LibraryService/ListOpenings            -    -       -      -     +    -    -    -
LibraryService/DeleteOpening           -    -       -      -     +    -    -    -
LibraryService/ListRemovals            -    -       -      -     +    -    -    -
LibraryService/RestoreRemoval          -    -       -      -     +    -    -    -
LibraryService/UpdateSettings          -    -       -      -     +    -    -    -
LibraryService/PruneLibrary            -    -       -      -     +    -    -    -
LibraryService/ExportLibrary           -    -       -      -     +    -    -    -
LibraryService/ImportLibrary           -    -       -      -     +    -    -    -
LibraryService/ForkGame                -    -       -      -     +    -    -    -
LibraryService/DeleteGame              -    -       -      -     +    -    -    -
LibraryService/AnalyseOpenings         -    -       +      -     +    -    -    -
LibraryService/ForgetAnalyses          -    -       -      -     +    -    -    -
LibraryService/ListEvents              -    -       -      -     +    -    -    -
LibraryService/GetStatistics           +    +       +      +     +    +    +    o
LibraryService/GetMeasures             +    +       +      +     +    +    +    o
LibraryService/ListPlayerStatistics    +    +       +      +     +    +    +    o
LibraryService/MutePlayer              -    -       -      -     +    -    -    -
LibraryService/UnmutePlayer            -    -       -      -     +    -    -    -
LibraryService/ListMutedPlayers        -    -       -      -     +    -    -    -
LibraryService/CreateBackup            -    -       -      -     +    -    -    -
LibraryService/DownloadBackup          -    -       -      -     +    -    -    -
TokenService/GetCaller                 +    +       +      +     +    +    +    o
TokenService/CreateToken               -    -       -      -     +    -    -    -
TokenService/ListTokens                -    -       -      -     +    -    -    -
TokenService/RevokeToken               -    -       -      -     +    -    -    -
HistoryService/ExploreOpening          +    a       +      +     +    a    a    o
HistoryService/GetPatternHistory       -    -       -      -     +    -    -    -
HistoryService/WatchLibrary            -    -       -      -     +    -    -    -
HistoryService/GetGrowth               +    +       +      +     +    +    +    o
ServerReflection/ServerReflectionInfo  +    +       +      +     +    +    +    o
"""
_, *CALLERS = MATRIX.split("\n")[1].split()
ROWS: Final = {line.split()[0]: line.split()[1:] for line in MATRIX.strip().split("\n")[1:]}
STRANGERS: Final = {
    "none": "TOKEN_MISSING",
    "wrong": "TOKEN_UNKNOWN",
    "wrong ticket": "TOKEN_UNKNOWN",
    "revoked": "TOKEN_REVOKED",
    "expired": "TOKEN_EXPIRED",
}


def _questions() -> dict[str, Message]:
    """A request for each method that is in order but for who asks."""
    chosen: dict[str, Any] = {"game_id": GAME, "library": ENDGAME, "pattern_id": 1}
    opening = consultation_pb2.LookUpOpeningRequest(game_id=GAME, contest_id=CONTEST, player=1)
    return {
        "LookUpOpening": opening,
        "MatchPatterns": consultation_pb2.MatchPatternsRequest(
            game_id=GAME, contest_id=CONTEST, positions=[position(EMPTY, expected_value=0.1)]
        ),
        "MatchSuccessors": consultation_pb2.MatchSuccessorsRequest(
            game_id=GAME,
            contest_id=CONTEST,
            position=position(EMPTY, expected_value=0.1),
            moves=[consultation_pb2.CandidateMove(cells=[0], letters="x")],
        ),
        "Advise": consultation_pb2.AdviseRequest(
            game_id=GAME, contest_id=CONTEST, position=position(EMPTY, expected_value=0.1)
        ),
        "DownloadWeights": consultation_pb2.DownloadWeightsRequest(
            game_id=GAME, contest_id=CONTEST, player=1
        ),
        "Play": consultation_pb2.PlayRequest(request_id=1, opening=opening),
        "SubmitProposals": proposals_pb2.SubmitProposalsRequest(
            contest_id=CONTEST,
            proposals=[proposals_pb2.NewProposal(library=ENDGAME, cells="x-\n-o", ply=1, value=0.5)],
        ),
        "ListProposals": proposals_pb2.ListProposalsRequest(contest_id=CONTEST),
        "RegisterGame": contests_pb2.RegisterGameRequest(game=examples.tiny_go(GAME)),
        "GetGame": contests_pb2.GetGameRequest(game_id=GAME),
        "ListGames": contests_pb2.ListGamesRequest(),
        "OpenContest": contests_pb2.OpenContestRequest(contest=contest("matrix/more", GAME)),
        "ReportContest": report(contest("matrix/reported", GAME), ["c3"]),
        "GetContest": contests_pb2.GetContestRequest(contest_id=CONTEST),
        "GetConsultations": contests_pb2.GetConsultationsRequest(contest_id=CONTEST),
        "ListOpenContests": contests_pb2.ListOpenContestsRequest(),
        "ListArenas": contests_pb2.ListArenasRequest(),
        "LinkArena": contests_pb2.LinkArenaRequest(arena="arena", other="arena"),
        "UnlinkArena": contests_pb2.UnlinkArenaRequest(arena="arena"),
        "AllowArena": contests_pb2.AllowArenaRequest(arena="helper", acts_for="arena"),
        "GetRatings": contests_pb2.GetRatingsRequest(game_id=GAME, players=["ann"]),
        "ListPatterns": libraries_pb2.ListPatternsRequest(game_id=GAME, library=ENDGAME),
        "GetPattern": libraries_pb2.GetPatternRequest(**chosen),
        "DeletePattern": libraries_pb2.DeletePatternRequest(**chosen),
        "RestorePattern": libraries_pb2.RestorePatternRequest(**chosen),
        "ListTesujis": libraries_pb2.ListTesujisRequest(game_id=GAME),
        "DeleteTesuji": libraries_pb2.DeleteTesujiRequest(game_id=GAME, code=2**50),
        "ListOpenings": libraries_pb2.ListOpeningsRequest(game_id=GAME, depth=1),
        "DeleteOpening": libraries_pb2.DeleteOpeningRequest(game_id=GAME, moves=["none"]),
        "ListRemovals": libraries_pb2.ListRemovalsRequest(game_id=GAME),
        "RestoreRemoval": libraries_pb2.RestoreRemovalRequest(game_id=GAME, removal=1),
        "UpdateSettings": libraries_pb2.UpdateSettingsRequest(
            game_id=GAME, settings=game_pb2.LibrarySettings(local_weights=True)
        ),
        "PruneLibrary": libraries_pb2.PruneLibraryRequest(
            game_id=GAME, library=ENDGAME, below=0.1, dry_run=True
        ),
        "ExportLibrary": libraries_pb2.ExportLibraryRequest(game_id=GAME),
        "ForkGame": libraries_pb2.ForkGameRequest(game_id=GAME, new_game_id="fork"),
        "DeleteGame": libraries_pb2.DeleteGameRequest(game_id="fork", really=True),
        "ImportLibrary": libraries_pb2.ImportLibraryRequest(header=libraries_pb2.ImportHeader(game_id=GAME)),
        "AnalyseOpenings": libraries_pb2.AnalyseOpeningsRequest(
            game_id=GAME, lines=[libraries_pb2.LineAnalysis(moves=["none"], value=0.5, budget=200)]
        ),
        "ForgetAnalyses": libraries_pb2.ForgetAnalysesRequest(game_id=GAME, analyst="nobody"),
        "ListEvents": libraries_pb2.ListEventsRequest(game_id=GAME),
        "GetStatistics": libraries_pb2.GetStatisticsRequest(game_id=GAME),
        "GetMeasures": libraries_pb2.GetMeasuresRequest(game_id=GAME),
        "ListPlayerStatistics": libraries_pb2.ListPlayerStatisticsRequest(game_id=GAME),
        "MutePlayer": libraries_pb2.MutePlayerRequest(player="nobody", force=True),
        "UnmutePlayer": libraries_pb2.UnmutePlayerRequest(player="nobody"),
        "ListMutedPlayers": libraries_pb2.ListMutedPlayersRequest(),
        "CreateBackup": libraries_pb2.CreateBackupRequest(),
        "DownloadBackup": libraries_pb2.DownloadBackupRequest(),
        "GetCaller": tokens_pb2.GetCallerRequest(),
        "CreateToken": tokens_pb2.CreateTokenRequest(name="nobody", role=tokens_pb2.TOKEN_ROLE_BOT),
        "ListTokens": tokens_pb2.ListTokensRequest(),
        "RevokeToken": tokens_pb2.RevokeTokenRequest(token_id="none"),
        "ExploreOpening": history_pb2.ExploreOpeningRequest(game_id=GAME, player=1),
        "GetPatternHistory": history_pb2.GetPatternHistoryRequest(**chosen),
        "WatchLibrary": history_pb2.WatchLibraryRequest(game_id=GAME, after=0),
        "GetGrowth": history_pb2.GetGrowthRequest(game_id=GAME),
        "ServerReflectionInfo": reflection_pb2.ServerReflectionRequest(list_services=""),
    }


STREAMED: Final = {"Play", "ImportLibrary", "ServerReflectionInfo"}
QUESTIONS: Final = _questions()


@dataclass
class Gate:
    """A server with a caller of every kind before it."""

    running: Running
    channel: Callable[[], grpc.Channel]
    secrets: dict[str, str]
    log: io.StringIO

    def client(self, caller: str) -> Client:
        return Client(self.channel(), self.secrets.get(caller, ""))


def _channel_maker(running: Running, certificates: Certificates | None) -> Callable[[], grpc.Channel]:
    if certificates is None:
        return lambda: grpc.insecure_channel(str(running.address))
    credentials = certificates.channel_credentials()
    return lambda: grpc.secure_channel(f"localhost:{running.address.port}", credentials)


@pytest.fixture(scope="module", params=["plain", "mutual TLS"])
def gate(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """One server a transport, everything it does logged at the lowest level."""
    folder = tmp_path_factory.mktemp("gate")
    served, callers = Certificates(), None
    if request.param == "mutual TLS":
        root = authority(folder, "root")
        served, own = signed(folder, "server", root), signed(folder, "caller", root)
        callers = Certificates(own.certificate, own.key, root)
        served = Certificates(served.certificate, served.key, root)
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    settings = ServerSettings(LOCAL, certificates=served, backups=folder / "backups")
    # Only where it is long past can a token be made that has expired.
    with Store(folder / "data", clock=lambda: 1_000.0) as store:
        _, expired = store.run(CreateToken("guest", Role.ADMIN, expires=2_000.0))
    with serving(folder / "data", settings) as running, redirect_stderr(log):
        logs.configure("debug", "json" if request.param == "mutual TLS" else "console")
        logging.getLogger().addHandler(handler)
        channel = _channel_maker(running, callers)
        yield Gate(running, channel, _secrets(running, channel) | {"expired": expired}, log)
        logging.getLogger().removeHandler(handler)
    logs.configure("error", "json")


def _secrets(running: Running, channel: Callable[[], grpc.Channel]) -> dict[str, str]:
    secrets = {
        "bot": running.token("reader"),
        "player": running.token("ann"),
        "analyst": running.token("deep thought", Role.ANALYST),
        "arena": running.token("arena", Role.ARENA),
        "admin": running.token("admin", Role.ADMIN),
    }
    arena = Client(channel(), secrets["arena"]).contests
    game = examples.tiny_go(GAME)
    game.settings.local_weights = True
    arena.RegisterGame(contests_pb2.RegisterGameRequest(game=game))
    for caller, contest_id in (("own", CONTEST), ("other", "matrix/other"), ("over", "matrix/over")):
        played = contest(contest_id, GAME)
        secrets[caller] = arena.OpenContest(contests_pb2.OpenContestRequest(contest=played)).tickets[0]
    arena.ReportContest(report(contest("matrix/over", GAME), ["c3"]))
    secrets["wrong"] = secrets["bot"].rsplit("_", 1)[0] + "_" + "A" * 43
    secrets["wrong ticket"] = secrets["own"].rpartition(".")[0] + "." + "A" * 43
    leaver, secrets["revoked"] = running.store.run(CreateToken("leaver", Role.ADMIN))
    running.store.run(RevokeToken(leaver.token_id))
    return secrets


def call_and_outcome(client: Client, method: str) -> tuple[grpc.StatusCode, str]:
    """Ask and return how that ended: the status and the reason."""
    service, name = method.split("/")
    stub: Any
    if service == "ServerReflection":
        stub = reflection_pb2_grpc.ServerReflectionStub(client.channel)
    else:
        stub = {
            "ConsultationService": client.consultation,
            "ProposalService": client.proposals,
            "ContestService": client.contests,
            "LibraryService": client.libraries,
            "TokenService": client.tokens,
            "HistoryService": client.history,
        }[service]
    question = QUESTIONS[name]
    try:
        answer = getattr(stub, name)(iter([question]) if name in STREAMED else question, timeout=SECONDS)
        answers = list(islice(answer, 1)) if hasattr(answer, "__next__") else [answer]
        if name == "WatchLibrary":
            # It would go on for minutes.
            answer.cancel()
    except grpc.RpcError as error:
        if rpc_status.from_call(error) is None:  # type: ignore[arg-type]
            return error.code(), ""
        refused = as_refused(error)
        return refused.code, refused.reason
    if name == "Play" and answers[0].HasField("refusal"):
        codes = {code.value[0]: code for code in grpc.StatusCode}
        return codes[answers[0].refusal.code], answers[0].refusal.reason
    return grpc.StatusCode.OK, ""


def mark(status: tuple[grpc.StatusCode, str]) -> str:
    code, reason = status
    if code is grpc.StatusCode.PERMISSION_DENIED:
        return "-"
    if reason == "CONTEST_OVER":
        return "o"
    if reason == "ANALYSIS_DURING_CONTEST":
        return "a"
    # An admin may ask for a missing pattern.
    return "+" if code in (grpc.StatusCode.OK, grpc.StatusCode.NOT_FOUND) else f"{code.name} {reason}"


@pytest.mark.threat("access")
def test_the_matrix_has_every_method() -> None:
    assert {re.sub(r"^/[a-z0-9.]*\.", "", method) for method in ROLES} == set(ROWS)
    assert set(QUESTIONS) == {row.partition("/")[2] for row in ROWS}


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.threat("vote_stuffing")
@pytest.mark.threat("access")
def test_every_caller_is_let_in_where_the_matrix_says(gate: Gate, caller: str) -> None:
    client = gate.client(caller)
    place = CALLERS.index(caller)
    assert {method: mark(call_and_outcome(client, method)) for method in ROWS} == {
        method: marks[place] for method, marks in ROWS.items()
    }


@pytest.mark.parametrize("stranger", STRANGERS)
@pytest.mark.threat("access")
def test_a_caller_without_a_valid_token_is_let_in_nowhere(gate: Gate, stranger: str) -> None:
    client = gate.client(stranger)
    expected = (grpc.StatusCode.UNAUTHENTICATED, STRANGERS[stranger])
    assert {method: call_and_outcome(client, method) for method in ROWS} == dict.fromkeys(ROWS, expected)


@pytest.mark.parametrize("caller", [*CALLERS, *STRANGERS])
def test_health_alone_is_for_everybody(gate: Gate, caller: str) -> None:
    methods = {method.partition("/grpc.health.v1.Health/")[2] for method in OPEN_METHODS}
    assert methods == {"Check", "List", "Watch"}
    stub = health_of(gate.client(caller).channel)
    serving = health_pb2.HealthCheckResponse.SERVING
    assert listed_by(stub, SECONDS) == dict.fromkeys(("", *SERVICES), serving)
    request = health_pb2.HealthCheckRequest()
    assert stub.Check(request, timeout=SECONDS).status == health_pb2.HealthCheckResponse.SERVING
    watch = stub.Watch(request, timeout=SECONDS)
    assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
    watch.cancel()


def _secret_parts(gate: Gate) -> set[str]:
    """The part of each token and ticket that makes it good."""
    return {
        text.rpartition(".")[2] if text.startswith("acdt_") else text.split("_", 2)[2]
        for caller, text in gate.secrets.items()
        if not caller.startswith("wrong")
    }


# After the tests above: what they made the server do is what is looked through.
@pytest.mark.threat("access")
def test_no_secret_is_in_the_log_the_metrics_or_the_folder(gate: Gate) -> None:
    for caller in ("admin", "own", "revoked"):
        client = gate.client(caller)
        for method in ROWS:
            call_and_outcome(client, method)
    log = gate.log.getvalue()
    metrics = generate_latest(gate.running.server.metrics.registry).decode()
    stored = (gate.running.store.environment.folder / "data.mdb").read_bytes()

    # The log holds the first of many refusals.
    assert "ListGames" in log and "TOKEN_" in log, "the log must hold what was done"
    parts = _secret_parts(gate)
    assert len(parts) == 10
    for part in parts:
        for piece in (part, part[:16], part[-16:]):
            assert piece not in log
            assert piece not in metrics
            assert piece.encode() not in stored
        # Nor what the letters stand for.
        assert base64.urlsafe_b64decode(part + "=") not in stored


@pytest.mark.threat("access")
def test_secrets_are_compared_in_constant_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def spy(left: bytes, right: bytes) -> bool:
        compared.append((left, right))
        return real(left, right)

    real = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", spy)
    with Store(tmp_path) as store:
        token, text = store.run(CreateToken("ann", Role.BOT))
        store.read(tokens.authenticate, text, store.clock())
        guesses = [
            f"acd_{token.token_id}_{'A' * 43}",
            f"acd_{'0' * 16}_{'A' * 43}",
            f"acdt_bm9uZQ.1.{'A' * 43}",
        ]
        for guess in guesses:
            with pytest.raises(UnknownTokenError):
                store.read(tokens.authenticate, guess, store.clock())
    # Each was decided by one comparison of hashes, also where there is no such token.
    assert len(compared) == 1 + len(guesses)
    assert all(len(right) == 32 for _, right in compared)
