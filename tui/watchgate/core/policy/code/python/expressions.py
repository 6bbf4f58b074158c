"""The expressions of Python: what each may be, and what it does on the way."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from watchgate.core.policy.code.code_reading import Piece, UnreadCode
from watchgate.core.policy.code.python import plain_data, python_calls
from watchgate.core.policy.code.python.binding import bind
from watchgate.core.policy.code.python.dotted_names import canonical, may_be_read
from watchgate.core.policy.code.python.harmless import BUILTINS
from watchgate.core.policy.code.python.pathlike import part_of_path
from watchgate.core.policy.code.python.python_processes import reads_variable
from watchgate.core.policy.code.python.python_state import (
    PythonState,
    foreign,
    is_environment,
    items,
    module,
    parameters,
)
from watchgate.core.policy.code.python.python_values import (
    PLAIN,
    CallArguments,
    Const,
    Foreign,
    KnownText,
    Local,
    Many,
    Obj,
    Plain,
    Ref,
    RestOfValues,
    Seq,
    Value,
    Values,
    many,
    merged,
    pieces,
    seq,
)

_RISKY_BUILTINS: Final = frozenset(dir(builtins)) - BUILTINS
_AS_TEXT: Final = (-1, ord("s"))

Defined = ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Expressions:
    """Works out expressions with what is known by now."""

    def __init__(self, state: PythonState) -> None:
        self.state = state

    def of(self, node: ast.expr | None) -> Values:
        """Returns the values that an expression may have."""
        if node is None:
            return PLAIN
        reads = _KINDS.get(type(node))
        if reads is None:
            raise UnreadCode(f"has a {type(node).__name__.lower()} in it, which is not followed")
        return reads(self, node)

    def all_of(self, nodes: Sequence[ast.expr]) -> Values:
        """Returns the values that any of these expressions may have."""
        return merged(value for node in nodes for value in self.of(node))

    def constant(self, node: ast.Constant) -> Values:
        """A constant of the kinds that matter."""
        value = node.value
        if value is None or isinstance(value, str | bytes | int | float):
            return (Const(value),)
        return PLAIN

    def name(self, node: ast.Name) -> Values:
        """Returns the values of a name: all that it is given anywhere, or a builtin."""
        state, name = self.state, node.id
        builtin: Values = (Ref(f"builtins.{name}"),)
        values = state.names.get(name)
        if values is not None:
            # Before it gets a value of its own, a builtin's name means that.
            return merged((*values, *builtin)) if name in _RISKY_BUILTINS else values
        if name in BUILTINS or name in _RISKY_BUILTINS:
            return (KnownText(),) if name == "__file__" else builtin
        return tuple(Ref(f"{each}.{name}") for each in state.stars) or builtin

    def attribute_of(self, node: ast.Attribute) -> Values:
        """Returns the values that an attribute may have."""
        return self.attribute(self.of(node.value), node.attr)

    def attribute(self, owners: Values, name: str) -> Values:
        """Returns the values that an attribute of these owners may have."""
        _check_name(name, private=True)
        values: list[Value] = []
        for owner in owners:
            _check_name(name, private=isinstance(owner, Foreign | Plain | Local))
            match owner:
                case Ref(name=whole):
                    values += module(canonical(f"{whole}.{name}"))
                case Foreign(name=whole):
                    values.append(foreign(f"{whole}.{name}"))
                case Obj(kind="pathlib.Path"):
                    values += part_of_path(owner.piece, name)
                case _:
                    values += (*self.state.names.get(f".{name}", ()), Plain())
        return merged(values)

    def subscript(self, node: ast.Subscript) -> Values:
        """Returns the values that may stand at a place in a collection."""
        owners, at = self.of(node.value), self.indices(node.slice)
        return merged(value for each in owners for value in self.item(each, at, node.slice))

    def item(self, owner: Value, at: Values, index: ast.expr) -> Values:
        """Returns the values that may stand at a place in this owner."""
        state = self.state
        if is_environment(owner):
            reads_variable(state, at)
            return PLAIN
        match owner:
            case Seq(items=within) if (
                (place := _place(at)) is not None
                and not _has_rest(within)
                and not state.added(owner)
            ):
                return within[place] if -len(within) <= place < len(within) else PLAIN
            case Seq() | Many():
                inside = items((owner,), state)
                return (many(inside, owner.sites),) if isinstance(index, ast.Slice) else inside
            case Const(value=str()) | KnownText():
                return (KnownText(),)
            case Foreign():
                return (owner,)
            case _:
                state.forget((owner,))
                return PLAIN

    def indices(self, index: ast.expr) -> Values:
        """Returns the values of a subscript's index, between the brackets."""
        if isinstance(index, ast.Slice):
            for each in (index.lower, index.upper, index.step):
                self.of(each)
            return PLAIN
        indexes = self.of(index)
        self.state.described(indexes)
        return indexes

    def sequence(self, node: ast.Tuple | ast.List) -> Values:
        """A list or tuple."""
        sites = self.state.site(node) if isinstance(node, ast.List) else ()
        return (seq(tuple(map(self.of, node.elts)), sites),)

    def starred(self, node: ast.Starred) -> Values:
        """Any number of items."""
        return (RestOfValues(items(self.of(node.value), self.state)),)

    def collected(self, node: ast.Set) -> Values:
        """A set."""
        inside = items((seq(tuple(map(self.of, node.elts))),), self.state)
        return (many(inside, self.state.site(node)),)

    def dictionary(self, node: ast.Dict) -> Values:
        """A dictionary, with its keys among the items."""
        elements = list(self.all_of([each for each in node.keys if each is not None]))
        for key, value in zip(node.keys, node.values, strict=True):
            values = self.of(value)
            elements += items(values, self.state) if key is None else values
        return (many(merged(elements), self.state.site(node)),)

    def formatted(self, node: ast.JoinedStr) -> Values:
        """The text of an f-string."""
        return plain_data.formatted([self.part(part) for part in node.values])

    def part(self, node: ast.expr) -> tuple[Piece, ...]:
        """One part of an f-string."""
        if not isinstance(node, ast.FormattedValue):
            return pieces(self.of(node))
        values = self.of(node.value)
        self.state.shown(values)
        self.of(node.format_spec)
        plain = node.conversion in _AS_TEXT and node.format_spec is None
        return pieces(values) if plain else pieces((KnownText(),))

    def operation(self, node: ast.BinOp) -> Values:
        """Returns the values that an operator makes of two operands."""
        return plain_data.operation(self.state, self.of(node.left), node.op, self.of(node.right))

    def either(self, node: ast.BoolOp) -> Values:
        """One of several."""
        return self.all_of(node.values)

    def conditional(self, node: ast.IfExp) -> Values:
        """One of two."""
        self.of(node.test)
        return self.all_of((node.body, node.orelse))

    def signed(self, node: ast.UnaryOp) -> Values:
        """Returns the values that a sign makes of the operand behind it."""
        return plain_data.signed(self.state, node.op, self.of(node.operand))

    def compared(self, node: ast.Compare) -> Values:
        """The answer of a comparison."""
        for each in (node.left, *node.comparators):
            self.state.described(self.of(each))
        return PLAIN

    def named(self, node: ast.NamedExpr) -> Values:
        """Returns the values that `:=` gives to a name."""
        values = self.of(node.value)
        bind(self, node.target, values)
        return values

    def awaited(self, node: ast.Await) -> Values:
        """Returns the values of the expression behind `await`."""
        return self.of(node.value)

    def yielded(self, node: ast.Yield | ast.YieldFrom) -> Values:
        """Returns the sent value, once values went to whoever goes over the function's results."""
        state, values = self.state, self.of(node.value)
        if isinstance(node, ast.YieldFrom):
            values = items(values, state)
        if state.functions:
            state.results_in(state.functions[-1], (many(values),))
        return PLAIN

    def function(self, node: ast.Lambda) -> Values:
        """A function in an expression."""
        number = self.number(node)
        self.defaults(node.args)
        self.state.functions.append(number)
        self.state.results_in(number, self.of(node.body))
        self.state.functions.pop()
        return (Local(number),)

    def number(self, node: Defined) -> int:
        """The number of a function or class of the code."""
        state = self.state
        number = state.numbers.get(id(node))
        if number is None:
            number = state.numbers[id(node)] = len(state.locals)
            state.locals.append(node)
            for name in parameters(node):
                state.names.setdefault(name, ())
        return number

    def defaults(self, given: ast.arguments) -> None:
        """Gives parameters their values where a call leaves them out."""
        plain = [*given.posonlyargs, *given.args]
        behind = plain[len(plain) - len(given.defaults) :]
        pairs: list[tuple[ast.arg, ast.expr | None]] = [*zip(behind, given.defaults, strict=True)]
        pairs += zip(given.kwonlyargs, given.kw_defaults, strict=True)
        for each, value in pairs:
            if value is not None:
                self.state.assign(each.arg, self.of(value))
        for rest in (given.vararg, given.kwarg):
            if rest is not None:
                self.state.assign(rest.arg, (many(PLAIN),))

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Values:
        """A collection that loops make."""
        self.loops(node.generators)
        return (many(self.of(node.elt), self.state.site(node)),)

    def dictionary_of(self, node: ast.DictComp) -> Values:
        """A dictionary that loops make."""
        self.loops(node.generators)
        return (many(self.all_of((node.key, node.value)), self.state.site(node)),)

    def loops(self, generators: Sequence[ast.comprehension]) -> None:
        """Goes through the loops of a comprehension."""
        for loop in generators:
            bind(self, loop.target, items(self.of(loop.iter), self.state))
            for test in loop.ifs:
                self.state.described(self.of(test))

    def call(self, node: ast.Call) -> Values:
        """Returns the values that a call may return."""
        given = CallArguments(
            positional=tuple(value for each in node.args for value in self.argument(each)),
            named={each.arg: self.of(each.value) for each in node.keywords if each.arg},
            spread=tuple(items(self.of(k.value), self.state) for k in node.keywords if not k.arg),
        )
        if isinstance(node.func, ast.Attribute):
            return self.method(self.of(node.func.value), node.func.attr, given)
        return python_calls.called(self, self.of(node.func), given)

    def argument(self, node: ast.expr) -> Sequence[Values]:
        """Returns the values of one argument as written: of one, or of each in a spread list."""
        if isinstance(node, ast.Starred):
            match self.of(node.value):
                case (Seq(items=within) as given,) if not (
                    _has_rest(within) or self.state.added(given)
                ):
                    return within
                case _:
                    pass
        return (self.of(node),)

    def method(self, owners: Values, name: str, given: CallArguments) -> Values:
        """Returns the values that a method of these owners may return."""
        _check_name(name, private=True)
        results: list[Value] = []
        for owner in owners:
            if isinstance(owner, Ref | Foreign):
                results += python_calls.called(self, self.attribute((owner,), name), given)
            else:
                _check_name(name, private=isinstance(owner, Plain | Local))
                results += python_calls.method(self, owner, name, given)
        return merged(results)


def _check_name(name: str, *, private: bool) -> None:
    if not may_be_read(name, private=private):
        raise UnreadCode(f"uses {name}, which may lead anywhere")


def _place(at: Values) -> int | None:
    match at:
        case (Const(value=int() as place),):
            return place
        case _:
            return None


def _has_rest(within: Sequence[Values]) -> bool:
    return any(isinstance(each, RestOfValues) for item in within for each in item)


_KINDS: Final[Mapping[type[ast.expr], Callable[[Expressions, Any], Values]]] = {
    ast.Constant: Expressions.constant,
    ast.Name: Expressions.name,
    ast.Attribute: Expressions.attribute_of,
    ast.Subscript: Expressions.subscript,
    ast.Tuple: Expressions.sequence,
    ast.List: Expressions.sequence,
    ast.Starred: Expressions.starred,
    ast.Set: Expressions.collected,
    ast.Dict: Expressions.dictionary,
    ast.JoinedStr: Expressions.formatted,
    ast.BinOp: Expressions.operation,
    ast.BoolOp: Expressions.either,
    ast.IfExp: Expressions.conditional,
    ast.UnaryOp: Expressions.signed,
    ast.Compare: Expressions.compared,
    ast.NamedExpr: Expressions.named,
    ast.Await: Expressions.awaited,
    ast.Yield: Expressions.yielded,
    ast.YieldFrom: Expressions.yielded,
    ast.Lambda: Expressions.function,
    ast.ListComp: Expressions.comprehension,
    ast.SetComp: Expressions.comprehension,
    ast.GeneratorExp: Expressions.comprehension,
    ast.DictComp: Expressions.dictionary_of,
    ast.Call: Expressions.call,
}
