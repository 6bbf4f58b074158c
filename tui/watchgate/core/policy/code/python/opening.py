"""Archives, databases, sockets and the like that Python opens, and what is done with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from watchgate.core.policy.code.python.arguments import Call
from watchgate.core.policy.code.python.files import touches
from watchgate.core.policy.code.python.state import State
from watchgate.core.policy.code.python.values import (
    PLAIN,
    Const,
    Obj,
    Ref,
    Seq,
    Text,
    Values,
    many,
    merged,
    pieces,
)
from watchgate.core.policy.code.reading import UNKNOWN_TEXT, Unknown
from watchgate.core.policy.code.unread import Unread

_TEMPORARY: Final = f"/tmp/{UNKNOWN_TEXT}"


def opened(state: State, name: str, given: Call) -> Values | None:
    """Return what functions return that open something; None for others."""
    opens = _OPENS.get(name)
    if opens is None:
        return None
    opened = opens(state, given)
    state.forget(given.flat)
    return opened


def _archive(kind: str) -> Callable[[State, Call], Values]:
    def opens(state: State, given: Call) -> Values:
        place = given.at(0, "file") or given.at(0, "name") or given.at(0, "fileobj")
        paths = []
        for piece in pieces(place) or (Unknown(),):
            for mode in given.at(1, "mode") or (Const("r"),):
                known = isinstance(mode, Const) and isinstance(mode.value, str)
                touches(
                    state, piece, str(mode.value)[:1] if known and isinstance(mode, Const) else "r+"
                )
            paths.append(Obj(kind, piece))
        return merged(paths)

    return opens


def _database(_state: State, given: Call) -> Values:
    return merged(Obj("sqlite3.Connection", each) for each in pieces(given.at(0, "database")))


def _parsed(state: State, given: Call) -> Values:
    for value in given.at(0, "source") or given.at(0, "file"):
        if not isinstance(value, Obj) or value.kind != "file":
            state.does("cat", *pieces((value,)))
    return (Obj("xml.etree.ElementTree.ElementTree"),)


def _socket(state: State, given: Call) -> Values:
    if given.positional and any(isinstance(each, Seq) for each in given.at(0)):
        connects(state, given.at(0))
    return (Obj("socket.socket"),)


def _logged(state: State, given: Call) -> Values:
    for each in pieces(given.named.get("filename", ())):
        state.does("tee", "-a", each)
    return PLAIN


def _log_file(state: State, given: Call) -> Values:
    for each in pieces(given.at(0, "filename")):
        state.does("tee", "-a", each)
    return PLAIN


def _timed(_state: State, given: Call) -> Values:
    if any(
        isinstance(value, Const | Text | Ref) for values in given.positional[:2] for value in values
    ):
        raise Unread("times code that is given as a text")
    return PLAIN


def _temporary(*values: Text | Obj) -> Callable[[State, Call], Values]:
    """Make the reader of a call that opens a new file in the folder for temporary ones alone."""

    def opens(_state: State, given: Call) -> Values:
        free = [each for key in ("prefix", "suffix") for each in given.named.get(key, ())]
        known = all(isinstance(each, Const) and "/" not in str(each.value) for each in free)
        placed = any(each != Const(None) for each in given.named.get("dir", ()))
        if placed or not known or given.is_spread or len(given.positional) > 1:
            raise Unread("makes a file in a folder that is not followed")
        if any("/" in str(piece) for values in given.positional for piece in pieces(values)):
            raise Unread("makes a file in a folder that is not followed")
        return values or PLAIN

    return opens


def _temporary_file(state: State, given: Call) -> Values:
    _temporary()(state, given)
    state.does("mktemp")
    return (many(PLAIN),)


def _lines(state: State, given: Call) -> Values:
    if len(given.positional) > 1 or "inplace" in given.named or given.is_spread:
        raise Unread("may change the files whose lines it reads")
    for piece in pieces(given.at(0, "files") or (Const("-"),)):
        state.does("cat", piece)
    return PLAIN


def _bytecode(state: State, given: Call) -> Values:
    if len(given.positional) > 1 or "cfile" in given.named or given.is_spread:
        raise Unread("compiles into a file that is not followed")
    for piece in pieces(given.at(0, "file")):
        state.does("python3", "-m", "py_compile", piece)
    return PLAIN


def _looked_up(_state: State, given: Call) -> Values:
    if any(isinstance(each, Unknown) for each in pieces(given.at(0, "host"))) or given.is_spread:
        raise Unread("asks for the address of a host whose name is only known at run time")
    return PLAIN


def _is(*values: Text | Obj) -> Callable[[State, Call], Values]:
    return lambda _state, _given: values or PLAIN


_OPENS: Final[Mapping[str, Callable[[State, Call], Values]]] = {
    "zipfile.ZipFile": _archive("zipfile.ZipFile"),
    "tarfile.open": _archive("tarfile.TarFile"),
    "tarfile.TarFile": _archive("tarfile.TarFile"),
    "sqlite3.connect": _database,
    "tempfile.TemporaryDirectory": _temporary(Text(_TEMPORARY)),
    "tempfile.mkdtemp": _temporary(Text(_TEMPORARY)),
    "tempfile.NamedTemporaryFile": _temporary(Obj("file", Unknown(_TEMPORARY))),
    "tempfile.TemporaryFile": _temporary(Obj("file", Unknown(_TEMPORARY))),
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


def method(state: State, owner: Obj, name: str, given: Call) -> Values | None:
    """Return what methods of an opened thing give; None for those in the table of effects."""
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
                raise Unread("feeds what it starts")
            return (many(PLAIN),)
        case _:
            return None


def connects(state: State, address: Values) -> None:
    """Note that the code looks whether something listens, at an address and a port."""
    for value in address:
        match value:
            case Seq(items=(host, port)):
                places, ports = pieces(host), pieces(port)
                state.does("nc", "-z", *places[:1], *ports[:1])
            case _:
                state.does("nc", "-z", Unknown(), Unknown())
