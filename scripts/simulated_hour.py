"""Judges a simulated hour: 300 calls of four Claude sessions, and what of them is held.

    python -m scripts.simulated_hour [--mode auto] [--all]

The calls are in `tests/e2e/hour.jsonl`, those that should wait with the reason. Printed is each
call that is held without being named there, and each that is named and not held; `--all` prints all
that are held. Ends with 1 if the hour differs from its file, or holds too many.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from watchgate.agents.base import Intake
from watchgate.agents.registry import adapter
from watchgate.core.base.clock import Instant
from watchgate.core.gate.policy_gate import PolicyGate
from watchgate.core.model.assessment import Assessment
from watchgate.core.model.events import Lane
from watchgate.core.model.verdicts import Block, Confirm
from watchgate.service.policies.policy_files import shipped

FILE = Path(__file__).resolve().parent.parent / "tests" / "e2e" / "hour.jsonl"
SECOND = FILE.with_name("second_hour.jsonl")
MODE = "auto"
MOST_HELD = 18
_HOME = "/home/ada"
_NATIVE = "PreToolUse"


class Call(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call of the hour. `held` says why it waits, and is empty for one that should not.

    A `~` in its input stands for the home, and the session's folder is the one of that name there.
    """

    session: str
    tool: str
    input: dict[str, Any]
    held: str = ""

    def payload(self, number: int, home: str, mode: str = MODE) -> dict[str, Any]:
        """What Claude Code hands to a hook before the call."""
        return {
            "session_id": f"hour-{self.session}",
            "cwd": f"{home}/{self.session}",
            "permission_mode": mode,
            "hook_event_name": _NATIVE,
            "tool_name": self.tool,
            "tool_input": {key: _at_home(value, home) for key, value in self.input.items()},
            "tool_use_id": f"call-{number}",
        }

    @property
    def title(self) -> str:
        """The call in one line."""
        shown = next((v for v in self.input.values() if isinstance(v, str)), "")
        return f"{self.session}: {self.tool} {shown!r}"


def hour(file: Path = FILE) -> list[Call]:
    """The calls in their order."""
    decoder = msgspec.json.Decoder(Call)
    return [decoder.decode(line) for line in file.read_bytes().splitlines()]


def judged(calls: Iterable[Call], mode: str = MODE) -> Iterator[tuple[Call, Assessment, bool]]:
    """Each call with what the policy says of it, and whether the gate holds it."""
    agent = adapter("claude")
    gate = PolicyGate("guard", lambda _cwd: shipped(), home=_HOME, own=())
    gate.own_pids = lambda _tool: frozenset()
    for number, call in enumerate(calls):
        at = Instant(wall_us=number * 12_000_000, mono_s=number * 12.0)
        payload = msgspec.json.encode(call.payload(number, _HOME, mode))
        event = agent.decode(payload, Intake(lane=Lane.GATE, at=at, native=_NATIVE))
        if found := gate.assess(event):
            yield call, found, isinstance(gate(event), (Block, Confirm))


def main() -> int:
    """Prints how the hour differs from its file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mode", default=MODE, help=f"Claude's mode (default {MODE})")
    parser.add_argument("--all", action="store_true", help="print whatever is held")
    given = parser.parse_args()
    held = wrong = 0
    for call, found, holds in judged(hour(), given.mode):
        held += holds
        differs = holds != bool(call.held)
        wrong += differs
        if differs or (holds and given.all):
            mark = "held" if holds else "runs"
            print(f"{mark}  {found.risk:<9}{found.rule:<26}{call.title[:110]}")
    print(f"{held} of {len(hour())} are held, at most {MOST_HELD}; {wrong} differ from the file")
    return 1 if wrong or held > MOST_HELD else 0


def _at_home(value: Any, home: str) -> Any:
    return value.replace("~/", f"{home}/") if isinstance(value, str) else value


if __name__ == "__main__":
    sys.exit(main())
