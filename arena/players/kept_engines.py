"""Engines that are kept from one game of their player to the next, where `restart` is off."""

from collections import deque
from typing import Final

from arena.players.gtp_engine import GtpEngine
from arena.players.player import Seating

MAX_KEPT: Final = 8


class KeptEngines:
    """The idle engines of one process that plays games. Beyond `MAX_KEPT` the longest idle one is ended."""

    def __init__(self) -> None:
        self._idle: deque[GtpEngine] = deque()

    @property
    def process_ids(self) -> set[int]:
        """The engines' processes."""
        return {engine.process_id for engine in self._idle}

    def take(self, seating: Seating) -> GtpEngine | None:
        """A healthy engine of this player for its next game, if one is there."""
        for engine in list(self._idle):
            if engine.setup == seating.setup and engine.log_path == seating.log_path:
                self._idle.remove(engine)
                if engine.healthy:
                    engine.take_seat(seating)
                    return engine
                engine.end(0.0)
        return None

    def put(self, engine: GtpEngine) -> None:
        """Keep an engine whose game is over."""
        self._idle.append(engine)
        if len(self._idle) > MAX_KEPT:
            self._idle.popleft().end(0.0)

    def end(self) -> None:
        """End all of them at once."""
        while self._idle:
            self._idle.popleft().end(0.0)
