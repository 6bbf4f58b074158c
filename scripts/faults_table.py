"""Writes docs/faults.md: what an agent gets on each lane when something is broken, and when.

`python -m scripts.faults_table [--check]`. The rows are the very table that `tests/faults` runs:
each is brought about on a real core, with the hooks that an installation writes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Final

from scripts.marked import as_table, written
from tests.faults.matrix import FAULTS
from tests.faults.words import Fault, Gets, When

ROOT: Final = Path(__file__).resolve().parent.parent
DOCUMENT: Final = ROOT / "docs" / "faults.md"
LANES: Final = ("gate", "gate-read", "relay", "observe")
COLUMNS: Final = ("fault", *LANES, "when", "the model reads")
HEAD: Final = """# What an agent gets when something is broken

`make faults-table` writes this page from the table that `tests/faults` runs. Every row is brought about there: a real `watchgate serve`, the hook command that the installer writes, and an agent's side that takes the answer as Claude Code does. No row ends in an allow; after each, the journal still verifies and has no allow on record.

A **lane** is how one hook of an agent is put to the core. On **gate** the agent is about to run, write or fetch; silence denies. On **gate-read** it is about to read; silence leaves it to the agent's own rules, and denies under profile `strict`: where this page says that the hook answers by itself, the tests see to that too. On **relay** the agent would ask you itself; silence leaves its own prompt standing. On **observe** it tells what happened, and waits for nothing.

| word | means |
|---|---|
| denied | the agent does not make the call; the model reads the cause, and that no person refused |
| held for you | the fault changes nothing: the call waits until you decide |
| no opinion | Watchgate says nothing, and the agent's own rules or its own prompt decide |
| goes on | an observer ends with nothing on stdout and exit 0, whatever is wrong |
| the agent decides | the hook is killed together with its shell: nobody is left to answer, and what an agent makes of that is its own: [crashtest.md](crashtest.md) |

**When**: *at once* is without waiting for any limit. *At the hook's deadline* is `client_deadline_s` at most (an observer's is a second). *When the core's time is up* is `timeout_s` or `unattended_timeout_s`; a relay has `relay_timeout_s`. An observer ends at once where nothing else is said; for a core that does not take what it tells it waits 150 ms at most.
"""  # noqa: E501 - a document
FOOT: Final = """## Where the agent itself decides

An agent that kills its own hook, crashes, or has a limit shorter than the hook's deadline hears nothing from Watchgate. Some run the call then. `watchgate install` writes limits that are longer than the hook's deadline, `watchgate doctor` checks them, and [crashtest.md](crashtest.md) shows what the version that you have makes of a hook that is missing, crashes or hangs.

So does an agent whose own limits (stack, open files, memory) let no shell start: the guard is a shell command, and nothing of it runs then. Claude Code, Codex and Qwen Code make the call, Gemini CLI after a signal; Copilot does not. A shell that starts and cannot fork denies.

OpenCode and SynapsCLI load a plugin in place of a command. OpenCode passes over one that it cannot load; a second one beside it then holds every call ([opencode.md](opencode.md)). SynapsCLI lets a call pass where the extension does not start; one that starts and finds itself or its client damaged blocks.

A process of your own user can stand at the socket in the core's place, or change the installed hook. That is not a fault that closes: [security.md](security.md).
"""  # noqa: E501 - a document


def render(faults: Iterable[Fault]) -> str:
    """The document."""
    parts = [HEAD]
    for component, rows in groupby(faults, key=lambda fault: fault.of):
        title = component[0].upper() + component[1:]
        parts.append(f"## {title}\n\n{as_table(COLUMNS, map(_row, rows))}")
    return "\n\n".join(part.strip() for part in (*parts, FOOT)) + "\n"


def _row(fault: Fault) -> tuple[str, ...]:
    gets = [fault.cells[lane][0] for lane in LANES]
    return fault.what, *gets, _when(fault), fault.because.partition(". ")[0] or "-"


def _when(fault: Fault) -> str:
    """When the lanes that wait get it, and an observer where it has to wait too."""
    held = [gets is Gets.HELD for gets, _ in fault.cells.values()]
    times = dict.fromkeys(when for _, when in list(fault.cells.values())[:-1])
    said = list(times)
    if len(said) > 1 and any(held):
        said = [when for when in said if when is not When.DECIDED]
        said.append(When.DECIDED)
    text = "; held: ".join(said) if len(said) > 1 else said[0]
    late = fault.observe_when is not When.AT_ONCE and fault.observe_when not in times
    return f"{text}; observe: {fault.observe_when}" if late else text


def main(check: bool) -> int:
    """Writes the document, or with `check` say whether it is what the tests run."""
    return written({DOCUMENT: render(FAULTS)}, "faults-table", check=check)


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
