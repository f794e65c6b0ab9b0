"""The processes that play games, and how each ends with the run that started it."""
