"""`install` and `uninstall`: an agent's own configuration gets our hooks, or loses them."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watchgate.cli import plugin
from watchgate.cli.exits import Exit, Stop
from watchgate.cli.output import complain, say
from watchgate.cli.place import configured, here

if TYPE_CHECKING:
    from watchgate.service.setup.installer import Change, Installer

CODEX_TRUST = (
    "Codex skips hooks that nobody trusted, without a word: start codex and accept "
    '"Hooks need review", or run `watchgate doctor codex --fix`.'
)


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
        each.add_argument("agents", nargs="+", metavar="AGENT", help="claude, codex or synaps")
        each.add_argument("--scope", choices=("user", "project"), default="user")
        each.add_argument("--dry-run", action="store_true", help="print the diff, write nothing")


def _install(args: argparse.Namespace) -> int:
    from watchgate.agents.registry import HOOKS_FILE
    from watchgate.service.setup.installer import Setting
    from watchgate.service.setup.interpreter import NoInterpreterError, base_interpreter
    from watchgate.service.setup.targets import Refusal

    installer = _installer(args)
    config = configured(here())
    setting = Setting(profile=config.profile, client_deadline_s=config.approval.client_deadline_s)
    try:
        python = base_interpreter()
    except NoInterpreterError as fault:
        raise Stop(str(fault)) from None
    done: list[str] = []
    code = Exit.DONE
    for agent in args.agents:
        try:
            if agent not in HOOKS_FILE:
                plugin.install(args, agent, config.profile, python)
                continue
            change = installer.plan_install(agent, args.scope, setting, python)
            if args.dry_run:
                _show(change)
                continue
            installer.install(change)
        except Refusal as refusal:
            complain(f"{agent}: refused. {refusal}")
            code = Exit.REFUSED
            continue
        done.append(agent)
        word = "hooks installed in" if change.needed else "hooks are up to date in"
        say(f"{agent}: {word} {change.path}")
    if done:
        _after_install(done, config.profile)
    return code


def _uninstall(args: argparse.Namespace) -> int:
    from watchgate.agents.registry import HOOKS_FILE
    from watchgate.service.setup.targets import Refusal

    installer = _installer(args)
    code = Exit.DONE
    for agent in args.agents:
        try:
            if agent not in HOOKS_FILE:
                plugin.uninstall(args, agent)
                continue
            change = installer.plan_uninstall(agent, args.scope)
            if args.dry_run:
                _show(change)
                continue
            installer.uninstall(change)
        except Refusal as refusal:
            complain(f"{agent}: refused. {refusal}")
            code = Exit.REFUSED
            continue
        _after_uninstall(agent, change)
    if not args.dry_run:
        _restart(args.agents)
    return code


def _installer(args: argparse.Namespace) -> Installer:
    from watchgate.agents.registry import UnknownAgentError, adapter
    from watchgate.service.setup.installer import Installer

    try:
        for agent in args.agents:
            adapter(agent)
    except UnknownAgentError as fault:
        raise Stop(str(fault), Exit.USAGE) from None
    return Installer(here(), os.environ, Path.cwd())


def _show(change: Change) -> None:
    if not change.needed:
        say(f"{change.agent}: nothing to change in {change.path}")
    for line in change.diff().splitlines():
        say(line)


def _after_install(agents: list[str], profile: str) -> None:
    if profile == "watch":
        say("Profile watch: tool calls are recorded, NOT GATED.")
    say("The profile is built into these entries: after changing to or from watch or strict,")
    say("run install again.")
    if "codex" in agents:
        say(CODEX_TRUST)
    _restart(agents)
    say("`watchgate doctor` tries the installed commands.")


def _after_uninstall(agent: str, change: Change) -> None:
    if not change.needed:
        say(f"{agent}: no hooks of watchgate in {change.path}")
    elif change.restored and change.after is None:
        say(f"{agent}: {change.path} is gone again, as before the installation")
    elif change.restored:
        say(f"{agent}: {change.path} has its old bytes again")
    else:
        say(f"{agent}: hooks removed from {change.path}; what else changed there stays")
    if agent == "codex" and change.displaced:
        events = ", ".join(change.displaced)
        say(f"Other tools' hooks moved up ({events}): Codex will ask to trust them again.")


def _restart(agents: list[str]) -> None:
    from watchgate.service.setup.running import running

    sessions = running(agents)
    if sessions:
        say("These sessions still run with the hooks that they started with; restart them:")
    for session in sessions:
        say(f"  {session.agent}  pid {session.pid}  in {session.cwd}")
