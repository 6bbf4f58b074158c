"""A core's surroundings: the parts of the machine and its user that the core cannot decide."""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec

from watchgate.agents.usage.base import Place
from watchgate.agents.usage.places import places
from watchgate.core.ids import request_id
from watchgate.core.records import Draft
from watchgate.link.paths import Paths
from watchgate.service.anchoring.system_log import SYSTEM_LOG
from watchgate.service.coverage.processes import PROC
from watchgate.service.peer import agent_of
from watchgate.service.process_table import Proc, ancestors


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """A core's surroundings: ids, the home folder, its own files, and the agent above a peer.

    Clients below the process `own_pid` may not allow. `proc` is where the system shows the agents
    that run; None: nobody looks. `places` are where agents keep files about usage. `counted` yields
    usage records in their place, as a demo does. `scripted` says that the sessions are a script's:
    no agent runs that could stand behind an operator. `system_log` is the socket of the machine's
    log, which gets anchors of the journal; None: none are sent.
    """

    ids: Callable[[], str]
    home: str
    protected: tuple[str, ...]
    agent_of: Callable[[int], Proc | None]
    own_pid: int = 0
    scripted: bool = False
    proc: Path | None = None
    places: tuple[Place, ...] = ()
    counted: Callable[[], AsyncIterator[Draft]] | None = None
    system_log: Path | None = None


def real_stage(paths: Paths) -> Stage:
    """Returns this machine's surroundings: random ids, the user's home, the kernel's processes."""
    own = [paths.runtime_dir, paths.state_dir, paths.config.parent, paths.data_dir]
    own += [path.resolve() for path in own]
    return Stage(
        ids=lambda: request_id(secrets.token_bytes(16)),
        home=str(Path.home()),
        protected=tuple(dict.fromkeys(str(path) for path in own)),
        agent_of=lambda pid: agent_of(ancestors(pid)),
        own_pid=os.getpid(),
        proc=PROC,
        places=places(os.environ, str(Path.home())),
        system_log=SYSTEM_LOG,
    )
