"""Commands about those who propose: who taught what, muting one, and forgetting what one taught."""

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final

import typer

from academy.cli import printing
from academy.cli.data_folder import account_name, existing
from academy.cli.failures import CommandError, Commands
from academy.cli.libraries import Json
from academy.cli.serving import DEFAULT_DATA, Data

if TYPE_CHECKING:
    from academy.store import forgetting
    from academy.store.environment import Transaction
    from academy.store.library_store import Store

_REPLAYS: Final = 20
Name = Annotated[str, typer.Argument(help="The player's name, as knowledge is kept under it.")]
OnlyGame = Annotated[str, typer.Option("--game", help="Only in this game.")]


def add_to(application: typer.Typer) -> None:
    """Add these commands."""
    players = typer.Typer(
        cls=Commands,
        no_args_is_help=True,
        help="List those who taught, mute one, forget what one taught: in a data folder, also while servers "
        "use it.",
    )
    players.command("list")(list_players)
    players.command("mute")(mute)
    players.command("unmute")(unmute)
    players.command("forget")(forget)
    application.add_typer(players, name="players")


@dataclass
class _Known:
    """What is known of a player over all games."""

    games: int = 0
    elo: float | None = None
    votes: Counter[str] = field(default_factory=Counter)
    muted: bool = False


def list_players(game: OnlyGame = "", data: Data = DEFAULT_DATA, json: Json = False) -> None:
    """List the players with their votes in the libraries: of how many patterns, and who is muted."""
    with existing(data, read_only=True) as store, store.environment.reading() as transaction:
        known = _players(transaction, game)
    rows = sorted(known.items(), key=lambda each: (-each[1].votes.total(), each[0]))
    if json:
        printing.print_json(
            [
                {"player": name, "games": each.games, "elo": each.elo, "muted": each.muted}
                | {"votes": {library: each.votes[library] for library in ("middle-game", "endgame")}}
                for name, each in rows
            ]
        )
        return
    table = printing.new_table("Players", " player", "games", "elo", "middle-game", "endgame", " muted")
    for name, each in rows:
        elo = "" if each.elo is None else f"{each.elo:.0f}"
        votes = (f"{each.votes[library]:,}" for library in ("middle-game", "endgame"))
        table.add_row(printing.shown(name), str(each.games), elo, *votes, "muted" if each.muted else "")
    printing.console().print(table)


def _players(transaction: "Transaction", only: str) -> dict[str, _Known]:
    from academy.knowledge.signatures import ELO_SCALE
    from academy.store import game_tables, keys
    from academy.store.codec import unpack_message
    from academy.store.environment import TableName
    from academy.store.player_commands import muted_players
    from academy.v1 import pattern_pb2

    known: dict[str, _Known] = {}
    for game_id in _games(transaction, only):
        for name, hundredths in game_tables.ratings(transaction, game_id):
            each = known.setdefault(name, _Known())
            each.games += 1
            each.elo = hundredths / ELO_SCALE
        for key, stored in transaction.scan(TableName.PATTERNS, keys.in_game(game_id)):
            library = keys.pattern_of(key)[0].value
            for vote in unpack_message(pattern_pb2.PatternRecord, stored).votes:
                known.setdefault(vote.player, _Known()).votes[library] += 1
    for muted in muted_players(transaction):
        known.setdefault(muted.player, _Known()).muted = True
    return known


def _games(transaction: "Transaction", only: str) -> list[str]:
    from academy.store import forgetting, game_tables

    if only:
        game_tables.game_record(transaction, only)
        return [only]
    return list(forgetting.games(transaction))


def mute(
    name: Name,
    force: Annotated[bool, typer.Option("--force", help="Also a name that nothing is known of yet.")] = False,
    data: Data = DEFAULT_DATA,
) -> None:
    """Let a player's votes count for nothing, in all games: those it has, and all it proposes from now on.

    A pattern that only it proposed goes. `players unmute` brings back all but its silent votes, which
    counted for nothing. What other players' patterns became by its proposals stays: see `players forget`.
    """
    from academy.store.player_commands import MuteInGame, MutePlayer

    with existing(data) as store:
        store.run(MutePlayer(name, force))
        games = _games_of(store)
        taken = sum(store.run(MuteInGame(game_id, name, account_name())) for game_id in games)
    typer.echo(f"{name}: muted in {len(games)} games; its votes for {taken:,} patterns count no longer")


def unmute(name: Name, data: Data = DEFAULT_DATA) -> None:
    """Let a player propose again, and put back the votes that counted before it was muted."""
    from academy.store.player_commands import UnmuteInGame, UnmutePlayer

    with existing(data) as store:
        was_muted = store.run(UnmutePlayer(name))
        back = [store.run(UnmuteInGame(game_id, name, account_name())) for game_id in _games_of(store)]
    patterns, no_room = sum(each.patterns for each in back), sum(each.no_room for each in back)
    if not (was_muted or patterns or no_room):
        raise CommandError(f"{name!r} is not muted; `academy players list` says who is")
    lost = f"; {no_room:,} patterns have no room and are lost" if no_room else ""
    typer.echo(f"{name}: may propose again; its votes for {patterns:,} patterns are back{lost}")


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
    from academy.store import forgetting

    with existing(data, read_only=not really) as store:
        environment = store.environment
        with environment.reading() as transaction:
            games = _games(transaction, game)
        found = {}
        for game_id in games:
            replay = forgetting.begin(environment, game_id, name)
            found[game_id] = _forget(store, replay) if really else forgetting.preview(environment, replay)
    if json:
        printing.print_json(
            {
                game_id: {"gone": each.gone, "changed": each.changed, "new": each.new}
                | {"compacted": each.compacted, "replayed": each.replayed}
                for game_id, each in found.items()
            }
        )
        return
    for game_id, each in found.items():
        if not (each.removed or each.patterns):
            continue
        done = "" if really else "would be "
        typer.echo(
            f"{game_id}: {each.gone:,} patterns {done}removed, {each.changed:,} {done}changed, "
            f"{each.new:,} {done}new"
        )
        if not each.replayed:
            typer.echo(
                f"{game_id}: its events do not make its libraries again by these rules: votes are taken "
                "out of the patterns as they are, and what they merged stays"
            )
        elif each.compacted:
            typer.echo(
                f"{game_id}: events up to {each.compacted:,} were compacted away: of what was learnt before, "
                "votes are taken out of the patterns, and what they merged stays"
            )
    if not any(each.removed or each.patterns for each in found.values()):
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
            forgetting.preview(store.environment, replay)
    raise CommandError("the servers learn faster than this can replay; try again when less is played")


def _games_of(store: "Store") -> list[str]:
    from academy.store import forgetting

    with store.environment.reading() as transaction:
        return list(forgetting.games(transaction))
