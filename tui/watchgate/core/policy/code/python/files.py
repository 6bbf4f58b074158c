"""Files that Python opens."""

from __future__ import annotations

from typing import Final

from watchgate.core.policy.code.python.arguments import Call
from watchgate.core.policy.code.python.effects import no_option
from watchgate.core.policy.code.python.state import State
from watchgate.core.policy.code.python.values import (
    PLAIN,
    Const,
    Obj,
    Plain,
    Value,
    Values,
    merged,
    pieces,
)
from watchgate.core.policy.code.reading import Piece
from watchgate.core.policy.code.unread import Unread
from watchgate.core.policy.shell.words import names

_OPENERS: Final = names(
    """builtins.open io.open codecs.open gzip.open bz2.open lzma.open io.FileIO gzip.GzipFile
    tokenize.open os.fdopen bz2.BZ2File lzma.LZMAFile wave.open"""
)
_STREAMS: Final = range(3)
_METHODS: Final = names(
    """read readline readlines write writelines flush close seek tell fileno readable writable
    seekable isatty detach read1 peek truncate __enter__ __exit__ __iter__ __next__"""
)


def opened(state: State, name: str, given: Call) -> Values | None:
    """Return what a function returns that opens a file; None for others."""
    if name not in _OPENERS:
        return None
    named = [v for key, values in given.named.items() for v in values if key != "file"]
    state.forget(named)
    if "opener" in given.named or given.spread:
        raise Unread("opens a file in a way that is not followed")
    place = given.at(0, "file") or given.at(0, "filename") or (Plain(),)
    modes = [_mode(each) for each in given.at(1, "mode") or (Const("r"),)]
    opened: list[Value] = []
    for value in place:
        if isinstance(value, Const) and isinstance(value.value, int):
            if value.value not in _STREAMS:
                raise Unread("opens a descriptor that is not followed")
            continue
        if name == "os.fdopen" or (isinstance(value, Obj) and value.kind == "file"):
            opened.append(Obj("file", *pieces((value,))))
            continue
        state.forget((value,))
        for piece in pieces((value,)):
            for mode in modes:
                touches(state, piece, mode)
            opened.append(Obj("file", piece))
    return merged(opened) or PLAIN


def _mode(value: Value) -> str:
    known = isinstance(value, Const) and isinstance(value.value, str)
    return str(value.value) if known and isinstance(value, Const) else "r+"


def touches(state: State, piece: Piece, mode: str) -> None:
    """Note that a file is read or written, as the mode says in which it is opened."""
    piece = no_option(piece)
    if "+" in mode or not mode or mode[0] not in "wax":
        state.does("cat", piece)
    if "a" in mode:
        state.does("tee", "-a", piece)
    elif "w" in mode or "x" in mode or "+" in mode:
        state.does("tee", piece)


def method(_state: State, owner: Obj, name: str, _given: Call) -> Values | None:
    """Return what a method of a file returns; None for other objects."""
    if owner.kind != "file":
        return None
    if name not in _METHODS:
        raise Unread(f"calls {name} of a file")
    return PLAIN
