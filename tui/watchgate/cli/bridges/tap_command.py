"""`tap`: an agent's event stream on its way to somewhere else is seen here too."""

from __future__ import annotations

import argparse
from typing import Any

from watchgate.cli.base.command_environment import here
from watchgate.cli.base.printing import Exit, Stop, complain


def add_parser(commands: Any) -> None:
    """Adds the command."""
    tap = commands.add_parser(
        "tap",
        help="copy an agent's JSON event stream from stdin to stdout, and show it here",
        epilog="example: watchgate tap codex, as in `codex exec --json TASK | watchgate tap codex`",
    )
    tap.add_argument(
        "agent",
        metavar="AGENT",
        help="codewhale, codex, sandbox-agent or synaps; opencode with --url",
    )
    tap.add_argument(
        "--url",
        help="follow an OpenCode server instead, and answer what it asks; its password comes from"
        " OPENCODE_SERVER_PASSWORD (watchgate tap opencode --url http://127.0.0.1:4096)",
    )
    tap.add_argument(
        "--no-gate",
        action="store_true",
        help="this agent has no gate on purpose: its calls are listed as ungated, without an alarm",
    )
    tap.set_defaults(run=_tap)


def _tap(args: argparse.Namespace) -> int:
    import signal

    from watchgate.agents.streams import TAPPED
    from watchgate.service.bridges.tap import MEND, Tap, own_folder

    if args.agent == "opencode":
        if args.url is None:
            raise Stop("opencode is followed over HTTP: name its server with --url", Exit.USAGE)
        return _follow(args.url)
    if args.url is not None:
        raise Stop(f"--url is for opencode: {args.agent} is read from stdin", Exit.USAGE)
    if args.agent not in TAPPED:
        known = ", ".join(TAPPED)
        raise Stop(f"no stream of {args.agent!r} is understood: use one of {known}", Exit.USAGE)
    # The agent decides what an interrupt means; its last lines still pass through.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tap = Tap(args.agent, complain, cwd=own_folder(), no_gate=args.no_gate)
    try:
        tap.connect(here().ingest_socket)
    except Stop as stop:
        complain(f"{stop}. {MEND}")
    tap.copy(0, 1)
    return Exit.DONE


def _follow(url: str) -> int:
    import os
    from contextlib import suppress

    import anyio

    from watchgate.cli.base.command_environment import configured, core_at
    from watchgate.service.bridges.opencode_client import NothingToFollow, OpenCodeClient
    from watchgate.service.bridges.opencode_server import OpenCodeServer
    from watchgate.service.host.start_errors import first_of

    paths = here()
    user = os.environ.get("OPENCODE_SERVER_USERNAME", "opencode")
    try:
        server = OpenCodeServer(url, os.environ.get("OPENCODE_SERVER_PASSWORD", ""), user)
    except ValueError as fault:
        raise Stop(str(fault), Exit.USAGE) from None
    core = core_at(paths, "opencode", proxy=True)
    deadline_s = configured(paths).approval.client_deadline_s
    try:
        # Whoever presses ^C wants it to end.
        with suppress(KeyboardInterrupt):
            anyio.run(OpenCodeClient(server, core, complain, deadline_s).run)
    except BaseException as error:
        stopped = first_of(error, NothingToFollow)
        if stopped is None:
            raise
        raise Stop(str(stopped)) from None
    return Exit.DONE
