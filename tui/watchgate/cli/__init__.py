"""The front door: one small module per group of commands; what a command needs is imported late."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from watchgate import __version__
from watchgate.cli import (
    agent,
    answer,
    audit,
    claude_tools,
    config,
    console,
    core,
    doctor,
    grants,
    hook,
    install,
    policy,
    proxy,
    requests,
    schema,
    switch,
    tail,
    tap,
)
from watchgate.cli.exits import Exit, Stop
from watchgate.cli.output import complain
from watchgate.cli.parsing import Parser

_GROUPS = (
    *(console, core, switch, requests, answer, grants, tail, install, doctor, hook, tap),
    *(policy, proxy, claude_tools, agent, audit, config, schema),
)

_EPILOG = """\
Start with `watchgate demo`, or with `watchgate install claude` and then `watchgate`.
Exit codes: 0 done, 1 refused or not found, 2 usage, 3 no core reachable, 4 too late or settled.
"""


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = Parser(
        prog="watchgate",
        description="Watch your coding agents. Gate what they run.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"watchgate {__version__}")
    top.add_argument("--host", action="store_true", help="keep the core inside this console")
    top.set_defaults(run=console.run)
    commands = top.add_subparsers(title="commands", metavar="COMMAND")
    for group in _GROUPS:
        group.add_parser(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    args = parser().parse_args(argv)
    try:
        return int(args.run(args))
    except Stop as stop:
        complain(str(stop))
        return stop.code
    except BrokenPipeError:
        # Whoever read has left; what is still buffered must not fail once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.DONE
    except KeyboardInterrupt:
        return Exit.REFUSED
