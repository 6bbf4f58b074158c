"""The processes that Python starts."""

from __future__ import annotations

import shlex
from itertools import islice, product
from typing import Final

from watchgate.core.policy.code.python.arguments import Call
from watchgate.core.policy.code.python.state import State, is_environment
from watchgate.core.policy.code.python.values import (
    PLAIN,
    Const,
    Many,
    Obj,
    Plain,
    Ref,
    Rest,
    Seq,
    Value,
    Values,
    pieces,
    seq,
)
from watchgate.core.policy.code.reading import Argv, Unknown
from watchgate.core.policy.code.unread import Unread
from watchgate.core.policy.shell.words import names

_SUBPROCESS: Final = names("run call check_call check_output Popen")
_EXECUTED: Final = names("os.execv os.execvp os.execl os.execlp")
_HARMLESS: Final = names(
    """args capture_output text universal_newlines check timeout stdout stderr encoding errors
    bufsize shell close_fds start_new_session cwd env stdin process_group restore_signals"""
)
_MAX_VARIANTS: Final = 8


def started(state: State, name: str, given: Call) -> Values | None:
    """Return what functions return that start a process; None for others."""
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
                    raise Unread("starts a program with words that are not followed")
                rest = value.items[1:]
        _runs(state, (seq((given.at(0), *rest)),), given)
        return ()
    return None


def _subprocess(state: State, name: str, given: Call) -> Values:
    unknown = given.named.keys() - _HARMLESS
    if unknown or given.spread or len(given.positional) > 1:
        raise Unread(f"starts a process with {', '.join(sorted(unknown)) or 'more than its words'}")
    if any(each != Ref("subprocess.DEVNULL") for each in given.named.get("stdin", ())):
        raise Unread("feeds what it starts")
    commands = given.at(0, "args")
    shell = given.named.get("shell", (Const(False),))
    for value in shell:
        if not isinstance(value, Const):
            raise Unread("may give a shell a text")
        if value.value:
            _shell(state, commands, given)
        else:
            _runs(state, commands, given)
    return (Obj("subprocess.Popen"),) if name == "Popen" else PLAIN


def _shell(state: State, commands: Values, given: Call) -> None:
    for value in commands:
        # Of a list, the first item is the text.
        texts = value.items[0] if isinstance(value, Seq) and value.items else (value,)
        for text in pieces(texts):
            _starts(state, ("sh", "-c", text), given)


def _runs(state: State, commands: Values, given: Call) -> None:
    for value in commands:
        if state.added(value):
            raise Unread("starts a program with words that are not followed")
        for argv in _argvs(value):
            _starts(state, argv, given)


def _argvs(value: Value) -> list[Argv]:
    match value:
        case Seq(items=items) if items:
            choices = [pieces(each) or (Unknown(),) for each in items]
            variants = list(islice(product(*choices), _MAX_VARIANTS + 1))
            if len(variants) <= _MAX_VARIANTS:
                return variants
            return [tuple(each[0] if len(each) == 1 else Unknown() for each in choices)]
        case Many() | Rest() | Plain() | Seq():
            raise Unread("starts a program with words that are not followed")
        case _:
            # On some systems a text is split into words as a shell does.
            texts = pieces((value,))
            blank = any(isinstance(each, str) and " " in each for each in texts)
            return [("sh", "-c", *texts)] if blank else [texts]


def _starts(state: State, argv: Argv, given: Call) -> None:
    """Note a process, in its folder and with its variables."""
    for value in given.named.get("env", ()):
        if value != Const(None) and not is_environment(value):
            raise Unread("starts a process with variables that are not followed")
    folders = pieces(given.named.get("cwd", (Const("."),)))
    for folder in folders:
        if folder == "." or (given.named.get("cwd") == (Const(None),)):
            state.does(*argv)
        elif isinstance(folder, str) and not any(isinstance(each, Unknown) for each in argv):
            words = shlex.join(str(each) for each in argv)
            state.does("sh", "-c", f"cd {shlex.quote(folder)} && {words}")
        else:
            raise Unread("starts a process in a folder that is only known at run time")
