"""`watchgate`, `attach`, `demo`: the console on a core.

- The machines that a console is attached to: the targets of the command line as one source.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.command_environment import ascii_terminal, configured, here
from watchgate.cli.base.console_keys import by_action, check_keys
from watchgate.cli.base.printing import Exit, Stop
from watchgate.cli.console.console_terminal import ended_by_signals, telling

if TYPE_CHECKING:
    from watchgate.core.base.clock import Clock
    from watchgate.core.config.config import Config
    from watchgate.core.model.agent_state import WithoutCore
    from watchgate.link.paths import Paths
    from watchgate.link.ssh import Target
    from watchgate.ui.source.record_source import RecordSource
    from watchgate.ui.source.replay_source import Recording
    from watchgate.ui.view_model.console_options import Terminal


HERE = "here"


def add_arguments(attach: argparse.ArgumentParser) -> None:
    """Adds what says which machines."""
    attach.add_argument(
        "targets",
        nargs="*",
        metavar="TARGET",
        help="attach to other machines as well: ssh://[user@]host[:port]",
    )
    attach.add_argument(
        "--no-local", action="store_true", help="to the targets alone, not to this machine's core"
    )


class Machines:
    """The machines that were named; `local` says that this machine's core is among them."""

    def __init__(self, targets: Sequence[Target] = (), *, local: bool = True) -> None:
        self.targets = targets
        self.local = local

    def source(self, paths: Paths, environ: Mapping[str, str], clock: Clock) -> RecordSource:
        """The one core of this machine, or all of them as one."""
        from watchgate.ui.source.record_source import LinkSource

        here = LinkSource(paths.control_socket)
        if not self.targets:
            return here
        from watchgate.agents.registry import agent_titles
        from watchgate.ui.fleet.fleet_source import FleetSource, SshSource

        program = shlex.split(environ.get("WATCHGATE_SSH", "")) or ["ssh"]
        sources: dict[str, RecordSource] = {}
        if self.local:
            sources[_own_name({target.name for target in self.targets})] = here
        sources |= {target.name: SshSource(target, program) for target in self.targets}
        return FleetSource(sources, clock, local=self.local, titles=agent_titles())


def machines(args: argparse.Namespace) -> Machines:
    """The machines that the arguments name; a bad one ends the command with how to write it."""
    from watchgate.link.ssh import TARGET_FORM, BadTarget, parse_target

    texts = getattr(args, "targets", [])
    local = not getattr(args, "no_local", False)
    if not texts and not local:
        raise Stop(f"--no-local needs a target: {TARGET_FORM}", Exit.USAGE)
    try:
        targets = [parse_target(text) for text in texts]
    except BadTarget as fault:
        raise Stop(str(fault), Exit.USAGE) from None
    names = [target.name for target in targets]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise Stop(
            f"two targets are called {twice}: sessions could not be told apart. Give one of them "
            "another name in ~/.ssh/config (a Host with a HostName)",
            Exit.USAGE,
        )
    return Machines(targets, local=local)


def _own_name(taken: set[str]) -> str:
    """Returns the name of this machine before the labels of its sessions."""
    if HERE not in taken:
        return HERE
    name = re.sub(r"[^A-Za-z0-9_.-]", "", platform.node().partition(".")[0])
    return name if name and name not in taken else "this-machine"


LOG_LINES = 40


def add_parser(commands: Any) -> None:
    """Adds the commands; `watchgate` alone is `attach`."""
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
    """Opens the console, with a core inside or beside it."""
    from watchgate.service.system.detached_core import answers, start_core
    from watchgate.service.system.runtime_dir import CannotServe

    chosen = machines(args)
    need_terminal()
    paths = here()
    config = configured(paths)
    check_keys(paths, config)
    try:
        if args.host:
            # The whole core, which a console that only attaches does without.
            from watchgate.service.host.core_host import hosted
            from watchgate.service.system.process_limits import raise_limit

            raise_limit()
            with hosted(paths, config):
                return open_console(paths, config, hosted=True, chosen=chosen)
        if chosen.local and not answers(paths):
            start_core(paths)
        return open_console(paths, config, chosen=chosen)
    except CannotServe as fault:
        raise Stop(str(fault)) from None


def _demo(args: argparse.Namespace) -> int:
    from watchgate.demo.demo_play import CONFIG
    from watchgate.demo.demo_script import HOME
    from watchgate.demo.live import demo_core

    need_terminal()
    with demo_core(args.speed) as (paths, clock):
        return open_console(paths, CONFIG, demo=True, hosted=True, clock=clock, home=HOME)


def need_terminal() -> None:
    """Raises `Stop` where there is no terminal to draw on."""
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
    """Runs the console until it is left; `replay` is shown in place of any core.

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
    from watchgate.service.system.detached_core import last_log_lines
    from watchgate.service.system.process_limits import close_own_memory
    from watchgate.service.system.system_clock import SystemClock
    from watchgate.ui.console.popup_app import OwnProcess
    from watchgate.ui.view_model.console_options import Options

    close_own_memory()
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
    """Reads from the files of this machine's hooks what they do while no core runs."""
    from watchgate.cli.base.agent_listing import states_here
    from watchgate.core.model.agent_state import without_core

    try:
        return without_core(states_here())
    except Stop:
        return "unknown"


async def _start_core(paths: Paths) -> None:
    """Starts a core in the background, off the event loop."""
    from anyio.to_thread import run_sync

    from watchgate.service.system.detached_core import start_core

    await run_sync(start_core, paths)


async def _open_demo(demos: ExitStack) -> tuple[RecordSource, Clock]:
    """Starts a demo that ends with the console."""
    from anyio.to_thread import run_sync

    from watchgate.demo.live import demo_core
    from watchgate.ui.source.record_source import LinkSource

    paths, clock = await run_sync(lambda: demos.enter_context(demo_core(1.0)))
    return LinkSource(paths.control_socket), clock


async def _go_to(terminal: Terminal) -> str | None:
    from watchgate.service.system.terminal_panes import show_pane

    shown = await show_pane(terminal.env)
    if shown is not None or terminal.agent_pid is None:
        return shown
    tty = terminal.env.get("SSH_TTY") or "its own terminal"
    return f"the agent runs in {tty} on {platform.node()}, pid {terminal.agent_pid}"


def speed(text: str) -> float:
    """Returns the speed factor that a person wrote, above 0 and up to 100."""
    try:
        times = float(text)
    except ValueError:
        times = 0.0
    if not 0 < times <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number between 0 and 100")
    return times
