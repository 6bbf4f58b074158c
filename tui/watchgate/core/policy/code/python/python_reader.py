"""Reads a piece of Python for what it does, as a `CodeReading`.

Each statement is taken as if it ran, in whatever branch it stands.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from watchgate.core.base.patterns.allowance import check
from watchgate.core.policy.code.code_reading import CodeReading, UnreadCode
from watchgate.core.policy.code.python import plain_data
from watchgate.core.policy.code.python.binding import bind
from watchgate.core.policy.code.python.dotted_names import is_harmless, may_be_read
from watchgate.core.policy.code.python.expressions import Expressions
from watchgate.core.policy.code.python.python_state import PythonState, items, module, parameters
from watchgate.core.policy.code.python.python_values import (
    PLAIN,
    Foreign,
    KnownText,
    Local,
    Many,
    Obj,
    Plain,
    Ref,
    Seq,
    Values,
    many,
    merged,
)

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Statements:
    """Goes through statements with what is known by now."""

    def __init__(self, state: PythonState) -> None:
        self.state = state
        self.values = Expressions(state)
        self.in_class = 0

    def all(self, body: Iterable[ast.stmt]) -> None:
        """Goes through statements; one that is not understood leaves the others as they are."""
        for each in body:
            check()
            try:
                self.one(each)
            except UnreadCode as why:
                self.state.doubt(str(why))

    def one(self, node: ast.stmt) -> None:
        """Goes through one statement."""
        goes = _KINDS.get(type(node))
        if goes is None:
            raise UnreadCode(f"has a {type(node).__name__.lower()} in it, which is not followed")
        goes(self, node)

    def expression(self, node: ast.Expr) -> None:
        """Works out an expression for what it does."""
        self.values.of(node.value)

    def assignment(self, node: ast.Assign) -> None:
        """Gives names their values."""
        values = self.values.of(node.value)
        for target in node.targets:
            self.assigned(target, values)

    def annotation(self, node: ast.AnnAssign) -> None:
        """Gives a name with a type its value; the type is worked out too."""
        self.values.of(node.annotation)
        if node.value is not None:
            self.assigned(node.target, self.values.of(node.value))

    def addition(self, node: ast.AugAssign) -> None:
        """Changes a value by an operator."""
        before, by = self.values.of(node.target), self.values.of(node.value)
        for each in before:
            # A list stays the same one, also where it has other names.
            if isinstance(each, Seq | Many):
                self.state.adds(each, items(by, self.state))
        self.assigned(node.target, plain_data.operation(self.state, before, node.op, by))

    def result(self, node: ast.Return) -> None:
        """Hands a value back."""
        values = self.values.of(node.value)
        if self.in_class:
            self.state.forget(values)
        if self.state.functions:
            self.state.results_in(self.state.functions[-1], values)

    def branch(self, node: ast.If | ast.While) -> None:
        """Goes through both ways of a condition."""
        self.tested(node.test)
        self.all((*node.body, *node.orelse))

    def loop(self, node: ast.For | ast.AsyncFor) -> None:
        """Goes through a loop once, with all that its name may be."""
        bind(self.values, node.target, items(self.values.of(node.iter), self.state))
        self.all((*node.body, *node.orelse))

    def context(self, node: ast.With | ast.AsyncWith) -> None:
        """Goes through what stands below a `with`."""
        for each in node.items:
            entered_values = self.entered(self.values.of(each.context_expr))
            if each.optional_vars is not None:
                bind(self.values, each.optional_vars, entered_values)
        self.all(node.body)

    def tried(self, node: ast.Try | ast.TryStar) -> None:
        """Goes through all that may run of a `try`."""
        self.all(node.body)
        for handler in node.handlers:
            self.values.of(handler.type)
            if handler.name:
                self.state.assign(handler.name, PLAIN)
            self.all(handler.body)
        self.all((*node.orelse, *node.finalbody))

    def raised(self, node: ast.Raise) -> None:
        """Goes through what is raised."""
        self.values.of(node.exc)
        self.values.of(node.cause)

    def asserted(self, node: ast.Assert) -> None:
        """Goes through a condition that has to hold."""
        self.tested(node.test)
        self.values.of(node.msg)

    def nothing(self, node: ast.stmt) -> None:
        """Passes over what only says where to go on, or whose a name is."""

    def tested(self, test: ast.expr) -> None:
        """Works out a condition, which asks its value only for what it is."""
        self.state.described(self.values.of(test))

    def assigned(self, target: ast.expr, values: Values) -> None:
        """Gives a target its values; in a class, what it holds is called by its objects."""
        if self.in_class and not self.state.functions:
            self.state.forget(values)
            if isinstance(target, ast.Name) and not may_be_read(target.id, private=True):
                raise UnreadCode(f"sets {target.id} of a class")
        bind(self.values, target, values)

    def entered(self, values: Values) -> Values:
        """Returns the values that `with` hands to its name."""
        iterated = [
            each if isinstance(each, Obj | KnownText | Foreign) else Plain() for each in values
        ]
        self.state.forget(v for v in values if isinstance(v, Ref))
        return merged(iterated) or PLAIN

    def deleted(self, node: ast.Delete) -> None:
        """Takes names and items away."""
        for each in node.targets:
            if isinstance(each, ast.Attribute | ast.Subscript):
                owners = self.values.of(each.value)
                if isinstance(each, ast.Subscript):
                    self.values.indices(each.slice)
                if any(isinstance(o, Ref) and o.name != "os.environ" for o in owners):
                    raise UnreadCode("takes away what other code uses")

    def imported(self, node: ast.Import) -> None:
        """Loads modules."""
        for each in node.names:
            self.state.imports(each.name)
            whole = each.name if each.asname else each.name.partition(".")[0]
            self.state.assign(each.asname or whole, module(whole))

    def imported_from(self, node: ast.ImportFrom) -> None:
        """Loads a module and takes names from it."""
        state = self.state
        source = node.module or ""
        if node.level:
            state.does("python3", "-m", source or "__init__")
        else:
            state.imports(source)
        for each in node.names:
            imported: Values = (Foreign(source),) if node.level else module(f"{source}.{each.name}")
            if each.name != "*":
                if not may_be_read(each.name, private=isinstance(imported[0], Foreign)):
                    raise UnreadCode(f"imports {each.name}, which may lead anywhere")
                state.assign(each.asname or each.name, imported)
            elif isinstance(imported[0], Ref) and is_harmless(f"{source}.x"):
                state.stars.append(source)
            else:
                raise UnreadCode(f"takes all names of {source}")

    def function(self, node: Function) -> None:
        """Goes through a function, whoever calls it."""
        number = self.values.number(node)
        self.values.defaults(node.args)
        self.annotated(node)
        local: Values = (Local(number),)
        if self.in_class and not self.state.functions:
            if not may_be_read(node.name, private=True):
                raise UnreadCode(f"defines {node.name}, which runs unasked")
            self.state.called_by_others(number)
            self.state.assign(f".{node.name}", local)
        for decorator in node.decorator_list:
            self.decorated(decorator, local)
        self.state.assign(node.name, local)
        self.state.functions.append(number)
        self.all(node.body)
        self.state.functions.pop()

    def annotated(self, node: Function) -> None:
        """Works out the types of a function, which are expressions like any other."""
        given = node.args
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        for each in (*(arg.annotation for arg in every if arg is not None), node.returns):
            self.values.of(each)

    def decorated(self, decorator: ast.expr, local: Values) -> None:
        """Takes a decorator for what it is: a call with the function, which may then be called."""
        for each in self.values.of(decorator):
            match each:
                case Ref(name=name) if not is_harmless(name):
                    raise UnreadCode(f"hands a function to {name}")
                case Plain() if not isinstance(decorator, ast.Call | ast.Attribute):
                    raise UnreadCode("hands a function to something that is not followed")
                case _:
                    pass
        self.state.forget(local)

    def defined_class(self, node: ast.ClassDef) -> None:
        """Goes through a class; whoever has an object of it may call its methods."""
        number = self.values.number(node)
        for base in node.bases:
            self.state.forget(self.values.of(base))
        for keyword in node.keywords:
            values = self.values.of(keyword.value)
            self.state.forget(values)
            if keyword.arg == "metaclass" and any(not isinstance(v, Ref) for v in values):
                raise UnreadCode("makes a class in a way that is not followed")
        for decorator in node.decorator_list:
            self.decorated(decorator, (Local(number),))
        self.state.assign(node.name, (Local(number),))
        outer, self.state.functions = self.state.functions, []
        self.in_class += 1
        self.all(node.body)
        self.in_class -= 1
        self.state.functions = outer

    def matched(self, node: ast.Match) -> None:
        """Goes through all cases; what a pattern names may be any part of the subject."""
        subject = self.values.of(node.subject)
        self.state.forget(subject)
        bound = merged((*subject, *PLAIN))
        for case in node.cases:
            for each in ast.walk(case.pattern):
                match each:
                    case ast.MatchAs(name=str() as name) | ast.MatchStar(name=str() as name):
                        self.state.assign(name, bound)
                    case ast.MatchMapping(rest=str() as name):
                        self.state.assign(name, (many(bound),))
                    case ast.MatchValue(value=value) | ast.MatchClass(cls=value):
                        self.values.of(value)
                    case _:
                        pass
            if case.guard is not None:
                self.values.of(case.guard)
            self.all(case.body)


def bound_names(tree: ast.Module) -> set[str]:
    """The names that the code gives values to, anywhere."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                names |= {name, *parameters(node)}
            case ast.Lambda():
                names |= set(parameters(node))
            case ast.alias(name=name, asname=other):
                names.add(other or name.partition(".")[0])
            case ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name):
                names.add(name)
            case _:
                pass
    return names - {"*"}


_KINDS: Final[Mapping[type[ast.stmt], Callable[[Statements, Any], None]]] = {
    ast.Expr: Statements.expression,
    ast.Assign: Statements.assignment,
    ast.AnnAssign: Statements.annotation,
    ast.AugAssign: Statements.addition,
    ast.Return: Statements.result,
    ast.Import: Statements.imported,
    ast.ImportFrom: Statements.imported_from,
    ast.FunctionDef: Statements.function,
    ast.AsyncFunctionDef: Statements.function,
    ast.ClassDef: Statements.defined_class,
    ast.If: Statements.branch,
    ast.While: Statements.branch,
    ast.For: Statements.loop,
    ast.AsyncFor: Statements.loop,
    ast.With: Statements.context,
    ast.AsyncWith: Statements.context,
    ast.Try: Statements.tried,
    ast.TryStar: Statements.tried,
    ast.Raise: Statements.raised,
    ast.Assert: Statements.asserted,
    ast.Delete: Statements.deleted,
    ast.Match: Statements.matched,
    **dict.fromkeys(
        (ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal), Statements.nothing
    ),
}


_MAX_PASSES: Final = 9
# The parser goes down a level for each of these, and may run out of the stack of its thread.
_NESTS: Final = re.compile(
    r"\*\*|\b(?:not|lambda|else|elif|await|yield|if|for|while|try|with|def)\b"
)
_MAX_NESTS: Final = 400
_SIGNS: Final = re.compile(r"(?:[-+~]\s?){40}")
_MAX_BRACKETS: Final = 60
# A file may say in its first two lines how its bytes are to be read, which is another text then.
_ENCODED: Final = re.compile(r"(?:[^\n]*\n)?[ \t\f]*#[^\n]*coding[:=][ \t]*(?!utf-?8\b)[-\w.]")


def read(code: str) -> CodeReading:
    """Tells what Python does."""
    if _is_too_deep(code):
        return CodeReading(unread="Runs Python that is nested deeper than anybody reads")
    if _ENCODED.match(code):
        return CodeReading(unread="Runs Python that is written in another encoding")
    check()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
        return _reading(tree)
    except (SyntaxError, ValueError):
        return CodeReading(unread="Runs Python that cannot be parsed")
    except (RecursionError, MemoryError):
        return CodeReading(unread="Runs Python that is nested deeper than anybody reads")


def _reading(tree: ast.Module) -> CodeReading:
    state = PythonState()
    state.names = dict.fromkeys(bound_names(tree), ())
    statements = Statements(state)
    while True:
        check()
        state.passes += 1
        state.changed, state.unread = False, ""
        state.commands.clear()
        state.stars.clear()
        try:
            statements.all(tree.body)
        except UnreadCode as why:
            state.doubt(str(why))
        if not state.changed:
            break
        if state.passes == _MAX_PASSES:
            state.doubt("changes its names in more ways than anybody follows")
            break
    unread = f"Runs Python that {state.unread}" if state.unread else ""
    return CodeReading(tuple(state.commands), unread, tuple(state.loads))


def _is_too_deep(code: str) -> bool:
    depth = deepest = 0
    for char in code:
        if char in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in ")]}":
            depth -= 1
    nests = sum(1 for _ in _NESTS.finditer(code))
    return deepest > _MAX_BRACKETS or nests > _MAX_NESTS or bool(_SIGNS.search(code))
