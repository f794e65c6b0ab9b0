"""SAGA's tables out of the results database and into it, as SQLite files or folders of CSV."""
