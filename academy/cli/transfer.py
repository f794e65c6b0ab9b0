"""Commands that move libraries: to and from files."""

import typer


def add_to(application: typer.Typer) -> None:
    """Add these commands."""
