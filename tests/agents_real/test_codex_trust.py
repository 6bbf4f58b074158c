"""Codex skips hooks that its user has not trusted, and says nothing: Watchgate has to say it."""

from __future__ import annotations

import pytest

from tests.agents_real.harness.codex_trust import trust_hooks
from tests.agents_real.harness.program import Core, Watchgate
from tests.agents_real.harness.session import Session, one_call
from watchgate.service.crashtest.agent_drivers import CodexDriver

pytestmark = pytest.mark.agents


def test_the_doctor_says_that_the_hooks_are_not_trusted(
    core: Core, watchgate: Watchgate, untrusting_codex: Session[CodexDriver]
) -> None:
    """Installed is not enough: `doctor codex` fails and names trust as what is missing."""
    found = watchgate.run("doctor", "codex")

    assert found.exit_code == 1
    assert "trust" in found.text.lower()


def test_the_doctor_is_content_once_the_hooks_are_trusted(
    core: Core, watchgate: Watchgate, untrusting_codex: Session[CodexDriver]
) -> None:
    """Trust recorded by Codex's own app-server is seen."""
    trusted = trust_hooks(untrusting_codex.agent, untrusting_codex.place)
    found = watchgate.run("doctor", "codex")

    assert set(trusted.values()) == {"trusted"}
    assert found.exit_code == 0, found.text


def test_the_doctor_records_trust_when_asked_to(
    core: Core, watchgate: Watchgate, untrusting_codex: Session[CodexDriver]
) -> None:
    """`doctor codex --fix` is the whole mend: after it a call is held."""
    watchgate.must("doctor", "codex", "--fix")
    untrusting_codex.start(one_call())
    core.deny(core.holds_one(), "not on a Friday")
    untrusting_codex.finish()

    assert untrusting_codex.evidence == ""


def test_the_install_command_says_that_trust_is_needed(
    watchgate: Watchgate, untrusting_codex: Session[CodexDriver]
) -> None:
    """The one step that only the user can take is told when the hooks are written."""
    assert "trust" in watchgate.run("install", "codex").text.lower()


def test_untrusted_hooks_do_not_hold_anything(
    core: Core, untrusting_codex: Session[CodexDriver]
) -> None:
    """What the doctor warns of is real: the call runs and the core hears nothing."""
    untrusting_codex.play(one_call())

    assert untrusting_codex.evidence == "ran\n"
    assert core.status()["sessions"] == 0


def test_hooks_hold_under_codexs_own_bypass_of_trust(
    core: Core, untrusting_codex: Session[CodexDriver]
) -> None:
    """With `--dangerously-bypass-hook-trust` they run without having been trusted."""
    untrusting_codex.start(one_call(), options=("--dangerously-bypass-hook-trust",))
    held = core.holds_one()
    core.deny(held, "not on a Friday")
    untrusting_codex.finish()

    assert untrusting_codex.evidence == ""
    assert "not on a Friday" in untrusting_codex.told
