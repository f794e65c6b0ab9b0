"""Gives a competition's DAIDE clients somewhere to dial in."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from academy.wire.addresses import InvalidAddressError
from arena.control.settings import Control
from arena.output import complain
from arena.players.daide.address import DaideAddress
from arena.players.daide.listener import DaideListener, Note
from arena.players.daide.parameters import PROTOCOL, DaideParameters
from arena.players.player import InvalidPlayerParametersError
from arena.selection.kinds import players_to_check
from referees.diplomacy.daide.dialogue import DaideDialogue
from referees.diplomacy.daide.tokens import Vocabulary


@contextmanager
def daide_players(control: Control, tell: Callable[[str], None], note: Note) -> Iterator[Control]:
    """Open the door for the block, if a player of the competition comes by it, and say where.

    `note` hears, in another thread, who comes and goes. Yields the control file with the players that know
    the door. Raises InvalidAddressError where nobody can listen there, and InvalidPlayerParametersError for
    players whose games are not played over DAIDE, or on several maps.
    """
    names = {
        name: DaideParameters.read(player.parameters).client_of(name)
        for name, player in control.players.items()
        if player.protocol == PROTOCOL
    }
    if not names:
        yield control
        return
    address = control.daide
    if not address.is_local:
        complain(
            f"arena: daide.address: {address} is open to other machines; DAIDE has neither passwords nor "
            "encryption, so whoever reaches it can play"
        )
    door = DaideListener((address.host, address.port), _words(control), frozenset(names.values()), note)
    with ExitStack() as stack:
        try:
            stack.enter_context(door)
        except OSError as error:
            raise InvalidAddressError(
                f"daide.address: {address}: cannot listen there ({error.strerror})"
            ) from error
        tell(f"DAIDE clients dial in at {DaideAddress(*door.address)}")
        players = dict(control.players)
        for name in names:
            parameters = {**players[name].parameters, "door": door.games}
            players[name] = replace(players[name], parameters=parameters)
        yield replace(control, players=players)


def _words(control: Control) -> Vocabulary:
    """The tokens of all games that DAIDE clients play."""
    maps = set()
    for setup, game in players_to_check(control):
        if setup.protocol == PROTOCOL:
            words = game.rules().dialogue(PROTOCOL)
            if not isinstance(words, DaideDialogue):
                raise InvalidPlayerParametersError(
                    f"player {setup.name}: {game.name!r} is not played over DAIDE"
                )
            maps.add(words.words)
    if len(maps) != 1:
        raise InvalidPlayerParametersError("DAIDE clients of one competition play on one map")
    return maps.pop()
