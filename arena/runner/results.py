"""The results of a competition so far, as a report in all its forms."""

import gc
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from arena.control.settings import Control
from arena.reports.as_json import json_report
from arena.reports.assembly import assemble
from arena.reports.contents import CompetitionReport
from arena.reports.html_page import html_page
from arena.reports.text import text_report
from arena.results.database import ResultsDatabase
from arena.results.series_reader import SeriesReader
from arena.results.standings import Standings
from arena.runner.files import CompetitionFiles


@dataclass(frozen=True)
class Results:
    """A competition's results as they stand."""

    report: CompetitionReport

    @property
    def standings(self) -> Standings:
        """The table."""
        return self.report.standings

    def as_text(self) -> str:
        """The report."""
        return text_report(self.report)

    def as_json(self) -> Mapping[str, Any]:
        """The same as plain values."""
        return json_report(self.report)

    def as_html(self) -> str:
        """The same as a page."""
        return html_page(self.report)


def read_results(control: Control, files: CompetitionFiles) -> Results:
    """Read the results, also while the competition runs. Raises ResultsError if there are none."""
    files.check_results()
    # Searches for cycles among thousands of games would take a tenth of the time.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        with closing(ResultsDatabase.open(files.results, create=False)) as database:
            return Results(assemble(control, files.name, SeriesReader.find(database, files.name)))
    finally:
        if was_enabled:
            gc.enable()
