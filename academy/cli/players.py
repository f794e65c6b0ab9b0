"""Commands for players: who taught what, whose votes count, and what the libraries are without one.

They work on a data folder, also while servers use it; muting is done at a server where its address is given.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final

import typer

from academy.cli import printing
from academy.cli.commands import CommandError, Commands
from academy.cli.connection import with_server_where_asked
from academy.cli.data_folder import account_name, open_existing
from academy.cli.options import Json
from academy.cli.printing import counted
from academy.cli.progress import counting_events
from academy.cli.services import Server
from academy.cli.serving import DEFAULT_DATA, Data
from academy.wire.command_line import Program

if TYPE_CHECKING:
    from academy.store import forgetting
    from academy.store.environment import Transaction
    from academy.store.library_store import Store

_REPLAYS: Final = 20
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="The player's name, as knowledge is kept under it.")
]
OnlyGame = Annotated[str, typer.Option("--game", help="Only in this game.")]


def add_to(application: typer.Typer) -> None:
    """Add these commands."""
    players = Program(
        "players",
        "List those who taught, mute one, forget what one taught: in a data folder, also while servers "
        "use it.",
        Commands,
    )
    players.command("list")(list_players)
    players.command("mute")(with_server_where_asked(mute))
    players.command("unmute")(with_server_where_asked(unmute))
    players.command("forget")(forget)
    application.add_typer(players)


@dataclass
class _Known:
    """The figures of a player over all games."""

    games: int = 0
    elo: float | None = None
    votes: Counter[str] = field(default_factory=Counter)
    muted: bool = False


def list_players(game: OnlyGame = "", data: Data = DEFAULT_DATA, json: Json = False) -> None:
    """List players: number of patterns voted for, and whether muted.

    The Elo is shown with --game: a player has one for each game.
    """
    with open_existing(data, read_only=True) as store, store.environment.reading() as transaction:
        known = _players(transaction, game)
    rows = sorted(known.items(), key=lambda row: (-row[1].votes.total(), row[0]))
    if json:
        printing.print_json(
            [
                {"player": name, "games": figures.games, "elo": figures.elo, "muted": figures.muted}
                | {"votes": {library: figures.votes[library] for library in ("middle-game", "endgame")}}
                for name, figures in rows
            ]
        )
        return
    cells = []
    for name, figures in rows:
        elo = "" if figures.elo is None else f"{figures.elo:.0f}"
        votes = (f"{figures.votes[library]:,}" for library in ("middle-game", "endgame"))
        cells.append((name, figures.games, elo, *votes, "muted" if figures.muted else ""))
    headings = (" player", "games", "elo", "middle-game", "endgame", " muted")
    printing.console().print(printing.table_of(f"Players in {data}", cells, *headings))


def _players(transaction: "Transaction", only: str) -> dict[str, _Known]:
    from academy.knowledge.votes import ELO_SCALE
    from academy.store import game_tables, keys
    from academy.store.codec.packing import unpack_message
    from academy.store.environment import TableName
    from academy.store.player_commands import muted_players
    from academy.v1 import pattern_pb2

    known: dict[str, _Known] = {}
    for game_id in _games(transaction, only):
        for name, hundredths in game_tables.list_ratings(transaction, game_id):
            figures = known.setdefault(name, _Known())
            figures.games += 1
            # In each game a player has an Elo of its own.
            figures.elo = hundredths / ELO_SCALE if only else None
        for key, stored in transaction.scan(TableName.PATTERNS, keys.in_game(game_id)):
            library = keys.pattern_of(key)[0].value
            for vote in unpack_message(pattern_pb2.PatternRecord, stored).votes:
                known.setdefault(vote.player, _Known()).votes[library] += 1
    for muted in muted_players(transaction):
        known.setdefault(muted.player, _Known()).muted = True
    return known


def _games(transaction: "Transaction", only: str) -> list[str]:
    from academy.store import game_tables

    if only:
        game_tables.game_record(transaction, only)
        return [only]
    return game_tables.list_game_ids(transaction)


def mute(
    server: Server | None,
    name: Name,
    force: Annotated[bool, typer.Option("--force", help="Also a name that nothing is known of yet.")] = False,
    data: Data = DEFAULT_DATA,
) -> None:
    """Ignore a player's votes in all games, present and future.

    A pattern that only it proposed goes. `players unmute` brings back all but its silent votes, which
    counted for nothing. What other players' patterns became by its proposals stays: see `players forget`.
    """
    if server is not None:
        from academy.v1 import libraries_pb2

        request = libraries_pb2.MutePlayerRequest(player=name, force=force)
        done = server.libraries.MutePlayer(request)
        games, taken = done.games, done.patterns
    else:
        from academy.store.game_tables import list_game_ids
        from academy.store.player_commands import MuteInGame, MutePlayer

        with open_existing(data) as store:
            store.run(MutePlayer(name, force))
            muted_in = store.read(list_game_ids)
            taken = sum(store.run(MuteInGame(game_id, name, account_name())) for game_id in muted_in)
        games = len(muted_in)
    typer.echo(
        f"{name}: muted in {counted(games, 'game')}; "
        f"its votes for {counted(taken, 'pattern')} count no longer"
    )


def unmute(server: Server | None, name: Name, data: Data = DEFAULT_DATA) -> None:
    """Let a player propose again, and put back the votes that counted before it was muted."""
    if server is not None:
        from academy.v1 import libraries_pb2

        done = server.libraries.UnmutePlayer(libraries_pb2.UnmutePlayerRequest(player=name))
        was_muted, patterns, no_room = done.was_muted, done.patterns, done.no_room
    else:
        from academy.store.game_tables import list_game_ids
        from academy.store.player_commands import UnmuteInGame, UnmutePlayer

        with open_existing(data) as store:
            was_muted = store.run(UnmutePlayer(name))
            games_back = store.read(list_game_ids)
            back = [store.run(UnmuteInGame(game_id, name, account_name())) for game_id in games_back]
        patterns = sum(outcome.patterns for outcome in back)
        no_room = sum(outcome.no_room for outcome in back)
    if not (was_muted or patterns or no_room):
        raise CommandError(f"{name!r} is not muted; `academy players list` says who is")
    lost = f"; {counted(no_room, 'pattern')} lost for want of room" if no_room else ""
    typer.echo(f"{name}: may propose again; its votes for {counted(patterns, 'pattern')} are back{lost}")


def forget(
    name: Name,
    game: OnlyGame = "",
    really: Annotated[
        bool, typer.Option("--really", help="Do it: without this, only what would change is shown.")
    ] = False,
    data: Data = DEFAULT_DATA,
    json: Json = False,
) -> None:
    """Make the libraries what they are without all that a player proposed, by replaying their events.

    Games it played stay in the opening tree, the measures and the ratings. Without --really nothing changes.
    It cannot be undone: make a backup first. A player that is not muted may go on proposing.
    """
    from academy.store import event_log, forgetting

    with open_existing(data, read_only=not really) as store:
        environment = store.environment
        with environment.reading() as transaction:
            games = _games(transaction, game)
            events = sum(event_log.count(transaction, game_id) for game_id in games)
        differences = {}
        with counting_events(events) as note:
            for game_id in games:
                replay = forgetting.begin_replay(environment, game_id, name, note)
                differences[game_id] = (
                    _forget(store, replay) if really else forgetting.preview_forgetting(environment, replay)
                )
    if json:
        printing.print_json(
            {
                game_id: {"gone": difference.gone, "changed": difference.changed, "new": difference.new}
                | {"compacted": difference.compacted, "replayed": difference.replayed}
                for game_id, difference in differences.items()
            }
        )
        return
    for game_id, difference in differences.items():
        if not (difference.removed or difference.patterns):
            continue
        done = "" if really else "would be "
        typer.echo(
            f"{game_id}: {counted(difference.gone, 'pattern')} {done}removed, "
            f"{difference.changed:,} {done}changed, {difference.new:,} {done}new"
        )
        if not difference.replayed:
            typer.echo(
                f"{game_id}: its events do not make its libraries again by these rules: votes are taken "
                "out of the patterns as they are, and what they merged stays"
            )
        elif difference.compacted:
            typer.echo(
                f"{game_id}: events up to {difference.compacted:,} were compacted away: "
                "what was learnt before keeps its merged cells and loses the player's votes"
            )
    if not any(difference.removed or difference.patterns for difference in differences.values()):
        typer.echo(f"{name}: no pattern is otherwise without it")
    elif not really:
        typer.echo("nothing was changed; do it with --really")


def _forget(store: "Store", replay: "forgetting.Replay") -> "forgetting.Difference":
    from academy.store import forgetting
    from academy.store.errors import StoreBusyError

    for _ in range(_REPLAYS):
        try:
            return store.run(forgetting.ForgetPlayer(replay, account_name()))
        except StoreBusyError:
            # Contests were reported meanwhile.
            forgetting.preview_forgetting(store.environment, replay)
    raise CommandError("the servers learn faster than this can replay; try again when less is played")
