"""`install`: an agent's own configuration gets our hooks."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watchgate.cli.agent_listing import list_states
from watchgate.cli.dry_run import add_dry_run, check_json, show
from watchgate.cli.exits import Exit, Stop
from watchgate.cli.install_words import complain_of_list, installed_lines, next_line, open_sessions
from watchgate.cli.output import complain, tell
from watchgate.cli.place import agents_known, agents_named, configured, here
from watchgate.cli.presence.offer import offer_pin
from watchgate.cli.typed import at_terminal, typed

if TYPE_CHECKING:
    from watchgate.agents.base import Adapter
    from watchgate.core.config import Config
    from watchgate.service.setup.change import Change
    from watchgate.service.setup.installer import Installer, Setting


def add_parser(commands: Any) -> None:
    """Add the command."""
    install = commands.add_parser(
        "install",
        help="put our hooks into an agent's own configuration",
        epilog="example: watchgate install claude codex --dry-run",
    )
    install.set_defaults(run=_install)
    install.add_argument(
        "agents",
        nargs="*",
        metavar="AGENT",
        help="its name, such as claude, codex or cursor; without one, how each agent stands",
    )
    install.add_argument("--scope", choices=("user", "project"), default="user")
    install.add_argument(
        "--watch",
        action="store_true",
        help="begin softly, with profile watch: calls are recorded and NOT GATED",
    )
    install.add_argument(
        "--status-line",
        action=argparse.BooleanOptionalAction,
        help="set Claude Code's status line, from which cost and context come, where it has none; "
        "asked on a terminal, else set; --no-status-line takes ours out",
    )
    add_dry_run(install)


def _install(args: argparse.Namespace) -> int:
    if not args.agents:
        if args.watch or args.dry_run or args.json or args.status_line is not None:
            raise Stop("name an agent: watchgate install claude --dry-run", Exit.USAGE)
        return list_states()
    from watchgate.service.integrity.manifest import listed
    from watchgate.service.setup.installer import Installer
    from watchgate.service.setup.targets import Refusal

    check_json(args)
    config = configured(here())
    agents = agents_named(args.agents, agents_known(here(), config))
    if args.watch:
        config = _watching(config, agents, dry_run=args.dry_run)
    if fault := listed(here().installed)[1]:
        complain_of_list(fault)
    installer, python = Installer(here(), os.environ, Path.cwd()), _python()
    setting = _setting(config, python)
    done: list[Adapter] = []
    installed = False
    code = Exit.DONE
    for agent in agents:
        try:
            changes = _planned(installer, agent, args, setting, python)
            if args.dry_run:
                show(agent, changes, as_json=args.json, installs=True)
                continue
            installer.install(changes, python, native=setting.native)
        except Refusal as refusal:
            complain(f"{agent.name}: refused. {refusal}")
            code = Exit.REFUSED
            continue
        installed = True
        if any(change.needed for change in changes):
            done.append(agent)
        backups = [found for change in changes if (found := installer.backup_of(change))]
        for line in installed_lines(agent, changes, backups, args.scope):
            tell(line)
    if done:
        _after_install(done, config.profile)
    if installed and config.profile != "watch":
        offer_pin()
    return code


def _planned(
    installer: Installer,
    agent: Adapter,
    args: argparse.Namespace,
    setting: Setting,
    python: Path,
) -> tuple[Change, ...]:
    """The changes, with the status line as it is wanted: by a flag, else by who is asked."""
    import msgspec

    wish = {True: "set", False: "remove", None: "keep"}[args.status_line]
    wanted = msgspec.structs.replace(setting, status_line=wish)
    changes = installer.plan_install(agent, args.scope, wanted, python)
    has_one = agent.setup is not None and agent.setup.status_line
    if args.status_line is not None or not has_one or any(each.status_line for each in changes):
        return changes
    if not args.dry_run and at_terminal() and not _wants_status_line(agent):
        return changes
    return installer.plan_install(agent, args.scope, setting, python)


def _wants_status_line(agent: Adapter) -> bool:
    what = f"{agent.title} has no status line: set ours, for cost and context?"
    return not typed(f"{what} [Y/n] ").lower().startswith("n")


def _watching(config: Config, agents: Sequence[Adapter], *, dry_run: bool) -> Config:
    """The configuration under profile watch, written where it says another.

    Ends the command where that would end the gate of an agent that is not named.
    """
    import msgspec

    from watchgate.core.config import ConfigError
    from watchgate.service.configuring import set_value
    from watchgate.service.setup.installations import installations

    if config.profile == "watch":
        return config
    there = installations(here(), agents_known(here(), config), os.environ, Path.cwd())
    gated = sorted({each.agent.name for each in there.found} - {each.name for each in agents})
    if gated:
        raise Stop(
            f"{' and '.join(gated)} {'is' if len(gated) == 1 else 'are'} gated under profile "
            f"{config.profile}, which --watch would end for every agent; `watchgate guard off` "
            "does that on purpose"
        )
    if not dry_run:
        try:
            set_value(here().config, "profile", "watch")
        except ConfigError as fault:
            raise Stop(str(fault)) from None
        _say_what_the_core_does()
    return msgspec.structs.replace(config, profile="watch")


def _say_what_the_core_does() -> None:
    """Say where a core runs that had another profile when it was started."""
    from watchgate.cli.ask import Unreached, ask
    from watchgate.link.protocol import Request

    with suppress(Unreached):
        profile = ask(Request(id=1, verb="hello"))["hello"]["profile"]
        if profile != "watch":
            tell(
                f"The running core keeps profile {profile}, which hooks that only watch do not ask"
            )
            tell("for a decision; `watchgate guard off` changes it as well.")


def _setting(config: Config, python: Path) -> Setting:
    from watchgate.service.setup import native_client
    from watchgate.service.setup.installer import setting_of

    setting = setting_of(config, here(), python, "set")
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


def _after_install(agents: Sequence[Adapter], profile: str) -> None:
    for line in open_sessions(agents):
        tell(line)
    tell(next_line(profile))
    tell("`watchgate doctor` tries the installed commands.")
