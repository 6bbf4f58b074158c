"""`doctor`: what stands between an agent and an operator, and how to mend it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.command_environment import agents_known, agents_named, configured, here
from watchgate.cli.base.printing import Exit, Stop, json_line, say
from watchgate.cli.setup.setup_report import in_groups, summed_up

if TYPE_CHECKING:
    from watchgate.agents.base import Adapter
    from watchgate.core.config.config import Config
    from watchgate.link.paths import Paths
    from watchgate.service.setup.hook_checks import Check


def add_parser(commands: Any) -> None:
    """Adds the command."""
    doctor = commands.add_parser(
        "doctor",
        help="check all between an agent and the core, and try the installed commands",
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
    doctor.add_argument("-v", "--verbose", action="store_true", help="each check on its own line")
    doctor.set_defaults(run=_doctor)


def _doctor(args: argparse.Namespace) -> int:
    from itertools import chain

    from watchgate.service.doctor.doctor_run import Doctor
    from watchgate.service.watch.coverage.processes import check_limits

    places = here()
    config, known, faults = _configured(places)
    agents = agents_named(args.agents, known) or list(known.values())
    config, others = _in_force(config)
    faults += others
    doctor = Doctor(places, config, os.environ, Path.cwd(), fix=args.fix)
    own_checks = doctor.checks(agents, named=bool(args.agents))
    checks = []
    for check in chain(faults, own_checks, check_limits(agents)):
        checks.append(check)
        if args.json:
            json_line(check)
        elif args.verbose:
            _say(check)
    code = Exit.REFUSED if any(check.status == "fail" for check in checks) else Exit.DONE
    if not args.json:
        for check in () if args.verbose else in_groups(checks):
            _say(check)
        say(f"{summed_up(checks)}; exit {int(code)}")
    return code


def _configured(places: Paths) -> tuple[Config, Mapping[str, Adapter], list[Check]]:
    """The configuration and the agents; the defaults in place of one with a fault, and the fault.

    What else is wrong must not wait until that is mended.
    """
    from watchgate.agents.registry import ADAPTERS
    from watchgate.core.config.config import Config
    from watchgate.service.setup.hook_checks import Check

    faults: list[Check] = []
    try:
        config = configured(places)
        check = Check("configuration", "ok", f"{places.config} can be read")
        faults += [check] if places.config.exists() else []
    except Stop as fault:
        config = Config()
        mend = "mend that: no core starts with it; what follows is checked by the defaults"
        faults.append(Check("configuration", "fail", str(fault), mend))
    try:
        return config, agents_known(places, config), faults
    except Stop as fault:
        mend = "mend that: no core starts with it; what follows is about the other agents"
        faults.append(Check("agents of your own", "fail", str(fault), mend))
        return config, ADAPTERS, faults


def _in_force(config: Config) -> tuple[Config, list[Check]]:
    """The configuration with the profile that holds now; and that the next core has another."""
    from watchgate.cli.base.agent_listing import in_force
    from watchgate.service.setup.hook_checks import Check

    now = in_force(config)
    if now.profile == config.profile:
        return now, []
    text = f"the core has {now.profile}, config.toml {config.profile}, which the next core has"
    return now, [Check("profile", "warn", text, "watchgate guard on, or watchgate guard off")]


def _say(check: Check) -> None:
    say(f"{check.status:4}  {check.check}: {check.text}")
    if check.status != "ok" and check.mend:
        say(f"      mend: {check.mend}")
