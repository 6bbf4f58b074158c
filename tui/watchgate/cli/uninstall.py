"""`uninstall`: an agent's own configuration loses our hooks; with the last ones goes the client."""

from __future__ import annotations

import argparse
import os
import shlex
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from watchgate.cli.dry_run import add_dry_run, check_json, show
from watchgate.cli.exits import Exit, Stop
from watchgate.cli.install_words import open_sessions
from watchgate.cli.output import complain, prose
from watchgate.cli.place import agents_known, agents_named, configured, here
from watchgate.cli.typed import at_terminal, typed

if TYPE_CHECKING:
    from watchgate.agents.base import Adapter
    from watchgate.service.setup.change import Change
    from watchgate.service.setup.installations import Installations
    from watchgate.service.setup.leaving import Left

CORE_ENDS_S = 10.0
LOOK_S = 0.05


def add_parser(commands: Any) -> None:
    """Add the command."""
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
    from watchgate.service.setup.installations import any_left
    from watchgate.service.setup.targets import Refusal

    check_json(args)
    known, python, code = _known(), Path("python3"), Exit.DONE
    there = _chosen(args, known)
    for lost in there.lost:
        complain(f"{lost.entry.agent}: {lost.why}; take its hooks out of {lost.entry.path} by hand")
        code = Exit.REFUSED
    done: list[Adapter] = []
    for each in there.found:
        installer = each.installer(here())
        try:
            changes = installer.plan_uninstall(each.agent, each.scope, python)
            if args.dry_run:
                show(each.agent, changes, as_json=args.json)
                continue
            installer.uninstall(changes)
        except (Refusal, OSError) as refusal:
            complain(f"{each.agent.name}: refused. {refusal}")
            code = Exit.REFUSED
            continue
        _say_done(each.agent, changes)
        done += [each.agent] if any(change.needed for change in changes) else []
    if args.dry_run:
        if args.purge:
            prose(f"would be removed for good: {_folders()}")
        return code
    for line in open_sessions(list(dict.fromkeys(done)), taken_out=True):
        prose(line)
    if not any_left(here(), known, os.environ, Path.cwd()):
        code = max(code, _leave(asked=args.all, purge=args.purge))
    return code


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
        )
    )


def _say_done(agent: Adapter, changes: Sequence[Change]) -> None:
    present = [change for change in changes if change.found.content is not None]
    if not present:
        prose(f"{agent.name}: no hooks of watchgate in {changes[0].path}")
    for change in present:
        name, path = agent.name, change.path
        if not change.needed:
            prose(f"{name}: no hooks of watchgate in {path}")
        elif change.after is None:
            prose(f"{name}: {path} is gone again, as before the installation")
        elif change.restored:
            prose(f"{name}: {path} has its old bytes again")
        else:
            prose(f"{name}: hooks removed from {path}; what else changed there stays")
        if agent.setup is not None and agent.setup.trusts_by_place and change.displaced:
            events = ", ".join(change.displaced)
            moved = f"Other tools' hooks moved up ({events})"
            prose(f"{moved}: {agent.title} will ask to trust them again.")


def _leave(*, asked: bool, purge: bool) -> Exit:
    """With no hooks left anywhere, remove what they needed, and say what stays and where."""
    from watchgate.service.detached import answers
    from watchgate.service.setup.leaving import leave

    places = here()
    left = leave(places)
    _complain_of(left)
    if left.removed:
        prose(
            f"No hooks are left: the hook client and its backups are gone from {places.data_dir}."
        )
    elif asked:
        prose("No hooks of watchgate are installed anywhere.")
    if asked and (names := _folders()):
        if purge or (at_terminal() and _wants_purge(names)):
            return max(Exit.REFUSED if left.stays else Exit.DONE, _purge())
        prose(f"What was recorded and configured stays: {names}")
        prose("`watchgate uninstall --all --purge` removes that too.")
        if answers(places):
            prose("A core still runs: `watchgate stop` ends it.")
    return Exit.REFUSED if left.stays else Exit.DONE


def _folders() -> str:
    """Name the folders that hold records, rights and configuration; nothing where none does."""
    from watchgate.service.setup.leaving import records

    return shlex.join(dict.fromkeys(str(path.parent) for path in records(here())))


def _wants_purge(names: str) -> bool:
    prose(f"What was recorded and configured is in {names}")
    return typed("Remove it for good, and end the core that runs? [y/N] ").lower() in ("y", "yes")


def _purge() -> Exit:
    """End the core, then remove what it recorded and what was configured."""
    from watchgate.cli.ask import Unreached, ask
    from watchgate.link.protocol import Request
    from watchgate.service.runtime_dir import claimed
    from watchgate.service.setup.leaving import purge

    places, end_s = here(), time.monotonic() + CORE_ENDS_S
    with suppress(Unreached):
        ask(Request(id=1, verb="stop"))
    while claimed(places):
        if time.monotonic() > end_s:
            raise Stop("the core does not end, so what it recorded stays: watchgate status")
        time.sleep(LOOK_S)
    left = purge(places, Path.home())
    _complain_of(left)
    prose("What was recorded and configured is gone.")
    return Exit.REFUSED if left.stays else Exit.DONE


def _complain_of(left: Left) -> None:
    for path, why in left.stays:
        complain(f"{path} stays: {why}")
