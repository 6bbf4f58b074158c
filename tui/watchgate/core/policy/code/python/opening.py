"""Archives, databases, sockets and the like that Python opens, and what is done with them.

- Files that Python opens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from watchgate.core.policy.code.code_reading import UNKNOWN_TEXT, Piece, UnknownWord, UnreadCode
from watchgate.core.policy.code.python.python_effects import no_option
from watchgate.core.policy.code.python.python_state import PythonState
from watchgate.core.policy.code.python.python_values import (
    PLAIN,
    CallArguments,
    Const,
    KnownText,
    Obj,
    Plain,
    Ref,
    Seq,
    Value,
    Values,
    many,
    merged,
    pieces,
)
from watchgate.core.policy.shell.commands import names

_OPENERS: Final = names(
    """builtins.open io.open codecs.open gzip.open bz2.open lzma.open io.FileIO gzip.GzipFile
    tokenize.open os.fdopen bz2.BZ2File lzma.LZMAFile wave.open"""
)
_STREAMS: Final = range(3)
_METHODS: Final = names(
    """read readline readlines write writelines flush close seek tell fileno readable writable
    seekable isatty detach read1 peek truncate __enter__ __exit__ __iter__ __next__"""
)


def open_file(state: PythonState, name: str, given: CallArguments) -> Values | None:
    """Returns the values from a function that opens a file; None for any other."""
    if name not in _OPENERS:
        return None
    named = [v for key, values in given.named.items() for v in values if key != "file"]
    state.forget(named)
    if "opener" in given.named or given.spread:
        raise UnreadCode("opens a file in a way that is not followed")
    place = given.at(0, "file") or given.at(0, "filename") or (Plain(),)
    modes = [_mode(each) for each in given.at(1, "mode") or (Const("r"),)]
    opened: list[Value] = []
    for value in place:
        if isinstance(value, Const) and isinstance(value.value, int):
            if value.value not in _STREAMS:
                raise UnreadCode("opens a descriptor that is not followed")
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


def touches(state: PythonState, piece: Piece, mode: str) -> None:
    """Notes that a file is read or written, as the mode says in which it is opened."""
    piece = no_option(piece)
    if "+" in mode or not mode or mode[0] not in "wax":
        state.does("cat", piece)
    if "a" in mode:
        state.does("tee", "-a", piece)
    elif "w" in mode or "x" in mode or "+" in mode:
        state.does("tee", piece)


def file_method(_state: PythonState, owner: Obj, name: str, _given: CallArguments) -> Values | None:
    """Returns the values from a method of a file; None for other objects."""
    if owner.kind != "file":
        return None
    if name not in _METHODS:
        raise UnreadCode(f"calls {name} of a file")
    return PLAIN


_TEMPORARY: Final = f"/tmp/{UNKNOWN_TEXT}"


def opened(state: PythonState, name: str, given: CallArguments) -> Values | None:
    """Returns the values from a function that opens something; None for any other."""
    opens = _OPENS.get(name)
    if opens is None:
        return None
    opened = opens(state, given)
    state.forget(given.flat)
    return opened


def _archive(kind: str) -> Callable[[PythonState, CallArguments], Values]:
    def opens(state: PythonState, given: CallArguments) -> Values:
        place = given.at(0, "file") or given.at(0, "name") or given.at(0, "fileobj")
        paths = []
        for piece in pieces(place) or (UnknownWord(),):
            for mode in given.at(1, "mode") or (Const("r"),):
                known = isinstance(mode, Const) and isinstance(mode.value, str)
                touches(
                    state, piece, str(mode.value)[:1] if known and isinstance(mode, Const) else "r+"
                )
            paths.append(Obj(kind, piece))
        return merged(paths)

    return opens


def _database(_state: PythonState, given: CallArguments) -> Values:
    return merged(Obj("sqlite3.Connection", each) for each in pieces(given.at(0, "database")))


def _parsed(state: PythonState, given: CallArguments) -> Values:
    for value in given.at(0, "source") or given.at(0, "file"):
        if not isinstance(value, Obj) or value.kind != "file":
            state.does("cat", *pieces((value,)))
    return (Obj("xml.etree.ElementTree.ElementTree"),)


def _socket(state: PythonState, given: CallArguments) -> Values:
    if given.positional and any(isinstance(each, Seq) for each in given.at(0)):
        connects(state, given.at(0))
    return (Obj("socket.socket"),)


def _logged(state: PythonState, given: CallArguments) -> Values:
    for each in pieces(given.named.get("filename", ())):
        state.does("tee", "-a", each)
    return PLAIN


def _log_file(state: PythonState, given: CallArguments) -> Values:
    for each in pieces(given.at(0, "filename")):
        state.does("tee", "-a", each)
    return PLAIN


def _timed(_state: PythonState, given: CallArguments) -> Values:
    if any(
        isinstance(value, Const | KnownText | Ref)
        for values in given.positional[:2]
        for value in values
    ):
        raise UnreadCode("times code that is given as a text")
    return PLAIN


def _temporary(*values: KnownText | Obj) -> Callable[[PythonState, CallArguments], Values]:
    """Makes the reader of a call that opens a new file in the folder for temporary ones alone."""

    def opens(_state: PythonState, given: CallArguments) -> Values:
        free = [each for key in ("prefix", "suffix") for each in given.named.get(key, ())]
        known = all(isinstance(each, Const) and "/" not in str(each.value) for each in free)
        placed = any(each != Const(None) for each in given.named.get("dir", ()))
        if placed or not known or given.is_spread or len(given.positional) > 1:
            raise UnreadCode("makes a file in a folder that is not followed")
        if any("/" in str(piece) for values in given.positional for piece in pieces(values)):
            raise UnreadCode("makes a file in a folder that is not followed")
        return values or PLAIN

    return opens


def _temporary_file(state: PythonState, given: CallArguments) -> Values:
    _temporary()(state, given)
    state.does("mktemp")
    return (many(PLAIN),)


def _lines(state: PythonState, given: CallArguments) -> Values:
    if len(given.positional) > 1 or "inplace" in given.named or given.is_spread:
        raise UnreadCode("may change the files whose lines it reads")
    for piece in pieces(given.at(0, "files") or (Const("-"),)):
        state.does("cat", piece)
    return PLAIN


def _bytecode(state: PythonState, given: CallArguments) -> Values:
    if len(given.positional) > 1 or "cfile" in given.named or given.is_spread:
        raise UnreadCode("compiles into a file that is not followed")
    for piece in pieces(given.at(0, "file")):
        state.does("python3", "-m", "py_compile", piece)
    return PLAIN


def _looked_up(_state: PythonState, given: CallArguments) -> Values:
    if (
        any(isinstance(each, UnknownWord) for each in pieces(given.at(0, "host")))
        or given.is_spread
    ):
        raise UnreadCode("asks for the address of a host whose name is only known at run time")
    return PLAIN


def _is(*values: KnownText | Obj) -> Callable[[PythonState, CallArguments], Values]:
    return lambda _state, _given: values or PLAIN


_OPENS: Final[Mapping[str, Callable[[PythonState, CallArguments], Values]]] = {
    "zipfile.ZipFile": _archive("zipfile.ZipFile"),
    "tarfile.open": _archive("tarfile.TarFile"),
    "tarfile.TarFile": _archive("tarfile.TarFile"),
    "sqlite3.connect": _database,
    "tempfile.TemporaryDirectory": _temporary(KnownText(_TEMPORARY)),
    "tempfile.mkdtemp": _temporary(KnownText(_TEMPORARY)),
    "tempfile.NamedTemporaryFile": _temporary(Obj("file", UnknownWord(_TEMPORARY))),
    "tempfile.TemporaryFile": _temporary(Obj("file", UnknownWord(_TEMPORARY))),
    "tempfile.mkstemp": _temporary_file,
    "fileinput.input": _lines,
    "py_compile.compile": _bytecode,
    "socket.gethostbyname": _looked_up,
    "socket.getaddrinfo": _looked_up,
    "configparser.ConfigParser": _is(Obj("configparser.ConfigParser")),
    "configparser.RawConfigParser": _is(Obj("configparser.ConfigParser")),
    "xml.etree.ElementTree.parse": _parsed,
    "xml.etree.ElementTree.ElementTree": _parsed,
    "xml.dom.minidom.parse": _parsed,
    "email.message_from_file": _is(),
    "email.message_from_binary_file": _is(),
    "plistlib.load": _is(),
    "socket.socket": _socket,
    "socket.create_connection": _socket,
    "logging.basicConfig": _logged,
    "logging.FileHandler": _log_file,
    "timeit.timeit": _timed,
    "timeit.repeat": _timed,
}


def method(state: PythonState, owner: Obj, name: str, given: CallArguments) -> Values | None:
    """Returns the values from a method of an opened thing; None for those among the effects."""
    match owner.kind, name:
        case "sqlite3.Connection", "cursor" | "commit" | "rollback" | "close":
            return (owner,)
        case "zipfile.ZipFile" | "tarfile.TarFile", "open" | "read" | "extractfile":
            return PLAIN
        case "socket.socket", "connect" | "connect_ex":
            connects(state, given.at(0, "address"))
            return PLAIN
        case "subprocess.Popen", "communicate":
            if any(value != Const(None) for value in given.at(0, "input")):
                raise UnreadCode("feeds what it starts")
            return (many(PLAIN),)
        case _:
            return None


def connects(state: PythonState, address: Values) -> None:
    """Notes that the code looks whether something listens, at an address and a port."""
    for value in address:
        match value:
            case Seq(items=(host, port)):
                places, ports = pieces(host), pieces(port)
                state.does("nc", "-z", *places[:1], *ports[:1])
            case _:
                state.does("nc", "-z", UnknownWord(), UnknownWord())
