"""The shell command that an agent runs for one hook, guarded so that its failures stay safe.

The guard is one script for `/bin/sh`, whatever shell the agent uses. Around a gate it lets the
client's exit 0 and 2 pass and turns everything else (missing, crashed, killed) into exit 2 with a
reason, which every measured agent takes as a denial; around the other lanes everything ends in 0,
because there a failure means no opinion.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import msgspec

from watchgate.agents.base import Adapter, HookEntry
from watchgate.agents.registry import closed_template
from watchgate.core.events import Lane

_NAME = "watchgate-hook"
_SHELL = "/bin/sh"
_NOT_A_PERSON = "This is not a refusal by a person. Do not try another way; stop and report."

# No quote and no backslash in these: every shell reads them alike inside single quotes.
_GATE = (
    'p=$1; shift; test -r "$1" || { echo "watchgate: the hook client is missing. '
    f'Mend it with watchgate install $3. {_NOT_A_PERSON}" >&2; exit 2; }}; '
    '"$p" -I -S "$@"; c=$?; case $c in 0|2) exit $c;; esac; '
    'echo "watchgate: the hook client failed with status $c. '
    f'Mend it with watchgate doctor $3. {_NOT_A_PERSON}" >&2; exit 2'
)
_ANSWER = 'p=$1; shift; test -r "$1" && "$p" -I -S "$@"; exit 0'
_OBSERVE = 'p=$1; shift; test -r "$1" && "$p" -I -S "$@" >/dev/null 2>&1; exit 0'


class Client(msgspec.Struct, frozen=True, kw_only=True):
    """What every installed command runs: interpreter, client copy, socket, and its deadline."""

    python: Path
    script: Path
    ingest_socket: Path
    deadline_s: int


def closes(entry: HookEntry, profile: str) -> bool:
    """Whether a failure on this entry is a denial."""
    return entry.lane is Lane.GATE or (entry.lane is Lane.GATE_READ and profile == "strict")


def command(agent: Adapter, entry: HookEntry, client: Client, profile: str) -> str:
    """The command line of one entry, for whatever shell the agent hands it to."""
    closed = closes(entry, profile)
    if closed:
        guard = _GATE
    elif entry.lane.waits:
        guard = _ANSWER
    else:
        guard = _OBSERVE
    return shlex.join(
        (
            *(_SHELL, "-c", guard, _NAME),
            *(str(client.python), str(client.script), str(client.ingest_socket)),
            *(agent.name, entry.lane, entry.event, str(client.deadline_s)),
            closed_template(agent, entry.event) if closed else "",
        )
    )


def is_ours(command: object) -> bool:
    """Whether a hook's command is one that `command` made, now or in an earlier version."""
    return (
        isinstance(command, str) and command.startswith(f"{_SHELL} -c ") and f" {_NAME} " in command
    )


class Installed(msgspec.Struct, frozen=True):
    """The parts of an installed command."""

    python: Path
    script: Path
    ingest_socket: Path
    agent: str
    lane: str
    event: str
    deadline_s: float


def parse(command: str) -> Installed | None:
    """The parts of a command of ours; None when another version made it in another form."""
    try:
        python, script, socket, agent, lane, event, deadline_s, _ = shlex.split(command)[4:]
        waits_s = float(deadline_s)
    except ValueError:
        return None
    return Installed(Path(python), Path(script), Path(socket), agent, lane, event, waits_s)
