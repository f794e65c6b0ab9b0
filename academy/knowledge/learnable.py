"""Which settings a game can have at all: what could never teach anything is refused."""

from dataclasses import fields

from academy.knowledge.anchored_patterns import has_anchored_patterns
from academy.knowledge.settings import InvalidSettingsError, LibrarySettings
from academy.knowledge.spec import GameSpec
from academy.knowledge.tesujis.surroundings import surroundings

__all__ = ["check_learnable"]


def check_learnable(settings: LibrarySettings, spec: GameSpec, before: LibrarySettings | None = None) -> None:
    """Check that a game can learn what its settings want.

    Args:
        settings: All settings.
        spec: The game.
        before: Those of before; what they have already is not checked.

    Raises:
        InvalidSettingsError: A setting can have no effect in the game.
    """
    changed = {
        setting.name
        for setting in fields(settings)
        if before is None or getattr(settings, setting.name) != getattr(before, setting.name)
    }
    if settings.tesuji_capacity and "tesuji_capacity" in changed and surroundings(spec) is None:
        if not spec.two_in_turn:
            why = "tesujis are learnt in games of two players who move in turn"
        elif spec.moves_pieces:
            why = "its moves go from cell to cell, and tesujis are about pieces that come to an empty cell"
        else:
            why = "tesujis are learnt on square and hexagonal boards"
        raise InvalidSettingsError(
            f"tesuji_capacity {settings.tesuji_capacity}: {spec.game_id} can learn none: {why}; leave it at 0"
        )
    if settings.analysed_patterns and "analysed_patterns" in changed and not spec.two_in_turn:
        raise InvalidSettingsError(
            f"analysed_patterns {settings.analysed_patterns}: {spec.game_id} can learn none: they are cut in "
            "games of two players who move in turn; leave it at 0"
        )
    if settings.evaluation_patterns and "evaluation_patterns" in changed and not has_anchored_patterns(spec):
        raise InvalidSettingsError(
            f"evaluation_patterns {settings.evaluation_patterns}: {spec.game_id} can learn none: they are "
            "cut on square and hexagonal boards that have room for them, in games of two players who move in "
            "turn; leave it at 0"
        )
    if settings.evaluation and "evaluation" in changed and not spec.two_in_turn:
        raise InvalidSettingsError(
            f"evaluation true: {spec.game_id} can learn none: positions are evaluated in games of two "
            "players who move in turn; leave it false"
        )
