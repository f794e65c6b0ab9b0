"""Clients in a game: a power's place, and a connection to it or to an observer."""

import selectors
import socket
import time
from collections.abc import Callable
from typing import Any, Final

from arena.players.logs import Transcript
from arena.players.player import (
    Choice,
    Disorder,
    InvalidPlayerParametersError,
    PlayerDisconnectedError,
    PlayerError,
    PlayerLeftError,
    PlayerStartError,
    PlayerTimeoutError,
    Seating,
    TooFewAnswersError,
    WarningList,
)
from referees.api import Outcome, Referee
from referees.diplomacy.daide.answers import answer
from referees.diplomacy.daide.messages import DaideVariant, Participant, command
from referees.diplomacy.daide.table import DaideDialogue, DaideTable
from referees.diplomacy.daide.tokens import FIXED, Tokens, Vocabulary, number_token
from referees.diplomacy.daide_server.connection import ClientConnection, ConnectionHungError, DaideLimits
from referees.diplomacy.daide_server.listener import (
    BrokenLinkError,
    Part,
    Passed,
    Seek,
    receive_passed,
    send,
)
from referees.diplomacy.daide_server.settings import DaideParameters
from referees.diplomacy.game import GamePosition
from referees.diplomacy.power_orders import PowerOrders


class ClientSession:
    """A connection to a client: of a power, or of an observer (None)."""

    def __init__(
        self,
        connection: ClientConnection,
        power: int | None,
        label: str,
        transcript: Transcript | None,
        words: Vocabulary,
    ) -> None:
        self.connection = connection
        self.power = power
        self._label = label
        self._transcript = transcript
        self._words = words

    def say(self, tokens: Tokens) -> None:
        """Send a message to the client."""
        if self._transcript is not None:
            self._transcript.log_sent(self._label, self._words.text(tokens))
        self.connection.say(tokens)

    def receive(self, tokens: Tokens) -> None:
        """Note a message of the client."""
        if self._transcript is not None:
            self._transcript.log_received(self._label, self._words.text(tokens))


class Place:
    """A power that is played over DAIDE.

    `came` is whether its client was ever there, `why` why it went the last time, `out` whether the game goes
    on without it; `settled_at` is when its orders for this turn were complete, `disorder` its first civil
    disorder.
    """

    def __init__(self, seating: Seating, parameters: DaideParameters) -> None:
        self.seating = seating
        self.parameters = parameters
        self.power = seating.seat - 1
        self.label = seating.label
        self.client = parameters.client_of(seating.setup.name)
        self.name = self.version = ""
        self.came = self.out = False
        self.session: ClientSession | None = None
        self.absent_since: float | None = None
        self.why = ""
        self.late_turns = 0
        self.settled_at: float | None = None
        self.disorder: Disorder | None = None
        self.warnings = WarningList()

    def given_up(self) -> bool:
        """Whether its client has been away for too long."""
        since = self.absent_since
        return since is not None and time.monotonic() - since >= self.parameters.reconnect_seconds


_TICK_SECONDS: Final = 0.25
# What came in time is read although the deadline has passed, but not for ever.
_GRACE_SECONDS: Final = 1.0


class DaideGame:
    """The clients of one game. Its players ask it for everything; see there for when.

    Raises InvalidPlayerParametersError for a game that is not played over DAIDE.
    """

    def __init__(self, first: Seating) -> None:
        self._rules: Referee[Any, Any] = first.referee
        dialogue = self._rules.dialogue("daide")
        if not isinstance(dialogue, DaideDialogue):
            raise InvalidPlayerParametersError(f"the game {self._rules.name!r} is not played over DAIDE")
        self._game_id = first.game_id
        self._dialogue = dialogue
        self._limits = DaideLimits()
        self._places: dict[int, Place] = {}
        self._passcodes: dict[int, int] = {}
        self._selector = selectors.DefaultSelector()
        self._link: socket.socket | None = None
        self._sessions: list[ClientSession] = []
        labels = [*first.players, *[""] * self._rules.seats][: self._rules.seats]
        self._table = DaideTable(
            dialogue.words, DaideVariant(), [Participant(label, "") for label in labels], self._passcodes
        )
        self._asked_at = 0.0
        self._deserted = False
        # What each power was found to answer to this view of the game.
        self._decided: GamePosition | None = None
        self._choices: dict[int, Choice | PlayerError] = {}
        # The arena does not repeat a seat's own move to it.
        self._alone: tuple[int, str] | None = None

    def add(self, place: Place) -> None:
        """A power of the game is played over DAIDE."""
        self._places[place.power] = place
        seconds = min(other.seating.setup.move_seconds for other in self._places.values())
        self._table.variant = self._dialogue.variant(seconds)

    # Before the game

    def seek(self, listener: str) -> None:
        """Ask the listener for all clients; only the first time. Raises PlayerStartError."""
        if self._link is not None:
            return
        self._link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._link.connect(listener)
            self._link.setblocking(False)
            send(
                self._link,
                Seek(self._game_id, {place.power + 1: place.client for place in self._places.values()}),
            )
        except OSError as error:
            raise PlayerStartError(f"the listener for DAIDE clients cannot be reached: {error}") from error
        self._selector.register(self._link, selectors.EVENT_READ)

    def await_client(self, place: Place, deadline: float) -> None:
        """Wait until a power's client is there.

        Raises PlayerTimeoutError where none of its name dialled in, TooFewAnswersError where others did,
        PlayerLeftError where it went again.
        """
        self._pump(lambda: place.came, deadline)
        if not place.came:
            namesakes = [other.came for other in self._places.values() if other.client == place.client]
            if not any(namesakes):
                raise PlayerTimeoutError(f"no client {place.client!r} dialled in")
            raise TooFewAnswersError(
                f"{sum(namesakes)} of {len(namesakes)} clients {place.client!r} dialled in"
            )
        if place.session is None:
            raise PlayerLeftError(f"its client went before the game: {place.why}")

    # The game

    def show(self, view: GamePosition) -> None:
        """Send all clients the last moves and what they led to; only the first time."""
        self._begin(self._rules.start(0))
        before, last = self._table.game, view.last
        if view is before or before is None:
            return
        if self._alone is not None and last is not None and last.position != before.position:
            # Others have moved since.
            self._take(self._after_alone(before))
        self._alone = None
        self._take(view)

    def _take(self, view: GamePosition) -> None:
        table = self._table
        if table.game is not None and view.position is table.game.position:
            table.game = view
        elif view.last is not None:
            table.processed(view.last, view)
        if view.outcome is not None:
            table.finish([seat - 1 for seat in view.outcome.winners])
        self._pump(lambda: False, 0.0)

    def _after_alone(self, before: GamePosition) -> GamePosition:
        """The game after a move that one power made alone."""
        assert self._alone is not None
        seat, text = self._alone
        after: GamePosition = self._rules.play(before, {seat: self._rules.read_move(before, seat, text)})
        return after

    def _begin(self, first: GamePosition) -> None:
        if self._table.game is None:
            self._table.begin(first)

    def choose(self, place: Place, view: GamePosition) -> Choice:
        """What a power does; waits for the orders of all, or until the deadline. Raises PlayerError."""
        self._begin(view)
        if self._alone is not None:
            self.show(view)
        if self._decided is not view:
            self._decide(view)
        choice = self._choices.pop(place.power, None)
        if choice is None:
            raise PlayerDisconnectedError("it is asked out of turn")
        if isinstance(choice, PlayerError):
            raise choice
        if self._rules.to_move(view) == (place.power + 1,):
            self._alone = place.power + 1, choice.text
        return choice

    def _decide(self, view: GamePosition) -> None:
        """Wait for the orders of all powers, and settle each power's choice."""
        table = self._table
        self._asked_at = time.monotonic()
        places = [self._places[seat - 1] for seat in self._rules.to_move(view) if seat - 1 in self._places]
        places = [place for place in places if not place.out]
        for place in places:
            place.settled_at = None
        table.ask(self._asked_at)
        self._pump(lambda: not self._awaited(places) or table.agreed_draw() is not None, None)
        draw = table.agreed_draw()
        self._choices = {place.power: self._choice(place, draw) for place in places}
        self._decided = view

    def _awaited(self, places: list[Place]) -> bool:
        """Whether an answer may still come; this stops the time and lets it go on, too.

        A lost client's orders are awaited until the deadline, as everybody's are, or until it has been away
        for too long. A game that all clients have deserted waits until then; the first that is back
        has the whole time of the turn again.
        """
        table = self._table
        deserted = not any(
            power not in self._places or self._places[power].session is not None for power in table.alive
        )
        candidates = [self._places[power] for power in table.alive] if deserted else places
        lost = [
            place
            for place in candidates
            if place.session is None
            and not (place.out or place.given_up())
            and (deserted or not table.order_books[place.power].complete)
        ]
        now = time.monotonic()
        if lost and (deserted or table.variant.dsd):
            table.stop_time(now)
        elif self._deserted and not deserted:
            table.ask(now)
        else:
            table.start_time(now)
        self._deserted = deserted
        return bool(lost) or any(
            place.session is not None and not table.order_books[place.power].settled for place in places
        )

    def _choice(self, place: Place, agreed: frozenset[int] | None) -> Choice | PlayerError:
        table = self._table
        order_book = table.order_books[place.power]
        missed: PlayerError | None = None
        draw = agreed or order_book.draw(table.alive)
        if agreed is None and not order_book.complete:
            if place.session is None:
                missed = PlayerDisconnectedError(f"player {place.label}: {place.why}")
            else:
                seconds = table.variant.limit(table.position.phase)
                missed = PlayerTimeoutError(f"player {place.label}: orders were missing after {seconds} s")
                self._into_disorder(place, missed)
                place.late_turns += 1
        else:
            place.late_turns = 0
        if place.session is None and place.given_up():
            return self._dismiss(
                place,
                PlayerDisconnectedError(
                    f"player {place.label}: {place.why}, and it did not come back within "
                    f"{place.parameters.reconnect_seconds:g} s"
                ),
            )
        if place.late_turns >= place.parameters.late_turns:
            return self._dismiss(
                place,
                PlayerTimeoutError(
                    f"player {place.label}: late in {place.late_turns} turns one after the other"
                ),
            )
        if isinstance(missed, PlayerTimeoutError):
            place.warnings.add(f"{table.position.name}: orders were missing at the deadline")
        orders: PowerOrders = order_book.orders(draw)
        seconds_taken = (place.settled_at or time.monotonic()) - self._asked_at
        return Choice(orders.text, seconds=max(0.0, seconds_taken), missed=missed)

    def _dismiss(self, place: Place, why: PlayerError) -> PlayerError:
        """The game goes on without a client. Returns why."""
        place.out = True
        self._into_disorder(place, why)
        if place.session is not None:
            session, place.session = place.session, None
            self._send_off(session)
        return why

    def _into_disorder(self, place: Place, why: PlayerError) -> None:
        """Send all clients a power's civil disorder, and note its first time."""
        table = self._table
        if place.power in table.alive:
            table.set_disorder(place.power, True)
            place.disorder = place.disorder or Disorder(why, table.turns)

    def finish(self, outcome: Outcome | None) -> None:
        """Send how the game ended, if it did."""
        if self._alone is not None and self._table.game is not None:
            after = self._after_alone(self._table.game)
            if after.outcome is not None:
                self.show(after)
        if outcome is not None:
            self._table.finish([seat - 1 for seat in outcome.winners])

    def close(self, seconds: float) -> None:
        """Send all clients off, and give them `seconds` to read the last messages."""
        self._drop_link()
        for session in self._sessions:
            session.say((FIXED["OFF"],))
            session.connection.say_goodbye()
        deadline = time.monotonic() + seconds
        while self._sessions and time.monotonic() < deadline:
            self._selector.select(min(_TICK_SECONDS, max(0.0, deadline - time.monotonic())))
            for session in list(self._sessions):
                if session.connection.drained():
                    self._forget(session)
        for session in list(self._sessions):
            self._forget(session)
        self._selector.close()

    def _drop_link(self) -> None:
        """From now on no client is passed to this game."""
        # It may be dropped already, when the listener has gone.
        if self._link is not None and self._link.fileno() >= 0:
            if self._link in self._selector.get_map():
                self._selector.unregister(self._link)
            self._link.close()

    # Connections

    def _pump(self, done: Callable[[], bool], deadline: float | None) -> None:
        """Hear clients until it is done, or the deadline: of the turn, if None is given."""
        while True:
            now = time.monotonic()
            limit = self._table.deadline if deadline is None else deadline
            wait = _TICK_SECONDS if limit is None else min(_TICK_SECONDS, max(0.0, limit - now))
            events = self._selector.select(0.0 if done() else wait)
            for key, mask in events:
                if key.data is None:
                    self._take_client()
                    continue
                if mask & selectors.EVENT_WRITE:
                    key.data.connection.flush()
                if mask & selectors.EVENT_READ:
                    self._hear(key.data)
            self._tend()
            if done():
                return
            if limit is not None and now >= limit and (not events or now >= limit + _GRACE_SECONDS):
                return

    def _tend(self) -> None:
        """Send the time, lose those that have gone, and note who has something to be sent."""
        self._table.ring(time.monotonic())
        for session in list(self._sessions):
            try:
                session.connection.check()
            except ConnectionHungError as why:
                self._lose(session, str(why))
            else:
                session.connection.wait_in(self._selector, session)

    def _hear(self, session: ClientSession) -> None:
        table = self._table
        for frame in session.connection.receive():
            tokens = frame.tokens
            session.receive(tokens)
            answer(table, session, tokens, time.monotonic())
            place = None if session.power is None else self._places[session.power]
            if place is not None and place.power in table.order_books:
                settled = table.order_books[place.power].settled
                place.settled_at = (place.settled_at or time.monotonic()) if settled else None

    def _take_client(self) -> None:
        assert self._link is not None
        try:
            passed, client_socket = receive_passed(self._link)
        except BlockingIOError:
            return
        except BrokenLinkError:
            # The games that have their clients go on.
            self._drop_link()
            return
        connection = ClientConnection(
            client_socket, self._dialogue.words, self._limits, bytes.fromhex(passed.rest)
        )
        match passed.part:
            case Part.OBSERVE:
                session = ClientSession(connection, None, "observer", None, self._dialogue.words)
                self._seat(session)
                if sum(other.power is None for other in self._sessions) > self._limits.observers:
                    self._send_off(session)
            case Part.PLAY:
                self._seat_player(passed, connection)
            case Part.RETURN:
                self._seat_again(passed, connection)

    def _seat(self, session: ClientSession) -> None:
        self._sessions.append(session)
        self._selector.register(session.connection.socket, selectors.EVENT_READ, session)
        self._table.enter(session, time.monotonic())
        if session.power is not None:
            self._table.set_disorder(session.power, False)
        self._hear(session)

    def _seat_player(self, passed: Passed, connection: ClientConnection) -> None:
        place = self._places[passed.seat - 1]
        place.came, place.name, place.version = True, passed.name, passed.version
        self._passcodes[place.power] = passed.passcode
        self._table.participants[place.power] = Participant(passed.name, passed.version)
        place.session = self._session(place, connection)
        self._seat(place.session)

    def _session(self, place: Place, connection: ClientConnection) -> ClientSession:
        return ClientSession(
            connection, place.power, place.label, place.seating.transcript, self._dialogue.words
        )

    def _seat_again(self, passed: Passed, connection: ClientConnection) -> None:
        """A client comes back to its power, if that waits for one."""
        table, place = self._table, self._places[passed.seat - 1]
        if place.session is not None:
            # It may have gone without anybody having looked.
            self._hear(place.session)
            self._tend()
        power = table.words.powers[place.power]
        iam = command("IAM", (power,), (number_token(self._passcodes[place.power]),))
        if place.session is not None or place.out or table.game is None or table.over:
            connection.say(command("REJ", iam))
            connection.close()
            return
        place.session, place.absent_since = self._session(place, connection), None
        place.session.say(command("YES", iam))
        place.warnings.add(f"{table.position.name}: its client came back")
        self._seat(place.session)

    def _lose(self, session: ClientSession, why: str) -> None:
        """A client has gone, or is sent away."""
        table = self._table
        self._forget(session)
        if session.power is None:
            return
        place = self._places[session.power]
        place.session, place.absent_since, place.why = None, time.monotonic(), why
        if table.game is None or table.over:
            return
        place.warnings.add(f"{table.position.name}: its client went: {why}")
        # A lost client agrees to nothing, even where it agreed before.
        table.order_books[place.power].draws.clear()
        self._into_disorder(place, PlayerDisconnectedError(f"player {place.label}: {why}"))

    def _send_off(self, session: ClientSession) -> None:
        session.say((FIXED["OFF"],))
        self._forget(session)

    def _forget(self, session: ClientSession) -> None:
        self._table.leave(session)
        self._sessions.remove(session)
        self._selector.unregister(session.connection.socket)
        session.connection.close()
