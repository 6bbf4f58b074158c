"""Where a control client comes from, when the way up from it does not end at an agent.

A process that loses its parent is adopted by the system's first one, and with it whatever it has
started: a shell that detached itself, a terminal multiplexer's server. Such a branch could be an
agent's. Two things speak for an operator: the branch is older than the agent, or its root is
something that no agent can start unseen.
"""

from __future__ import annotations

import os
import sys
from itertools import pairwise
from pathlib import Path, PurePath

import msgspec

from watchgate.service.peer import INITS, WSL_RELAY, is_below
from watchgate.service.process_table import Proc, began

# Programs that, started without a word, open a window with a shell for a person. What can start a
# command without one is not among them: tmux, screen, mosh, editors that are an interpreter too.
_WINDOWS = frozenset(
    """alacritty deepin-terminal foot footclient ghostty gnome-terminal-server kgx kitty konsole
    lxterminal mate-terminal ptyxis qterminal rio st terminology tilix urxvt wezterm-gui
    xfce4-terminal xterm yakuake Terminal iTerm2 Ghostty Alacritty""".split()
)

# How a desktop starts one that hands out its windows; it opens none by itself.
_AS_SERVICE = ("--gapplication-service",)


def branches(chain: tuple[Proc, ...]) -> list[tuple[Proc, Proc]]:
    """Each process of the chain that may have been adopted, with the one above that adopts.

    Those are first processes of the system or of a user, and WSL's of each terminal. The first one
    of a container may be any program: what is in its own session was started by it.
    """
    return [(below, above) for below, above in pairwise(chain) if _adopts(above, below)]


def is_clear(chain: tuple[Proc, ...], agents: set[Proc]) -> bool:
    """Whether a client with these ancestors is known to be no agent's of these.

    `chain` begins with the client. One that was adopted itself is nobody's that can be told.
    """
    if not chain:
        return False
    joints = branches(chain)
    if joints and joints[0][0] is chain[0]:
        return False
    return not any(
        is_below(chain, agent) or any(_may_be_of(agent, *joint) for joint in joints)
        for agent in agents
    )


def may_have_left(chain: tuple[Proc, ...], starter: Proc) -> bool:
    """Whether this chain may hang on a process that detached itself from what `starter` started."""
    return any(_may_be_of(starter, *joint) for joint in branches(chain))


def vouched(chain: tuple[Proc, ...]) -> tuple[Proc, ...]:
    """The chain with those vouched for that another user runs or that are such a program."""
    adopted = [below for below, _ in branches(chain)]
    return tuple(
        msgspec.structs.replace(each, vouched=_is_anothers(each) or _is_window(each))
        if each in adopted
        else each
        for each in chain
    )


def _adopts(above: Proc, below: Proc) -> bool:
    if above.comm in INITS or above.comm.startswith(WSL_RELAY):
        return True
    return above.pid == 1 and not (below.sid and below.sid == above.sid)


def _may_be_of(agent: Proc, root: Proc, adopter: Proc) -> bool:
    """Whether the agent may have started this branch: it is younger, and what took it in older."""
    if root.vouched or began(root) < began(agent):
        return False
    return not began(adopter) > began(agent)


def _is_anothers(process: Proc) -> bool:
    """Whether its real user is not ours: what an agent starts keeps the agent's."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text("utf-8", "replace")
    except OSError:
        return False
    users = next((line for line in status.splitlines() if line.startswith("Uid:")), "").split()
    return len(users) > 1 and int(users[1]) != os.getuid()


def _is_window(process: Proc) -> bool:
    # `xterm -e COMMAND` runs what it is told; `kitty +runpy` does not even open a window.
    if not process.cmd or process.cmd[1:] not in ((), _AS_SERVICE):
        return False
    if sys.platform != "linux":
        return PurePath(process.cmd[0]).name in _WINDOWS
    # A process chooses its own name and argv, but not the file that it runs.
    executable = Path(f"/proc/{process.pid}/exe")
    try:
        return executable.stat().st_uid == 0 and executable.readlink().name in _WINDOWS
    except OSError:
        return False
