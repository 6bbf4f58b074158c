"""The properties in code that are read and set, by names that it shows or computes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from watchgate.core.policy.code.code_reading import UnreadCode
from watchgate.core.policy.code.javascript import javascript_actions, javascript_names
from watchgate.core.policy.code.javascript.javascript_tree import text_of
from watchgate.core.policy.code.javascript.javascript_values import (
    DATA,
    JSON,
    NUMBER,
    OBJECT,
    PLAIN,
    Items,
    Name,
    Texts,
    Value,
    either,
    is_known,
)
from watchgate.core.policy.shell.commands import names

if TYPE_CHECKING:
    from watchgate.core.policy.code.javascript.javascript_tree import Node

_SETTABLE = names("process.exitCode process.title")
_SETTABLE_VARIABLES = names(
    "NODE_ENV CI DEBUG NO_COLOR FORCE_COLOR TZ PORT LOG_LEVEL BABEL_ENV TS_NODE_TRANSPILE_ONLY"
)


class Properties:
    """The properties that some code reads and sets.

    One whose name is computed may lead to the function that compiles texts, and one that is called
    like a method may call it: only both together are dangerous.
    """

    def __init__(self, reader: javascript_actions.Reads) -> None:
        self._reader = reader
        self.reaches_far = False
        self.makes_methods = False

    def property_of(self, node: Node) -> Value:
        """A property of something."""
        base, key = node.child_by_field_name("object"), node.child_by_field_name("property")
        if base is None or key is None:
            return DATA
        name = text_of(key)
        if "\\" in name:
            raise UnreadCode("hides a name behind an escape")
        return self.member(self._reader.value(base), name)

    def element_of(self, node: Node) -> Value:
        """A property whose name is computed."""
        base, key = node.child_by_field_name("object"), node.child_by_field_name("index")
        if base is None or key is None:
            return DATA
        owner, wanted = self._reader.value(base), self._reader.data(key)
        if isinstance(wanted, Texts):
            parts = [self.member(owner, name) for name in wanted.options]
            return either([DATA if part == JSON else part for part in parts])
        if isinstance(owner, Name):
            if owner.path == "process.env":
                return self._reader.add("printenv", DATA)
            self._reader.as_data(owner)
            if owner.path not in ("process.argv", "process.versions", "process.config"):
                raise UnreadCode(f"uses something of {owner.path} that is only known when it runs")
            return DATA
        is_written_out = base.type == "identifier" and owner == OBJECT
        self.reaches_far |= wanted != NUMBER and owner != JSON and not is_written_out
        return DATA

    def shorthand(self, node: Node) -> Value:
        """A property of the same name as its variable."""
        value = self._reader.as_data(self._reader.identifier(node))
        self.sets(text_of(node), value)
        return value

    def pair(self, node: Node) -> Value:
        """A property of an object or a class with its value."""
        key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
        key = key or node.child_by_field_name("property")
        if key is None:
            return DATA
        data = self._reader.data(value) if value is not None else PLAIN
        if key.type == "computed_property_name":
            self._reader.data(key)
            self.sets("", data)
        else:
            self.sets(text_of(key).strip("\"'`"), data)
        return DATA

    def sets(self, name: str, value: Value) -> None:
        """Notes a property that is set; one without a name has one that is only known later."""
        if name in javascript_names.HIDDEN:
            raise UnreadCode(f"changes {name}, through which anything can be called")
        if "\\" in name or ((not name or name in javascript_names.METHODS) and not is_known(value)):
            self.makes_methods = True

    def assignment(self, node: Node) -> Value:
        """A value for a variable or a property."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return DATA
        if left.type in ("identifier", "object_pattern", "array_pattern"):
            value = self._reader.value(right)
            self._reader.pattern(left)
            return value
        value = self._reader.data(right)
        target = self._reader.value(left)
        if isinstance(target, Name) and target.path not in _SETTABLE:
            variable = target.path.removeprefix("process.env.")
            if variable not in _SETTABLE_VARIABLES:
                raise UnreadCode(f"changes {target.path}")
        self.reaches_far |= not is_known(value)
        self.sets(self.static_key(left), value)
        return value

    def static_key(self, node: Node) -> str:
        """The name of the property that is set, "" where it is computed."""
        key, index = node.child_by_field_name("property"), node.child_by_field_name("index")
        if key is not None:
            return text_of(key)
        value = self._reader.data(index) if index is not None else DATA
        if isinstance(value, Texts) and len(value.options) == 1:
            return value.options[0]
        return "0" if value == NUMBER else ""

    def member(self, base: Value, name: str) -> Value:
        """Returns the value that a property of a value stands for."""
        if name in javascript_names.HIDDEN:
            raise UnreadCode(f"reaches for {name}, through which anything can be called")
        if isinstance(base, Name):
            return Name(f"{base.path}.{name}")
        if isinstance(base, Items) and name.isdecimal() and int(name) < len(base.values):
            return base.values[int(name)]
        return JSON if base == JSON else DATA
