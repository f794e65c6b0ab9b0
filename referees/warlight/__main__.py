"""Maps from the command line: `python -m referees.warlight double island.txt --offset 100 --bridges 3 7`."""

import argparse
import sys
from collections.abc import Sequence

from referees.warlight.map_layout import with_places
from referees.warlight.maps import InvalidMapError, WarMap, double, load_map, mirror_of, write_map


def main(arguments: Sequence[str] | None = None) -> int:
    """Build or describe a map; returns the exit status, 1 for a map that breaks a rule."""
    parser = argparse.ArgumentParser(prog="python -m referees.warlight", description="Maps of WarLight.")
    commands = parser.add_subparsers(dest="command", required=True)
    doubling = commands.add_parser("double", help="mirror a map; the new map goes to standard output")
    doubling.add_argument("map", help="a map of the package, or a file that ends in .txt")
    doubling.add_argument(
        "--offset", type=int, required=True, help="what is added to the ids of the new half"
    )
    doubling.add_argument(
        "--bridges",
        type=int,
        nargs="+",
        required=True,
        help="ids of territories to be linked with their image",
    )
    showing = commands.add_parser("show", help="check a map and say what it is")
    showing.add_argument("map", help="a map of the package, or a file that ends in .txt")
    options = parser.parse_args(arguments)
    try:
        war_map = load_map(options.map)
        if options.command == "double":
            whole = double(with_places(war_map), options.offset, options.bridges, war_map.name)
            sys.stdout.write(write_map(whole))
        else:
            print(_described(war_map))
    except InvalidMapError as error:
        print(f"{options.map}: {error}", file=sys.stderr)
        return 1
    return 0


def _described(war_map: WarMap) -> str:
    armies = sum(bonus.armies for bonus in war_map.bonuses)
    mirrored = "no mirror" if mirror_of(war_map) is None else "two halves that are each other's image"
    return (
        f"{war_map.name}: {len(war_map.territories)} territories, {len(war_map.edges)} pairs of neighbours, "
        f"{len(war_map.bonuses)} bonuses of {armies} armies in all, {mirrored}"
    )


if __name__ == "__main__":
    sys.exit(main())
