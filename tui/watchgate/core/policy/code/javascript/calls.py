"""The calls in code: of the runtime, of modules, and of what the code defines itself."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from watchgate.core.policy.code.javascript import acting, known
from watchgate.core.policy.code.javascript.bindings import is_loading
from watchgate.core.policy.code.javascript.folding import folded, joined_items
from watchgate.core.policy.code.javascript.tree import text_of
from watchgate.core.policy.code.javascript.values import (
    DATA,
    FUNCTION,
    JSON,
    PLAIN,
    Data,
    Items,
    Name,
    Texts,
    Value,
    texts,
)
from watchgate.core.policy.code.unread import Unread
from watchgate.core.policy.shell.words import names

if TYPE_CHECKING:
    from watchgate.core.policy.code.javascript.tree import Node

_NO_METHODS = names("call apply bind")


class Reader(acting.Reads, Protocol):
    """The reader, as far as calls need it."""

    loads: dict[str, None]

    @property
    def own_methods(self) -> set[str]:
        """The methods that the code defines."""

    def value(self, node: Node) -> Value:
        """Return what an expression stands for."""

    def as_data(self, value: Value) -> Value:
        """The value once it is no name any more."""


def _files_of(name: str) -> tuple[str, ...]:
    """The files that a local module may be."""
    if name.endswith((".js", ".cjs", ".mjs", ".ts", ".node")):
        return (name,)
    return (f"{name}/index.js",) if name.endswith(".") else (f"{name}.js", f"{name}/index.js")


class Calls:
    """The calls of some code."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def module(self, wanted: Value) -> Value:
        """A module by its name."""
        if not isinstance(wanted, Texts) or len(wanted.options) != 1:
            raise Unread("loads a module that is only known when it runs")
        name = wanted.options[0]
        plain = name.removeprefix("node:")
        if plain.partition("/")[0] in known.MODULES:
            return Name(plain.replace("/", "."))
        if name.endswith((".json", ".json5")) and name[:1] in (".", "/"):
            self._reader.add("cat", texts(name))
            return JSON
        if name[:1] in (".", "/"):
            for file in _files_of(name):
                self._reader.add("node", file)
                self._reader.loads[posixpath.normpath(file)] = None
            return Name(f"project:{name.replace('.', '')}")
        if name in known.READABLE_PACKAGES:
            return Name(f"package:{name.replace('.', '')}")
        if name.endswith("/package.json") and ".." not in name:
            return DATA
        if known.PACKAGE.fullmatch(name) and name not in known.ACTING_MODULES:
            self._reader.add("node", f"node_modules/{name}/index.js")
            return Name(f"installed:{name.replace('.', '')}")
        raise Unread(f"loads the module {name}, which no rule knows")

    def call(self, node: Node) -> Value:
        """A call of something, which must be known."""
        callee = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        given = node.child_by_field_name("arguments")
        if callee is None:
            return DATA
        if given is not None and given.type == "template_string":
            return self.tagged(callee, given)
        arguments = (
            [part for part in given.named_children if part.type != "comment"] if given else []
        )
        if callee.type == "import":
            return self.module(self._reader.data(arguments[0]) if arguments else DATA)
        if callee.type == "super":
            self.all_data(arguments)
            return DATA
        if callee.type == "member_expression":
            base, key = callee.child_by_field_name("object"), callee.child_by_field_name("property")
            if base is not None and key is not None:
                owner = DATA if base.type == "super" else self._reader.value(base)
                if is_loading(base) and text_of(key) in ("then", "catch", "finally"):
                    owner = DATA
                if not isinstance(owner, Name):
                    return self.method(owner, text_of(key), arguments)
        value = self._reader.value(callee)
        if isinstance(value, Name):
            return self.named(value.path, arguments)
        if value == FUNCTION:
            self.all_data(arguments)
            return DATA
        raise Unread("calls what is only known when it runs")

    def method(self, owner: Value, name: str, arguments: Sequence[Node]) -> Value:
        """A method of something that is no name of the runtime."""
        if name in _NO_METHODS or (
            name not in known.METHODS and name not in self._reader.own_methods
        ):
            raise Unread(f"calls {name} of something, which no rule knows")
        values = self.all_data(arguments)
        if name not in self._reader.own_methods:
            self.check_called(name, values)
        if name == "join" and isinstance(owner, Items):
            return joined_items(owner.values, values)
        if name in ("concat", "filter", "slice", "sort", "reverse") and isinstance(owner, Items):
            return owner if name != "concat" else DATA
        if name in ("trim", "toString") and isinstance(owner, Texts):
            return owner
        return DATA

    def check_called(self, name: str, values: Sequence[Value]) -> None:
        """Hold a function that is only known when it runs and that another calls."""
        for place in known.CALLED_ARGUMENTS.get(name, ()):
            if place < len(values) and isinstance(values[place], Data):
                raise Unread(f"hands {name} a function that is only known when it runs")

    def all_data(self, arguments: Iterable[Node]) -> list[Value]:
        """The values of arguments."""
        return [self._reader.data(argument) for argument in arguments]

    def tagged(self, callee: Node, given: Node) -> Value:
        """A text with a function before it."""
        value, text = self._reader.value(callee), self._reader.data(given)
        if value == Name("Bun.$"):
            return self._reader.add("sh", "-c", text)
        if value == Name("String.raw"):
            return DATA
        raise Unread("calls what is only known when it runs")

    def named(self, path: str, arguments: Sequence[Node]) -> Value:
        """A function of the runtime, of a module or of the project."""
        path = known.canonical(path)
        if path == "require" and len(arguments) == 1:
            return self.module(self._reader.data(arguments[0]))
        if path.startswith(("project:", "package:")):
            self.all_data(arguments)
            if known.ACTING_WORDS.search(path.partition(".")[2]):
                raise Unread(f"calls {path.rpartition('.')[2]} of a module")
            return Name(f"{path}()")
        if known.SHOWS.fullmatch(path):
            for argument in arguments:
                self.shown(argument)
            return DATA
        if path in acting.SPECIAL:
            return acting.SPECIAL[path](self._reader, arguments)
        values = [self.copied(argument, path) for argument in arguments]
        template = known.ACTS.get(path)
        if template is not None:
            if path.startswith("fs.") and arguments and arguments[0].type == "number":
                return PLAIN
            return self._reader.add(*(acting.filled(word, values) for word in template))
        if known.is_harmless(path) or path in ("assert", "events"):
            self.check_called(path.rpartition(".")[2], values)
            return folded(path, values)
        raise Unread(f"calls {path}, which no rule knows")

    def copied(self, argument: Node, path: str) -> Value:
        """The value of an argument, of which some functions only make something new."""
        value = self._reader.value(argument)
        if value == Name("process.env") and path in known.COPIES:
            return self._reader.add("printenv")
        if isinstance(value, Name) and path == "Object.assign":
            raise Unread(f"hands on {value.path}, which may be changed there")
        return self._reader.as_data(value)

    def shown(self, argument: Node) -> None:
        """Read what is only shown: also functions and modules, which stay where they are."""
        value = self._reader.value(argument)
        if value in (Name("process"), Name("process.env")):
            self._reader.add("printenv")
        elif isinstance(value, Name) and known.canonical(value.path).split(".")[0] in known.MODULES:
            if value.path.startswith("process.env"):
                self._reader.as_data(value)
        else:
            self._reader.as_data(value)
