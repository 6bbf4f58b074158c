"""Calls of functions and methods: what they return, and what they do.

- Calls of the functions and classes that the code defines itself.
- Builtins that hand on what they get, or lead to something by its name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from watchgate.core.policy.code.code_reading import UnreadCode
from watchgate.core.policy.code.python import (
    opening,
    packages,
    pathlike,
    plain_data,
    python_processes,
)
from watchgate.core.policy.code.python.dotted_names import canonical, is_harmless
from watchgate.core.policy.code.python.harmless import METHODS
from watchgate.core.policy.code.python.python_effects import EFFECTS
from watchgate.core.policy.code.python.python_processes import of_environment
from watchgate.core.policy.code.python.python_state import PythonState, items, module
from watchgate.core.policy.code.python.python_values import (
    PLAIN,
    CallArguments,
    Const,
    Foreign,
    KnownText,
    Local,
    Many,
    Obj,
    Plain,
    Ref,
    RestOfValues,
    Seq,
    Value,
    Values,
    many,
    merged,
    pieces,
    seq,
    text_of,
)
from watchgate.core.policy.shell.commands import names

if TYPE_CHECKING:
    from watchgate.core.policy.code.python.python_state import ExpressionReader


def call_own(state: PythonState, number: int, given: CallArguments) -> Values:
    """Returns the values from a function of the code, whose parameters get the arguments."""
    node = state.locals[number]
    if isinstance(node, ast.ClassDef):
        for each in node.body:
            if isinstance(each, ast.FunctionDef) and each.name in ("__init__", "__new__"):
                _bind(state, each.args, given, skip=1)
        state.forget(given.flat)
        return PLAIN
    _bind(state, node.args, given)
    functions = state.names.get(f"({number})", ())
    # What an asynchronous function returns is first something to wait for.
    return (
        functions
        if functions and not isinstance(node, ast.AsyncFunctionDef)
        else (*functions, *PLAIN)
    )


def _bind(state: PythonState, to: ast.arguments, given: CallArguments, skip: int = 0) -> None:
    places = [each.arg for each in (*to.posonlyargs, *to.args)][skip:]
    known = {*places, *(each.arg for each in to.kwonlyargs)}
    for place, values in enumerate(given.positional):
        rest = merged(item for v in values if isinstance(v, RestOfValues) for item in v.items)
        if rest:
            _all_get(state, places[place:], to.vararg, rest)
        elif place < len(places):
            state.assign(places[place], values)
        else:
            _all_get(state, (), to.vararg, values)
    for name, values in given.named.items():
        named = (name,) if name in known else ()
        _all_get(state, named, None if named else to.kwarg, values)
    spread = merged(value for values in given.spread for value in values)
    if spread:
        _all_get(state, sorted(known), to.kwarg, spread)


def _all_get(
    state: PythonState, named: Sequence[str], rest: ast.arg | None, values: Values
) -> None:
    """Gives these parameters a value, and the one that takes what is over."""
    for name in named:
        state.assign(name, values)
    if rest is not None:
        state.assign(rest.arg, (many(values),))


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
_ANSWERING: Final[tuple[Callable[[PythonState, str, CallArguments], Values | None], ...]] = (
    opening.open_file,
    opening.opened,
    packages.asked,
    python_processes.started,
    pathlike.path_result,
)
"""Tables of what functions of Python return, one for each kind of them."""


def called(reader: ExpressionReader, functions: Values, given: CallArguments) -> Values:
    """Returns the values that any of these functions may return."""
    results: list[Value] = []
    for function in functions:
        match function:
            case Ref(name=dotted):
                results += _of_python(reader, canonical(dotted), given)
            case Foreign():
                results += packages.called(reader.state, function, given)
            case Local(number=number):
                results += call_own(reader.state, number, given)
            case Const():
                continue
            case _:
                raise UnreadCode("calls something that is not followed")
    return merged(results)


def _of_python(reader: ExpressionReader, name: str, given: CallArguments) -> Values:
    state = reader.state
    if given.is_spread and not (is_harmless(name) or name in _SPREADABLE):
        raise UnreadCode(f"calls {name} with arguments that are only known at run time")
    made = made_by_name(reader, name, given)
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
        raise UnreadCode(f"calls {name} without its object")
    if name in EFFECTS:
        state.forget(each for each in given.flat if not _is_signal(each))
        state.performs(name, given.positional, given.named)
        return pathlike.listed(name, given)
    if not is_harmless(name):
        raise UnreadCode(f"calls {name.removeprefix('builtins.')}")
    if name in _SHOWING:
        state.shown(given.flat)
    else:
        state.forget(given.flat)
    return PLAIN


def _is_signal(value: Value) -> bool:
    return isinstance(value, Ref) and value.name.startswith("signal.SIG")


def method(reader: ExpressionReader, owner: Value, name: str, given: CallArguments) -> Values:
    """Returns the values from a method of a value that is no module."""
    state = reader.state
    defined = _methods_of_the_code(state, name)
    if defined and isinstance(owner, Plain | Local | Many | Seq):
        itself = CallArguments((PLAIN, *given.positional), given.named, given.spread)
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
            return plain_data.of_text(state, text, name, given)
        case Seq() | Many() if name in METHODS:
            return plain_data.of_collection(state, owner, name, given)
        case Const() if not isinstance(owner.value, bytes):
            return ()
        case _:
            results = plain_data.method(state, name, given)
            return (KnownText(),) if isinstance(owner, KnownText) else results


def _methods_of_the_code(state: PythonState, name: str) -> Values:
    stored = state.names.get(f".{name}", ())
    return tuple(v for v in stored if not isinstance(v, Plain | Const | KnownText | Many | Seq))


def _of_an_object(state: PythonState, owner: Obj, name: str, given: CallArguments) -> Values:
    """Returns the values from a method of an object of a followed class."""
    state.forget(given.flat)
    dotted = f"{owner.kind}.{name}"
    for answer in (opening.file_method, opening.method, packages.method):
        returned = answer(state, owner, name, given)
        if returned is not None:
            return returned
    if dotted in EFFECTS:
        state.performs(dotted, given.positional, given.named, (owner,))
        return (owner,) if owner.kind == "sqlite3.Connection" else PLAIN
    if name not in METHODS:
        raise UnreadCode(f"calls {dotted}")
    return PLAIN


def made_by_name(reader: ExpressionReader, name: str, given: CallArguments) -> Values | None:
    """Returns the values from a builtin that makes them; None for any other function."""
    makes = _MAKES.get(name)
    return makes(reader, given) if makes else None


def _collected(reader: ExpressionReader, given: CallArguments) -> Values:
    reader.state.forget(v for values in given.named.values() for v in values)
    first = given.at(0)
    return (many(items(first, reader.state) if first else PLAIN, _sites(given)),)


def _sites(given: CallArguments) -> tuple[int, ...]:
    """The sites of what a copy is made of, with which it may be confused."""
    return tuple(sorted({s for v in given.flat if isinstance(v, Seq | Many) for s in v.sites}))


def _listed(reader: ExpressionReader, given: CallArguments) -> Values:
    first = given.at(0)
    if len(first) == 1 and isinstance(first[0], Seq):
        return first
    return _collected(reader, given)


def _chosen(reader: ExpressionReader, given: CallArguments) -> Values:
    reader.state.forget(v for values in given.named.values() for v in values)
    inside = items(given.at(0), reader.state)
    others = [value for values in given.positional for value in values]
    return merged((*inside, *(others if len(given.positional) > 1 else ())))


def _filtered(reader: ExpressionReader, given: CallArguments) -> Values:
    reader.state.forget(given.at(0))
    return (many(items(given.at(1), reader.state)),)


def _counted(reader: ExpressionReader, given: CallArguments) -> Values:
    return (many((seq((PLAIN, items(given.at(0), reader.state))),)),)


def _paired(reader: ExpressionReader, given: CallArguments) -> Values:
    return (many((seq(tuple(items(each, reader.state) for each in given.positional)),)),)


def _mapped(reader: ExpressionReader, given: CallArguments) -> Values:
    inner = tuple(items(values, reader.state) for values in given.positional[1:])
    return (many(called(reader, given.at(0), CallArguments(inner)) or PLAIN),)


def _dictionary(reader: ExpressionReader, given: CallArguments) -> Values:
    state = reader.state
    arguments: list[Value] = [
        v for values in (*given.named.values(), *given.spread) for v in values
    ]
    for each in (item for values in given.positional for item in items(values, state)):
        # Of pairs, both parts.
        arguments += items((each,), state) if isinstance(each, Seq) else (each,)
    return (many(merged(arguments) or PLAIN, _sites(given)),)


def _text(reader: ExpressionReader, given: CallArguments) -> Values:
    reader.state.shown(given.flat)
    plain = len(given.values) == 1 == len(given.positional)
    return merged(map(text_of, pieces(given.at(0)))) if plain else PLAIN


def _getattr_values(reader: ExpressionReader, given: CallArguments) -> Values:
    fallback = list(given.at(2))
    for name in given.at(1):
        if not isinstance(name, Const) or not isinstance(name.value, str):
            raise UnreadCode("reads an attribute whose name is only known at run time")
        fallback += reader.attribute(given.at(0), name.value)
    return merged(fallback)


def _kind(_reader: ExpressionReader, given: CallArguments) -> Values:
    if len(given.values) != 1:
        raise UnreadCode("makes a class in a way that is not followed")
    return PLAIN


def _imported(reader: ExpressionReader, given: CallArguments) -> Values:
    return merged(
        value for name in _modules(reader.state, given) for value in module(name.partition(".")[0])
    )


def _module(reader: ExpressionReader, given: CallArguments) -> Values:
    return merged(value for name in _modules(reader.state, given) for value in module(name))


def _modules(state: PythonState, given: CallArguments) -> list[str]:
    values = []
    for each in given.at(0, "name"):
        if not isinstance(each, Const) or not isinstance(each.value, str):
            raise UnreadCode("imports a module whose name is only known at run time")
        state.imports(each.value)
        values.append(each.value)
    return values


_MAKES: Final[Mapping[str, Callable[[ExpressionReader, CallArguments], Values]]] = {
    "builtins.list": _listed,
    "builtins.tuple": _listed,
    **dict.fromkeys(
        (
            "builtins.set",
            "builtins.frozenset",
            "builtins.sorted",
            "builtins.reversed",
            "builtins.iter",
        ),
        _collected,
    ),
    **dict.fromkeys(("builtins.next", "builtins.min", "builtins.max"), _chosen),
    "builtins.filter": _filtered,
    "builtins.enumerate": _counted,
    "builtins.zip": _paired,
    "builtins.map": _mapped,
    "builtins.dict": _dictionary,
    "builtins.str": _text,
    "builtins.getattr": _getattr_values,
    "builtins.type": _kind,
    "builtins.__import__": _imported,
    "importlib.import_module": _module,
    "importlib.__import__": _imported,
}
