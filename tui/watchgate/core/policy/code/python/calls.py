"""Calls of functions and methods: what they return, and what they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from watchgate.core.policy.code.python import (
    builtin,
    data,
    files,
    foreign,
    opening,
    own,
    pathlike,
    processes,
    web,
)
from watchgate.core.policy.code.python.arguments import Call
from watchgate.core.policy.code.python.effects import EFFECTS
from watchgate.core.policy.code.python.environment import of_environment
from watchgate.core.policy.code.python.harmless import METHODS
from watchgate.core.policy.code.python.names import canonical, is_harmless
from watchgate.core.policy.code.python.state import State
from watchgate.core.policy.code.python.values import (
    PLAIN,
    Const,
    Foreign,
    Local,
    Many,
    Obj,
    Plain,
    Ref,
    Seq,
    Text,
    Value,
    Values,
    merged,
)
from watchgate.core.policy.code.unread import Unread
from watchgate.core.policy.shell.words import names

if TYPE_CHECKING:
    from watchgate.core.policy.code.python.expressions import Expressions

# They describe what they get, and call none of it.
_SHOWING: Final = names(
    """
    builtins.print builtins.repr builtins.str builtins.dir builtins.len builtins.isinstance
    builtins.issubclass builtins.callable builtins.id builtins.type builtins.help
    builtins.hasattr builtins.bool builtins.hash builtins.format builtins.ascii sys.getsizeof
    sys.getrefcount pprint.pprint inspect.getsource inspect.signature inspect.getfile
    inspect.getmembers inspect.getdoc inspect.isclass inspect.isfunction inspect.ismethod
    inspect.getsourcelines dis.dis
    """
)
_SPREADABLE: Final = ("pathlib.Path", "builtins.getattr")
_ANSWERING: Final[tuple[Callable[[State, str, Call], Values | None], ...]] = (
    files.opened,
    opening.opened,
    web.asked,
    processes.started,
    pathlike.found,
)
"""Tables of what functions of Python return, one for each kind of them."""


def called(reader: Expressions, functions: Values, given: Call) -> Values:
    """Return what these functions return."""
    results: list[Value] = []
    for function in functions:
        match function:
            case Ref(name=dotted):
                results += _of_python(reader, canonical(dotted), given)
            case Foreign():
                results += foreign.called(reader.state, function, given)
            case Local(number=number):
                results += own.called(reader.state, number, given)
            case Const():
                continue
            case _:
                raise Unread("calls something that is not followed")
    return merged(results)


def _of_python(reader: Expressions, name: str, given: Call) -> Values:
    state = reader.state
    if given.is_spread and not (is_harmless(name) or name in _SPREADABLE):
        raise Unread(f"calls {name} with arguments that are only known at run time")
    made = builtin.made(reader, name, given)
    if made is not None:
        return made
    module, _, last = name.rpartition(".")
    if module in ("os.environ", "os.environb"):
        return of_environment(state, last, given)
    for answer in _ANSWERING:
        returned = answer(state, name, given)
        if returned is not None:
            return returned
    if name in EFFECTS and module.rpartition(".")[2][:1].isupper():
        raise Unread(f"calls {name} without its object")
    if name in EFFECTS:
        state.forget(each for each in given.flat if not _is_signal(each))
        state.performs(name, given.positional, given.named)
        return pathlike.listed(name, given)
    if not is_harmless(name):
        raise Unread(f"calls {name.removeprefix('builtins.')}")
    if name in _SHOWING:
        state.shown(given.flat)
    else:
        state.forget(given.flat)
    return PLAIN


def _is_signal(value: Value) -> bool:
    return isinstance(value, Ref) and value.name.startswith("signal.SIG")


def method(reader: Expressions, owner: Value, name: str, given: Call) -> Values:
    """Return what a method of a value returns that is no module."""
    state = reader.state
    defined = _methods_of_the_code(state, name)
    if defined and isinstance(owner, Plain | Local | Many | Seq):
        itself = Call((PLAIN, *given.positional), given.named, given.spread)
        results = called(reader, defined, given)
        return merged((*results, *called(reader, defined, itself))) or PLAIN
    match owner:
        case Obj(kind="pathlib.Path", piece=piece):
            return pathlike.method(state, piece, name, given)
        case Obj(kind="environ"):
            return of_environment(state, name, given)
        case Obj():
            return _of_an_object(state, owner, name, given)
        case Const(value=str() as text):
            return data.of_text(state, text, name, given)
        case Seq() | Many() if name in METHODS:
            return data.of_collection(state, owner, name, given)
        case Const() if not isinstance(owner.value, bytes):
            return ()
        case _:
            results = data.method(state, name, given)
            return (Text(),) if isinstance(owner, Text) else results


def _methods_of_the_code(state: State, name: str) -> Values:
    stored = state.names.get(f".{name}", ())
    return tuple(v for v in stored if not isinstance(v, Plain | Const | Text | Many | Seq))


def _of_an_object(state: State, owner: Obj, name: str, given: Call) -> Values:
    """Return what a method of an object of a followed class returns."""
    state.forget(given.flat)
    dotted = f"{owner.kind}.{name}"
    for answer in (files.method, opening.method, web.method):
        returned = answer(state, owner, name, given)
        if returned is not None:
            return returned
    if dotted in EFFECTS:
        state.performs(dotted, given.positional, given.named, (owner,))
        return (owner,) if owner.kind == "sqlite3.Connection" else PLAIN
    if name not in METHODS:
        raise Unread(f"calls {dotted}")
    return PLAIN
