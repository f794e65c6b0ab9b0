"""The arena: runs matches between programs, records them, rates the players and reports to ACADEMY."""
