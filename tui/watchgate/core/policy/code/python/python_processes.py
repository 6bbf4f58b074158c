"""The processes that Python starts.

- The environment of the process, as Python reads and sets it.
"""

from __future__ import annotations

import shlex
from itertools import islice, product
from typing import Final

from watchgate.core.policy.code.code_reading import Argv, UnknownWord, UnreadCode
from watchgate.core.policy.code.python.python_state import PythonState, is_environment
from watchgate.core.policy.code.python.python_values import (
    PLAIN,
    CallArguments,
    Const,
    KnownText,
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
    shown_text,
)
from watchgate.core.policy.shell.commands import names

_READING: Final = ("get", "pop", "setdefault")
_LISTING: Final = ("keys", "values", "items")

__all__ = ["is_environment", "of_environment", "reads_variable", "sets_variable"]


def of_environment(state: PythonState, name: str, given: CallArguments) -> Values:
    """Returns the values from a method of the environment, or of a copy of it."""
    if name in _READING:
        reads_variable(state, given.at(0, "key"))
        return merged((KnownText(), *given.at(1, "default")))
    if name == "copy":
        return (Obj("environ"),)
    if name in _LISTING:
        state.does("printenv")
        return (many((seq(((KnownText(),), (KnownText(),))), KnownText())),)
    if name == "update" and not given.positional and not given.spread:
        for variable, values in given.named.items():
            sets_variable(state, (Const(variable),), values)
        return PLAIN
    raise UnreadCode(f"calls {name} of the environment")


def reads_variable(state: PythonState, named: Values) -> None:
    """Notes that the code reads a variable of the environment."""
    for each in pieces(named):
        state.does("printenv", each)


def sets_variable(state: PythonState, named: Values, values: Values) -> None:
    """Notes that the code sets a variable of the environment, for what it starts."""
    state.forget(values)
    for name in pieces(named):
        if isinstance(name, UnknownWord):
            raise UnreadCode("sets a variable that is only known at run time")
        for each in pieces(values):
            text = f"{name}={shown_text(each)}"
            state.does("export", text if isinstance(each, str) else UnknownWord(text))


_SUBPROCESS: Final = names("run call check_call check_output Popen")
_EXECUTED: Final = names("os.execv os.execvp os.execl os.execlp")
_HARMLESS: Final = names(
    """args capture_output text universal_newlines check timeout stdout stderr encoding errors
    bufsize shell close_fds start_new_session cwd env stdin process_group restore_signals"""
)
_MAX_VARIANTS: Final = 8


def started(state: PythonState, name: str, given: CallArguments) -> Values | None:
    """Returns the values from a function that starts a process; None for any other."""
    module, _, last = name.rpartition(".")
    if module == "subprocess" and last in _SUBPROCESS:
        return _subprocess(state, last, given)
    if name == "asyncio.create_subprocess_exec":
        _runs(state, (seq(given.positional),), given)
        return (Obj("subprocess.Popen"),)
    if name in _EXECUTED:
        rest = given.positional[2:] if last.startswith("execl") else ()
        if last.startswith("execv"):
            for value in given.at(1):
                if not isinstance(value, Seq):
                    raise UnreadCode("starts a program with words that are not followed")
                rest = value.items[1:]
        _runs(state, (seq((given.at(0), *rest)),), given)
        return ()
    return None


def _subprocess(state: PythonState, name: str, given: CallArguments) -> Values:
    unknown = given.named.keys() - _HARMLESS
    if unknown or given.spread or len(given.positional) > 1:
        raise UnreadCode(
            f"starts a process with {', '.join(sorted(unknown)) or 'more than its words'}"
        )
    if any(each != Ref("subprocess.DEVNULL") for each in given.named.get("stdin", ())):
        raise UnreadCode("feeds what it starts")
    commands = given.at(0, "args")
    shell = given.named.get("shell", (Const(False),))
    for value in shell:
        if not isinstance(value, Const):
            raise UnreadCode("may give a shell a text")
        if value.value:
            _shell(state, commands, given)
        else:
            _runs(state, commands, given)
    return (Obj("subprocess.Popen"),) if name == "Popen" else PLAIN


def _shell(state: PythonState, commands: Values, given: CallArguments) -> None:
    for value in commands:
        # Of a list, the first item is the text.
        texts = value.items[0] if isinstance(value, Seq) and value.items else (value,)
        for text in pieces(texts):
            _starts(state, ("sh", "-c", text), given)


def _runs(state: PythonState, commands: Values, given: CallArguments) -> None:
    for value in commands:
        if state.added(value):
            raise UnreadCode("starts a program with words that are not followed")
        for argv in _argvs(value):
            _starts(state, argv, given)


def _argvs(value: Value) -> list[Argv]:
    match value:
        case Seq(items=items) if items:
            choices = [pieces(each) or (UnknownWord(),) for each in items]
            variants = list(islice(product(*choices), _MAX_VARIANTS + 1))
            if len(variants) <= _MAX_VARIANTS:
                return variants
            return [tuple(each[0] if len(each) == 1 else UnknownWord() for each in choices)]
        case Many() | RestOfValues() | Plain() | Seq():
            raise UnreadCode("starts a program with words that are not followed")
        case _:
            # On some systems a text is split into words as a shell does.
            texts = pieces((value,))
            blank = any(isinstance(each, str) and " " in each for each in texts)
            return [("sh", "-c", *texts)] if blank else [texts]


def _starts(state: PythonState, argv: Argv, given: CallArguments) -> None:
    """Notes a process, in its folder and with its variables."""
    for value in given.named.get("env", ()):
        if value != Const(None) and not is_environment(value):
            raise UnreadCode("starts a process with variables that are not followed")
    folders = pieces(given.named.get("cwd", (Const("."),)))
    for folder in folders:
        if folder == "." or (given.named.get("cwd") == (Const(None),)):
            state.does(*argv)
        elif isinstance(folder, str) and not any(isinstance(each, UnknownWord) for each in argv):
            words = shlex.join(str(each) for each in argv)
            state.does("sh", "-c", f"cd {shlex.quote(folder)} && {words}")
        else:
            raise UnreadCode("starts a process in a folder that is only known at run time")
