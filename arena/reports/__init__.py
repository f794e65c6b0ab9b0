"""Reports of competitions: as text, as JSON and as a page."""
