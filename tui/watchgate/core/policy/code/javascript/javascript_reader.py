"""JavaScript read for what it does: a closed list of what is harmless, and a table of what acts.

Functions and modules of the runtime stay where their names show them: used in another way than by
name, they make the code unread. So what is only computed is data, and data is never called.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from watchgate.core.base.patterns.allowance import check
from watchgate.core.policy.code.code_reading import Argv, CodeReading, UnreadCode
from watchgate.core.policy.code.javascript import javascript_actions, javascript_names
from watchgate.core.policy.code.javascript.javascript_bindings import FUNCTIONS, Bindings
from watchgate.core.policy.code.javascript.javascript_calls import CallsOfCode
from watchgate.core.policy.code.javascript.javascript_properties import Properties
from watchgate.core.policy.code.javascript.javascript_tree import parse, text_of, unescaped
from watchgate.core.policy.code.javascript.javascript_values import (
    DATA,
    FUNCTION,
    HARMLESS,
    JSON,
    NUMBER,
    OBJECT,
    PLAIN,
    Items,
    Name,
    Value,
    combinations,
    either,
    joined,
    rest_of,
    texts,
)
from watchgate.core.policy.shell.commands import names

if TYPE_CHECKING:
    from watchgate.core.policy.code.javascript.javascript_tree import Node

_MAX_DEPTH = 60
_MAX_COMMANDS = 64

# What only holds others, which are read one by one.
_PASSIVE = names(
    """program statement_block if_statement else_clause for_statement while_statement do_statement
    try_statement catch_clause finally_clause switch_statement switch_body switch_case
    switch_default return_statement throw_statement labeled_statement lexical_declaration
    variable_declaration binary_expression unary_expression computed_property_name
    yield_expression arguments template_substitution class_body class_static_block"""
)
_SILENT = names(
    """empty_statement comment break_statement continue_statement statement_identifier regex
    property_identifier private_property_identifier shorthand_property_identifier_pattern
    hash_bang_line optional_chain import_attribute debugger_statement"""
)
_PATTERNS = names(
    "formal_parameters object_pattern array_pattern rest_pattern pair_pattern assignment_pattern"
)
_BASES = frozenset(map(Name, "Error TypeError RangeError events events.EventEmitter".split()))
_NO_METHODS = names("call apply bind")
_LITERALS = names("null undefined true false number")


def read(code: str) -> CodeReading:
    """Returns the commands that this JavaScript amounts to."""
    reader = _JavaScriptReader()
    try:
        reader.program(parse(code))
    except UnreadCode as why:
        return CodeReading(
            tuple(reader.commands), f"Runs JavaScript that {why}", tuple(reader.loads)
        )
    except RecursionError:
        return CodeReading((), "Runs JavaScript that is nested deeper than anybody reads")
    return CodeReading(tuple(reader.commands), loads=tuple(reader.loads))


class _JavaScriptReader:
    def __init__(self) -> None:
        self.commands: dict[Argv, None] = {}
        self.loads: dict[str, None] = {}
        self.bindings = Bindings(self)
        self.calls = CallsOfCode(self)
        self.known: dict[int, Value] = {}
        self.bodies: deque[Node] = deque()
        self.looking: set[str] = set()
        self.depth = 0
        self.properties = Properties(self)

    def program(self, root: Node) -> None:
        """Reads the whole code."""
        self.bindings.bind_all(root)
        for name in self.bindings.names.of_runtime():
            value = self.variable(name)
            if not isinstance(value, Name) or value.path.partition(".")[0] != name:
                raise UnreadCode(f"gives {name} another meaning")
        self.value(root)
        while self.bodies:
            self.data(self.bodies.popleft())
        if self.properties.reaches_far and self.properties.makes_methods:
            raise UnreadCode("gives and takes properties whose names are only known when it runs")

    def add(self, *words: Value | str) -> Value:
        """Notes a command that the code stands for; what comes of it is data."""
        values = [texts(word) if isinstance(word, str) else word for word in words]
        for line in combinations(values):
            self.commands[javascript_actions.plain_words(line)] = None
        if len(self.commands) > _MAX_COMMANDS:
            raise UnreadCode("does more than anybody reads")
        return PLAIN

    def variable(self, name: str) -> Value:
        """Returns the value that a name stands for."""
        check()
        sources = self.bindings.names.sources.get(name)
        if sources is None:
            return Name(name)
        if name in self.looking:
            return DATA
        self.looking.add(name)
        try:
            return either(self.each_source(sources))
        finally:
            self.looking.discard(name)

    def each_source(self, sources: Sequence[Callable[[], Value]]) -> Iterator[Value]:
        """The values of a name, one after the other."""
        for source in sources:
            check()
            yield source()

    def value(self, node: Node) -> Value:
        """Returns the value of an expression; a statement is read and stands for nothing."""
        value = self.known.get(node.id)
        if value is not None:
            return value
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise UnreadCode("is nested deeper than anybody reads")
        check()
        try:
            self.known[node.id] = value = self._value(node)
        finally:
            self.depth -= 1
        return value

    def _value(self, node: Node) -> Value:
        kind = node.type
        if kind in _READERS:
            return _READERS[kind](self, node)
        if kind in _PASSIVE:
            for part in node.named_children:
                self.data(part)
            return DATA
        if kind in _SILENT:
            return DATA
        if kind in _LITERALS:
            return texts(text_of(node))
        raise UnreadCode(f"uses {kind.replace('_', ' ')}")

    def data(self, node: Node) -> Value:
        """Returns the value of an expression, where it is used as data."""
        return self.as_data(self.value(node))

    def as_data(self, value: Value) -> Value:
        """The value once it is no name any more."""
        if not isinstance(value, Name):
            return value
        path = value.path
        if path == "process.env":
            self.add("printenv")
            raise UnreadCode("hands on the environment, which may be changed there")
        if path.startswith("process.env."):
            return self.add("printenv", path.split(".")[2])
        if path in ("process.versions", "process.config", "process.release"):
            return JSON
        if javascript_names.is_harmless(path) and path not in javascript_names.MODULES:
            return HARMLESS
        if path.startswith(("project:", "package:", "installed:")):
            return DATA
        raise UnreadCode(f"uses {path}")

    def identifier(self, node: Node) -> Value:
        """A variable of the code, or a name of the runtime."""
        name = text_of(node)
        if "\\" in name:
            raise UnreadCode("hides a name behind an escape")
        if name in ("__dirname", "__filename"):
            return texts(".")
        return self.variable(name)

    def parenthesized(self, node: Node) -> Value:
        """Returns the value of an expression in brackets, or behind `await`."""
        inner = [part for part in node.named_children if part.type != "comment"]
        for part in inner[:-1]:
            self.data(part)
        return self.value(inner[-1]) if inner else DATA

    def statement(self, node: Node) -> Value:
        """An expression by itself, which the runtime may print."""
        value = self.parenthesized(node)
        is_set = node.named_children[0].type == "assignment_expression"
        if value == Name("process.env"):
            self.add("printenv")
        elif not is_set or (isinstance(value, Name) and value.path.startswith("process.env")):
            self.as_data(value)
        return DATA

    def string(self, node: Node) -> Value:
        """A text in quotes."""
        return texts(unescaped(text_of(node)[1:-1]))

    def template(self, node: Node) -> Value:
        """A text in back-ticks."""
        parts: list[Value] = []
        for part in node.named_children:
            if part.type == "template_substitution":
                parts.append(self.parenthesized_data(part))
            else:
                parts.append(texts(unescaped(text_of(part))))
        return joined(parts)

    def parenthesized_data(self, node: Node) -> Value:
        """Returns the value of an expression in brackets, where it is used as data."""
        return self.as_data(self.parenthesized(node))

    def array(self, node: Node) -> Value:
        """A list."""
        parts = [part for part in node.named_children if part.type != "comment"]
        values = tuple(self.data(part) for part in parts)
        return DATA if any(part.type == "spread_element" for part in parts) else Items(values)

    def spread(self, node: Node) -> Value:
        """The parts of something, which are copied."""
        value = self.parenthesized(node)
        return self.add("printenv") if value == Name("process.env") else self.as_data(value)

    def binary(self, node: Node) -> Value:
        """Two values with a sign between them."""
        left, right = self.data(node.named_children[0]), self.data(node.named_children[-1])
        sign = node.child_by_field_name("operator")
        match sign.type if sign is not None else "":
            case "+":
                return (
                    NUMBER if NUMBER in (left, right) and left == right else joined([left, right])
                )
            case "||" | "??" | "&&":
                return either([rest_of(left), rest_of(right)])
            case "-" | "*" | "/" | "%" | "**" | "|" | "&" | "^" | "<<" | ">>" | ">>>":
                return NUMBER
            case _:
                return PLAIN

    def ternary(self, node: Node) -> Value:
        """One of two values."""
        condition, *branches = node.named_children
        self.data(condition)
        return either([rest_of(self.data(branch)) for branch in branches])

    def unary(self, node: Node) -> Value:
        """A sign or a word before a value."""
        argument, sign = node.child_by_field_name("argument"), node.child_by_field_name("operator")
        if argument is None:
            return DATA
        value = self.value(argument)
        if sign is not None and sign.type == "typeof":
            return PLAIN
        if sign is not None and sign.type == "delete" and isinstance(value, Name):
            raise UnreadCode("takes something from the runtime")
        self.as_data(value)
        return NUMBER if sign is not None and sign.type in ("+", "-") else PLAIN

    def updated(self, node: Node) -> Value:
        """Reads a count that goes up or down."""
        argument = node.child_by_field_name("argument")
        if argument is not None and isinstance(self.value(argument), Name):
            raise UnreadCode("changes something of the runtime")
        return NUMBER

    def object(self, node: Node) -> Value:
        """Reads an object that is written out."""
        for part in node.named_children:
            self.data(part)
        return OBJECT

    def function(self, node: Node) -> Value:
        """A function of the code; what it does is read whether or not it is called."""
        for field in ("parameters", "name"):
            part = node.child_by_field_name(field)
            if part is not None and part.type in ("formal_parameters", "computed_property_name"):
                self.bodies.append(part)
        body = node.child_by_field_name("body")
        if body is not None:
            # Not now: it may call the function itself, by a name that is being looked for.
            self.bodies.append(body)
        return FUNCTION

    def class_of(self, node: Node) -> Value:
        """A class, whose base must be known."""
        for part in node.named_children:
            if part.type == "class_heritage":
                base = self.value(part.named_children[0])
                if base != FUNCTION and base not in _BASES:
                    raise UnreadCode("builds a class on what is only known when it runs")
            elif part.type == "class_body":
                self.bodies.append(part)
        return FUNCTION

    def this(self, node: Node) -> Value:
        """The object of a class; outside of one it is the whole runtime."""
        above = node.parent
        while above is not None and above.type != "class_body":
            if above.type in ("function_expression", "function_declaration", "object"):
                break
            above = above.parent
        if above is None or above.type != "class_body":
            raise UnreadCode("uses this, which may be the whole runtime")
        return DATA

    def declared(self, node: Node) -> Value:
        """A declaration, whose value may be a name of the runtime."""
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if value is not None:
            self.value(value)
        if name is not None:
            self.pattern(name)
        return DATA

    def pattern(self, node: Node) -> Value:
        """The code in a pattern: values for what is missing, and computed names."""
        match node.type:
            case "identifier" | "shorthand_property_identifier_pattern" | "property_identifier":
                return DATA
            case "assignment_pattern" | "object_assignment_pattern":
                right = node.child_by_field_name("right")
                return self.data(right) if right is not None else DATA
            case (
                "object_pattern"
                | "array_pattern"
                | "rest_pattern"
                | "pair_pattern"
                | "formal_parameters"
            ):
                for part in node.named_children:
                    self.pattern(part)
                return DATA
            case _:
                return self.data(node)

    def loop(self, node: Node) -> Value:
        """A loop over something."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        body = node.child_by_field_name("body")
        if left is not None and left.type not in ("identifier", "object_pattern", "array_pattern"):
            raise UnreadCode("loops over something in a property")
        if left is not None:
            self.pattern(left)
        for part in (right, body):
            if part is not None and self.value(part) == Name("process.env"):
                self.add("printenv")
            elif part is not None:
                self.data(part)
        return DATA

    def caught(self, node: Node) -> Value:
        """Returns the value of a `catch` clause's body."""
        body = node.child_by_field_name("body")
        return self.data(body) if body is not None else DATA

    def imported(self, node: Node) -> Value:
        """An import, which runs the module."""
        source = node.child_by_field_name("source")
        if source is not None:
            self.module(self.value(source))
        return DATA

    @property
    def own_methods(self) -> set[str]:
        """The methods that the code defines."""
        return self.bindings.own_methods

    def member(self, base: Value, name: str) -> Value:
        """Returns the value that a property of a value stands for."""
        return self.properties.member(base, name)

    def module(self, wanted: Value) -> Value:
        """A module by its name."""
        return self.calls.module(wanted)

    def call(self, node: Node) -> Value:
        """A call of something, which must be known."""
        return self.calls.call(node)


_READERS: dict[str, Callable[[_JavaScriptReader, Node], Value]] = {
    "identifier": _JavaScriptReader.identifier,
    "parenthesized_expression": _JavaScriptReader.parenthesized,
    "await_expression": _JavaScriptReader.parenthesized,
    "expression_statement": _JavaScriptReader.statement,
    **dict.fromkeys(_PATTERNS, _JavaScriptReader.pattern),
    "sequence_expression": _JavaScriptReader.parenthesized,
    "string": _JavaScriptReader.string,
    "template_string": _JavaScriptReader.template,
    "array": _JavaScriptReader.array,
    "object": _JavaScriptReader.object,
    "spread_element": _JavaScriptReader.spread,
    "pair": lambda reader, node: reader.properties.pair(node),
    "field_definition": lambda reader, node: reader.properties.pair(node),
    "update_expression": _JavaScriptReader.updated,
    "shorthand_property_identifier": lambda reader, node: reader.properties.shorthand(node),
    "binary_expression": _JavaScriptReader.binary,
    "ternary_expression": _JavaScriptReader.ternary,
    "unary_expression": _JavaScriptReader.unary,
    **dict.fromkeys(FUNCTIONS, _JavaScriptReader.function),
    "class_declaration": _JavaScriptReader.class_of,
    "class": _JavaScriptReader.class_of,
    "this": _JavaScriptReader.this,
    "variable_declarator": _JavaScriptReader.declared,
    "assignment_expression": lambda reader, node: reader.properties.assignment(node),
    "augmented_assignment_expression": lambda reader, node: reader.properties.assignment(node),
    "for_in_statement": _JavaScriptReader.loop,
    "catch_clause": _JavaScriptReader.caught,
    "member_expression": lambda reader, node: reader.properties.property_of(node),
    "subscript_expression": lambda reader, node: reader.properties.element_of(node),
    "import_statement": _JavaScriptReader.imported,
    "call_expression": _JavaScriptReader.call,
    "new_expression": _JavaScriptReader.call,
}
