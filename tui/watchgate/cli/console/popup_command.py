"""`popup`: the pending request over whatever one is doing in tmux; it closes on the decision."""

from __future__ import annotations

import argparse
import os
import sys
import termios
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watchgate.cli.base import tmux
from watchgate.cli.base.ask import ask
from watchgate.cli.base.command_environment import ascii_terminal, configured, here
from watchgate.cli.base.console_keys import by_action, check_keys
from watchgate.cli.base.printing import Exit, Stop
from watchgate.cli.console.console_terminal import ended_by_signals
from watchgate.link.protocol import Request

if TYPE_CHECKING:
    from watchgate.core.config.config import Config
    from watchgate.link.paths import Paths

OUTSIDE = (
    "popup opens over the panes of tmux, and this is no tmux: `watchgate` opens the console, "
    "`watchgate ls` and `watchgate allow` or `deny` do without one"
)
TOO_OLD = "tmux opened no popup: it has to be 3.2 or later, with a client attached"
COVERED = "tmux opened no popup: another one or a menu is open"

_PASSED_ON = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "NO_COLOR", "COLORTERM", "XDG_DATA_HOME")
DECIDED = 64
"""Exit code of the program in the popup after a decision: tmux ends with 0 if it opened none."""

WIDEST, TALLEST = 104, 34
BORDER = 2
SMALLEST = (60, 16)
"""Cells within a popup; below that a request cannot be allowed."""


def add_parser(commands: Any) -> None:
    """Adds the command."""
    popup = commands.add_parser(
        "popup",
        help="show the pending request over whatever one is doing in tmux",
        epilog="example: watchgate popup --all   (on a key, in ~/.tmux.conf: "
        "bind-key w run-shell -b 'watchgate popup || :')",
    )
    popup.add_argument("--all", action="store_true", help="go on with the next one until none is")
    popup.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    popup.set_defaults(run=_popup)


def _popup(args: argparse.Namespace) -> int:
    if args.inside:
        return _inside(goes_on=args.all)
    if not os.environ.get("TMUX"):
        raise Stop(OUTSIDE, Exit.USAGE)
    try:
        return _over_the_panes(goes_on=args.all)
    except Stop as stop:
        # From a key of tmux nobody sees what a command prints.
        if not os.isatty(2):
            tmux.answer("display-message", "--", tmux.literal(f"watchgate: {stop}"))
        raise


def _over_the_panes(*, goes_on: bool) -> int:
    paths, _ = _checked()  # in the popup nobody could read what is wrong
    size = tmux.answer("display-message", "-p", "#{client_width} #{client_height}") or ""
    done = tmux.run(*display_popup(paths, size, os.environ, goes_on=goes_on))
    if done is None or done.stderr:
        raise Stop(f"{TOO_OLD} ({'no tmux' if done is None else done.stderr.strip()})")
    return outcome(done.returncode)


def outcome(code: int) -> Exit:
    """Translates the exit code of tmux; raises `Stop` when it opened no popup."""
    if code == 0:
        raise Stop(COVERED)
    return {DECIDED: Exit.DONE, Exit.NO_CORE: Exit.NO_CORE}.get(code, Exit.REFUSED)


def _checked() -> tuple[Paths, Config]:
    """The places and a configuration with no fault; ends the command where nothing is pending."""
    paths = here()
    config = configured(paths)
    check_keys(paths, config)
    if not ask(Request(id=1, verb="list"))["requests"]:
        raise Stop("nothing is pending")
    return paths, config


def display_popup(paths: Paths, size: str, env: Mapping[str, str], *, goes_on: bool) -> list[str]:
    """The tmux command that opens the popup on a client of this `size` (`COLUMNS ROWS`)."""
    columns, _, rows = size.partition(" ")
    width = min(int(columns) if columns.isdigit() else 80, WIDEST)
    height = min(int(rows) if rows.isdigit() else 24, TALLEST)
    framed = width - BORDER >= SMALLEST[0] and height - BORDER >= SMALLEST[1]
    variables = {name: env[name] for name in _PASSED_ON if name in env} | paths.environment
    return [
        *("display-popup", "-E"),
        *(() if framed else ("-B",)),
        # In `/`: Python would import from the folder of the pane below.
        *("-d", "/", "-w", str(width), "-h", str(height), "--"),
        *("env", *(f"{name}={value}" for name, value in variables.items())),
        *(sys.executable, "-m", "watchgate", "popup", "--inside"),
        *(("--all",) if goes_on else ()),
    ]


def _inside(*, goes_on: bool) -> int:
    if not os.isatty(0) or not os.isatty(1):
        raise Stop("popup --inside needs a terminal", Exit.USAGE)
    paths, config = _checked()
    from watchgate.service.system.process_limits import close_own_memory
    from watchgate.service.system.system_clock import SystemClock
    from watchgate.ui.console.popup_app import PopupApp
    from watchgate.ui.notifications.terminal_sequences import Telling
    from watchgate.ui.source.record_source import LinkSource
    from watchgate.ui.view_model.console_options import Options

    options = Options(
        home=str(Path.home()),
        theme=config.ui.theme,
        ascii=config.ui.ascii or ascii_terminal(os.environ),
        keys=by_action(config.ui.keys),
        # Whatever asked for the popup has rung already.
        telling=Telling(bell=False, title=False),
    )
    close_own_memory()
    app = PopupApp(LinkSource(paths.control_socket), SystemClock(), options, goes_on=goes_on)
    # What was typed while this started was meant for the pane below.
    termios.tcflush(0, termios.TCIFLUSH)
    with ended_by_signals(app):
        if outcome_text := app.run():
            print(outcome_text)
    return DECIDED if app.return_code == 0 else Exit.REFUSED
