"""`hook`: the installed hook client, run by hand."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from watchgate.cli.base.command_environment import agents_known, configured, here
from watchgate.cli.base.printing import Exit, Stop

AGENT_MAX_S = 86_400
LANES = ("gate", "gate-read", "relay", "observe")


def add_parser(commands: Any) -> None:
    """Adds the command."""
    hook = commands.add_parser(
        "hook",
        help="behave as the installed hook client: payload on stdin, the agent's answer on stdout",
        epilog="example: watchgate hook claude --lane gate < payload.json",
    )
    hook.add_argument("agent", metavar="AGENT")
    hook.add_argument("--lane", choices=LANES, required=True)
    hook.add_argument(
        "--event", metavar="NAME", help="the agent's event name, if the payload lacks it"
    )
    hook.add_argument(
        "--deadline-s", type=_seconds, metavar="N", help="how long to wait for an answer"
    )
    hook.set_defaults(run=_hook)


def _hook(args: argparse.Namespace) -> int:
    from watchgate import client
    from watchgate.agents.registry import (
        UnknownAgentError,
        adapter,
        closed_exit,
        closed_template,
        handed_back,
    )
    from watchgate.core.model.events import Lane

    paths = here()
    config = configured(paths)
    try:
        agent = adapter(args.agent, agents_known(paths, config))
    except UnknownAgentError as fault:
        raise Stop(str(fault), Exit.USAGE) from None
    gate = args.lane == "gate" or (args.lane == "gate-read" and config.profile == "strict")
    event = args.event or ("PermissionRequest" if args.lane == "relay" else "PreToolUse")
    closed = (
        closed_template(agent, event, Lane(args.lane)),
        str(closed_exit(agent, event)),
        handed_back(agent, event),
    )
    deadline_s = args.deadline_s or config.approval.client_deadline_s
    # Without the launcher, which only spares agents a compilation at each of their many calls.
    os.execv(  # noqa: S606 - the client that agents run, with our own interpreter
        sys.executable,
        [
            sys.executable,
            "-I",
            "-S",
            client.__file__,
            str(paths.ingest_socket),
            args.agent,
            args.lane,
            args.event or "-",
            f"{deadline_s:g}",
            *(closed if gate else ("",)),
        ],
    )
    return Exit.REFUSED


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= AGENT_MAX_S:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0, up to {AGENT_MAX_S}")
    return seconds
