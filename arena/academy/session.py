"""A competition's connection to ACADEMY, whether it runs elsewhere or is embedded."""

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from academy.knowledge.fair_use import LUDAE_FAIR_USE, FairUse, LooserRuleError
from academy.knowledge.spec import GameSpec
from academy.v1 import contests_pb2
from arena.academy.client import CALL_SECONDS, AcademyClient, may_pass, misses_game, rejects_identity
from arena.academy.embedded import EmbeddedAcademy
from arena.control.settings import AcademySettings, ControlError
from clients.connection import AcademyRefusedError, AcademyUnavailableError, Connection

FIRST_CALL_SECONDS: Final = 30.0

T = TypeVar("T")


class AcademySession:
    """Keeps ACADEMY reachable for one competition, whose games are registered there.

    `specs` are these games by what ACADEMY calls them. `link` is what calls are made through; it
    changes when an embedded server is restarted.
    """

    def __init__(
        self,
        settings: AcademySettings,
        spec: GameSpec,
        log_path: Path,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Connect and register the game; `tell` gets what it waits for.

        Raises AcademyUnavailableError or AcademyRefusedError, EmbeddedAcademyError, MissingTokenError, and
        OSError for certificates that can't be read.
        """
        self._renamed = {spec.game_id: replace(spec, game_id=settings.game)} if settings.game else {}
        spec = self.called(spec)
        self.specs = {spec.game_id: spec}
        self.update = settings.update
        self._tell = tell
        self._embedded = EmbeddedAcademy(settings.data, log_path) if settings.embedded else None
        with contextlib.ExitStack() as undo:
            if self._embedded is not None:
                undo.callback(self._embedded.close)
                connection = self._embedded.start()
            else:
                connection = _connection(settings)
            self.link = AcademyClient(connection)
            self._register(spec)
            undo.pop_all()

    def tend(self) -> bool:
        """Restart an embedded server that has ended; return whether that was needed.

        Raises EmbeddedAcademyError when that does not help.
        """
        connection = self._embedded.restart_if_dead() if self._embedded is not None else None
        if connection is None:
            return False
        old, self.link = self.link, AcademyClient(connection)
        old.close()
        return True

    def check_fair_use(self, fair_use: Mapping[str, float]) -> None:
        """Raise ControlError for a competition's rule that is looser than a game's, or as the constructor."""
        for game_id in self.specs:
            self._insist(partial(_check_fair_use, self.link, game_id, fair_use))

    def close(self) -> None:
        """Close the connection; an embedded server ends."""
        self.link.close()
        if self._embedded is not None:
            self._embedded.close()

    def called(self, spec: GameSpec) -> GameSpec:
        """The game by the name that ACADEMY has for it."""
        return self._renamed.get(spec.game_id, spec)

    def know(self, spec: GameSpec) -> None:
        """Make sure that a game some contests are of is registered. Raises as the constructor does."""
        if spec.game_id not in self.specs:
            self._register(spec)
            self.specs[spec.game_id] = spec

    def ratings(self, game_id: str, players: Sequence[str]) -> Mapping[str, float]:
        """The last Elo in a game of those players whom ACADEMY knows there.

        Raises AcademyUnavailableError and AcademyRefusedError.
        """
        if game_id in self._renamed:
            game_id = self._renamed[game_id].game_id
        try:
            return self._insist(lambda: self.link.ratings(game_id, players))
        except AcademyRefusedError as refusal:
            if misses_game(refusal):
                return {}
            raise

    def report(self, request: contests_pb2.ReportContestRequest) -> bool:
        """Report a contest, and wait where that may help; return whether it was counted, which it is once.

        An embedded server that has ended is restarted. Raises AcademyUnavailableError, AcademyRefusedError
        and EmbeddedAcademyError.
        """

        def report() -> contests_pb2.ReportContestResponse:
            self.tend()
            return self.link.report(request)

        return self._insist(report).counted

    def _register(self, spec: GameSpec) -> None:
        self._insist(lambda: self.link.register_game(spec))

    def _insist(self, call: Callable[[], T]) -> T:
        """The answer to a call, which is repeated for a while where that may help."""
        began = time.monotonic()
        waits = False
        while True:
            try:
                return call()
            except (AcademyUnavailableError, AcademyRefusedError) as error:
                if not may_pass(error) or time.monotonic() > began + FIRST_CALL_SECONDS:
                    _note_remedy(error)
                    raise
                if not waits:
                    self._tell(f"warning: {error}; trying again for {FIRST_CALL_SECONDS:.0f} s")
                waits = True
                time.sleep(0.5)


def check_academy(settings: AcademySettings, spec: GameSpec, fair_use: Mapping[str, float]) -> None:
    """Ask the ACADEMY of a control file once; nothing changes there.

    `fair_use` has the competition's own rules, by name. An embedded one is not started: without a folder it
    will begin with LUDAE's rules, and those of one that has learnt are left to the run. Raises ControlError
    for a rule that is looser than the game's, AcademyUnavailableError or AcademyRefusedError,
    MissingTokenError, and OSError for certificates that can't be read.
    """
    if settings.embedded:
        if not settings.data.exists():
            _check_stricter(fair_use, LUDAE_FAIR_USE)
        return
    game_id = settings.game or spec.game_id
    with contextlib.closing(AcademyClient(_connection(settings))) as link:
        try:
            link.ratings(game_id, ())
        except (AcademyUnavailableError, AcademyRefusedError) as error:
            if isinstance(error, AcademyUnavailableError) or not misses_game(error):
                _note_remedy(error)
                raise
        _check_fair_use(link, game_id, fair_use)


def _check_fair_use(link: AcademyClient, game_id: str, fair_use: Mapping[str, float]) -> None:
    """Raise ControlError for a competition's rule that is looser than the game's."""
    if not fair_use:
        return
    try:
        rules = link.fair_use(game_id)
    except AcademyRefusedError as refusal:
        if not misses_game(refusal):
            raise
        rules = LUDAE_FAIR_USE
    _check_stricter(fair_use, rules)


def _check_stricter(fair_use: Mapping[str, float], rules: FairUse) -> None:
    """Raise ControlError for a competition's rule that is looser than these.

    A game that an arena registers begins with LUDAE's.
    """
    try:
        rules.restricted(fair_use)
    except LooserRuleError as error:
        raise ControlError(str(error)) from None


def _connection(settings: AcademySettings) -> Connection:
    token = settings.read_token() or ""
    files = settings.tls_ca, settings.tls_cert, settings.tls_key
    return Connection(settings.address, token, *files, CALL_SECONDS)


def _note_remedy(error: AcademyUnavailableError | AcademyRefusedError) -> None:
    if isinstance(error, AcademyRefusedError) and rejects_identity(error):
        error.add_note(
            "`academy tokens create NAME --role arena` makes a token; [academy] takes it by token_env, "
            "token_file or token"
        )
