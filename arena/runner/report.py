"""The results of a competition so far, as a report."""

from contextlib import closing

from arena.control.settings import Control
from arena.reports.assembly import assemble
from arena.reports.contents import CompetitionReport
from arena.results.database import ResultsDatabase
from arena.results.series_reader import SeriesReader
from arena.runner.files import CompetitionFiles


def read_report(control: Control, files: CompetitionFiles) -> CompetitionReport:
    """Report the results, also of a running competition. Raises ResultsError if there are none."""
    files.check_results()
    with closing(ResultsDatabase.open(files.results, create=False)) as database:
        return assemble(control, files.name, SeriesReader.find(database, files.name))
