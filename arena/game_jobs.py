"""Fixtures made jobs for the workers."""

from arena.competition_files import CompetitionFiles
from arena.control.settings import Control
from arena.jobs import GameJob, PlayerSetup
from arena.selection.selector import Fixture


class JobMaker:
    """Makes jobs from the control file's settings and what a fixture has of its own."""

    def __init__(self, control: Control, files: CompetitionFiles, log_protocol: bool = False) -> None:
        self._control = control
        self._files = files
        self._log_protocol = log_protocol

    def job(self, fixture: Fixture) -> GameJob:
        """The game to play, without its place at ACADEMY."""
        game = fixture.game or self._control.game
        return GameJob(
            game_id=fixture.game_id,
            game=game.name,
            settings=game.settings,
            players=self.players(fixture),
            seed=fixture.seed,
            move_limit=game.move_limit,
            scorer=game.scorer,
            log_path=str(self._files.log),
            transcript=self._transcript(fixture.game_id),
            event=fixture.event or self._files.name,
        )

    def players(self, fixture: Fixture) -> tuple[PlayerSetup, ...]:
        """The players by seat: made for this game, or those of the control file."""
        return fixture.setups or tuple(self._control.players[name] for name in fixture.players)

    def _transcript(self, game_id: str) -> str | None:
        if not self._log_protocol:
            return None
        self._files.protocol.mkdir(exist_ok=True)
        return str(self._files.protocol / f"{game_id}.log")
