"""`doctor`: what stands between an agent and an operator, and how to mend it."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.command_environment import here
from watchgate.cli.base.printing import Exit, Stop, json_line, say
from watchgate.core.base.amounts import plural

if TYPE_CHECKING:
    from watchgate.agents.base import Adapter
    from watchgate.core.config.config import Config
    from watchgate.link.paths import Paths
    from watchgate.service.setup.hook_checks import Check

NAMED = 4
"""Faults that the last line names; of more only the number is told."""


def add_parser(commands: Any) -> None:
    """Add the command."""
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

    from watchgate.agents.registry import UnknownAgentError, adapter
    from watchgate.service.doctor.doctor_run import Doctor
    from watchgate.service.watch.coverage.processes import check_limits

    places = here()
    config, known, faults = _configured(places)
    try:
        agents = [adapter(name, known) for name in args.agents] or list(known.values())
    except UnknownAgentError as fault:
        raise Stop(str(fault), Exit.USAGE) from None
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
    from watchgate.core.config.config import Config, ConfigError
    from watchgate.service.setup.hook_checks import Check
    from watchgate.service.system.config_file import read_config
    from watchgate.service.system.runtime_dir import RuntimeDirError
    from watchgate.service.wire.agent_adapters import AgentsError, adapters

    faults: list[Check] = []
    try:
        config = read_config(places)
        check = Check("configuration", "ok", f"{places.config} can be read")
        faults += [check] if places.config.exists() else []
    except (ConfigError, RuntimeDirError) as fault:
        config = Config()
        mend = "mend that: no core starts with it; what follows is checked by the defaults"
        faults.append(Check("configuration", "fail", str(fault), mend))
    try:
        return config, adapters(places, config), faults
    except AgentsError as fault:
        mend = "mend that: no core starts with it; what follows is about the other agents"
        faults.append(Check("agents of your own", "fail", str(fault), mend))
        return config, ADAPTERS, faults


def _in_force(config: Config) -> tuple[Config, list[Check]]:
    """The configuration with the profile that holds now; and that the next core has another."""
    from watchgate.cli.base.ask import in_force
    from watchgate.service.setup.hook_checks import Check

    now = in_force(config)
    if now.profile == config.profile:
        return now, []
    text = f"the core has {now.profile}, config.toml {config.profile}, which the next core has"
    return now, [Check("profile", "warn", text, "watchgate guard on, or watchgate guard off")]


def in_groups(checks: Sequence[Check]) -> list[Check]:
    """One line for all that is well with this machine, or with an agent; all else in full.

    What is wrong with several agents in the same words is told once, with their names.
    """
    from watchgate.service.setup.hook_checks import Check

    well = Counter(_group(each) for each in checks if each.status == "ok")
    alike: dict[tuple[str, ...], list[str]] = {}
    for each in checks:
        if each.status != "ok":
            agent, _, about = each.check.rpartition(": ")
            alike.setdefault((about, each.status, each.text, each.mend), []).append(agent)
    lines: list[Check] = []
    printed: set[str] = set()
    for each in checks:
        agent, _, about = each.check.rpartition(": ")
        group = _group(each)
        if well[group] and group not in printed:
            printed.add(group)
            lines.append(Check(group, "ok", plural(well[group], "check")))
        agents = alike.pop((about, each.status, each.text, each.mend), None)
        if agents is not None:
            names = ", ".join(dict.fromkeys(filter(None, agents)))
            name = f"{names}: {about}" if names else about
            lines.append(Check(name, each.status, each.text, each.mend))
    return lines


def _group(check: Check) -> str:
    return check.check.rpartition(": ")[0] or "this machine"


def summed_up(checks: Sequence[Check]) -> str:
    """Return how many checks were made, how many are well, and which are to be mended."""
    wrong = list(dict.fromkeys(each.check for each in checks if each.status == "fail"))
    counts = Counter(each.status for each in checks)
    words = f"{plural(len(checks), 'check')}: {counts['ok']} ok"
    if counts["warn"]:
        words += f", {counts['warn']} to look at"
    if not wrong:
        return words
    more = f" and {len(wrong) - NAMED} more" if len(wrong) > NAMED else ""
    return f"{words}, {counts['fail']} to mend: {', '.join(wrong[:NAMED])}{more}"


def _say(check: Check) -> None:
    say(f"{check.status:4}  {check.check}: {check.text}")
    if check.status != "ok" and check.mend:
        say(f"      mend: {check.mend}")
