"""Contests kept in a file as they were reported, so that ACADEMY can learn from the same ones again."""

from pathlib import Path
from typing import Final

from academy.v1 import contests_pb2

_LENGTH_BYTES: Final = 4


class Records:
    """Reports, oldest first. What an interrupted run wrote of a last one is cut off."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.reports: list[contests_pb2.ReportContestRequest] = []
        held = file.read_bytes() if file.exists() else b""
        start = 0
        while (begin := start + _LENGTH_BYTES) <= len(held):
            end = begin + int.from_bytes(held[start:begin], "big")
            if end > len(held):
                break
            self.reports.append(contests_pb2.ReportContestRequest.FromString(held[begin:end]))
            start = end
        if start < len(held):
            with file.open("r+b") as damaged:
                damaged.truncate(start)

    def add(self, report: contests_pb2.ReportContestRequest) -> None:
        """Write a report down at once."""
        self.reports.append(report)
        content = report.SerializeToString()
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("ab") as out:
            out.write(len(content).to_bytes(_LENGTH_BYTES, "big") + content)
