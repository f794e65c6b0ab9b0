"""Control files written for Python 2, which the ringmaster needs, made Python 3."""

import ast
from typing import Final

# What Python 3 reads, and finds missing when it is executed.
_NAMES: Final = frozenset(
    {"apply", "basestring", "execfile", "long", "raw_input", "reduce", "unichr", "unicode", "xrange"}
)
_METHODS: Final = frozenset({"has_key", "iteritems", "iterkeys", "itervalues"})


class InconvertibleError(ValueError):
    """A file that neither Python reads; `line` is that of the first fault, where it is known."""

    def __init__(self, why: str, line: int | None) -> None:
        super().__init__(f"this is neither Python 3 nor Python 2 that can be converted: {why}")
        self.line = line


def as_python_3(name: str, text: str) -> str:
    """The text, converted if it is Python 2. `name` is the file's. Raises InconvertibleError."""
    problem = _syntax_problem(text)
    if problem is None and not _needs_python_2(ast.parse(text)):
        return text
    for print_is_function in (False, True) if problem else (True,):
        converted = _converted(text, name, print_is_function)
        if converted is not None and _syntax_problem(converted) is None:
            return converted
    if problem is None:
        return text
    line, why = problem
    raise InconvertibleError(why, line)


def _syntax_problem(text: str) -> tuple[int | None, str] | None:
    try:
        ast.parse(text)
    except SyntaxError as error:
        return error.lineno, error.msg
    except (ValueError, RecursionError, MemoryError) as error:
        return None, str(error) or type(error).__name__
    return None


def _needs_python_2(tree: ast.AST) -> bool:
    nodes = list(ast.walk(tree))
    own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    own |= {alias.asname or alias.name for node in imports for alias in node.names}
    return any(
        (isinstance(node, ast.Name) and node.id in _NAMES - own)
        or (isinstance(node, ast.Attribute) and node.attr in _METHODS)
        for node in nodes
    )


def _converted(text: str, name: str, print_is_function: bool) -> str | None:
    # Few files need it, and it takes longer to load than they to be read.
    from fissix.pgen2.parse import ParseError
    from fissix.pgen2.tokenize import TokenError
    from fissix.refactor import RefactoringTool, get_fixers_from_package

    tool = RefactoringTool(
        get_fixers_from_package("fissix.fixes"), {"print_function": print_is_function}, explicit=[]
    )
    try:
        return str(tool.refactor_string(text if text.endswith("\n") else f"{text}\n", name))
    except (ParseError, TokenError, SyntaxError, ValueError, RecursionError):
        return None
