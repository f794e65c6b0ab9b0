"""`python -m arena.cli` is the command `arena`."""

from arena.cli.app import main

main()
