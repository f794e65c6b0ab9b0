"""Opens the listeners where players of added protocols dial in, for as long as a competition runs."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from academy.wire.addresses import InvalidAddressError
from arena.control.settings import Control
from arena.output import complain
from arena.players.protocols import Announcer, InvalidListenerError, added_protocols, dial_in_protocol
from arena.selection.kinds import players_to_check


@contextmanager
def open_listeners(
    control: Control, say: Callable[[str], None], note: Callable[..., object]
) -> Iterator[Control]:
    """Open the listener of each added protocol that a player of the competition is reached by, and say where.

    `note` hears, in another thread, who comes and goes. Yields the control file with the players that know
    their listener. Raises InvalidAddressError where nothing can listen, and InvalidPlayerParametersError for
    players whose games are not played over their protocol.
    """
    announcer = Announcer(say, lambda warning: complain(f"arena: {warning}"), note)
    with ExitStack() as stack:
        for name in {player.protocol for player in control.players.values()} & set(added_protocols()):
            protocol = dial_in_protocol(name)
            players = {key: player for key, player in control.players.items() if player.protocol == name}
            games = {
                setup.name: game.rules()
                for setup, game in players_to_check(control)
                if setup.protocol == name
            }
            settings = control.listeners.get(name) or dict(protocol.listener_settings().model_construct())
            try:
                parameters = stack.enter_context(protocol.listen(settings, players, games, announcer))
            except InvalidListenerError as error:
                raise InvalidAddressError(f"{name}.{error}") from error
            seated = {
                key: replace(player, parameters={**player.parameters, **parameters})
                for key, player in players.items()
            }
            control = replace(control, players={**control.players, **seated})
        yield control
