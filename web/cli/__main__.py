"""Runs the command with `python -m web.cli`."""

from web.cli import main

main()
