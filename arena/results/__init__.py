"""Results: the database of games, ratings, standings and reports."""
