"""One game from its opening to its verdict: who moves, what is recorded, when it ends early."""
