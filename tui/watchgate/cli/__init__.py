"""The front door: one small module per group of commands; what a command needs is imported late."""

from __future__ import annotations

import argparse
import errno
import os
import sys
import time
from collections.abc import Iterable, Sequence
from importlib import import_module

from watchgate import __version__
from watchgate.cli.exits import Exit, Stop
from watchgate.cli.output import complain, give_up_stdout
from watchgate.cli.parsing import Parser
from watchgate.core.patterns.allowance import measure_by

GROUPS = {
    "console": ("attach", "demo"),
    "popup": ("popup",),
    "core": ("serve",),
    "switch": ("status", "stop", "off", "on"),
    "requests": ("ls", "show", "allow", "deny", "handback"),
    "answer": ("answer",),
    "grants": ("grants",),
    "presence.unlock": ("unlock", "lock"),
    "presence.pin": ("pin",),
    "presence.token": ("token",),
    "guard": ("guard",),
    "tail": ("tail",),
    "search": ("search",),
    "replay": ("replay",),
    "export": ("export",),
    "purge": ("purge",),
    "costs": ("costs",),
    "prices": ("prices",),
    "install": ("install",),
    "uninstall": ("uninstall",),
    "lookback": ("lookback",),
    "doctor": ("doctor",),
    "crashtest": ("crashtest",),
    "hook": ("hook",),
    "tap": ("tap",),
    "stdio": ("stdio",),
    "policy": ("policy",),
    "proxy": ("acp", "stream-json"),
    "claude_tools": ("permission-prompt", "statusline"),
    "agent": ("agent",),
    "audit": ("audit",),
    "config": ("config",),
    "schema": ("schema",),
    "service": ("service",),
    "completion": ("completion",),
}
"""The modules of the command line in the order of the help, each with the commands it adds."""

_EPILOG = """\
Start with `watchgate lookback` or `watchgate demo`; then `watchgate install claude`, `watchgate`.
Exit codes: 0 done, 1 refused or not found, 2 usage, 3 no core reachable, 4 too late or settled.
"""

_UNWRITTEN = (errno.ENOSPC, errno.EDQUOT, errno.EIO)


def parser(groups: Iterable[str] = tuple(GROUPS)) -> argparse.ArgumentParser:
    """The command line with the commands of these modules; by default the whole of it."""
    top = Parser(
        prog="watchgate",
        description="Watch your coding agents. Gate what they run.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"watchgate {__version__}")
    top.add_argument("--host", action="store_true", help="keep the core inside this console")
    top.set_defaults(run=_console)
    commands = top.add_subparsers(title="commands", metavar="COMMAND")
    for group in groups:
        import_module(f"{__name__}.{group}").add_parser(commands)
    return top


def _needed(words: Sequence[str]) -> Iterable[str]:
    """The modules that this command line needs: one, or all where it names no command we have.

    Importing all of them takes longer than many a command, and tmux asks every few seconds.
    """
    if set(words) <= {"--host"}:
        return ("console",)
    named = next((word for word in words if not word.startswith("-")), "")
    return [group for group, commands in GROUPS.items() if named in commands] or tuple(GROUPS)


def _console(args: argparse.Namespace) -> int:
    from watchgate.cli import console

    return console.run(args)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = sys.argv[1:] if argv is None else argv
    if sys.stdout is None:
        # Then nobody reads it, which is no fault of the command.
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if sys.stderr is None:
        # Closed by whoever started this; what is printed to no file goes to stdout.
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if "_ARGCOMPLETE" in os.environ:
        from watchgate.cli.completion import complete

        complete(parser())
    args = parser(_needed(words)).parse_args(words)
    measure_by(time.thread_time_ns)
    try:
        return _run(args)
    except BrokenPipeError:
        # Whoever read has left.
        give_up_stdout()
        return Exit.DONE
    except OSError as fault:
        if fault.errno not in _UNWRITTEN:
            raise
        give_up_stdout()
        complain(f"what was to be printed is not all there: {fault.strerror}")
        return Exit.REFUSED
    except KeyboardInterrupt:
        return Exit.REFUSED


def _run(args: argparse.Namespace) -> int:
    """The command's exit code, once all that it printed is out."""
    try:
        code = int(args.run(args))
    except Stop as stop:
        complain(str(stop))
        code = stop.code
    sys.stdout.flush()
    return code
