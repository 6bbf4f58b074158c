"""OpenCode on a terminal: its own dialog and the operator race, and the first answer counts."""

from __future__ import annotations

import pytest

from tests.agents_real.harness.program import Core
from tests.agents_real.harness.session import EVIDENCE, Session, one_call
from tests.agents_real.harness.tmux import Terminal, needs_tmux
from tests.agents_real.harness.waiting import eventually
from watchgate.service.crashtest.agent_drivers import OpenCodeDriver
from watchgate.service.crashtest.model.model_server import ScriptedModel
from watchgate.service.crashtest.throwaway import ThrowawayPlace

pytestmark = [
    pytest.mark.agents,
    needs_tmux,
]

HARMLESS = f"printf 'ran\\n' >> {EVIDENCE}"
"""A command that no rule holds at the gate while a person sits at the agent."""
ASKS = "Permission required"


@pytest.fixture
def asking(
    opencode: Session[OpenCodeDriver], place: ThrowawayPlace, model: ScriptedModel
) -> Session[OpenCodeDriver]:
    """OpenCode that asks before every command."""
    opencode.agent.permit(place, model.url, "ask")
    return opencode


def test_an_operators_allow_answers_opencodes_own_dialog(
    core: Core, asking: Session[OpenCodeDriver]
) -> None:
    with asking.on_a_terminal(one_call(HARMLESS)) as screen:
        relay = core.holds_one()
        screen.wait_for(ASKS)
        core.allow(relay)
        eventually(lambda: asking.evidence, "the command's evidence")
        core.turn_ends()

        assert relay.lane == "relay"
        assert asking.evidence == "ran\n"
        assert core.record("effect.confirmed", relay.id)


@pytest.mark.parametrize("size_bytes", [0, 5_000, None])
def test_a_plugin_that_opencode_cannot_load_is_no_way_round_the_gate(
    opencode: Session[OpenCodeDriver], size_bytes: int | None
) -> None:
    """OpenCode passes over the one that is cut or gone; the other beside it throws."""
    plugin = opencode.agent.hook_file(opencode.place)
    content = plugin.read_bytes()
    plugin.unlink()
    if size_bytes is not None:
        plugin.write_bytes(content[:size_bytes])
    opencode.play(one_call())

    assert opencode.evidence == ""
    assert "Run watchgate install opencode" in opencode.told


def test_an_operators_denial_of_a_permission_reaches_the_model(
    core: Core, asking: Session[OpenCodeDriver]
) -> None:
    with asking.on_a_terminal(one_call(HARMLESS)) as screen:
        relay = core.holds_one()
        screen.wait_for(ASKS)
        core.deny(relay, "not on a Friday")
        core.turn_ends()

        assert asking.evidence == ""
        assert "not on a Friday" in asking.told
        assert core.records("effect.contradicted") == []


def test_an_answer_in_opencodes_own_dialog_retires_the_request(
    core: Core, asking: Session[OpenCodeDriver]
) -> None:
    with asking.on_a_terminal(one_call(HARMLESS)) as screen:
        relay = core.holds_one()
        screen.wait_for(ASKS)
        screen.press("Enter")
        eventually(lambda: asking.evidence, "the command's evidence")
        core.is_empty()
        late = core.deny(relay, "too late")

        assert asking.evidence == "ran\n"
        assert late.exit_code == 4


def test_headless_it_refuses_by_itself_what_it_would_ask_about(
    core: Core, asking: Session[OpenCodeDriver], console: Terminal
) -> None:
    """Nobody can be asked then: the card does not promise that it runs, and the row tells why."""
    asking.start(one_call())
    held = core.holds_one()
    console.press("Enter")
    console.wait_for("after allow  OpenCode may run it, or refuse it: it asks nobody when headless")
    console.press("Escape")
    core.allow(held)
    asking.finish()

    assert asking.evidence == ""
    assert "auto-rejecting" in asking.output()
    console.wait_for(r"\+ refused .*it asks nobody when headless")
    assert core.record("effect.refused", held.id)["data"]["what"] == "it asks nobody when headless"
    assert core.records("effect.contradicted") == []
