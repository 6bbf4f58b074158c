"""The one door to tree-sitter: a text becomes a tree of nodes, or nothing where it is missing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from watchgate.core.base.patterns.allowance import is_over

try:
    import tree_sitter
    import tree_sitter_bash
except ImportError:  # every shell command is then opaque, and asked
    _LANGUAGE = None
else:
    try:
        _LANGUAGE = tree_sitter.Language(tree_sitter_bash.language())
        _PARSER = tree_sitter.Parser(_LANGUAGE)
    except ValueError:  # a grammar that this parser is too old or too new for
        _LANGUAGE = None

if TYPE_CHECKING:
    from tree_sitter import Node as Node  # noqa: PLC0414 - handed on to the readers


# Bash takes these for letters where the grammar takes some of them for blanks. One byte each keeps
# the positions of the tree equal to those of the text.
_FOREIGN = re.compile(r"[^\t\n\x20-\x7e]")


# The grammar passes over an escaped blank between words, where bash has a word of it.
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)

# It drops a dash that stands alone before a redirect, as in `cat - 2>&1`.
_LONE_DASH = re.compile(r"(?<=[ \t])-(?=[ \t]{1,9}\d?[<>])")

# Mending errors goes back over the text again and again; what people write is read about twice.
_UNWATCHED_CHARS = 1_000
_CHUNK_BYTES = 256
_READS_A_CHUNK = 8

# Where these stand unclosed, or in one pipeline, the parser takes far longer than for other text.
_MAX_SIGNS = {"|": 600, "${": 400, "<<": 400, "[[": 400}


def _as_letters(match: re.Match[str]) -> str:
    return "__" if match[1] in " \t" else match[0]


def available() -> bool:
    """Returns whether there is a parser."""
    return _LANGUAGE is not None


def parse(text: str) -> Node | None:
    """The root of the text's tree, positions counted in characters.

    None without a parser, and for a text that would take it far longer than others of its length.
    """
    if _LANGUAGE is None or any(text.count(sign) > limit for sign, limit in _MAX_SIGNS.items()):
        return None
    stand_in = _FOREIGN.sub("_", text)
    if "\\ " in text or "\\\t" in text:
        stand_in = _ESCAPED.sub(_as_letters, stand_in)
    if " - " in text:
        stand_in = _LONE_DASH.sub("_", stand_in)
    source = stand_in.encode("ascii")
    if len(source) <= _UNWATCHED_CHARS:
        return _PARSER.parse(source).root_node
    reads = 0
    max_reads = _READS_A_CHUNK * (len(source) // _CHUNK_BYTES + 8)

    def chunk(offset: int, _point: object) -> bytes:
        nonlocal reads
        reads += 1
        return source[offset : offset + _CHUNK_BYTES]

    def too_long(_offset: int, _failing: bool) -> bool:
        return reads > max_reads or is_over()

    try:
        # Another thread may begin to read while this calls back, so nobody shares its parser.
        return tree_sitter.Parser(_LANGUAGE).parse(chunk, progress_callback=too_long).root_node
    except ValueError:
        return None
