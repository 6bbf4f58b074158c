"""The door to the grammar of JavaScript: code becomes a tree, or nothing where it is not clear."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

try:
    import tree_sitter
    import tree_sitter_javascript
except ImportError:  # JavaScript is then unread, and held
    _LANGUAGE = None
else:
    try:
        _LANGUAGE = tree_sitter.Language(tree_sitter_javascript.language())
    except ValueError:  # a grammar that this parser is too old or too new for
        _LANGUAGE = None

from watchgate.core.base.patterns.allowance import is_over
from watchgate.core.policy.code.code_reading import UnreadCode

if TYPE_CHECKING:
    from tree_sitter import Node as Node  # noqa: PLC0414 - handed on to the readers

# People give a command a page of code, not a program.
_MAX_CHARS = 20_000
_CHUNK_BYTES = 256
_READS_A_CHUNK = 8

# Ends of lines and of comments that the grammar and the engine do not read alike.
_MISREAD = re.compile("\r(?!\n)|[\u2028\u2029]|<!--|-->")


def parse(code: str) -> Node:
    """The root of the code's tree.

    Raises:
        UnreadCode: It is too long, has an error, may mean something else to the engine, or there
            is no parser.
    """
    if _LANGUAGE is None:
        raise UnreadCode("cannot be read, since the parser for JavaScript is missing")
    if len(code) > _MAX_CHARS:
        raise UnreadCode("is longer than anybody reads")
    if _MISREAD.search(code):
        raise UnreadCode("has signs that end a line or a comment in some readings only")
    source = code.encode("utf-8", "replace")
    max_reads = _READS_A_CHUNK * (len(source) // _CHUNK_BYTES + 8)
    reads = 0

    def chunk(offset: int, _point: object) -> bytes:
        nonlocal reads
        reads += 1
        return source[offset : offset + _CHUNK_BYTES]

    def hopeless(_offset: int, failing: bool) -> bool:
        return failing or reads > max_reads or is_over()

    try:
        parser = tree_sitter.Parser(_LANGUAGE)
        root = parser.parse(chunk, progress_callback=hopeless).root_node
    except ValueError:
        raise UnreadCode("is no JavaScript that can be parsed") from None
    if root.has_error:
        raise UnreadCode("is no JavaScript that can be parsed")
    return root


def text_of(node: Node) -> str:
    """The code of a node."""
    return (node.text or b"").decode("utf-8", "replace")


_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|([0-7]{1,3})|(.))", re.DOTALL
)
_SIGNS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "\n": ""}


def unescaped(text: str) -> str:
    """Returns the text that the inside of a string literal means."""
    return _ESCAPE.sub(_meant, text) if "\\" in text else text


def _meant(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2] or escape[3]
    if code:
        point = int(code, 16)
        return chr(point) if point < 0x110000 else "\ufffd"
    if escape[4]:
        return chr(int(escape[4], 8))
    return _SIGNS.get(escape[5], escape[5])
