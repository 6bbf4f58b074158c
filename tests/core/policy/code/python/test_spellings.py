"""Code that runs a shell is found in every place of the syntax, by whatever name it goes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.policy.code.python.samples import judged
from watchgate.core.policy.code.code_reading import read

SPELLINGS = (
    "__import__('os').system('git push --force')",
    "getattr(__import__('os'), 'system')('git push --force')",
    "__import__('importlib').import_module('os').system('git push --force')",
    "__import__('subprocess').run(['git', 'push', '--force'])",
    "__import__('subprocess').check_output('git push --force', shell=True)",
    "[*map(__import__('os').popen, ['git push --force'])]",
    "(lambda c: __import__('os').system(c))('git push --force')",
    "{'a': __import__('os').system}['a']('git push --force')",
    "(print, __import__('os').system)[1](f'git push {\"--force\"}')",
    "(__import__('os').system if 1 else print)('git push --force')",
    "next(iter([__import__('os').system]))('git ' + 'push --force')",
    "exec('x')",
    "eval('x')",
    "(exec)('x')",
    "[exec][0]('x')",
    "__builtins__.exec('x')",
    "__import__('builtins').eval('x')",
    "__import__('os').system(input())",
    "__import__('ctypes').CDLL(None)",
    "__import__('pickle').loads(b'x')",
    "().__class__",
    "(lambda: 0).__globals__",
    "__import__('sys').modules['os'].system('x')",
    "sorted(['x'], key=exec)",
)

IN_EXPRESSIONS = (
    "({})",
    "[{}]",
    "({}, 1)",
    "{{{}}}",
    "{{{}: 1}}",
    "{{1: {}}}",
    "{{**dict([(1, {})])}}",
    "[*[{}]]",
    "1 + {}",
    "{} + 1",
    "-{}",
    "not {}",
    "1 and {}",
    "{} or 1",
    "1 if {} else 2",
    "{} if 1 else 2",
    "2 if 1 else {}",
    "1 < {}",
    "{} in [1]",
    "print({})",
    "print(*[{}])",
    "print(end={})",
    "print(**{{'end': {}}})",
    "{}.a",
    "{}[0]",
    "[1][{}]",
    "[1][{}:]",
    "[1][:{}]",
    "[1][::{}]",
    "[x for x in [{}]]",
    "[{} for x in [1]]",
    "[1 for x in [1] if {}]",
    "{{{} for x in [1]}}",
    "{{1: {} for x in [1]}}",
    "{{{}: 1 for x in [1]}}",
    "list({} for x in [1])",
    "lambda: {}",
    "lambda x={}: x",
    "lambda *, x={}: x",
    "(x := {})",
    "str({})",
    "len([{}])",
    "open({})",
    "max(1, {})",
    "{}.strip()",
    "'a'.join([{}])",
)

IN_STATEMENTS = (
    "{}",
    "x = {}",
    "x: int = {}",
    "x: {} = 1",
    "x: {}",
    "x = 1\nx += {}",
    "x = y = {}",
    "a, b = {}, 1",
    "x = [1]\nx[{}] = 1",
    "x = [1]\nx[0] = {}",
    "x = [1]\nx[{}] += 1",
    "x = [1]\ndel x[{}]",
    "x = [1]\ndel x[0:{}]",
    "class A: pass\nA().x = {}",
    "if {}: pass",
    "if 1: pass\nelif {}: pass",
    "if 1: pass\nelse: {}",
    "while {}: pass",
    "while 0: pass\nelse: {}",
    "for x in {}: pass",
    "for x in []: {}",
    "for x in []: pass\nelse: {}",
    "with {}: pass",
    "with open('a') as f: {}",
    "try: {}\nexcept: pass",
    "try: pass\nexcept {}: pass",
    "try: pass\nexcept: {}",
    "try: pass\nexcept: pass\nelse: {}",
    "try: pass\nfinally: {}",
    "try: pass\nexcept* {}: pass",
    "raise {}",
    "raise ValueError from {}",
    "assert {}",
    "assert 1, {}",
    "def f(): {}",
    "def f(x={}): pass",
    "def f(*, x={}): pass",
    "def f(x: {}): pass",
    "def f(*x: {}): pass",
    "def f(**x: {}): pass",
    "def f(x: {}, /): pass",
    "def f() -> {}: pass",
    "def f(): return {}",
    "def f(): yield {}",
    "def f(): yield from {}",
    "async def f(): await {}",
    "async def f():\n    async for x in {}: pass",
    "async def f():\n    async with {}: pass",
    "async def f(): return [x async for x in {}]",
    "@print({})\ndef f(): pass",
    "@print({})\nclass A: pass",
    "class A({}): pass",
    "class A(metaclass={}): pass",
    "class A: {}",
    "class A:\n    x = {}",
    "class A:\n    x: {}",
    "class A:\n    def f(self): {}",
    "class A:\n    def f(self, x={}): pass",
    "class A:\n    class B:\n        def f(self): {}",
    "match {}:\n    case 1: pass",
    "match 1:\n    case 1 if {}: pass",
    "match 1:\n    case _: {}",
    "return_ = 1\nglobal x\nx = {}",
    "print(f'''{{{}}}''')",
    "print(f'''{{1:{{{}}}}}''')",
    "print(f'''{{{}!r}}''')",
)

contexts = st.tuples(
    st.sampled_from(IN_STATEMENTS),
    st.lists(st.sampled_from(IN_EXPRESSIONS), max_size=3),
    st.sampled_from(SPELLINGS),
)


def _is_found(code: str) -> bool:
    found = read("python", code)
    return bool(found.unread) or any("push" in str(argv) for argv in found.commands)


def test_every_place_of_a_statement_is_looked_at() -> None:
    missed = [place for place in IN_STATEMENTS for s in SPELLINGS if not _is_found(place.format(s))]
    assert missed == []


def test_every_place_of_an_expression_is_looked_at() -> None:
    missed = [
        place for place in IN_EXPRESSIONS for s in SPELLINGS if not _is_found(place.format(s))
    ]
    assert missed == []


@settings(max_examples=300, deadline=None)
@given(contexts)
def test_no_place_in_a_place_hides_it(context: tuple[str, list[str], str]) -> None:
    statement, places, code = context
    for place in places:
        code = f"({place.format(code)})"
    found = judged(statement.format(code))
    assert found.decision == "ask"
    assert found.risk in ("high", "critical")


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(IN_STATEMENTS), min_size=1, max_size=4), st.data())
def test_harmless_expressions_in_the_same_places_do_nothing(
    statements: list[str], data: st.DataObject
) -> None:
    harmless = st.sampled_from(("1", "len('a')", "str(1)", "[1, 2]", "'a'.upper()", "print"))
    code = "\n".join(each.format(data.draw(harmless)) for each in statements)
    assert read("python", code).commands in ((), (("cat", "a"),))
