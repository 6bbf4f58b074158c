"""`install` and `uninstall`: an agent's own configuration gets our hooks, or loses them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watchgate.cli.exits import Exit, Stop
from watchgate.cli.output import complain, say
from watchgate.cli.place import agents_known, configured, here
from watchgate.cli.presence.offer import offer_pin

if TYPE_CHECKING:
    from watchgate.agents.base import Adapter
    from watchgate.core.config import Config
    from watchgate.service.setup.change import Change
    from watchgate.service.setup.installer import Setting


def add_parser(commands: Any) -> None:
    """Add the two commands."""
    install = commands.add_parser(
        "install",
        help="put our hooks into an agent's own configuration",
        epilog="example: watchgate install claude codex --dry-run",
    )
    install.set_defaults(run=_install)
    uninstall = commands.add_parser(
        "uninstall",
        help="take our hooks out again; the old bytes come back where nothing else changed",
        epilog="example: watchgate uninstall claude",
    )
    uninstall.set_defaults(run=_uninstall)
    for each in (install, uninstall):
        each.add_argument(
            "agents",
            nargs="+",
            metavar="AGENT",
            help="its name, such as claude, codex or cursor; `watchgate agent ls` lists them",
        )
        each.add_argument("--scope", choices=("user", "project"), default="user")
        each.add_argument("--dry-run", action="store_true", help="print the diff, write nothing")


def _install(args: argparse.Namespace) -> int:
    from watchgate.service.setup.installer import Installer
    from watchgate.service.setup.targets import Refusal

    config = configured(here())
    agents = _named(args.agents, config)
    installer, python = Installer(here(), os.environ, Path.cwd()), _python()
    setting = _setting(config, python)
    done: list[Adapter] = []
    code = Exit.DONE
    for agent in agents:
        try:
            changes = installer.plan_install(agent, args.scope, setting, python)
            if args.dry_run:
                _show(agent, changes)
                continue
            installer.install(changes, python, native=setting.native)
        except Refusal as refusal:
            complain(f"{agent.name}: refused. {refusal}")
            code = Exit.REFUSED
            continue
        done.append(agent)
        _installed(agent, changes)
    if done:
        _after_install(done, config.profile)
        if config.profile != "watch":
            offer_pin()
    return code


def _uninstall(args: argparse.Namespace) -> int:
    from watchgate.service.setup.installer import Installer
    from watchgate.service.setup.targets import Refusal

    agents = _named(args.agents, configured(here()))
    installer, python = Installer(here(), os.environ, Path.cwd()), Path("python3")
    code = Exit.DONE
    for agent in agents:
        try:
            changes = installer.plan_uninstall(agent, args.scope, python)
            if args.dry_run:
                _show(agent, changes)
                continue
            installer.uninstall(changes)
        except Refusal as refusal:
            complain(f"{agent.name}: refused. {refusal}")
            code = Exit.REFUSED
            continue
        for change in changes:
            _uninstalled(agent, change)
    if not args.dry_run:
        _restart(agents)
    return code


def _named(names: Sequence[str], config: Config) -> list[Adapter]:
    from watchgate.agents.registry import UnknownAgentError, adapter

    known = agents_known(here(), config)
    try:
        return [adapter(name, known) for name in names]
    except UnknownAgentError as fault:
        raise Stop(str(fault), Exit.USAGE) from None


def _setting(config: Config, python: Path) -> Setting:
    from watchgate.service.setup import native_client
    from watchgate.service.setup.installer import setting_of

    setting = setting_of(config, here(), python)
    if not setting.native and native_client.packaged() is not None:
        complain(
            "the native hook client of this package does not run here: hooks run the one in Python"
        )
    return setting


def _python() -> Path:
    from watchgate.service.setup.interpreter import NoInterpreterError, base_interpreter

    try:
        return base_interpreter()
    except NoInterpreterError as fault:
        raise Stop(str(fault)) from None


def _show(agent: Adapter, changes: Sequence[Change]) -> None:
    for change in changes:
        if not change.needed:
            say(f"{agent.name}: nothing to change in {change.path}")
        for line in change.diff().splitlines():
            say(line)


def _installed(agent: Adapter, changes: Sequence[Change]) -> None:
    for change in changes:
        if change.after is None:
            continue
        word = "hooks installed in" if change.needed else "hooks are up to date in"
        say(f"{agent.name}: {word} {change.path}")
        if change.others_status_line:
            say("  Your own status line stays: cost and context are not shown from it.")


def _after_install(agents: Sequence[Adapter], profile: str) -> None:
    if profile == "watch":
        say("Profile watch: tool calls are recorded, NOT GATED.")
    else:
        say("While no core runs, every call that acts is denied: `watchgate` starts one and opens")
        say("the console, `watchgate service` prints a unit that keeps one running.")
    say("The profile is built into these entries: after changing to or from watch or strict,")
    say("run install again.")
    for agent in agents:
        if agent.experimental:
            say(f"{agent.title}: experimental; built from its documents, never run against it.")
        if agent.setup is not None and agent.setup.after:
            say(agent.setup.after)
    _restart(agents)
    say("`watchgate doctor` tries the installed commands.")


def _uninstalled(agent: Adapter, change: Change) -> None:
    name, path = agent.name, change.path
    if not change.needed:
        say(f"{name}: no hooks of watchgate in {path}")
    elif change.after is None:
        say(f"{name}: {path} is gone again, as before the installation")
    elif change.restored:
        say(f"{name}: {path} has its old bytes again")
    else:
        say(f"{name}: hooks removed from {path}; what else changed there stays")
    if agent.setup is not None and agent.setup.trusts_by_place and change.displaced:
        events = ", ".join(change.displaced)
        say(f"Other tools' hooks moved up ({events}): {agent.title} will ask to trust them again.")


def _restart(agents: Sequence[Adapter]) -> None:
    from watchgate.service.setup.running import running

    sessions = running(agents)
    if sessions:
        say("These sessions still run with the hooks that they started with; restart them:")
    for session in sessions:
        say(f"  {session.agent}  pid {session.pid}  in {session.cwd}")
