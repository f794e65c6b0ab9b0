"""What a DAIDE server asks of the referee of its game."""

import math
from collections.abc import Mapping

from referees.diplomacy.adjudication import PhaseAdjudication, adjudicate
from referees.diplomacy.daide.messages import DaideVariant
from referees.diplomacy.daide.tokens import MOST_NUMBER, Vocabulary, vocabulary
from referees.diplomacy.game import GamePosition
from referees.diplomacy.power_orders import PowerOrders
from referees.diplomacy.settings import DiplomacySettings


class DaideDialogue:
    """Diplomacy under given settings, over DAIDE. Raises InvalidMap for a map that it cannot be played on."""

    def __init__(self, settings: DiplomacySettings) -> None:
        self._settings = settings
        self.words: Vocabulary = vocabulary(settings.map)

    def variant(self, seconds: float) -> DaideVariant:
        """The game's options. A phase for which the settings have no limit has so many seconds."""
        settings = self._settings
        limit = max(1, min(MOST_NUMBER, math.floor(seconds)))
        return DaideVariant(
            level=settings.level,
            mtl=settings.mtl or limit,
            rtl=settings.rtl or limit,
            btl=settings.btl or limit,
            dsd=settings.dsd,
            aoa=settings.aoa,
            pda=settings.pda,
            npr=settings.npr,
            npb=settings.npb,
            ptl=settings.ptl,
        )

    def adjudicate(self, game: GamePosition, moves: Mapping[int, PowerOrders]) -> PhaseAdjudication:
        """The results of a phase, given what each seat wrote."""
        orders = {seat - 1: move.orders for seat, move in moves.items()}
        return adjudicate(game.position, orders, self._settings.choices)
