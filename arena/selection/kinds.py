"""The selector of each kind of competition."""

from arena.control.settings import Control
from arena.selection.all_play_all import AllPlayAll
from arena.selection.selector import Selector


def selector_for(control: Control) -> Selector:
    """A fresh selector as the control file asks for. Raises ValueError for a kind there is not."""
    match control.kind:
        case "all-play-all":
            return AllPlayAll(control.competitors, control.rounds, control.seed)
        case kind:
            raise ValueError(f"there is no kind of competition called {kind!r}")
