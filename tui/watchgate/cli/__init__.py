"""The front door: one small module per group of commands; what a command needs is imported late.

The parser of every command: a wrong command line is told what was meant and where help is.
"""

from __future__ import annotations

import argparse
import difflib
import errno
import os
import re
import sys
import time
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, NoReturn

from watchgate import __version__
from watchgate.cli.base.printing import Exit, Stop, complain, give_up_stdout
from watchgate.core.base.patterns.allowance import measure_by
from watchgate.core.base.text import safe_text

_CHOICE = re.compile(r"invalid choice: '(?P<wrong>.*)' \(choose from (?P<allowed>.*)\)")


class Parser(argparse.ArgumentParser):
    """A parser whose errors say how to mend them; parsers of sub-commands are of the same kind.

    With `intermixed`, options may stand between the words of a command that takes any number.
    """

    intermixed = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As in argparse, which by itself takes an open list of words in one piece only."""
        if not self.intermixed:
            return super().parse_known_args(args, namespace)
        self.intermixed = False
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.intermixed = True

    def error(self, message: str) -> NoReturn:
        """Prints the usage and the error, and ends with the exit code for usage."""
        self.print_usage(sys.stderr)
        text = f"{self.prog}: error: {safe_text(message)};{_meant(message)}"
        self.exit(Exit.USAGE, f"{text} see `{self.prog} --help`\n")


def _meant(message: str) -> str:
    match = _CHOICE.search(message)
    if match is None:
        return ""
    close = difflib.get_close_matches(match["wrong"], re.findall(r"[\w-]+", match["allowed"]), n=1)
    return f" did you mean {close[0]}?" if close else ""


GROUPS = {
    "console.console_command": ("attach", "demo"),
    "console.popup_command": ("popup",),
    "machine.serve_command": ("serve",),
    "machine.switch": ("status", "stop", "off", "on"),
    "decide.requests_command": ("ls", "show", "allow", "deny", "handback"),
    "decide.answer_command": ("answer",),
    "decide.grants_command": ("grants",),
    "presence.unlock_command": ("unlock", "lock"),
    "presence.pin_command": ("pin",),
    "presence.program_token": ("token",),
    "setup.guard_command": ("guard",),
    "history.tail_command": ("tail",),
    "history.search_command": ("search",),
    "history.replay_command": ("replay",),
    "history.export_command": ("export",),
    "history.purge_command": ("purge",),
    "money": ("costs",),
    "money.prices_command": ("prices",),
    "setup.install_command": ("install",),
    "setup.uninstall_command": ("uninstall",),
    "lookback": ("lookback",),
    "setup.doctor_command": ("doctor",),
    "setup.crashtest_command": ("crashtest",),
    "setup.run_hook": ("hook",),
    "bridges.tap_command": ("tap",),
    "programs.stdio": ("stdio",),
    "policy.policy_command": ("policy",),
    "bridges.proxy_command": ("acp", "stream-json"),
    "bridges.claude_commands": ("permission-prompt", "statusline"),
    "setup.agent_command": ("agent",),
    "history.audit_command": ("audit",),
    "setup.config_command": ("config",),
    "programs.schema_command": ("schema",),
    "machine.service_unit": ("service",),
    "programs.completion_command": ("completion",),
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
        return ("console.console_command",)
    named = next((word for word in words if not word.startswith("-")), "")
    return [group for group, commands in GROUPS.items() if named in commands] or tuple(GROUPS)


def _console(args: argparse.Namespace) -> int:
    from watchgate.cli.console import console_command

    return console_command.run(args)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    words = sys.argv[1:] if argv is None else argv
    if sys.stdout is None:
        # Then nobody reads it, which is no fault of the command.
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if sys.stderr is None:
        # Closed by whoever started this; what is printed to no file goes to stdout.
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if "_ARGCOMPLETE" in os.environ:
        from watchgate.cli.programs.completion_command import complete

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
