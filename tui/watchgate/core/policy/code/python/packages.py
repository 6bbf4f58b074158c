"""Calls of what is no part of Python: the project's own modules, and packages.

To import one runs its code, as `python x.py` does, and so it is judged. What its functions do then
is the project's own doing, as of any script. But they may be of a package that deletes, sends or
starts: a name that says such a thing is not understood, nor is a package that is made for it.

- Addresses that Python fetches from and sends to.
"""

from __future__ import annotations

import re
from typing import Final

from watchgate.core.policy.code.code_reading import Piece, UnknownWord, UnreadCode
from watchgate.core.policy.code.python.python_state import PythonState
from watchgate.core.policy.code.python.python_values import (
    PLAIN,
    CallArguments,
    Const,
    Foreign,
    Many,
    Obj,
    Seq,
    Value,
    Values,
    merged,
    pieces,
)
from watchgate.core.policy.shell.commands import names

_OPENING: Final = ("urllib.request.urlopen", "urllib.request.Request")
_REQUEST: Final = "urllib.request.Request"


def asked(state: PythonState, name: str, given: CallArguments) -> Values | None:
    """Returns the values from a function of `urllib.request` that asks for a URL; else None."""
    if name not in _OPENING:
        return None
    state.forget(given.flat)
    address = given.at(0, "url")
    data = any(each != Const(None) for each in given.at(1, "data"))
    plain = merged(each for each in address if not isinstance(each, Obj))
    fetches(state, plain, sends=data, method=given.named.get("method", ()))
    for each in address:
        if isinstance(each, Obj) and data:
            state.does("curl", "-d", UnknownWord(), each.piece)
    return tuple(Obj(_REQUEST, each) for each in pieces(plain)) if name == _REQUEST else PLAIN


def method(state: PythonState, owner: Obj, name: str, given: CallArguments) -> Values | None:
    """Returns the values from a method of a request; None for other objects."""
    if owner.kind != _REQUEST:
        return None
    state.forget(given.flat)
    if name == "add_data":
        state.does("curl", "-d", UnknownWord(), owner.piece)
    return PLAIN


def fetches(state: PythonState, address: Values, *, sends: bool, method: Values = ()) -> None:
    """Notes that the code asks for addresses, by a method, and whether it sends something."""
    words: list[Piece] = ["curl"]
    verbs = [each for each in pieces(method) if each not in ("GET", "get")]
    for each in verbs[:1]:
        words += ["-X", each.upper() if isinstance(each, str) else each]
    if sends:
        words += ["-d", UnknownWord()]
    for each in pieces(address):
        state.does(*words, each)


_WEB: Final = names("requests httpx")
_METHODS: Final = names("get head options post put patch delete request")
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_DOES: Final = names(
    """
    suspend inline flushall flushdb check_output check_call getoutput getstatusoutput magic
    delete remove drop destroy purge truncate unlink rmtree rmdir kill terminate shutdown reboot
    stop send post put patch push publish upload deploy exec eval system run popen spawn shell
    command cmd commit apply install uninstall rm exec_command invoke flush wipe erase reset
    revoke grant transfer pay charge refund merge rebase checkout connect migrate downgrade
    upgrade pickle unsafe sympify lambdify evaluate interact embed compile executescript
    executemany rollback create_all drop_all call_command trigger enqueue delay subprocess fork
    """
)
# Tables in memory: what the words delete or put together is a copy of theirs.
_TABLES: Final = names("pandas polars xarray")
_OF_TABLES: Final = names(
    "drop drop_duplicates drop_nulls drop_vars reset_index merge merge_asof merge_ordered truncate"
)
_WRITES: Final = names(
    """
    save savefig savetxt savez tofile imwrite to_csv to_json to_excel to_parquet to_pickle
    to_html to_feather to_markdown to_latex to_xml write_csv write_parquet write_json
    write_image write_html dump
    """
)
_PATH: Final = re.compile(r"(?:~|\.{0,2}/|[\w.@%+-]+/)[^\s]*|[\w.-]*\.\w{1,8}|\.[\w.-]+")
_RUNNING: Final = names("pip setuptools IPython pkg_resources")
_SQL: Final = re.compile(
    r"\s*(?:\(\s*)?(?:select|insert|update|delete|create|drop|alter|with|pragma|explain|show|truncate|begin"
    r"|commit|rollback|analyze|vacuum|grant|revoke|describe|set|use|replace|merge|copy|values)\b",
    re.IGNORECASE,
)
_RISKY_OPTIONS: Final = names("allow_pickle trust_remote_code")
_RISKY_LOADERS: Final = names("yaml.Loader yaml.UnsafeLoader yaml.FullLoader yaml.CLoader")
_RISKY_LOADS: Final = (("torch", "load"), ("yaml", "unsafe_load"), ("yaml", "full_load"))


def called(state: PythonState, function: Foreign, given: CallArguments) -> Values:
    """Returns the values from a function or method of a foreign module."""
    root, _, name = function.name.partition(".")
    owner = Foreign(root)
    state.forget(given.flat)
    if root in _WEB and name in _METHODS:
        _asks(state, name, given)
        return (owner,)
    if name == "execute":
        _executes(state, given)
        return (owner,)
    if _runs_code(name, given) or root in _RUNNING:
        raise UnreadCode(f"calls {name} of {root}, which may run other code")
    if _loads_code(root, name, given):
        raise UnreadCode(f"loads data with {root}, which may hold code")
    if _does_more(name, given) and not (root in _TABLES and name in _OF_TABLES):
        raise UnreadCode(f"calls {name} of {root}")
    for value in given.flat:
        _touches(state, value, writes=name in _WRITES)
    return (owner,)


def _runs_code(name: str, given: CallArguments) -> bool:
    """Tells whether a text that a function gets may be code."""
    texts = [str(each.value) for each in given.flat if isinstance(each, Const)]
    asks = name == "query" and (len(texts) < len(given.flat) or any("@" in text for text in texts))
    return asks or any("__" in text for text in texts)


def _loads_code(root: str, name: str, given: CallArguments) -> bool:
    """Tells whether a function reads data in a form that may hold code."""
    if (root, name) == ("yaml", "load") and len(given.values) < 2:
        return True
    loaders = {each.name for each in given.flat if isinstance(each, Foreign)}
    risky = not _RISKY_LOADERS.isdisjoint(loaders) or not _RISKY_OPTIONS.isdisjoint(given.named)
    return risky or (root, name) in _RISKY_LOADS


def _does_more(name: str, given: CallArguments) -> bool:
    """Tells whether a name says that the function deletes, sends, starts or the like."""
    if name in _WRITES:
        return name != "dump" and not given.values
    words = {word.lower() for word in _WORD.findall(name)} | {name}
    return not words.isdisjoint(_DOES)


def _asks(state: PythonState, name: str, given: CallArguments) -> None:
    sends = any(key in given.named for key in ("data", "json", "files", "content")) or (
        name in ("post", "put", "patch") and len(given.positional) > 1
    )
    # What the code read may go along in the words of the address.
    along = [given.named[key] for key in ("params", "headers", "cookies") if key in given.named]
    sends = sends or not all(map(_is_written_out, along))
    method: Values = (Const(name.upper()),) if name not in ("get", "request") else ()
    address = given.at(0, "url")
    if name == "request":
        method, address = given.at(0, "method"), given.at(1, "url")
    fetches(state, address, sends=sends or bool(given.spread), method=method)


def _is_written_out(values: Values) -> bool:
    """Tells whether all of a collection stands in the code as constants."""
    for value in values:
        match value:
            case Const():
                continue
            case Seq(items=items) if all(map(_is_written_out, items)):
                continue
            case Many(items=inner) if _is_written_out(inner):
                continue
            case _:
                return False
    return True


def _executes(state: PythonState, given: CallArguments) -> None:
    """Notes a statement for a database."""
    for values in given.positional[:1] or ((),):
        for piece in pieces(values) or (UnknownWord(),):
            if isinstance(piece, UnknownWord):
                raise UnreadCode("gives a database a statement that is only known at run time")
            if not _SQL.match(piece):
                raise UnreadCode("gives something a text that may be code")
            state.does("psql", "-c", piece)


def _touches(state: PythonState, value: Value, *, writes: bool) -> None:
    """Notes a path or an address that a foreign function gets."""
    match value:
        case Seq() | Many():
            inner = (
                i for item in value.items for i in (item if isinstance(item, tuple) else (item,))
            )
            for each in inner:
                _touches(state, each, writes=writes)
        case Obj(kind="pathlib.Path", piece=piece):
            state.does("tee" if writes else "cat", piece)
        case Const(value=str() as text):
            if "://" in text:
                state.does("curl", text)
            elif _PATH.fullmatch(text):
                state.does("tee" if writes else "cat", text)
        case _:
            pass
