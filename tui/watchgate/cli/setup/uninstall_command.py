"""`uninstall`: an agent's own configuration loses our hooks; with the last ones goes the client."""

from __future__ import annotations

import argparse
import os
import shlex
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from watchgate.cli.base.ask import check_person
from watchgate.cli.base.command_environment import agents_known, agents_named, configured, here
from watchgate.cli.base.printing import Exit, Stop, complain, say, tell
from watchgate.cli.base.typed_input import at_terminal, typed
from watchgate.cli.setup.setup_report import (
    add_dry_run,
    check_json,
    complain_of_list,
    open_sessions,
    show,
    show_removed,
)

if TYPE_CHECKING:
    from watchgate.agents.base import Adapter
    from watchgate.service.setup.cleanup import Removal
    from watchgate.service.setup.hook_files import FileChange
    from watchgate.service.setup.installations import Installation, Installations

CORE_ENDS_S = 10.0
LOOK_S = 0.05
NAMED = 3


def add_parser(commands: Any) -> None:
    """Adds the command."""
    uninstall = commands.add_parser(
        "uninstall",
        help="take our hooks out again; the old bytes come back where nothing else changed",
        epilog="example: watchgate uninstall --all",
    )
    uninstall.set_defaults(run=_uninstall)
    uninstall.add_argument("agents", nargs="*", metavar="AGENT", help="its name, such as claude")
    uninstall.add_argument(
        "--all",
        action="store_true",
        help="of every agent and project, then the hook client and what else install made",
    )
    uninstall.add_argument(
        "--purge",
        action="store_true",
        help="with --all: end the core and remove the journal, rights and configuration, too",
    )
    uninstall.add_argument("--scope", choices=("user", "project"), default="user")
    add_dry_run(uninstall)


def _uninstall(args: argparse.Namespace) -> int:
    from watchgate.service.setup.agent_files import InstallRefusal
    from watchgate.service.setup.installations import any_left

    check_json(args)
    known, code = _known(), Exit.DONE
    planned = _planned(args, known)
    if args.dry_run:
        return _shown(args, planned)
    check_person("uninstall")
    purge = args.all and not planned.leaves_hooks and _wants_purge(asked=args.purge)
    if purge:
        _end_core()
    done: list[Adapter] = []
    for each, _ in planned.changes:
        installer = each.installer(here())
        try:
            # Anew, as two agents may share a file.
            changes = installer.plan_uninstall(each.agent, each.scope, Path("python3"))
            installer.uninstall(changes)
        except (InstallRefusal, OSError) as refusal:
            complain(f"{each.agent.name}: refused. {refusal}")
            code = Exit.REFUSED
            continue
        _say_done(each.agent, changes)
        done += [each.agent] if any(change.needed for change in changes) else []
    for line in open_sessions(list(dict.fromkeys(done)), taken_out=True):
        tell(line)
    code = max(code, Exit.REFUSED if planned.leaves_hooks else Exit.DONE)
    if not any_left(here(), known, os.environ, Path.cwd()):
        return max(code, _leave(asked=args.all, purge=purge))
    if purge or args.purge:
        ended = "The core is ended, but what" if purge else "What"
        tell(f"{ended} was recorded and configured stays, as hooks are left.")
    return code


class _Planned(NamedTuple):
    """The changes in each place, and whether hooks would be left after them."""

    changes: list[tuple[Installation, tuple[FileChange, ...]]]
    leaves_hooks: bool


def _planned(args: argparse.Namespace, known: Mapping[str, Adapter]) -> _Planned:
    """Plans what is to be done, and complains of each file that only a person can mend."""
    from watchgate.service.setup.agent_files import InstallRefusal

    there = _chosen(args, known)
    if there.fault:
        complain_of_list(there.fault)
    for lost in there.lost:
        name = f"{lost.entry.agent}: " if lost.entry.agent else ""
        complain(f"{name}{lost.why}; take its hooks out of {lost.entry.path} by hand")
    changes, refused = [], bool(there.lost)
    for each in there.places:
        try:
            plan = each.installer(here()).plan_uninstall(each.agent, each.scope, Path("python3"))
        except (InstallRefusal, OSError) as refusal:
            complain(f"{each.agent.name}: refused. {refusal}")
            refused = True
            continue
        changes.append((each, plan))
        for change in plan:
            if change.left:
                refused = True
                complain(
                    f"{each.agent.name}: take out by hand what still runs the hook client in "
                    f"{change.path}, as somebody changed it, in line {change.left} without ours"
                )
    return _Planned(changes, refused)


def _shown(args: argparse.Namespace, planned: _Planned) -> Exit:
    """Prints what would become of each file, and of what lies beside the agents' files."""
    from watchgate.service.setup.cleanup import client_files, files_of_others, record_files
    from watchgate.service.system.detached_core import answers
    from watchgate.service.system.runtime_dir import claim_holder

    for each, changes in planned.changes:
        show(each.agent, changes, as_json=args.json)
    if planned.leaves_hooks:
        records_too = " and what was recorded and configured" if args.purge else ""
        complain(f"hooks would be left, so the hook client{records_too} would stay")
        return Exit.REFUSED
    if args.purge and not answers(here()) and (fault := claim_holder(here())):
        complain(f"nothing would be done: {fault}")
        return Exit.REFUSED
    client = list(client_files(here())) if args.all else []
    dropped_records = list(record_files(here())) if args.purge else []
    if args.json:
        show_removed(
            [path for path in (*client, *dropped_records) if path.is_symlink() or not path.is_dir()]
        )
        return Exit.DONE
    if client:
        say(f"Then the hook client and its backups would be removed from {here().data_dir}.")
    if args.purge and answers(here()):
        say("The core would be ended first, and nothing be done where it refuses that.")
    if dropped_records:
        others = files_of_others(here(), (*client, *dropped_records))
        gone = dict.fromkeys(
            each if each.parent in others else each.parent for each in dropped_records
        )
        say(f"would be removed for good: {shlex.join(map(str, gone))}")
        _say_what_stays(others, "would stay")
    return Exit.DONE


def _known() -> Mapping[str, Adapter]:
    """Every adapter; the built-in ones where the configuration cannot be read."""
    from watchgate.agents.registry import ADAPTERS

    try:
        return agents_known(here(), configured(here()))
    except Stop as stop:
        complain(f"{stop}; only built-in agents are looked at")
        return ADAPTERS


def _chosen(args: argparse.Namespace, known: Mapping[str, Adapter]) -> Installations:
    from watchgate.service.setup.installations import Installation, Installations, installations
    from watchgate.service.setup.manifest import load_or_fault

    if args.all == bool(args.agents):
        what = "--all takes no names" if args.all else "name an agent, or --all for every one"
        raise Stop(f"{what}: watchgate uninstall claude, or watchgate uninstall --all", Exit.USAGE)
    if args.purge and not args.all:
        raise Stop("--purge goes with --all: watchgate uninstall --all --purge", Exit.USAGE)
    cwd = Path.cwd()
    if args.all:
        return installations(here(), known, os.environ, cwd)
    agents = agents_named(args.agents, known)
    return Installations(
        tuple(
            Installation(agent=each, scope=args.scope, env=os.environ, cwd=cwd) for each in agents
        ),
        fault=load_or_fault(here().installed)[1],
    )


def _say_done(agent: Adapter, changes: Sequence[FileChange]) -> None:
    present = [change for change in changes if change.file.content is not None]
    if not present:
        tell(f"{agent.name}: no hooks of watchgate in {changes[0].path}")
    for change in present:
        name, path = agent.name, change.path
        if not change.needed and not change.left:
            tell(f"{name}: no hooks of watchgate in {path}")
        elif not change.needed:
            tell(f"{name}: {path} is as it was")
        elif change.after is None:
            tell(f"{name}: {path} is gone again, as before the installation")
        elif change.restored:
            tell(f"{name}: {path} has its old bytes again")
        else:
            tell(f"{name}: hooks removed from {path}; what else changed there stays")
        if agent.setup is not None and agent.setup.trusts_by_place and change.displaced:
            events = ", ".join(change.displaced)
            moved = f"Other tools' hooks moved up ({events})"
            tell(f"{moved}: {agent.title} will ask to trust them again.")


def _leave(*, asked: bool, purge: bool) -> Exit:
    """Removes what hooks needed, now that none is left, and says what stays and where."""
    from watchgate.service.setup.cleanup import remove_client
    from watchgate.service.system.detached_core import answers

    places = here()
    left = remove_client(places)
    _complain_of(left)
    if left.removed:
        what = (
            "what else lay there for them is"
            if left.stays
            else "the hook client and its backups are"
        )
        tell(f"No hooks are left: {what} gone from {places.data_dir}.")
    elif asked:
        tell("No hooks of watchgate are installed anywhere.")
    code = Exit.REFUSED if left.stays else Exit.DONE
    if purge:
        return max(code, _purge())
    if asked and (names := _folders()):
        tell(f"What was recorded and configured stays: {names}")
        tell("`watchgate uninstall --all --purge` removes that too.")
        if answers(places):
            tell("A core still runs: `watchgate stop` ends it.")
    return code


def _folders() -> str:
    """Names the folders that hold records, rights and configuration; nothing where none does."""
    from watchgate.service.setup.cleanup import record_files

    return shlex.join(dict.fromkeys(str(path.parent) for path in record_files(here())))


def _wants_purge(*, asked: bool) -> bool:
    """Tells whether what was recorded goes as well: the flag says so, or the person asked."""
    names = _folders()
    if asked or not names or not at_terminal():
        return asked
    tell(f"What was recorded and configured is in {names}")
    return typed("Remove it for good, and end the core that runs? [y/N] ").lower() in ("y", "yes")


def _end_core() -> None:
    """Ends the core, before anything else is done; ends the command where it refuses that."""
    from watchgate.cli.base.ask import Unreached, ask
    from watchgate.link.protocol import Request
    from watchgate.service.system.runtime_dir import claim_holder

    end_s = time.monotonic() + CORE_ENDS_S
    try:
        ask(Request(id=1, verb="stop"))
    except Unreached:
        pass  # one may be about to start or to end, which the lock tells
    except Stop as stop:
        raise Stop(f"the core does not end, so nothing was changed. {stop}", stop.code) from None
    while fault := claim_holder(here()):
        if time.monotonic() > end_s:
            raise Stop(f"the core does not end, so nothing was changed: {fault}")
        time.sleep(LOOK_S)


def _purge() -> Exit:
    """Removes what a core recorded, which has ended, and what was configured."""
    from watchgate.service.setup.cleanup import files_of_others, remove_records

    left = remove_records(here(), Path.home())
    _complain_of(left)
    others = files_of_others(here(), (path for path, _ in left.stays))
    _say_what_stays(others, "stays")
    tell(f"What {'else ' if left.stays else ''}was recorded and configured is gone.")
    return Exit.REFUSED if left.stays else Exit.DONE


def _say_what_stays(others: Mapping[Path, Sequence[str]], verb: str) -> None:
    for folder, names in others.items():
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        tell(f"{folder} {verb}, with what is not ours: {', '.join(names[:NAMED])}{more}")


def _complain_of(left: Removal) -> None:
    for path, why in left.stays:
        complain(f"{path} stays: {why}")
