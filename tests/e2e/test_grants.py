"""An allow for good outlives the core that took it, and so does taking it back."""

from __future__ import annotations

import json

import pytest

from tests.e2e.programs import Core, Hook, bash


@pytest.fixture
def strict(core: Core) -> Core:
    """A core that asks about everything which no rule allows."""
    core.configure('profile = "strict"\n')
    core.start()
    return core


def build(core: Core, what: str, call: str = "") -> Hook:
    payload = bash(f"frobnicate build {what}") | {"tool_use_id": call or what}
    return core.hook("PreToolUse", payload)


def allow_one(core: Core, what: str, *more: str) -> None:
    hook = build(core, what)
    (request,) = core.pending()
    assert core.allow(request, *more).code == 0
    assert hook.done().code == 0


def allow_for_good(core: Core) -> str:
    for what in ("a", "b", "c"):
        allow_one(core, what)
    allow_one(core, "d", "--scope", "always", "--as", "kim")
    (grant,) = core.cli("grants", "--json").lines
    return str(grant["id"])


def restarted(core: Core) -> None:
    """The core is killed, as by a power cut, and another one started."""
    core.kill()
    core.start()


def test_an_allow_for_good_answers_in_the_next_core_after_kill_9(strict: Core) -> None:
    id = allow_for_good(strict)
    restarted(strict)
    done = build(strict, "e").done()
    assert json.loads(done.out)["hookSpecificOutput"]["permissionDecision"] == "allow"
    decided = strict.seen("approval.decided")["data"]
    assert decided["word"] == "allowed-by-grant"
    assert decided["by"].startswith(f"grant #{id[:4]} of operator kim")
    (grant,) = strict.cli("grants", "--json").lines
    assert (grant["id"], grant["hits"]) == (id, 1)


def test_what_was_taken_back_is_not_back_after_kill_9(strict: Core) -> None:
    id = allow_for_good(strict)
    assert strict.cli("grants", "revoke", id[:6]).code == 0
    restarted(strict)
    assert strict.cli("grants", "--json").lines == []
    hook = build(strict, "e")
    strict.pending()
    assert hook.waits


def test_uses_are_kept_when_the_core_is_stopped(strict: Core) -> None:
    allow_for_good(strict)
    build(strict, "e").done()
    assert strict.cli("stop").code == 0
    assert strict.process is not None
    strict.process.wait(timeout=20)
    restarted(strict)
    (grant,) = strict.cli("grants", "--json").lines
    assert grant["hits"] == 1


def test_equal_requests_that_wait_are_released_with_a_grant(strict: Core) -> None:
    hooks = [build(strict, "a"), build(strict, "a", "a2"), build(strict, "b")]
    first = next(each for each in strict.pending(3) if each["summary"].endswith("a"))
    assert strict.allow(first, "--scope", "session").code == 0
    assert [hook.done().code for hook in hooks[:2]] == [0, 0]
    assert hooks[2].waits
    assert len(strict.pending()) == 1
