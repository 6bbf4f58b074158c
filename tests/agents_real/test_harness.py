"""The harness without Watchgate: its agents run, obey a hook, and their model reads why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

import pytest

from tests.agents_real.harness.codex_trust import trust_hooks
from tests.agents_real.harness.pinned import pinned
from tests.agents_real.harness.session import AnySession, Session, one_call
from watchgate.service.crashtest.agent_drivers import DRIVERS, CodexDriver
from watchgate.service.crashtest.model.model_server import ScriptedModel
from watchgate.service.crashtest.throwaway import ThrowawayPlace

pytestmark = pytest.mark.agents


HOOKED: Final = ("claude", "codex")
"""The agents whose hook files are written here by hand."""


@pytest.fixture(params=HOOKED)
def bare(
    request: pytest.FixtureRequest, place: ThrowawayPlace, model: ScriptedModel
) -> Iterator[AnySession]:
    session = Session(pinned(DRIVERS[request.param]), place, model)
    yield session
    session.close()


def hook(bare: AnySession, command: str) -> None:
    """Puts a hook of the agent's own before its calls."""
    group = {"hooks": [{"type": "command", "command": command, "timeout": 20}]}
    table = {"hooks": {"PreToolUse": [group]}}
    bare.place.write(bare.agent.hook_file(bare.place), json.dumps(table))
    if isinstance(bare.agent, CodexDriver):
        trust_hooks(bare.agent, bare.place)


def test_without_a_hook_the_call_runs(bare: AnySession) -> None:
    """The script's command leaves its evidence, so its absence elsewhere means something."""
    bare.play(one_call())

    assert bare.evidence == "ran\n"
    assert len(bare.results) == 1


def test_a_silent_hook_lets_the_call_run(bare: AnySession) -> None:
    hook(bare, "cat >/dev/null")

    bare.play(one_call())

    assert bare.evidence == "ran\n"


def test_a_denying_hook_stops_the_call_and_the_model_reads_why(bare: AnySession) -> None:
    hook(bare, "cat >/dev/null; echo 'the moon is full' >&2; exit 2")

    bare.play(one_call())

    assert bare.evidence == ""
    assert "the moon is full" in bare.told
