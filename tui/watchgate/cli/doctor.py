"""`doctor`: what stands between an agent and an operator, and how to mend it."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from watchgate.cli.exits import Exit, Stop
from watchgate.cli.output import json_line, say
from watchgate.cli.place import agents_known, configured, here


def add_parser(commands: Any) -> None:
    """Add the command."""
    doctor = commands.add_parser(
        "doctor",
        help="check directories, sockets, hooks and trust; try the installed commands",
        epilog="example: watchgate doctor claude",
    )
    doctor.add_argument(
        "agents", nargs="*", metavar="AGENT", help="its name; default: all that are here"
    )
    doctor.add_argument(
        "--fix",
        action="store_true",
        help="make files private; record trust in watchgate's hooks in Codex's configuration",
    )
    doctor.add_argument("--json", action="store_true", help="one JSON object a line")
    doctor.set_defaults(run=_doctor)


def _doctor(args: argparse.Namespace) -> int:
    from itertools import chain

    from watchgate.agents.registry import UnknownAgentError, adapter
    from watchgate.service.coverage.limits import check_limits
    from watchgate.service.setup.doctor.run import Doctor

    places = here()
    config = configured(places)
    known = agents_known(places, config)
    try:
        agents = [adapter(name, known) for name in args.agents] or list(known.values())
    except UnknownAgentError as fault:
        raise Stop(str(fault), Exit.USAGE) from None
    doctor = Doctor(places, config, os.environ, Path.cwd(), fix=args.fix)
    code = Exit.DONE
    for check in chain(doctor.checks(agents, named=bool(args.agents)), check_limits(agents)):
        if check.status == "fail":
            code = Exit.REFUSED
        if args.json:
            json_line(check)
            continue
        say(f"{check.status:4}  {check.check}: {check.text}")
        if check.status != "ok" and check.mend:
            say(f"      mend: {check.mend}")
    return code
