"""Paths: what makes them, what their parts are, and what is done with them."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from watchgate.core.policy.code.code_reading import UNKNOWN_TEXT, Piece, UnknownWord, UnreadCode
from watchgate.core.policy.code.python import opening
from watchgate.core.policy.code.python.plain_data import split_as_shell
from watchgate.core.policy.code.python.python_effects import EFFECTS
from watchgate.core.policy.code.python.python_state import PythonState
from watchgate.core.policy.code.python.python_values import (
    PLAIN,
    CallArguments,
    Const,
    KnownText,
    Obj,
    Value,
    Values,
    many,
    merged,
    path_joined,
    pieces,
    seq,
    shown_text,
    text_of,
)
from watchgate.core.policy.shell.commands import names

_MAX_PATHS: Final = 8
_MAX_PARTS: Final = 30
_SAME: Final = names(
    """os.path.expanduser os.path.expandvars os.path.abspath os.path.realpath os.path.normpath
    os.path.normcase os.path.relpath os.fspath os.fsdecode"""
)
_SAME_METHODS: Final = names("resolve absolute expanduser as_posix __str__")
_READING_METHODS: Final = names(
    """exists is_file is_dir is_symlink is_absolute is_relative_to stat lstat relative_to as_uri
    match samefile owner group readlink is_mount"""
)
_LISTING_METHODS: Final = {"iterdir": "ls", "glob": "ls", "rglob": "find", "walk": "find"}
_MOVING: Final = names("shutil.move shutil.copy shutil.copy2 shutil.copytree shutil.copyfile")


def path(piece: Piece) -> Obj:
    """A path as an object."""
    return Obj("pathlib.Path", piece)


def path_result(state: PythonState, name: str, given: CallArguments) -> Values | None:
    """Returns the values from a function that works on paths; None for any other."""
    if name in _SAME:
        return merged(map(text_of, pieces(given.at(0, "path")))) or PLAIN
    finds = _FINDS.get(name)
    return finds(state, given) if finds else None


def _joined(values: Iterable[Values]) -> tuple[Piece, ...]:
    """The names below one another, for all that they may be."""
    parts = tuple(values)
    if len(parts) > _MAX_PARTS:
        return (UnknownWord(),)
    made: tuple[Piece, ...] = ("",)
    for each in parts:
        made = tuple(path_joined(folder, name) for folder in made for name in pieces(each))
        made = made if len(made) <= _MAX_PATHS else (UnknownWord(),)
    return made


def _path(_state: PythonState, given: CallArguments) -> Values:
    return merged(path(each or ".") for each in _joined(given.positional))


def _join(_state: PythonState, given: CallArguments) -> Values:
    return merged(map(text_of, _joined(given.positional)))


def _of_parts(name: str) -> Callable[[PythonState, CallArguments], Values]:
    def split(_state: PythonState, given: CallArguments) -> Values:
        parts: list[Value] = []
        for each in pieces(given.at(0, "p")):
            if isinstance(each, UnknownWord):
                parts.append(KnownText())
                continue
            head, tail = posixpath.split(each)
            both = seq(((Const(head),), (Const(tail),)))
            parts.append({"dirname": Const(head), "basename": Const(tail)}.get(name, both))
        return merged(parts)

    return split


def _globbed(state: PythonState, given: CallArguments) -> Values:
    patterns = pieces(given.at(0, "pathname"))
    for each in patterns:
        state.does("ls", each)
    folders = [shown_text(each).partition("*")[0] for each in patterns]
    return (
        many(merged(KnownText(each[: each.rfind("/") + 1] + UNKNOWN_TEXT) for each in folders)),
    )


def _searched(state: PythonState, given: CallArguments) -> Values:
    """A folder more in which modules are looked for."""
    for each in pieces(given.positional[-1]) if given.positional else ():
        state.folders[each] = None
    return PLAIN


_FINDS: Final[Mapping[str, Callable[[PythonState, CallArguments], Values]]] = {
    "pathlib.Path": _path,
    "pathlib.PosixPath": _path,
    "pathlib.Path.cwd": lambda _state, _given: (path("."),),
    "pathlib.Path.home": lambda _state, _given: (path("~"),),
    "os.getcwd": lambda _state, _given: (Const("."),),
    "os.path.join": _join,
    "os.path.dirname": _of_parts("dirname"),
    "os.path.basename": _of_parts("basename"),
    "os.path.split": _of_parts("split"),
    "glob.glob": _globbed,
    "glob.iglob": _globbed,
    "sys.path.append": _searched,
    "sys.path.insert": _searched,
    "site.addsitedir": _searched,
    "shlex.split": lambda _state, given: split_as_shell(given.at(0, "s")),
}


def listed(name: str, given: CallArguments) -> Values:
    """Returns the values from a function among the effects: most return nothing but data."""
    folders = pieces(given.at(0, "path") or given.at(0, "top")) or (".",)
    within = merged(KnownText(f"{shown_text(each)}/{UNKNOWN_TEXT}") for each in folders)
    match name:
        case "os.listdir":
            return (many((KnownText(),)),)
        case "os.scandir":
            entries = (Obj("os.DirEntry", *pieces((each,))) for each in within)
            return (many(tuple(entries)),)
        case "os.walk" | "os.fwalk":
            some: Values = (many((KnownText(),)),)
            return (many((seq((merged((*map(text_of, folders), *within)), some, some)),)),)
        case "tempfile.mktemp":
            return (KnownText(f"/tmp/{UNKNOWN_TEXT}"),)
        case "tempfile.mkstemp":
            return (seq((PLAIN, (KnownText(f"/tmp/{UNKNOWN_TEXT}"),))),)
        case _ if name in _MOVING:
            return given.at(1, "dst")
        case _:
            return PLAIN


def part_of_path(piece: Piece, attribute: str) -> Values:
    """Returns the values of an attribute of a path."""
    text, known = shown_text(piece), isinstance(piece, str)
    match attribute:
        case "parent":
            above = posixpath.dirname(text) or "."
            if text in (".", "..") or text.endswith("/.."):
                above = posixpath.join(text, "..")
            return (path(above if known else UnknownWord(above)),)
        case "parents":
            return (many((path(UnknownWord(f"{text}/../{UNKNOWN_TEXT}")),)),)
        case "name":
            return (Const(posixpath.basename(text)) if known else KnownText(),)
        case _:
            return (KnownText(),)


def method(state: PythonState, piece: Piece, name: str, given: CallArguments) -> Values:
    """Returns the values from a method of a path."""
    state.forget(given.flat)
    dotted = f"pathlib.Path.{name}"
    if dotted in EFFECTS:
        state.performs(dotted, given.positional, given.named, (path(piece),))
        return merged(map(path, pieces(given.at(0, "target")))) or PLAIN
    if name in _SAME_METHODS:
        return (path(piece),)
    if name in _READING_METHODS:
        return PLAIN
    if name in _LISTING_METHODS:
        state.does(_LISTING_METHODS[name], piece)
        return (many((path(path_joined(piece, UnknownWord())),)),)
    match name:
        case "open":
            whole = CallArguments(((path(piece),), *given.positional), given.named, given.spread)
            return opening.open_file(state, "builtins.open", whole) or PLAIN
        case "joinpath":
            return merged(map(path, _joined(((path(piece),), *given.positional))))
        case "with_suffix":
            stem = posixpath.splitext(shown_text(piece))[0]
            return (path(UnknownWord(f"{stem}.{UNKNOWN_TEXT}")),)
        case "with_name" | "with_stem":
            return (path(path_joined(posixpath.dirname(shown_text(piece)), UnknownWord())),)
        case _:
            raise UnreadCode(f"calls {name} of a path")
