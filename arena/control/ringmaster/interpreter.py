"""Reads the Python of a control file without executing it.

Understood are literals, names, arithmetic, formatting, comprehensions, the file's own functions, `if`,
`for`, and calls of the words of control files and of a few harmless functions. Anything else is refused
with its line.
"""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from arena.control.ringmaster.operations import (
    COMPARISONS,
    FUNCTIONS,
    MATHEMATICS,
    UNARY,
    binary,
    checked,
    formatted,
    method,
)
from arena.control.ringmaster.refusals import Refused, refused

MAX_STEPS: Final = 1_000_000
MAX_ITEMS: Final = 20_000_000
MAX_DEPTH: Final = 50

Scope = dict[str, Any]


class _Returned(Exception):
    """A function's `return`, on its way to the call."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


class Module:
    """The name `math`."""


class Interpreter:
    """Reads one file: its statements change `names`."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self.names: Scope = dict(names)
        self._steps = 0
        self._items_made = 0
        self._depth = 0
        self._reading = False

    def run(self, source: str) -> None:
        """Read all statements. Raises Refused."""
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            why = getattr(error, "msg", None) or str(error)
            raise Refused(getattr(error, "lineno", None) or 0, f"this is not Python: {why}") from None
        self._reading = True
        self._statements(tree.body, self.names)
        self._reading = False

    # Statements

    def _statements(self, body: Sequence[ast.stmt], scope: Scope) -> None:
        for statement in body:
            self._statement(statement, scope)

    def _statement(self, node: ast.stmt, scope: Scope) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                found = self._value(value, scope)
                for target in targets:
                    self._assign(target, found, scope)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, self._value(value, scope), scope)
            case ast.AugAssign(target=ast.Name(id=name) as target, op=kind, value=value):
                old = self._name(ast.copy_location(ast.Name(name, ast.Load()), target), scope)
                with_more = self._guarded(node, binary, kind, old, self._value(value, scope))
                scope[name] = with_more
            case ast.Expr(value=value):
                self._value(value, scope)
            case ast.FunctionDef(decorator_list=[]):
                scope[node.name] = self._function(node, node.args, node.body, scope)
            case ast.Return(value=value):
                raise _Returned(None if value is None else self._value(value, scope))
            case ast.If(test=test, body=body, orelse=orelse):
                self._statements(body if self._value(test, scope) else orelse, scope)
            case ast.For(target=target, iter=items, body=body, orelse=[]):
                for item in self._items(items, scope):
                    self._assign(target, item, scope)
                    self._statements(body, scope)
            case ast.Pass():
                pass
            case ast.Import(names=[ast.alias(name="math", asname=asname)]):
                scope[asname or "math"] = Module
            case ast.ImportFrom(module="math", names=aliases) if all(a.name in MATHEMATICS for a in aliases):
                scope.update({alias.asname or alias.name: MATHEMATICS[alias.name] for alias in aliases})
            case ast.ImportFrom(module="__future__"):
                pass
            case _:
                raise refused(node, f"a statement of the kind {type(node).__name__}")

    def _assign(self, target: ast.expr, value: Any, scope: Scope) -> None:
        match target:
            case ast.Name(id=name):
                scope[name] = value
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                values = self._guarded(target, list, value)
                if len(values) != len(targets):
                    raise Refused(target.lineno, f"{len(values)} values for {len(targets)} names")
                for each, one in zip(targets, values, strict=True):
                    self._assign(each, one, scope)
            case ast.Subscript(value=owner, slice=place):
                items = self._value(owner, scope)
                if not isinstance(items, list | dict):
                    raise refused(target, "an assignment to this")
                self._guarded(target, items.__setitem__, self._value(place, scope), value)
            case _:
                raise refused(target, "an assignment to this")

    # Functions

    def _function(
        self, node: ast.AST, arguments: ast.arguments, body: Sequence[ast.stmt], scope: Scope
    ) -> Callable[..., Any]:
        if arguments.kwonlyargs or arguments.posonlyargs:
            raise refused(node, "a function with such arguments")
        names = [argument.arg for argument in arguments.args]
        defaults = [self._value(default, scope) for default in arguments.defaults]
        optional = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))

        def call(*values: Any, **named: Any) -> Any:
            inner = _Scope(scope, {})
            inner.update(optional)
            inner.update(zip(names, values, strict=False))
            rest = values[len(names) :]
            if arguments.vararg is not None:
                inner[arguments.vararg.arg] = rest
            elif rest:
                raise TypeError(f"{len(names)} arguments are expected, {len(values)} given")
            unknown = {name: value for name, value in named.items() if name not in names}
            if arguments.kwarg is not None:
                inner[arguments.kwarg.arg] = unknown
            elif unknown:
                raise TypeError(f"there is no argument {next(iter(unknown))!r}")
            inner.update({name: value for name, value in named.items() if name in names})
            missing = [name for name in names if dict.get(inner, name, _MISSING) is _MISSING]
            if missing:
                raise TypeError(f"the argument {missing[0]!r} is missing")
            if self._depth >= MAX_DEPTH:
                raise RecursionError(f"functions call each other more than {MAX_DEPTH} deep")
            if self._depth == 0 and not self._reading:
                self._steps = self._items_made = 0
            self._depth += 1
            try:
                self._statements(body, inner)
            except _Returned as returned:
                return returned.value
            finally:
                self._depth -= 1
            return None

        return call

    # Expressions

    def _value(self, node: ast.expr, scope: Scope) -> Any:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise Refused(node.lineno, f"reading the file takes more than {MAX_STEPS} steps")
        match node:
            case ast.Constant(value=value) if not isinstance(value, bytes | complex) and value is not ...:
                return value
            case ast.Name():
                return self._name(node, scope)
            case ast.List(elts=items):
                return self._several(items, scope)
            case ast.Tuple(elts=items):
                return tuple(self._several(items, scope))
            case ast.Set(elts=items):
                return self._guarded(node, set, self._several(items, scope))
            case ast.Dict(keys=keys, values=values):
                return self._dict(node, keys, values, scope)
            case ast.BinOp(left=left, op=kind, right=right):
                return self._guarded(node, binary, kind, self._value(left, scope), self._value(right, scope))
            case ast.UnaryOp(op=sign, operand=operand) if type(sign) in UNARY:
                return self._guarded(node, UNARY[type(sign)], self._value(operand, scope))
            case ast.BoolOp(op=kind, values=values):
                return self._bool(isinstance(kind, ast.And), values, scope)
            case ast.Compare(left=left, ops=kinds, comparators=others):
                return self._compare(node, left, kinds, others, scope)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._value(body if self._value(test, scope) else orelse, scope)
            case ast.Subscript(value=owner, slice=place):
                return self._subscript(node, self._value(owner, scope), place, scope)
            case ast.JoinedStr(values=parts):
                return self._guarded(node, "".join, [self._value(part, scope) for part in parts])
            case ast.FormattedValue():
                return self._formatted(node, scope)
            case ast.ListComp(element, loops) | ast.GeneratorExp(element, loops):
                return [self._value(element, inner) for inner in self._loops(loops, scope)]
            case ast.SetComp(elt=element, generators=loops):
                return self._guarded(
                    node, set, [self._value(element, inner) for inner in self._loops(loops, scope)]
                )
            case ast.DictComp(key=key, value=value, generators=loops):
                inner_scopes = self._loops(loops, scope)
                pairs = [(self._value(key, inner), self._value(value, inner)) for inner in inner_scopes]
                return self._guarded(node, dict, pairs)
            case ast.Lambda(args=arguments, body=body):
                returned = ast.copy_location(ast.Return(body), body)
                return self._function(node, arguments, [returned], scope)
            case ast.Attribute(value=owner, attr=name):
                return self._attribute(node, self._value(owner, scope), name)
            case ast.Call():
                return self._call(node, scope)
            case _:
                raise refused(node, f"an expression of the kind {type(node).__name__}")

    def _name(self, node: ast.Name, scope: Scope) -> Any:
        for names in (scope, self.names, FUNCTIONS):
            if node.id in names:
                return names[node.id]
        raise Refused(node.lineno, f"the name {node.id!r} is not defined")

    def _several(self, items: Sequence[ast.expr], scope: Scope) -> list[Any]:
        found: list[Any] = []
        for item in items:
            if isinstance(item, ast.Starred):
                found.extend(self._items(item.value, scope))
            else:
                found.append(self._value(item, scope))
        return found

    def _items(self, node: ast.expr, scope: Scope) -> list[Any]:
        items: list[Any] = self._guarded(node, list, self._value(node, scope))
        return items

    def _dict(
        self, node: ast.expr, keys: Sequence[ast.expr | None], values: Sequence[ast.expr], scope: Scope
    ) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key, value in zip(keys, values, strict=True):
            one = self._value(value, scope)
            if key is None:
                self._guarded(node, found.update, one)
            else:
                self._guarded(node, found.__setitem__, self._value(key, scope), one)
        return found

    def _bool(self, both: bool, values: Sequence[ast.expr], scope: Scope) -> Any:
        found: Any = both
        for value in values:
            found = self._value(value, scope)
            if bool(found) is not both:
                break
        return found

    def _compare(
        self,
        node: ast.expr,
        left: ast.expr,
        kinds: Sequence[ast.cmpop],
        others: Sequence[ast.expr],
        scope: Scope,
    ) -> bool:
        one = self._value(left, scope)
        for kind, other in zip(kinds, others, strict=True):
            two = self._value(other, scope)
            if not self._guarded(node, COMPARISONS[type(kind)], one, two):
                return False
            one = two
        return True

    def _subscript(self, node: ast.expr, owner: Any, place: ast.expr, scope: Scope) -> Any:
        if not isinstance(owner, str | list | tuple | dict):
            raise refused(node, "a part of this")
        if isinstance(place, ast.Slice):
            bounds = (place.lower, place.upper, place.step)
            limits = [None if bound is None else self._value(bound, scope) for bound in bounds]
            return self._guarded(node, owner.__getitem__, slice(*limits))
        return self._guarded(node, owner.__getitem__, self._value(place, scope))

    def _formatted(self, node: ast.FormattedValue, scope: Scope) -> str:
        value = self._value(node.value, scope)
        if node.conversion == ord("r") and self._guarded(node, formatted, value, "") is not None:
            value = repr(value)
        specification = "" if node.format_spec is None else self._value(node.format_spec, scope)
        text: str = self._guarded(node, formatted, value, specification)
        return text

    def _loops(self, loops: Sequence[ast.comprehension], scope: Scope) -> Iterator[Scope]:
        if not loops:
            yield scope
            return
        first, *rest = loops
        for item in self._items(first.iter, scope):
            inner = _Scope(scope, {})
            self._assign(first.target, item, inner)
            if all(self._value(test, inner) for test in first.ifs):
                yield from self._loops(rest, inner)

    def _attribute(self, node: ast.expr, owner: Any, name: str) -> Any:
        if owner is Module:
            if name not in MATHEMATICS:
                raise refused(node, f"math.{name}")
            return MATHEMATICS[name]
        return self._guarded(node, method, owner, name)

    def _call(self, node: ast.Call, scope: Scope) -> Any:
        function = self._value(node.func, scope)
        if not callable(function) or function is Module:
            raise refused(node, "a call of this")
        values = self._several(node.args, scope)
        named: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self._value(keyword.value, scope)
            self._guarded(node, named.update, {keyword.arg: value} if keyword.arg is not None else value)
        return self._guarded(node, function, *values, **named)

    def _guarded(self, node: ast.AST, function: Callable[..., Any], *values: Any, **named: Any) -> Any:
        """The value of a call whose mistakes are the control file's, not ours."""
        try:
            found = checked(function(*values, **named))
        except Refused:
            raise
        except (TypeError, ValueError, ArithmeticError, LookupError, RecursionError, MemoryError) as error:
            raise Refused(getattr(node, "lineno", 0), str(error) or type(error).__name__) from None
        if isinstance(found, str | list | tuple | dict | set):
            self._items_made += len(found)
            if self._items_made > MAX_ITEMS:
                raise Refused(
                    getattr(node, "lineno", 0), f"its lists and texts have more than {MAX_ITEMS} items"
                )
        return found


class _Scope(dict[str, Any]):
    """Names of a function or comprehension, around which are others."""

    def __init__(self, around: Mapping[str, Any], own: Mapping[str, Any]) -> None:
        super().__init__(own)
        self._around = around

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self._around

    def __missing__(self, name: str) -> Any:
        return self._around[name]


_MISSING: Final = object()
