"""The calls of JavaScript whose command depends on more than the place of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from watchgate.core.policy.code.code_reading import Argv, Piece, UnknownWord, UnreadCode
from watchgate.core.policy.code.javascript.javascript_tree import text_of
from watchgate.core.policy.code.javascript.javascript_values import (
    DATA,
    Data,
    Items,
    Texts,
    Value,
    joined,
    texts,
)
from watchgate.core.policy.shell.commands import names

if TYPE_CHECKING:
    from watchgate.core.policy.code.javascript.javascript_tree import Node

HOME = "\ue000"
"""Stands for the user's home in a path, until a command says `~`."""

_HARMLESS_OPTIONS = names(
    "encoding stdio maxBuffer timeout windowsHide stdout stderr stdin killSignal signal"
)
# Options of a request that carry nothing there.
_READING = names("method headers signal redirect cache mode credentials keepalive timeout")


class Reads(Protocol):
    """The reader, as far as calls and properties need it."""

    def add(self, *words: Value | str) -> Value:
        """Notes a command."""

    def value(self, node: Node) -> Value:
        """Returns the value that an expression stands for."""

    def data(self, node: Node) -> Value:
        """Returns the value of an expression, where it is used as data."""

    def as_data(self, value: Value) -> Value:
        """The value once it is no name any more."""

    def identifier(self, node: Node) -> Value:
        """A variable of the code, or a name of the runtime."""

    def pattern(self, node: Node) -> Value:
        """The code in a pattern."""


def filled(word: str | int, values: Sequence[Value]) -> Value:
    """A word of a command, or the argument of that number."""
    if isinstance(word, str):
        return texts(word)
    value = values[word] if word < len(values) else DATA
    return value if isinstance(value, Texts | Data) else DATA


def plain_words(line: Argv) -> Argv:
    """The words of a command with paths that no shell and no program takes for more.

    A home that code asks for is `~`, and one that only begins with that sign is none.
    """
    return tuple(
        word if place == 0 else _plain(word, in_shell=line[0] == "sh")
        for place, word in enumerate(line)
    )


def _plain(word: Piece, *, in_shell: bool) -> Piece:
    if isinstance(word, UnknownWord):
        return UnknownWord(_plain_text(word.text, in_shell=in_shell))
    return _plain_text(word, in_shell=in_shell)


def _plain_text(text: str, *, in_shell: bool) -> str:
    if text.startswith("~") and not in_shell:
        return "./" + text
    return text.replace(HOME, "~")


def recursive(node: Node | None, name: str = "recursive") -> bool:
    """Tells whether an option is set, or may be."""
    given = properties(node)
    if given is None:
        return True
    return name in given and text_of(given[name]) != "false"


def properties(node: Node | None) -> dict[str, Node] | None:
    """The properties of an object that is written out; None where they are not all shown."""
    if node is None:
        return {}
    if node.type in ("arrow_function", "function_expression", "string"):
        return {}
    if node.type != "object":
        return None
    nodes: dict[str, Node] = {}
    for part in node.named_children:
        key, value = part.child_by_field_name("key"), part.child_by_field_name("value")
        if part.type == "shorthand_property_identifier":
            nodes[text_of(part)] = part
        elif part.type in ("method_definition", "comment"):
            continue
        elif key is None or value is None or key.type == "computed_property_name":
            return None
        else:
            nodes[text_of(key).strip("\"'")] = value
    return nodes


def _at(arguments: Sequence[Node], place: int) -> Node | None:
    return arguments[place] if place < len(arguments) else None


def _remove(reader: Reads, arguments: Sequence[Node]) -> Value:
    values = [reader.data(argument) for argument in arguments]
    command = ("rm", "-rf") if recursive(_at(arguments, 1)) else ("rm",)
    return reader.add(*command, filled(0, values))


def _remove_folder(reader: Reads, arguments: Sequence[Node]) -> Value:
    values = [reader.data(argument) for argument in arguments]
    command = ("rm", "-rf") if recursive(_at(arguments, 1)) else ("rmdir",)
    return reader.add(*command, filled(0, values))


def _open(reader: Reads, arguments: Sequence[Node]) -> Value:
    values = [reader.data(argument) for argument in arguments]
    mode = values[1] if len(values) > 1 else texts("r")
    return reader.add("cat" if mode == texts("r") else "tee", filled(0, values))


def _open_deno(reader: Reads, arguments: Sequence[Node]) -> Value:
    values = [reader.data(argument) for argument in arguments]
    return reader.add("cat" if len(values) == 1 else "tee", filled(0, values))


def _fetch(reader: Reads, arguments: Sequence[Node]) -> Value:
    values = [reader.data(argument) for argument in arguments]
    given = properties(_at(arguments, 1))
    method = given.get("method") if given is not None else None
    words: list[Value | str] = ["curl"]
    if given is None or method is not None:
        words += ["-X", filled(0, [reader.data(method)]) if method is not None else DATA]
    # Where it comes from is a command of its own.
    if given is None or given.keys() - _READING or not _is_written_out(reader, given):
        words += ["-d", "body"]
    return reader.add(*words, filled(0, values))


def _is_written_out(reader: Reads, given: dict[str, Node]) -> bool:
    """Tells whether all headers stand in the code as texts, so that they carry nothing it read."""
    node = given.get("headers")
    headers = properties(node)
    if headers is None or (node is not None and node.type != "object"):
        return False
    return all(isinstance(reader.data(value), Texts) for value in headers.values())


def _shell(reader: Reads, arguments: Sequence[Node]) -> Value:
    values = [reader.data(argument) for argument in arguments]
    _check_options(_at(arguments, 1))
    return reader.add("sh", "-c", filled(0, values))


def _start(reader: Reads, arguments: Sequence[Node]) -> Value:
    values = [reader.data(argument) for argument in arguments]
    listed = values[1] if len(values) > 1 else Items(())
    if len(arguments) > 1 and arguments[1].type in ("object", "arrow_function"):
        listed = Items(())
    through_shell = any(_check_options(node) for node in arguments[1:3])
    if not isinstance(listed, Items):
        return reader.add(filled(0, values), DATA)
    words = [filled(0, values), *(filled(0, [each]) for each in listed.values)]
    if through_shell:
        spaced = [part for word in words for part in (word, texts(" "))]
        return reader.add("sh", "-c", joined(spaced))
    return reader.add(*words)


def _start_list(reader: Reads, arguments: Sequence[Node]) -> Value:
    values = [reader.data(argument) for argument in arguments]
    _check_options(_at(arguments, 1))
    if values and isinstance(values[0], Items) and values[0].values:
        return reader.add(*(filled(0, [each]) for each in values[0].values))
    raise UnreadCode("starts a program that is only known when it runs")


def _start_deno(reader: Reads, arguments: Sequence[Node]) -> Value:
    values = [reader.data(argument) for argument in arguments]
    given = properties(_at(arguments, 1))
    if given is None or given.keys() - {"args", "stdout", "stderr", "stdin"}:
        raise UnreadCode("starts a program with options that no rule knows")
    listed = reader.data(given["args"]) if "args" in given else Items(())
    if not isinstance(listed, Items):
        return reader.add(filled(0, values), DATA)
    return reader.add(filled(0, values), *(filled(0, [each]) for each in listed.values))


def _fork(reader: Reads, arguments: Sequence[Node]) -> Value:
    values = [reader.data(argument) for argument in arguments]
    return reader.add("node", filled(0, values), DATA)


def _check_options(node: Node | None) -> bool:
    """Tells whether a program is started through a shell.

    Raises:
        UnreadCode: Its options change more than what is done with its output.
    """
    if node is None or node.type in ("array", "arrow_function", "function_expression", "string"):
        return False
    if node.type == "identifier":
        raise UnreadCode("starts a program with options that no rule knows")
    given = properties(node)
    if given is None:
        return False
    if given.keys() - _HARMLESS_OPTIONS - {"shell"}:
        raise UnreadCode("starts a program with options that no rule knows")
    shell = given.get("shell")
    if shell is not None and text_of(shell) not in ("true", "false"):
        raise UnreadCode("starts a program in a shell that no rule knows")
    return shell is not None and text_of(shell) == "true"


SPECIAL: dict[str, Callable[[Reads, Sequence[Node]], Value]] = {
    "fs.rm": _remove,
    "Deno.remove": _remove,
    "fs.rmdir": _remove_folder,
    "fs.open": _open,
    "Deno.open": _open_deno,
    "fetch": _fetch,
    "http.get": _fetch,
    "https.get": _fetch,
    "child_process.exec": _shell,
    "child_process.spawn": _start,
    "child_process.execFile": _start,
    "child_process.fork": _fork,
    "Bun.spawn": _start_list,
    "Deno.Command": _start_deno,
}
"""Functions by their canonical name."""
