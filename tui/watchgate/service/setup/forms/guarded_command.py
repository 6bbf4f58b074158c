"""The shell command that an agent runs for one hook, guarded so that its failures stay safe.

The guard is one script for `/bin/sh`, whatever shell the agent uses. Around a gate it ends in 0
only when the client says the word for it, a status that no interpreter, loader or shell ends with
by itself, and in 2 where the client denies. Every other end, the shell's own among them (it cannot
fork), comes to exit 2 with a reason, which every measured agent takes as a denial, or to what that
agent takes as one, beside the denial on stdout: Copilot tells the model no other reason. Around the
other lanes only exit 2 passes, an operator's or a rule's denial; whatever else ends in 0, as a
failure means no opinion.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import NamedTuple

import msgspec

from watchgate.agents.base import Adapter, HookEntry
from watchgate.agents.registry import closed_exit, closed_template, handed_back
from watchgate.core.model.events import Lane

_NAME = "watchgate-hook"
_SHELL = "/bin/sh"
STATUS_LINE = "StatusLine"
_NOT_A_PERSON = "This is not a refusal by a person. Do not try another way; stop and report."


# No single quote and no backslash in these: every shell reads them alike inside single quotes.
# Names of their own, as Gemini and Qwen put the environment's values for $NAME in their settings.
class _Start(NamedTuple):
    """The parts of a guard that take the client's path as $1, test that it can run, and run it."""

    first: str
    can: str
    run: str


_PYTHON = _Start("wg_p=$1; shift; ", 'test -r "$1"', '"$wg_p" -I -S "$@"')
_NATIVE = _Start("", 'test -x "$1"', '"$@"')
PASSED = 77
"""The client's status in the place of 0, by which a gate's guard knows that it is the client's."""

_GATE = (
    '{0.first}wg_t=$7 wg_x=$8; wg_w="did not run: its shell failed. Mend it with watchgate doctor '
    '$3"; wg_no() {{ wg_w="watchgate: the hook client $wg_w. {1}"; echo "$wg_w" >&2; case $wg_t in '
    '*@*) printf %s "${{wg_t%%@*}}$wg_w${{wg_t#*@}}";; esac; exit $wg_x; }}; trap wg_no 0; '
    'if {0.can} && test -s "$1"; then {0.run}; wg_c=$?; '
    "case $wg_c in {2}) trap - 0; exit 0;; 2) trap - 0; exit 2;; esac; "
    'wg_w="failed with status $wg_c. Mend it with watchgate doctor $3"; '
    'else wg_w="is missing. Mend it with watchgate install $3"; fi'
)
# A shell that cannot fork ends in 2 or 254 by itself.
_OPEN = '{0.first}trap "exit 0" 0; {0.can} && {0.run}'
_ANSWER = f"{_OPEN}; wg_c=$?; case $wg_c in 2) trap - 0; exit 2;; esac; exit 0"
_OBSERVE = f"{_OPEN} >/dev/null 2>&1; exit 0"


class HookClient(msgspec.Struct, frozen=True, kw_only=True):
    """The program that every installed command runs: interpreter, client copy and socket.

    With `native`, commands run that in the place of the first two; plugins run those all the same.
    `deadline_s` is how long it waits where the agent does, `margin_s` how much sooner than the
    agent's own limit it answers.
    """

    python: Path
    script: Path
    ingest_socket: Path
    deadline_s: int
    margin_s: int = 5
    native: Path | None = None

    def waits_s(self, timeout_s: int) -> int:
        """Returns the seconds that the client of an entry with this limit waits: at least one."""
        return max(1, min(self.deadline_s, timeout_s - self.margin_s))


def denies_on_failure(entry: HookEntry, profile: str) -> bool:
    """Returns whether a failure on this entry is a denial."""
    return entry.lane is Lane.GATE or (entry.lane is Lane.GATE_READ and profile == "strict")


def hook_command(agent: Adapter, entry: HookEntry, client: HookClient, profile: str) -> str:
    """Returns the command line of one entry, for whatever shell the agent hands it to."""
    if denies_on_failure(entry, profile):
        # The client's output and status to deny by itself, and its output while off.
        template = closed_template(agent, entry.event, entry.lane)
        status = closed_exit(agent, entry.event)
        guard, denial = _GATE, (template, status, handed_back(agent, entry.event))
    else:
        guard, denial = _ANSWER if entry.lane.waits else _OBSERVE, ("", 2, "")
    start = _PYTHON if client.native is None else _NATIVE
    program = (client.native,) if client.native is not None else (client.python, client.script)
    words = (
        *(_SHELL, "-c", guard.format(start, _NOT_A_PERSON, PASSED), _NAME),
        *(*program, client.ingest_socket),
        *(agent.name, entry.lane, entry.event, client.waits_s(entry.timeout_s)),
        *(*denial, PASSED),
    )
    return shlex.join(map(str, words))


def status_line_command(agent: Adapter, client: HookClient) -> str:
    """Returns the command that prints the agent's status line; short, silent over any failure."""
    entry = HookEntry(event=STATUS_LINE, lane=Lane.RELAY, timeout_s=0)
    return hook_command(agent, entry, client, "guard")


def is_our_command(command: object) -> bool:
    """Returns whether `hook_command` made this hook's command, now or in an earlier version."""
    return (
        isinstance(command, str) and command.startswith(f"{_SHELL} -c ") and f" {_NAME} " in command
    )


class InstalledCommand(msgspec.Struct, frozen=True):
    """The parts of an installed command; no `python` where `script` is the native client."""

    python: Path | None
    script: Path
    ingest_socket: Path
    agent: str
    lane: str
    event: str
    deadline_s: float


def parse_command(command: str) -> InstalledCommand | None:
    """Returns the parts of a command of ours; None when another version made it in another form."""
    try:
        guard, _, *words = shlex.split(command)[2:]
        python = Path(words.pop(0)) if guard.startswith(_PYTHON.first) else None
        script, socket, agent, lane, event, deadline_s, *_ = words
        waits_s = float(deadline_s)
    except (ValueError, IndexError):
        return None
    return InstalledCommand(python, Path(script), Path(socket), agent, lane, event, waits_s)
