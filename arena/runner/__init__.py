"""A competition being run: its games planned, played, written down, stopped and resumed."""
