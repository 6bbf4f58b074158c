"""The policy as a handler: what it looks at before it judges."""

from __future__ import annotations

import pytest

from tests.core.builders import permission, pre, shell
from watchgate.core.gate.policy_gate import PolicyGate
from watchgate.core.model.events import Event, Lane, Tool
from watchgate.core.policy.inputs.subject import Links
from watchgate.service.policies.policy_files import shipped

SECRET = (("/home/u/app/notes", "/home/u/.ssh/id_rsa"),)


def gate(asked: list[str]) -> PolicyGate:
    def links(tool: Tool, cwd: str) -> Links:
        asked.append(f"{tool.name} in {cwd}")
        return SECRET

    return PolicyGate("guard", lambda _cwd: shipped(), home="/home/u", own=(), links=links)


@pytest.mark.parametrize(
    "event", [pre(shell("cat notes")), pre(shell("cat notes"), Lane.GATE_READ), permission()]
)
def test_a_call_that_waits_is_judged_by_what_its_links_lead_to(event: Event) -> None:
    asked: list[str] = []
    found = gate(asked).assess(event)
    assert asked == ["Bash in /home/u/app"]
    assert found is not None
    assert found.decision == "ask"


def test_for_a_call_that_is_only_watched_the_disk_is_not_asked() -> None:
    asked: list[str] = []
    found = gate(asked).assess(pre(shell("cat notes"), Lane.OBSERVE))
    assert asked == []
    assert found is not None
