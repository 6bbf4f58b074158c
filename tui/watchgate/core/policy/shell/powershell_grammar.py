"""The one door to the parser of PowerShell: a text becomes a tree, or nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from watchgate.core.base.patterns.allowance import is_over

try:
    import tree_sitter
    import tree_sitter_powershell
except ImportError:  # what PowerShell runs is then opaque, and asked
    _LANGUAGE = None
else:
    try:
        _LANGUAGE = tree_sitter.Language(tree_sitter_powershell.language())
    except ValueError:  # a grammar that this parser is too old or too new for
        _LANGUAGE = None

if TYPE_CHECKING:
    from tree_sitter import Node as Node  # noqa: PLC0414 - handed on to the readers

MAX_CHARS = 2_500
_READS = 200
_CHUNK_BYTES = 256

# PowerShell takes typographic quotes and dashes for plain ones, and every kind of blank for one.
_MISREAD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\xa0\u1680\u2000-\u201e\u2028-\u202f\u205f\u3000]")
# The grammar goes on over an empty line, and over what only looks like a continued line.
_MISCONTINUED = re.compile(r"`(?:[ \t]+\n|\n[ \t]*\n|`\n|\r|$)")
_FOREIGN = re.compile(r"[^\t\n\x20-\x7e]")
# The grammar takes them for operators where they are words of a command.
# `--name=value` is an error to it.
LONG_OPTION = re.compile(
    r"""(?<=[ \t])--[A-Za-z][\w-]*=(?:"[^"`$\n]*"|'[^'\n]*'|[\w%./:@+~^-])*(?=[ \t\n;|)]|$)""",
    re.ASCII,
)
_END_OF_OPTIONS = re.compile(r"(?<=[ \t])--(?=[ \t\n]|$)")


def parse(text: str) -> Node | None:
    """The root of the text's tree, positions counted in characters.

    None without a parser, and for a text that it would read otherwise than PowerShell does.
    """
    if _LANGUAGE is None or len(text) > MAX_CHARS or _MISCONTINUED.search(text):
        return None
    text = text.replace("\r\n", " \n")
    if _MISREAD.search(text):
        return None
    plain = _FOREIGN.sub("_", _END_OF_OPTIONS.sub("__", text))
    spans = [match.span() for match in LONG_OPTION.finditer(text)]
    if spans:
        stand_in = LONG_OPTION.sub(lambda match: "z" * len(match[0]), plain)
        root = _parsed(stand_in)
        # Where one is no word of a command, as within a string, it is what it is.
        if root is not None and all(_is_word(root, *span) for span in spans):
            return root
    return _parsed(plain)


def _is_word(root: Node, start: int, end: int) -> bool:
    node = root.descendant_for_byte_range(start, end)
    return node is not None and (node.type, node.start_byte, node.end_byte) == (
        "generic_token",
        start,
        end,
    )


def _parsed(stand_in: str) -> Node | None:
    source = stand_in.encode("ascii")
    reads = 0

    def chunk(offset: int, _point: object) -> bytes:
        nonlocal reads
        reads += 1
        return source[offset : offset + _CHUNK_BYTES]

    def too_long(_offset: int, _failing: bool) -> bool:
        return reads > _READS or is_over()

    try:
        return tree_sitter.Parser(_LANGUAGE).parse(chunk, progress_callback=too_long).root_node
    except ValueError:
        return None
