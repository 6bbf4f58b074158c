"""Claude Code without a hook: a permission tool in print mode, and a program that drives it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.agents_real.conftest import installed
from tests.agents_real.harness.host import hosting
from tests.agents_real.harness.pinned import pinned
from tests.agents_real.harness.program import PROGRAM, Core, Watchgate
from tests.agents_real.harness.session import EVIDENCE, RISKY, Session, one_call
from tests.agents_real.harness.tmux import Terminal, needs_tmux
from tests.agents_real.harness.waiting import eventually
from watchgate.service.crashtest.agent_drivers import ClaudeCodeDriver
from watchgate.service.crashtest.model.conversation import PROMPT
from watchgate.service.crashtest.model.model_server import ScriptedModel
from watchgate.service.crashtest.throwaway import ThrowawayPlace

pytestmark = pytest.mark.agents

SOON = """\
[approval]
timeout_s = 2
unattended_timeout_s = 2
client_deadline_s = 5
margin_s = 1
relay_timeout_s = { serial = 2 }
"""
HARMLESS = f"printf 'ran\\n' >> {EVIDENCE}"
"""A command that Claude Code asks about and that no rule of ours holds at the gate."""
REFUSES = {"behavior": "deny", "message": "the host's own user says no"}


class Prompting(ClaudeCodeDriver):
    """Claude Code in print mode, where our tool is asked for permission."""

    def headless(self, place: ThrowawayPlace) -> list[str]:
        """No tool is allowed beforehand."""
        servers = ["--mcp-config", str(place.top / "mcp.json")]
        asks = ["--permission-prompt-tool", "mcp__watchgate__approve"]
        return ["-p", PROMPT, *servers, *asks, "--output-format", "stream-json", "--verbose"]


def serve_tool(place: ThrowawayPlace, watchgate: Watchgate) -> None:
    """Names our server as Claude Code's users do, with where the core is."""
    where = {k: v for k, v in watchgate.environment.items() if k.startswith("WATCHGATE_")}
    server = {"command": str(PROGRAM), "args": ["permission-prompt"], "env": where}
    place.write(place.top / "mcp.json", json.dumps({"mcpServers": {"watchgate": server}}))


@pytest.fixture
def prompting(
    place: ThrowawayPlace, model: ScriptedModel, watchgate: Watchgate
) -> Iterator[Session[Prompting]]:
    """No hook is installed: the tool is all that stands before a call."""
    serve_tool(place, watchgate)
    session = Session(pinned(Prompting), place, model)
    yield session
    session.close()


@pytest.fixture
def both(
    place: ThrowawayPlace, model: ScriptedModel, watchgate: Watchgate
) -> Iterator[Session[Prompting]]:
    """The tool beside Watchgate's hooks."""
    serve_tool(place, watchgate)
    yield from installed(Prompting, place, model, watchgate)


def test_an_allow_lets_the_call_run(core: Core, prompting: Session[Prompting]) -> None:
    prompting.start(one_call())
    held = core.holds_one()
    core.allow(held)
    prompting.finish()

    assert (held.agent, held.lane, held.tool) == ("claude", "gate", "Bash")
    assert prompting.evidence == "ran\n"


def test_a_denial_reaches_the_model_with_its_reason(
    core: Core, prompting: Session[Prompting]
) -> None:
    prompting.start(one_call())
    core.deny(core.holds_one(), "not on a Friday")
    prompting.finish()

    assert prompting.evidence == ""
    assert "not on a Friday" in prompting.told


@pytest.mark.parametrize("config", [SOON], ids=["soon"])
def test_silence_denies(core: Core, prompting: Session[Prompting]) -> None:
    """In print mode nobody else can be asked."""
    prompting.play(one_call())

    assert prompting.evidence == ""
    assert "Nobody answered" in prompting.told


def test_without_a_core_the_tool_denies(prompting: Session[Prompting]) -> None:
    prompting.play(one_call())

    assert prompting.evidence == ""
    assert "watchgate" in prompting.told
    assert "not a refusal by a person" in prompting.told


@pytest.mark.parametrize("command", [HARMLESS, RISKY], ids=["harmless", "risky"])
def test_a_call_that_hooks_tell_of_as_well_is_one_card(
    core: Core, both: Session[Prompting], command: str
) -> None:
    both.start(one_call(command))
    core.allow(core.holds_one())
    both.finish()
    core.turn_ends()

    assert both.evidence == "ran\n"
    assert len(core.records("approval.requested")) == 1


@pytest.fixture
def driven(place: ThrowawayPlace, model: ScriptedModel) -> ClaudeCodeDriver:
    """Claude Code for a program to drive, without any hook."""
    claude = pinned(ClaudeCodeDriver)
    claude.configure(place, model.url)
    model.script = (one_call("echo one >> out.txt"), one_call("echo two >> out.txt"))
    return claude


@pytest.fixture
def environment(
    driven: ClaudeCodeDriver, place: ThrowawayPlace, model: ScriptedModel, watchgate: Watchgate
) -> dict[str, str]:
    """Claude Code's own, and where Watchgate's core is."""
    ours = {k: v for k, v in watchgate.environment.items() if k.startswith("WATCHGATE_")}
    return driven.whole_environment(place, model.url) | ours


@needs_tmux
def test_the_operator_decides_for_a_program_that_drives_claude(
    core: Core,
    console: Terminal,
    driven: ClaudeCodeDriver,
    place: ThrowawayPlace,
    model: ScriptedModel,
    environment: dict[str, str],
) -> None:
    """One call is allowed and one denied; the host is asked about neither, and usage is told."""
    console.press("Down")
    with hosting(driven, place, environment, REFUSES) as host:
        first = core.holds_one()
        core.allow(first)
        core.deny(core.holds_one(), "not on a Friday")
        result = host.finish()

    assert (first.agent, first.lane) == ("claude", "relay")
    assert (place.work / EVIDENCE).read_text() == "one\n"
    assert "not on a Friday" in "\n".join(each.text for each in model.results)
    assert host.asked == []
    usage = eventually(lambda: core.records("usage"), "the usage")[-1]
    assert usage["session"] == first.session == result["session_id"]
    assert usage["data"]["total_cost_usd"] == pytest.approx(result["total_cost_usd"])


@needs_tmux
def test_what_is_handed_back_is_asked_by_the_host(
    core: Core,
    console: Terminal,
    driven: ClaudeCodeDriver,
    place: ThrowawayPlace,
    model: ScriptedModel,
    environment: dict[str, str],
) -> None:
    """The control request goes on as Claude Code sent it; the word of its host's user counts."""
    model.script = model.script[:1]
    console.press("Down")
    with hosting(driven, place, environment, REFUSES) as host:
        core.hand_back(core.holds_one())
        host.finish()

    assert [each["tool_name"] for each in host.asked] == ["Bash"]
    assert not (place.work / EVIDENCE).exists()
    assert "the host's own user says no" in "\n".join(each.text for each in model.results)
