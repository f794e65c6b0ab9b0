"""How many games have been played, as people read it."""


def count_text(played: int, total: int | None) -> str:
    """How many games of how many: `12/200`; just `12` without a total, or where fewer are wanted now."""
    return f"{played}" if total is None or played > total else f"{played}/{total}"
