"""`watchgate`, `attach`, `demo`: the console on a core."""

from __future__ import annotations

import argparse
import gc
import os
import platform
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watchgate.cli.charset import ascii_terminal
from watchgate.cli.exits import Exit, Stop
from watchgate.cli.keys import by_action, check_keys
from watchgate.cli.machines import Machines, add_arguments, machines
from watchgate.cli.notifying import telling
from watchgate.cli.place import configured, here
from watchgate.cli.signals import ended_by_signals

if TYPE_CHECKING:
    from watchgate.core.agent_state import WithoutCore
    from watchgate.core.clock import Clock
    from watchgate.core.config import Config
    from watchgate.link.paths import Paths
    from watchgate.ui.options import Terminal
    from watchgate.ui.replay.source import Recording
    from watchgate.ui.source import Source

LOG_LINES = 40


def add_parser(commands: Any) -> None:
    """Add the commands; `watchgate` alone is `attach`."""
    attach = commands.add_parser(
        "attach",
        help="the console: attach to the running core, or start one in the background",
        description="The console, on this machine's core and on those of the targets.",
        epilog="example: watchgate attach ssh://lab2 ssh://ana@lab3:2222",
    )
    add_arguments(attach)
    attach.add_argument("--host", action="store_true", help="keep the core inside this console")
    attach.set_defaults(run=run)
    demo = commands.add_parser(
        "demo",
        help="the console on a scripted feed; installs nothing, touches no agent",
        epilog="example: watchgate demo --speed 4",
    )
    demo.add_argument("--speed", type=speed, default=1.0, metavar="N", help="N times as fast")
    demo.set_defaults(run=_demo)


def run(args: argparse.Namespace) -> int:
    """Open the console, with a core inside or beside it."""
    from watchgate.service.cannot_serve import CannotServe
    from watchgate.service.detached import answers, start_core

    chosen = machines(args)
    need_terminal()
    paths = here()
    config = configured(paths)
    check_keys(paths, config)
    try:
        if args.host:
            # The whole core, which a console that only attaches does without.
            from watchgate.service.admission.descriptors import raise_limit
            from watchgate.service.hosted import hosted

            raise_limit()
            with hosted(paths, config):
                return open_console(paths, config, hosted=True, chosen=chosen)
        if chosen.local and not answers(paths):
            start_core(paths)
        return open_console(paths, config, chosen=chosen)
    except CannotServe as fault:
        raise Stop(str(fault)) from None


def _demo(args: argparse.Namespace) -> int:
    from watchgate.demo.live import demo_core
    from watchgate.demo.play import CONFIG
    from watchgate.demo.script import HOME

    need_terminal()
    with demo_core(args.speed) as (paths, clock):
        return open_console(paths, CONFIG, demo=True, hosted=True, clock=clock, home=HOME)


def need_terminal() -> None:
    """Raise `Stop` where there is no terminal to draw on."""
    if not os.isatty(0) or not os.isatty(1):
        raise Stop(
            "the console needs a terminal; see `watchgate ls` and `watchgate tail`", Exit.USAGE
        )


def open_console(
    paths: Paths,
    config: Config,
    *,
    demo: bool = False,
    hosted: bool = False,
    clock: Clock | None = None,
    chosen: Machines | None = None,
    home: str = "",
    replay: Recording | None = None,
) -> int:
    """Run the console until it is left; `replay` is shown in place of any core.

    Args:
        paths: The places of sockets and files.
        config: The configuration in force.
        demo: Offer the demo while nothing happens.
        hosted: Keep the core inside this process.
        clock: The clock that times are read on; the system's where there is none.
        chosen: The machines that the command line names.
        home: The folder that paths are shortened by.
        replay: A recording to show in place of any core.
    """
    # All that the imports make stays: looking for garbage in it is a tenth of the start.
    gc.disable()
    from watchgate.service.clock import SystemClock
    from watchgate.service.detached import last_log_lines
    from watchgate.service.system.own_memory import close_memory
    from watchgate.ui.options import Options
    from watchgate.ui.own_process import OwnProcess

    close_memory()
    gc.freeze()
    gc.enable()
    chosen, clock = chosen or Machines(), clock or SystemClock()
    with ExitStack() as demos:
        options = Options(
            demo=demo,
            hosted=hosted,
            home=home or str(Path.home()),
            theme=config.ui.theme,
            ascii=config.ui.ascii or ascii_terminal(os.environ),
            keys=by_action(config.ui.keys),
            telling=telling(config.ui, os.environ),
            replay=replay,
            start_core=None if hosted or not chosen.local else lambda: _start_core(paths),
            log_lines=(lambda: last_log_lines(paths, LOG_LINES)) if chosen.local else None,
            without_core=_without_core if chosen.local and not chosen.targets else None,
            open_demo=None if demo else lambda: _open_demo(demos),
            go_to=_go_to,
        )
        if replay is not None:
            app = OwnProcess(replay, replay, options)
        else:
            app = OwnProcess(chosen.source(paths, os.environ, clock), clock, options)
        with ended_by_signals(app):
            summary = app.run()
    if summary:
        print(summary)
    return app.return_code or Exit.DONE


def _without_core() -> WithoutCore:
    """Read from the files of this machine's hooks what they do while no core runs."""
    from watchgate.cli.agent_listing import states_here
    from watchgate.core.agent_state import without_core

    try:
        return without_core(states_here())
    except Stop:
        return "unknown"


async def _start_core(paths: Paths) -> None:
    """Start a core in the background, off the event loop."""
    from anyio.to_thread import run_sync

    from watchgate.service.detached import start_core

    await run_sync(start_core, paths)


async def _open_demo(demos: ExitStack) -> tuple[Source, Clock]:
    """Start a demo that ends with the console."""
    from anyio.to_thread import run_sync

    from watchgate.demo.live import demo_core
    from watchgate.ui.source import LinkSource

    paths, clock = await run_sync(lambda: demos.enter_context(demo_core(1.0)))
    return LinkSource(paths.control_socket), clock


async def _go_to(terminal: Terminal) -> str | None:
    from watchgate.service.panes import show_pane

    shown = await show_pane(terminal.env)
    if shown is not None or terminal.agent_pid is None:
        return shown
    tty = terminal.env.get("SSH_TTY") or "its own terminal"
    return f"the agent runs in {tty} on {platform.node()}, pid {terminal.agent_pid}"


def speed(text: str) -> float:
    """Return how many times as fast as it was, as a person writes it."""
    try:
        times = float(text)
    except ValueError:
        times = 0.0
    if not 0 < times <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number between 0 and 100")
    return times
