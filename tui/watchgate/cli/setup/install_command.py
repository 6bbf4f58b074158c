"""`install`: an agent's own configuration gets our hooks."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watchgate.cli.base.agent_listing import list_states, states_here
from watchgate.cli.base.ask import check_person
from watchgate.cli.base.command_environment import agents_known, agents_named, configured, here
from watchgate.cli.base.printing import Exit, Stop, complain, tell
from watchgate.cli.base.typed_input import at_terminal, typed
from watchgate.cli.presence.pin_command import offer_pin
from watchgate.cli.setup.setup_report import (
    add_dry_run,
    check_json,
    complain_of_list,
    installed_lines,
    next_line,
    open_sessions,
    show,
)

if TYPE_CHECKING:
    from watchgate.agents.base import Adapter
    from watchgate.core.config.config import Config
    from watchgate.service.setup.hook_files import FileChange
    from watchgate.service.setup.installer import HookSettings, Installer


def add_parser(commands: Any) -> None:
    """Adds the command."""
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
    from watchgate.service.setup.agent_files import InstallRefusal
    from watchgate.service.setup.installer import Installer
    from watchgate.service.setup.manifest import load_or_fault

    check_json(args)
    config = configured(here())
    agents = agents_named(args.agents, agents_known(here(), config))
    written = config.profile
    if args.watch or written == "watch":
        config = _watching(config, agents, asked=args.watch)
    if fault := load_or_fault(here().installed)[1]:
        complain_of_list(fault)
    installer, python = Installer(here(), os.environ, Path.cwd()), _python()
    setting = _setting(config, python)
    done: list[Adapter] = []
    installed: list[Adapter] = []
    code = Exit.DONE
    for agent in agents:
        try:
            changes = _planned(installer, agent, args, setting, python)
            if args.dry_run:
                show(agent, changes, as_json=args.json, installs=True)
                continue
            installer.install(changes, python, native=setting.native)
        except InstallRefusal as refusal:
            complain(f"{agent.name}: refused. {refusal}")
            code = Exit.REFUSED
            continue
        installed.append(agent)
        if any(change.needed for change in changes):
            done.append(agent)
        backups = [backup for change in changes if (backup := installer.backup_of(change))]
        for line in installed_lines(agent, changes, backups, args.scope):
            tell(line)
    if installed:
        if config.profile != written:
            _write_watch()
        _after_install(installed, done, config.profile)
    return code


def _planned(
    installer: Installer,
    agent: Adapter,
    args: argparse.Namespace,
    setting: HookSettings,
    python: Path,
) -> tuple[FileChange, ...]:
    """The changes, with the status line as it is wanted: by a flag, else by who is asked.

    Args:
        installer: Plans the changes.
        agent: The agent that gets hooks.
        args: The command line.
        setting: The options of the installation.
        python: The interpreter that hooks run under.
    """
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


def _watching(config: Config, agents: Sequence[Adapter], *, asked: bool) -> Config:
    """The configuration under profile watch, which `asked` says that nobody has written yet.

    Ends the command where such hooks, or that profile, would end a gate: only a person does that.
    """
    import msgspec

    from watchgate.core.config.config import ConfigError
    from watchgate.service.setup.config_edit import set_value
    from watchgate.service.setup.installations import agents_that_hold

    own = {each.name for each in agents}
    there = agents_that_hold(here(), agents_known(here(), config), os.environ, Path.cwd())
    if ended := [name for name in there if name in own or config.profile != "watch"]:
        what = "--watch" if asked else "profile watch of config.toml"
        raise Stop(
            f"{' and '.join(ended)} {'is' if len(ended) == 1 else 'are'} gated, which {what} would "
            "end: `watchgate guard off` does that on purpose, and `watchgate guard on` has the "
            "configuration gate. Nothing was changed"
        )
    if config.profile != "watch":
        check_person("--watch")
        try:
            set_value(here().config, "profile", "watch", only_try=True)
        except ConfigError as fault:
            raise Stop(str(fault)) from None
    return msgspec.structs.replace(config, profile="watch")


def _write_watch() -> None:
    """Has the configuration say what the hooks do by now."""
    from watchgate.core.config.config import ConfigError
    from watchgate.service.setup.config_edit import set_value

    try:
        set_value(here().config, "profile", "watch")
    except ConfigError as fault:
        raise Stop(f"the hooks only watch, but the profile stays as it was: {fault}") from None


def _say_what_the_core_does(agents: Sequence[Adapter]) -> None:
    """Says of which of these agents no call is held, although hooks or the core would hold some."""
    odd = [each for each in states_here(agents) if each.at_odds]
    for watches in (True, False):
        names = ", ".join(each.agent for each in odd if (each.holds is False) is watches)
        profile = odd[0].profile if odd else ""
        if names and watches:
            tell(f"The running core keeps profile {profile}, which hooks that only watch do not")
            tell(f"ask: no call of {names} is held; `watchgate guard on` has them ask it.")
        elif names:
            tell(f"The running core has profile {profile}: no call of {names} is held;")
            tell("`watchgate guard on` has it hold them.")


def _setting(config: Config, python: Path) -> HookSettings:
    from watchgate.service.setup import hook_client
    from watchgate.service.setup.installer import hook_settings

    setting = hook_settings(config, here(), python, "set")
    if not setting.native and hook_client.packaged_native() is not None:
        complain(
            "the native hook client of this package does not run here: hooks run the one in Python"
        )
    return setting


def _python() -> Path:
    from watchgate.service.setup.hook_client import NoInterpreterError, base_interpreter

    try:
        return base_interpreter()
    except NoInterpreterError as fault:
        raise Stop(str(fault)) from None


def _after_install(agents: Sequence[Adapter], changed: Sequence[Adapter], profile: str) -> None:
    """Says what happens next, of those agents whose files were `changed` in more lines."""
    _say_what_the_core_does(agents)
    if changed:
        for line in open_sessions(changed):
            tell(line)
        tell(next_line(profile))
        tell("`watchgate doctor` tries the installed commands.")
    if profile != "watch":
        offer_pin()
