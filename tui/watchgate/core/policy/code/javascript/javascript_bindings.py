"""The names that code binds, found in its tree before any value is asked for.

- The names that code gives to its own values, and where each value stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from watchgate.core.policy.code.javascript.javascript_names import UNREADABLE_GLOBALS
from watchgate.core.policy.code.javascript.javascript_tree import text_of
from watchgate.core.policy.code.javascript.javascript_values import (
    DATA,
    FUNCTION,
    NUMBER,
    PLAIN,
    Value,
    each_of,
    rest_of,
    texts,
)
from watchgate.core.policy.shell.commands import names

if TYPE_CHECKING:
    from watchgate.core.policy.code.javascript.javascript_tree import Node


Source = Callable[[], Value]
"""Finds the value when it is asked for."""


class BoundNames:
    """Every name that the code binds anywhere, with all that it may stand for."""

    def __init__(
        self,
        value: Callable[[Node], Value],
        member: Callable[[Value, str], Value],
        data: Callable[[Value], Value],
    ) -> None:
        self.sources: dict[str, list[Source]] = {}
        self._value = value
        self._member = member
        self._data = data

    def bind(self, pattern: Node, source: Source) -> None:
        """Notes that a name, or those of a pattern, stand for a value or its parts."""
        match pattern.type:
            case "identifier" | "shorthand_property_identifier_pattern":
                self.sources.setdefault(text_of(pattern), []).append(source)
            case "object_pattern":
                for part in pattern.named_children:
                    self._bind_property(part, source)
            case "assignment_pattern" | "object_assignment_pattern":
                left, right = (
                    pattern.child_by_field_name("left"),
                    pattern.child_by_field_name("right"),
                )
                if left is not None and right is not None:
                    self.bind(left, source)
                    self.bind(left, lambda: self._value(right))
            case "array_pattern" | "rest_pattern":
                for part in pattern.named_children:
                    self.bind(part, lambda: self._data(source()))

    def _bind_property(self, part: Node, source: Source) -> None:
        if part.type == "shorthand_property_identifier_pattern":
            name = text_of(part)
            self.bind(part, lambda: self._member(source(), name))
        elif part.type == "pair_pattern":
            key, inner = part.child_by_field_name("key"), part.child_by_field_name("value")
            if key is not None and inner is not None:
                name = text_of(key)
                self.bind(inner, lambda: self._member(source(), name))
        elif part.type == "object_assignment_pattern":
            left, right = part.child_by_field_name("left"), part.child_by_field_name("right")
            if left is not None and right is not None:
                self._bind_property(left, source)
                self.bind(left, lambda: self._value(right))
        else:
            self.bind(part, lambda: self._data(source()))

    def of_runtime(self) -> Iterator[str]:
        """The names of the runtime that the code binds."""
        return (name for name in self.sources if name in UNREADABLE_GLOBALS)


FUNCTIONS = names(
    """arrow_function function_expression function_declaration generator_function
    generator_function_declaration method_definition"""
)
_LOOPING_METHODS = names("forEach map filter some every find flatMap")


class Values(Protocol):
    """The reader, as far as names need it."""

    def value(self, node: Node) -> Value:
        """Returns the value that an expression stands for."""

    def data(self, node: Node) -> Value:
        """Returns the value of an expression, where it is used as data."""

    def as_data(self, value: Value) -> Value:
        """The value once it is no name any more."""

    def member(self, base: Value, name: str) -> Value:
        """Returns the value that a property of a value stands for."""

    def module(self, wanted: Value) -> Value:
        """A module by its name."""


class Bindings:
    """Every name of some code with its values, and the methods that the code defines."""

    def __init__(self, reader: Values) -> None:
        self.names = BoundNames(reader.value, reader.member, reader.as_data)
        self.own_methods: set[str] = set()
        self._reader = reader

    def bind_all(self, root: Node) -> None:
        """Notes every name that is bound somewhere, and the methods that the code defines."""
        waiting = [root]
        while waiting:
            node = waiting.pop()
            waiting += node.named_children
            binds = _BINDING.get(node.type)
            if binds is not None:
                binds(self, node)

    def bind_variable(self, node: Node) -> None:
        """Notes the name of a declaration with its value."""
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return
        if value is not None:
            self.names.bind(name, lambda: self._reader.value(value))
        elif node.parent is not None and node.parent.type != "for_in_statement":
            self.names.bind(name, lambda: texts("undefined"))

    def bind_assignment(self, node: Node) -> None:
        """Notes the name that is given another value."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        if node.type == "augmented_assignment_expression":
            self.names.bind(left, lambda: self.increased(node, right))
        else:
            self.names.bind(left, lambda: self._reader.value(right))

    def bind_updated(self, node: Node) -> None:
        """Notes a name that counts."""
        argument = node.child_by_field_name("argument")
        if argument is not None:
            self.names.bind(argument, lambda: NUMBER)

    def increased(self, node: Node, right: Node) -> Value:
        """Returns the value of a variable once something is added to it."""
        value, sign = self._reader.data(right), node.child_by_field_name("operator")
        match sign.type if sign is not None else "":
            case "+=":
                return NUMBER if value == NUMBER else PLAIN
            case "||=" | "&&=" | "??=":
                return rest_of(value)
            case _:
                return NUMBER

    def bind_loop(self, node: Node) -> None:
        """Notes the name of a loop, with what it goes over."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        over = any(child.type == "of" for child in node.children)
        self.names.bind(left, lambda: each_of(self._reader.data(right)) if over else DATA)

    def bind_function(self, node: Node) -> None:
        """Notes the names of a function and of its parameters."""
        name = node.child_by_field_name("name")
        if name is not None and node.type == "method_definition":
            self.own_methods.add(text_of(name))
        elif name is not None:
            self.names.bind(name, lambda: FUNCTION)
        single, several = (
            node.child_by_field_name("parameter"),
            node.child_by_field_name("parameters"),
        )
        parameters = [single] if single is not None else several.named_children if several else []
        for place, parameter in enumerate(parameters):
            source = self.loop_source(node, place) if place < 2 else None
            if _is_given_to(node, "Promise"):
                source = _function
            self.names.bind(parameter, source or (lambda: DATA))

    def loop_source(self, node: Node, place: int) -> Callable[[], Value] | None:
        """Returns the source of the value that `forEach` or the like gives to a parameter."""
        given = node.parent
        call = given.parent if given is not None and given.type == "arguments" else None
        callee = call.child_by_field_name("function") if call is not None else None
        if callee is None or callee.type != "member_expression":
            return None
        listed, method = (
            callee.child_by_field_name("object"),
            callee.child_by_field_name("property"),
        )
        name = text_of(method) if method is not None else ""
        if listed is None or name not in (*_LOOPING_METHODS, "then"):
            return None
        if name == "then":
            return (lambda: self._reader.value(listed)) if is_loading(listed) else None

        def given_to() -> Value:
            if name in self.own_methods:
                return DATA
            return NUMBER if place == 1 else each_of(self._reader.value(listed))

        return given_to

    def bind_class(self, node: Node) -> None:
        """Notes the name of a class."""
        name = node.child_by_field_name("name")
        if name is not None:
            self.names.bind(name, lambda: FUNCTION)

    def bind_caught(self, node: Node) -> None:
        """Notes the name of an error that is caught."""
        parameter = node.child_by_field_name("parameter")
        if parameter is not None:
            self.names.bind(parameter, lambda: DATA)

    def bind_property(self, node: Node) -> None:
        """Notes a property that holds a function of the code."""
        key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
        key = key or node.child_by_field_name("property")
        if key is not None and value is not None and value.type in FUNCTIONS:
            self.own_methods.add(text_of(key))

    def bind_import(self, node: Node) -> None:
        """Notes the names that an import binds."""
        source = node.child_by_field_name("source")
        clause = next((part for part in node.named_children if part.type == "import_clause"), None)
        if source is None or clause is None:
            return

        def module() -> Value:
            return self._reader.module(self._reader.value(source))

        for part in clause.named_children:
            if part.type == "identifier":
                self.names.bind(part, module)
            elif part.type == "namespace_import":
                self.names.bind(part.named_children[0], module)
            else:
                for specifier in part.named_children:
                    self.bind_imported(specifier, module)

    def bind_imported(self, specifier: Node, module: Callable[[], Value]) -> None:
        """Notes one name of a module."""
        name, alias = specifier.child_by_field_name("name"), specifier.child_by_field_name("alias")
        if name is not None:
            key = text_of(name)
            self.names.bind(alias or name, lambda: self._reader.member(module(), key))


def is_loading(node: Node) -> bool:
    """Tells whether an expression loads a module and waits for it."""
    callee = node.child_by_field_name("function")
    return callee is not None and callee.type == "import"


def _function() -> Value:
    return FUNCTION


def _is_given_to(node: Node, name: str) -> bool:
    """Tells whether a function stands among the arguments of `new` with this name."""
    call = node.parent.parent if node.parent is not None else None
    made = call.child_by_field_name("constructor") if call is not None else None
    return made is not None and text_of(made) == name


_BINDING: dict[str, Callable[[Bindings, Node], None]] = {
    "variable_declarator": Bindings.bind_variable,
    "assignment_expression": Bindings.bind_assignment,
    "augmented_assignment_expression": Bindings.bind_assignment,
    "update_expression": Bindings.bind_updated,
    "for_in_statement": Bindings.bind_loop,
    **dict.fromkeys(FUNCTIONS, Bindings.bind_function),
    "class_declaration": Bindings.bind_class,
    "class": Bindings.bind_class,
    "catch_clause": Bindings.bind_caught,
    "pair": Bindings.bind_property,
    "field_definition": Bindings.bind_property,
    "import_statement": Bindings.bind_import,
}
