"""What can't be read of a ringmaster's control file."""

import ast

TRUST = "--trust-control-file executes the file as Python"


class Refused(ValueError):
    """Part of a control file that is not read; `line` counts from 1."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")
        self.line = line


def refused(node: ast.AST, what: str) -> Refused:
    """The error for something that only execution could make sense of."""
    return Refused(getattr(node, "lineno", 0), f"{what} is not read here; {TRUST}")
