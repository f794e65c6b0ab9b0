"""Fixtures made jobs for the workers."""

from collections.abc import Sequence
from typing import Any

from arena.control.plans import GameSettings
from arena.control.settings import Control
from arena.jobs import GameJob, PlayerSetup
from arena.match.game_seeds import GameSeeds
from arena.match.openings import Opening, choose_opening, read_openings
from arena.results.game_rows import GivenOpening
from arena.results.game_settings import GameSetting
from arena.runner.files import CompetitionFiles
from arena.selection.kinds import games_to_play
from arena.selection.selector import Fixture
from referees.api import Referee


def check_openings(control: Control) -> None:
    """Read the openings for each game of a competition that has some. Raises InvalidOpeningsError."""
    if control.openings is not None:
        for game in {id(game): game for game in games_to_play(control)}.values():
            read_openings(control.openings.file, game.rules(), control.openings.plies)


class JobMaker:
    """Says how a fixture is played, from the control file's settings and what the fixture has of its own."""

    def __init__(self, control: Control, files: CompetitionFiles, log_protocol: bool = False) -> None:
        """Raises SecretFileError where the games' seeds can't be made."""
        self._control = control
        self._files = files
        self._log_protocol = log_protocol
        self._settings: dict[int, GameSetting] = {}
        self._openings: dict[int, tuple[Opening, ...]] = {}
        given = control.seed
        self._seeds = GameSeeds(files.seed_key()) if given is None else GameSeeds.of_seed(given)

    def renew_players(self, control: Control) -> None:
        """Take over other players of the same games."""
        self._control = control

    def job(self, fixture: Fixture, attempt: int = 1) -> GameJob:
        """The game to play, at a try from 1, without its place at ACADEMY."""
        game = fixture.game or self._control.game
        opening = self._opening(fixture)
        seed = self._seeds.game(fixture.seed, attempt)
        return GameJob(
            game_id=fixture.game_id,
            game=game.name,
            settings=game.located,
            players=self.players(fixture),
            seed=seed,
            seat_seeds=self._seeds.seats(seed, len(fixture.players)),
            move_limit=game.move_limit,
            scorer=game.scorer,
            log_path=str(self._files.log) if self._control.errors_to_log else None,
            transcript=self._transcript(fixture.game_id),
            live_path=str(self._files.live_game(fixture.game_id, attempt)),
            event=fixture.event or self._files.name,
            remarks=fixture.remarks,
            opening=() if opening is None else opening.moves,
            opening_name="" if opening is None else opening.name,
            adjudication=self._control.adjudication,
            failures=self._control.failures,
            ringmaster_rules=self._control.ringmaster_rules,
            describe_positions=self._control.academy is not None,
            attempt=attempt,
        )

    def players(self, fixture: Fixture) -> tuple[PlayerSetup, ...]:
        """The players by seat: made for this game, or those of the control file."""
        return fixture.setups or tuple(self._control.players[name] for name in fixture.players)

    def rules(self, fixture: Fixture) -> Referee[Any, Any]:
        """The referee of the game, with its settings. Raises UnknownRefereeError and InvalidSettingError."""
        return (fixture.game or self._control.game).rules()

    def setting(self, fixture: Fixture) -> GameSetting:
        """The game's setting for the results database."""
        game = fixture.game or self._control.game
        if id(game) not in self._settings:
            self._settings[id(game)] = setting_of(game)
        return self._settings[id(game)]

    def opening(self, fixture: Fixture) -> GivenOpening | None:
        """The opening that the game begins with, as the results database wants it; None without one."""
        opening = self._opening(fixture)
        if opening is None or self._control.openings is None:
            return None
        return GivenOpening(self._control.openings.file.name, opening.number, opening.name)

    def read_all_openings(self) -> None:
        """Read the openings of all games, before any is played. Raises InvalidOpeningsError."""
        for game in games_to_play(self._control):
            self.read_openings(game)

    def read_openings(self, game: GameSettings) -> Sequence[Opening]:
        """The openings of a game, none where the competition has none. Raises InvalidOpeningsError."""
        wanted = self._control.openings
        if wanted is None:
            return ()
        if id(game) not in self._openings:
            self._openings[id(game)] = read_openings(wanted.file, game.rules(), wanted.plies)
        return self._openings[id(game)]

    def _opening(self, fixture: Fixture) -> Opening | None:
        openings = self.read_openings(fixture.game or self._control.game)
        if fixture.opening is None or self._control.openings is None or not openings:
            return None
        seed = (self._control.seed or 0) if self._control.openings.order == "random" else None
        return choose_opening(openings, fixture.opening, seed)

    def _transcript(self, game_id: str) -> str | None:
        if not self._log_protocol:
            return None
        self._files.protocol.mkdir(exist_ok=True)
        return str(self._files.protocol / f"{game_id}.log")


def setting_of(game: GameSettings, weight: float = 1.0) -> GameSetting:
    """A game with its settings, and their share among a series', as the results database wants it."""
    rules = game.rules()
    return GameSetting(
        game=game,
        variant=rules.spec().game_id,
        seats=[rules.seat_name(seat) for seat in range(1, rules.seats + 1)],
        weight=weight,
        facts=rules.variant_facts(),
    )
