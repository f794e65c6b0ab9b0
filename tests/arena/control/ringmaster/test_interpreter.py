"""What of Python is read without executing it, and what is refused."""

import math
from typing import Any

import pytest

from arena.control.ringmaster.interpreter import Interpreter
from arena.control.ringmaster.refusals import Refused

SOURCE_LINES = [
    "a = 1",
    "a = b = -2.5",
    "a, (b, c) = 1, [2, 3]",
    "a = {'x': 1, **{'y': 2}}; b = a['y']; a['z'] = [1, 2][1:]",
    "a = [x * y for x in range(3) for y in (1, 2) if x != y]",
    "a = {n: str(n) for n in range(3)}; b = {n % 2 for n in range(5)}; c = sum(x for x in range(4))",
    "a = '%d of %s' % (1, 'two'); b = '{:03d}-{name}'.format(7, name='x'); c = f'{3 * 2:>4}|{1.5!r}'",
    "a = '%(n)03d of %(who)s, %%' % {'n': 1, 'who': 'two', 'more': 3}; b = '%(2000)s' % {'2000': 1}",
    "a = '%(n)d players, 100%% serious' % {'n': 2}; b = round(2.5); c = round(-0.25, 1)",
    "a = sum([1, 2], 3); b = sum([[1], [2]], []); c = [1]; c.extend([2]); d = 'aba'.replace('a', 'xy')",
    "a = 7 // 2; b = 7 % 4; c = 2 ** 10; d = 1 / 2; e = not 1; f = 1 < 2 <= 2; g = 3 in [3]",
    "a = 'x' if 1 > 2 else 'y'; b = 0 or 'z'; c = 1 and 2; d = None is None",
    "a = ', '.join(['x', 'y']); b = ' X '.strip().lower(); c = 'a b'.split(); d = 'ab'.replace('a', 'c')",
    "a = []\nfor i, x in enumerate('abc'):\n    if i:\n        a.append(x)\n    else:\n        pass",
    "a = [1]; a += [2]; b = sorted([3, 1, 2], reverse=True); c = dict([('k', 1)]); d = list(zip([1], [2]))",
    "from math import log, exp as e\nimport math\na = e(0); b = math.floor(2.5); c = log(1)",
    "def f(x, y=2, *m, **named):\n    z = x + y\n    return [z, list(m), named]\na = f(1, 5, 6, k=7)",
    "def outer(x):\n    def inner(y):\n        return x * y\n    return inner(3)\na = outer(2)",
    "b = (lambda x: x + 1)(1)",
    "N = 3\ndef f():\n    return N\nN = 4\na = f()",
    "a = max([1, 3], key=lambda n: -n); b = abs(-1); c = round(2.567, 2); d = int('7'); e = float(2)",
    "a: int = 5\n'text on its own'\nb = (1, 2) + (3,); c = 'ab' * 2; d = [*range(2), 9]",
]


@pytest.mark.parametrize("source", SOURCE_LINES)
def test_it_reads_what_python_would_compute(source: str) -> None:
    reader = Interpreter({})
    reader.run(source)
    expected: dict[str, Any] = {}
    exec(source, expected)
    names = [name for name, value in expected.items() if name in "abcdefg" and not callable(value)]
    assert names
    assert {name: reader.names[name] for name in names} == {name: expected[name] for name in names}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\nimport os", "line 2: a statement of the kind Import is not read here; --trust-control-file"),
        ("from os import system", "line 1: a statement of the kind ImportFrom"),
        ("from math import factorial", "line 1: a statement of the kind ImportFrom"),
        ("while True:\n    pass", "line 1: a statement of the kind While"),
        ("class A:\n    pass", "a statement of the kind ClassDef"),
        ("try:\n    x = 1\nexcept Exception:\n    pass", "a statement of the kind Try"),
        ("with open('x') as f:\n    pass", "a statement of the kind With"),
        ("@d\ndef f():\n    pass", "a statement of the kind FunctionDef"),
        ("x = (1).__class__", "line 1: the method int.__class__ is not read here"),
        ("x = ''.__class__.__mro__", "the method str.__class__"),
        ("x = '{0.__class__}'.format(1)", "parts of values are not read here"),
        ("import math\nx = math.__loader__", "line 2: math.__loader__"),
        ("open('/etc/passwd')", "the name 'open' is not defined"),
        ("eval('1')", "the name 'eval' is not defined"),
        ("x = [y for y in x]", "the name 'x' is not defined"),
        ("x = yield 1", "an expression of the kind Yield"),
        ("print 'x'", "line 1: this is not Python"),
        ("x = (1", "line 1: this is not Python"),
        ("x = 10 ** 10 ** 10", "an exponent of 10000000000: at most 1000"),
        ("x = range(1000000); y = zip(*([x] * 1000))", "line 1: lists and texts may have at most"),
        ("x = round(5, -10 ** 9)", "line 1: round(..., -1000000000): at most 1000 digits"),
        ("x = '%(a(b)c)30000000d' % {'a(b)c': 1}", "line 1: the names within a format may hold no brackets"),
        ("x = {[1]: 2 for y in [1]}", "line 1: unhashable type: 'list'"),
        ("x = {[1] for y in [1]}", "line 1: unhashable type: 'list'"),
        ("x = dict('a', **5)", "line 1: 'int' object is not iterable"),
        ("x = 10 ** 101", "numbers may be at most"),
        ("x = [0] * 10 ** 9", "at most 1000000 items"),
        ("x = 'ab' * 10 ** 9", "at most 1000000 items"),
        ("x = range(10 ** 9)", "at most 1000000 items"),
        ("x = '%9999999d' % 1", "no numbers of four digits"),
        ("x = '%*d' % (9999999, 1)", "no numbers of four digits"),
        ("x = '{:9999999}'.format(1)", "no numbers of four digits"),
        ("x = f'{1:9999999}'", "no numbers of four digits"),
        ("a = []\nfor i in range(40):\n    a = [a, a]\nx = '%s' % a", "line 4: a list can't be made text"),
        ("x = '%s' % {'a': 1}", "line 1: a dict can't be made text"),
        ("x = '%(a)s' % {'a': [1]}", "line 1: a list can't be made text"),
        ("x = '%(a)s' % {'b': 1}", "line 1: 'a'"),
        ("x = '%(a)9999d' % {'a': 1}", "no numbers of four digits"),
        ("s = 'a' * 1000000\nx = ('%s' * 1000) % ((s,) * 1000)", "line 2: lists and texts may have at most"),
        ("s = 'a' * 1000000\nx = ('{0}' * 1000).format(s)", "line 2: lists and texts may have at most"),
        ("s = 'a' * 1000000\nx = s.replace('a', 'b' * 1000)", "line 2: lists and texts may have at most"),
        ("s = 'a' * 1000000\nx = f'{s}{s}'", "line 2: lists and texts may have at most"),
        ("a = [1]\nfor i in range(60):\n    a.extend(a)", "line 3: lists and texts may have at most"),
        ("x = sum([[1] * 1000000] * 500, [])", "line 1: lists and texts may have at most"),
        (
            "s = 'a ' * 500000\nfor i in range(99):\n    s.split()",
            "line 3: its lists and texts have more than",
        ),
        ("def f():\n    return f()\nx = f()", "functions call each other more than 50 deep"),
        ("for i in range(1000):\n    for j in range(1000):\n        x = i", "takes more than 1000000 steps"),
        ("x = 1 / 0", "line 1: division by zero"),
        ("x = {}['a']", "line 1: 'a'"),
        ("x = 1 + 'a'", "line 1: unsupported operand"),
        ("a, b = 1, 2, 3", "line 1: 3 values for 2 names"),
        ("def f(x):\n    return x\nf()", "line 3: the argument 'x' is missing"),
        ("def f(x):\n    return x\nf(1, 2)", "line 3: 1 arguments are expected, 2 given"),
        ("def f(x):\n    return x\nf(1, y=2)", "line 3: there is no argument 'y'"),
        ("x = 1 @ 2", "the operator MatMult is not read here"),
        ("x = 5\nx()", "line 2: a call of this"),
        ("x = 5\nx[0] = 1", "line 2: an assignment to this"),
        ("x = 1 << 10 ** 9", "the operator LShift is not read here"),
        ("x = b'bytes'", "an expression of the kind Constant"),
    ],
)
def test_anything_else_is_refused_by_its_line(source: str, message: str) -> None:
    with pytest.raises(Refused) as error:
        Interpreter({}).run(source)
    assert message in str(error.value)


def test_functions_can_be_called_when_the_file_has_been_read() -> None:
    reader = Interpreter({})
    reader.run("def exp_10(x):\n    return 10.0 ** x")
    assert reader.names["exp_10"](2) == pytest.approx(100.0)
    assert math.isclose(reader.names["exp_10"](-1), 0.1)


def test_steps_are_counted_anew_for_each_call_afterwards() -> None:
    reader = Interpreter({})
    reader.run("def f(n):\n    return sum(x for x in range(n))")
    for _ in range(3):
        assert reader.names["f"](400_000) == sum(range(400_000))
