"""The names that code gives to its own values, and where each value stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from watchgate.core.policy.code.javascript.known import UNREADABLE_GLOBALS
from watchgate.core.policy.code.javascript.tree import text_of
from watchgate.core.policy.code.javascript.values import Value

if TYPE_CHECKING:
    from watchgate.core.policy.code.javascript.tree import Node

Source = Callable[[], Value]
"""Finds the value when it is asked for."""


class Names:
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
        """Note that a name, or those of a pattern, stand for a value or its parts."""
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
