"""Which display a run has, by where its output goes."""

from arena.terminal.display import Display, PlainDisplay


def display_for(quiet: bool) -> Display:
    """The display that suits where the output goes."""
    if quiet:
        return Display()
    # It loads Rich, which a quiet run begins without.
    from arena.terminal.live_display import terminal_display

    return terminal_display() or PlainDisplay()
