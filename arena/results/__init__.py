"""Results: the database of games, and what it shows of a competition."""
