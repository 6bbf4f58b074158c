"""The top of a line that is too long, too deep or too odd to be read as a whole.

Whoever it is meant for may read what our parser refuses: a number out of range, half a surrogate
pair, several messages in a list or one after the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

_TOKEN = re.compile(
    rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|".*|[{}\[\]:,]|[^\s{}\[\]:,"]+',
    re.DOTALL,
)
_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_DEEPEST = 2

Top = dict[tuple[str, ...], list[bytes]]
"""The scalars of one message by their keys, as they are written; all of a key that is repeated."""


def outline(line: bytes) -> list[Top]:
    """Returns the messages of a line, each with the values that stand at most two objects deep."""
    messages: list[Top] = []
    for path, token in _values(line):
        if not path:
            messages.append({})
        elif messages:
            messages[-1].setdefault(path, []).append(token)
    return messages


def texts_at(top: Top, *path: str) -> list[str]:
    """Returns the texts at one place of a message."""
    return [_text(token) for token in top.get(path, ())]


def id_of(top: Top, key: str) -> bytes:
    """Returns the message's id as it was written; empty where it has none that can be repeated."""
    ids = [each for each in top.get((key,), ()) if _text(each) or _NUMBER.fullmatch(each)]
    return ids[-1] if ids else b""


def _values(line: bytes) -> Iterator[tuple[tuple[str, ...], bytes]]:
    """Returns the values with the keys that lead to them; no keys where a message begins."""
    inside: list[list[str] | None] = []  # the key of each open object, None for a list
    deeper, last, valued = 0, b"", False
    for match in _TOKEN.finditer(line):
        token = match.group()
        if deeper:
            deeper += (token in (b"{", b"[")) - (token in (b"}", b"]"))
            continue
        path = inside[1:] if inside and inside[0] is None else inside
        match token:
            case b"{" | b"[" if len(path) == _DEEPEST:
                deeper = 1
            case b"{":
                if not path:
                    yield (), token
                inside.append([""])
            case b"[":
                inside.append(None)
            case b"}" | b"]":
                del inside[-1:]
            case b":":
                if path and path[-1] is not None:
                    path[-1][0] = _text(last)
            case b",":
                pass
            case _:
                last = token
                keys = tuple(each[0] for each in path if each is not None)
                if valued and keys and len(keys) == len(path):
                    yield keys, token
        valued = token == b":"


def _text(token: bytes) -> str:
    """Returns the text of a string, nothing for anything else."""
    try:
        value = json.loads(token.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return ""
    return value if isinstance(value, str) else ""
