"""The machines that a console is attached to: the targets of the command line as one source."""

from __future__ import annotations

import argparse
import platform
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from watchgate.cli.exits import Exit, Stop

if TYPE_CHECKING:
    from watchgate.core.clock import Clock
    from watchgate.link.paths import Paths
    from watchgate.link.target import Target
    from watchgate.ui.source import Source

HERE = "here"


def add_arguments(attach: argparse.ArgumentParser) -> None:
    """Add what says which machines."""
    attach.add_argument(
        "targets",
        nargs="*",
        metavar="TARGET",
        help="attach to other machines as well: ssh://[user@]host[:port]",
    )
    attach.add_argument(
        "--no-local", action="store_true", help="to the targets alone, not to this machine's core"
    )


class Machines:
    """The machines that were named; `local` says that this machine's core is among them."""

    def __init__(self, targets: Sequence[Target] = (), *, local: bool = True) -> None:
        self.targets = targets
        self.local = local

    def source(self, paths: Paths, environ: Mapping[str, str], clock: Clock) -> Source:
        """The one core of this machine, or all of them as one."""
        from watchgate.ui.source import LinkSource

        here = LinkSource(paths.control_socket)
        if not self.targets:
            return here
        from watchgate.ui.fleet.source import FleetSource
        from watchgate.ui.fleet.ssh_source import SshSource

        program = shlex.split(environ.get("WATCHGATE_SSH", "")) or ["ssh"]
        sources: dict[str, Source] = {}
        if self.local:
            sources[_own_name({target.name for target in self.targets})] = here
        sources |= {target.name: SshSource(target, program) for target in self.targets}
        return FleetSource(sources, clock, local=self.local)


def machines(args: argparse.Namespace) -> Machines:
    """The machines that the arguments name; a bad one ends the command with how to write it."""
    from watchgate.link.target import HOW, BadTarget, parse_target

    texts = getattr(args, "targets", [])
    local = not getattr(args, "no_local", False)
    if not texts and not local:
        raise Stop(f"--no-local needs a target: {HOW}", Exit.USAGE)
    try:
        targets = [parse_target(text) for text in texts]
    except BadTarget as fault:
        raise Stop(str(fault), Exit.USAGE) from None
    names = [target.name for target in targets]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise Stop(
            f"two targets are called {twice}: sessions could not be told apart. Give one of them "
            "another name in ~/.ssh/config (a Host with a HostName)",
            Exit.USAGE,
        )
    return Machines(targets, local=local)


def _own_name(taken: set[str]) -> str:
    """Return the name of this machine before the labels of its sessions."""
    if HERE not in taken:
        return HERE
    name = re.sub(r"[^A-Za-z0-9_.-]", "", platform.node().partition(".")[0])
    return name if name and name not in taken else "this-machine"
