"""`tap`: an agent's event stream on its way to somewhere else is seen here too."""

from __future__ import annotations

import argparse
from typing import Any

from watchgate.cli.exits import Exit, Stop
from watchgate.cli.output import complain
from watchgate.cli.place import here


def add_parser(commands: Any) -> None:
    """Add the command."""
    tap = commands.add_parser(
        "tap",
        help="copy an agent's JSON event stream from stdin to stdout, and show it here",
        epilog="example: watchgate tap codex, as in `codex exec --json TASK | watchgate tap codex`",
    )
    tap.add_argument("agent", metavar="AGENT", help="codewhale, codex, sandbox-agent or synaps")
    tap.set_defaults(run=_tap)


def _tap(args: argparse.Namespace) -> int:
    import signal

    from watchgate.agents.streams.shapes import TAPPED
    from watchgate.service.tap import MEND, Tap, own_folder

    if args.agent not in TAPPED:
        known = ", ".join(TAPPED)
        raise Stop(f"no stream of {args.agent!r} is understood: use one of {known}", Exit.USAGE)
    # The agent decides what an interrupt means; its last lines still pass through.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tap = Tap(args.agent, complain, cwd=own_folder())
    try:
        tap.connect(here().ingest_socket)
    except Stop as stop:
        complain(f"{stop}. {MEND}")
    tap.copy(0, 1)
    return Exit.DONE
