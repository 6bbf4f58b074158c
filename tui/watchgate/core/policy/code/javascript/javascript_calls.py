"""The calls in code: of the runtime, of modules, and of what the code defines itself.

- The texts that harmless functions make of known ones.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from watchgate.core.policy.code.code_reading import UnreadCode
from watchgate.core.policy.code.javascript import javascript_actions, javascript_names
from watchgate.core.policy.code.javascript.javascript_actions import HOME
from watchgate.core.policy.code.javascript.javascript_bindings import is_loading
from watchgate.core.policy.code.javascript.javascript_tree import text_of
from watchgate.core.policy.code.javascript.javascript_values import (
    DATA,
    FUNCTION,
    JSON,
    NUMBER,
    PLAIN,
    Data,
    Items,
    Name,
    Texts,
    Value,
    joined,
    texts,
)
from watchgate.core.policy.shell.commands import names

if TYPE_CHECKING:
    from watchgate.core.policy.code.javascript.javascript_tree import Node


_FIXED: dict[str, Value] = {
    "process.cwd": texts("."),
    "Deno.cwd": texts("."),
    "os.homedir": texts(HOME),
    "os.tmpdir": texts("/tmp"),
}


def joined_items(values: Sequence[Value], signs: Sequence[Value]) -> Value:
    """The text that `join` makes of a list."""
    parts: list[Value] = []
    for value in values:
        parts += [*([signs[0] if signs else texts(",")] if parts else []), value]
    return joined(parts)


def folded(path: str, values: Sequence[Value]) -> Value:
    """The text that a harmless function makes of known ones."""
    if path in _FIXED:
        return _FIXED[path]
    if path in ("path.join", "path.resolve", "path.posix.join") and values:
        return _path(values, resolves=path == "path.resolve")
    if path == "JSON.parse" and len(values) == 1:
        return JSON
    if path.startswith(("Math.", "parse", "Date.now")) or path == "Number":
        return NUMBER
    if path in ("String", "path.normalize"):
        return values[0] if values and isinstance(values[0], Texts) else DATA
    return DATA


def _path(values: Sequence[Value], *, resolves: bool) -> Value:
    parts: list[Value] = []
    for value in values:
        is_absolute = isinstance(value, Texts) and value.options[0].startswith("/")
        if resolves and is_absolute and parts:
            return DATA
        parts += [*([texts("/")] if parts else []), value]
    whole = joined(parts)
    return texts(*map(posixpath.normpath, whole.options)) if isinstance(whole, Texts) else whole


_NO_METHODS = names("call apply bind")


class ReaderOfCalls(javascript_actions.Reads, Protocol):
    """The reader, as far as calls need it."""

    loads: dict[str, None]

    @property
    def own_methods(self) -> set[str]:
        """The methods that the code defines."""


def _files_of(name: str) -> tuple[str, ...]:
    """The files that a local module may be."""
    if name.endswith((".js", ".cjs", ".mjs", ".ts", ".node")):
        return (name,)
    return (f"{name}/index.js",) if name.endswith(".") else (f"{name}.js", f"{name}/index.js")


class CallsOfCode:
    """The calls of some code."""

    def __init__(self, reader: ReaderOfCalls) -> None:
        self._reader = reader

    def module(self, wanted: Value) -> Value:
        """A module by its name."""
        if not isinstance(wanted, Texts) or len(wanted.options) != 1:
            raise UnreadCode("loads a module that is only known when it runs")
        name = wanted.options[0]
        plain = name.removeprefix("node:")
        if plain.partition("/")[0] in javascript_names.MODULES:
            return Name(plain.replace("/", "."))
        if name.endswith((".json", ".json5")) and name[:1] in (".", "/"):
            self._reader.add("cat", texts(name))
            return JSON
        if name[:1] in (".", "/"):
            for file in _files_of(name):
                self._reader.add("node", file)
                self._reader.loads[posixpath.normpath(file)] = None
            return Name(f"project:{name.replace('.', '')}")
        if name in javascript_names.READABLE_PACKAGES:
            return Name(f"package:{name.replace('.', '')}")
        if name.endswith("/package.json") and ".." not in name:
            return DATA
        if javascript_names.PACKAGE.fullmatch(name) and name not in javascript_names.ACTING_MODULES:
            self._reader.add("node", f"node_modules/{name}/index.js")
            return Name(f"installed:{name.replace('.', '')}")
        raise UnreadCode(f"loads the module {name}, which no rule knows")

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
        raise UnreadCode("calls what is only known when it runs")

    def method(self, owner: Value, name: str, arguments: Sequence[Node]) -> Value:
        """A method of something that is no name of the runtime."""
        if name in _NO_METHODS or (
            name not in javascript_names.METHODS and name not in self._reader.own_methods
        ):
            raise UnreadCode(f"calls {name} of something, which no rule knows")
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
        """Holds a function that is only known when it runs and that another calls."""
        for place in javascript_names.CALLED_ARGUMENTS.get(name, ()):
            if place < len(values) and isinstance(values[place], Data):
                raise UnreadCode(f"hands {name} a function that is only known when it runs")

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
        raise UnreadCode("calls what is only known when it runs")

    def named(self, path: str, arguments: Sequence[Node]) -> Value:
        """A function of the runtime, of a module or of the project."""
        path = javascript_names.canonical(path)
        if path == "require" and len(arguments) == 1:
            return self.module(self._reader.data(arguments[0]))
        if path.startswith(("project:", "package:")):
            self.all_data(arguments)
            if javascript_names.ACTING_WORDS.search(path.partition(".")[2]):
                raise UnreadCode(f"calls {path.rpartition('.')[2]} of a module")
            return Name(f"{path}()")
        if javascript_names.SHOWS.fullmatch(path):
            for argument in arguments:
                self.shown(argument)
            return DATA
        if path in javascript_actions.SPECIAL:
            return javascript_actions.SPECIAL[path](self._reader, arguments)
        values = [self.copied(argument, path) for argument in arguments]
        template = javascript_names.ACTS.get(path)
        if template is not None:
            if path.startswith("fs.") and arguments and arguments[0].type == "number":
                return PLAIN
            return self._reader.add(*(javascript_actions.filled(word, values) for word in template))
        if javascript_names.is_harmless(path) or path in ("assert", "events"):
            self.check_called(path.rpartition(".")[2], values)
            return folded(path, values)
        raise UnreadCode(f"calls {path}, which no rule knows")

    def copied(self, argument: Node, path: str) -> Value:
        """The value of an argument, of which some functions only make something new."""
        value = self._reader.value(argument)
        if value == Name("process.env") and path in javascript_names.COPIES:
            return self._reader.add("printenv")
        if isinstance(value, Name) and path == "Object.assign":
            raise UnreadCode(f"hands on {value.path}, which may be changed there")
        return self._reader.as_data(value)

    def shown(self, argument: Node) -> None:
        """Reads what is only shown: also functions and modules, which stay where they are."""
        value = self._reader.value(argument)
        if value in (Name("process"), Name("process.env")):
            self._reader.add("printenv")
        elif (
            isinstance(value, Name)
            and javascript_names.canonical(value.path).split(".")[0] in javascript_names.MODULES
        ):
            if value.path.startswith("process.env"):
                self._reader.as_data(value)
        else:
            self._reader.as_data(value)
