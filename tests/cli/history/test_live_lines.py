"""`tail` for a person: a line for each call and decision, and none for how the core works."""

from __future__ import annotations

from typing import Any

import pytest

from watchgate.cli.history.live_lines import LiveLines
from watchgate.core.model.records import Record
from watchgate.core.state.state import State

AT_US = 1_790_000_000_000_000
TOOL = {"name": "Bash", "native_name": "Bash", "cls": "shell", "input": {}, "input_hash": "h"}


class Story:
    """Records of one session, and the lines that they make."""

    def __init__(self) -> None:
        self._lines = LiveLines(State())
        self._seq = 0

    def line(self, kind: str, call: str | None = None, **data: Any) -> str:
        """What this record adds, without its time and its session."""
        self._seq += 1
        record = Record(
            v=1,
            seq=self._seq,
            core="c",
            at=AT_US + self._seq * 1_000_000,
            kind=kind,
            agent="claude",
            session="s1",
            call=call,
            request="req1" if kind.startswith("approval.") else None,
            data={"native": "N", "cwd": "/srv/shop", **data},
        )
        line = self._lines.line(record)
        assert not line or line[10:28] == "shop".ljust(18)
        return line[28:]

    def call(self, name: str, gate: str, risk: str = "low", **data: Any) -> str:
        told = {"lane": "gate", "tool": TOOL, "summary": f"run {name}", "gate": gate, "risk": risk}
        return self.line("tool.pre", name, **told, **data)

    def result(self, name: str, *, ok: bool = True) -> str:
        told = {"tool": {"name": "Bash"}, "summary": f"run {name}", "ok": ok, "took_ms": 41}
        return self.line("tool.post" if ok else "tool.error", name, **told)


@pytest.fixture
def story() -> Story:
    return Story()


def test_a_call_that_nobody_was_asked_about_is_one_line_once_it_is_over(story: Story) -> None:
    assert story.call("a", "handback") == ""
    assert story.result("a") == "  done      41 ms  Bash: run a"
    story.call("b", "handback", risk="high")
    assert story.result("b", ok=False) == "  failed    41 ms  HIGH  Bash: run b"


def test_a_denial_by_rule_is_told_at_once_with_its_reason(story: Story) -> None:
    line = story.call("a", "denied", "critical", word="denied-by-rule", reason="Wipes the disk")
    assert line == "x denied           CRITICAL  Bash: run a  (Wipes the disk)"


def test_a_request_and_its_decision_are_a_line_each_and_its_result_another(story: Story) -> None:
    story.call("a", "held", risk="high")
    asked = story.line(
        "approval.requested", "a", digest="d", lane="gate", tool=TOOL, summary="run a",
        risk="high", rule="r", reason="Sends a file", timeout_s=300.0,
    )  # fmt: skip
    assert asked == "? asks     HIGH  Bash: run a  (Sends a file; denied in 5:00; #req1)"
    decided = story.line(
        "approval.decided", "a", word="allowed-by-operator", by="operator ana", waited_s=39.0
    )
    assert decided == "+ allowed by operator  Bash: run a  (by operator ana after 0:39)"
    assert story.result("a") == "+ done      41 ms  HIGH  Bash: run a"


def test_the_name_of_a_tool_is_said_once(story: Story) -> None:
    tool = {**TOOL, "name": "db:query", "native_name": "mcp__db__query", "cls": "mcp"}
    told = {"lane": "gate", "tool": tool, "summary": "db:query select 1", "risk": "medium"}
    story.line("tool.pre", "a", gate="handback", **told)
    line = story.line("tool.post", "a", **told, ok=True, took_ms=41)
    assert line == "  done      41 ms  db:query: select 1"


@pytest.mark.parametrize(
    "kind", ["usage.counted", "hook.trace", "message", "turn.end", "policy.inferred", "effect.sent"]
)
def test_how_the_core_works_is_no_line(story: Story, kind: str) -> None:
    assert story.line(kind, what="x", why="y", text="t", state="gone") == ""


def test_sessions_prompts_and_words_of_the_agent_are_lines(story: Story) -> None:
    assert story.line("session.start") == "session begins"
    assert story.line("prompt.submit", text="mend it\nplease") == "is asked: mend it"
    assert story.line("notice", text="Claude needs your input") == "says: Claude needs your input"
    assert story.line("notice") == ""
    assert story.line("turn.interrupt") == "turn interrupted"


def test_an_alarm_is_a_line_and_secrets_are_covered(story: Story) -> None:
    line = story.line("effect.ungated", "a", what="ran ungated", cause="off", why="w")
    assert line == "# ran ungated"
    assert "hunter2" not in story.line("notice", text="export PASSWORD=hunter2hunter2")
